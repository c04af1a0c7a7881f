"""Reads the `Dialect` of each region: from the words of the compiler's command, from the macros that it then has, and
from pragmas and attributes of the file that change the flags of functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from codegen.patterns import pattern
from codegen.record import record
from codegen.scop.dialect import STANDARD, Dialect, FlagRefusal
from codegen.source.dialect.flags import FLAGS, MODELLED, OF_REALS, REFUSED
from codegen.source.layout.linemap import LineMap
from codegen.source.macro_tables import Change
from codegen.source.preprocess import Preprocessed

_BUILTIN = pattern(r"-f(no-)?builtin-(\w+)")
_PRAGMA = pattern(r"[ \t]*#[ \t]*pragma[ \t]+(GCC|clang|STDC|float_control|scalar_storage_order)\b[ \t]*(.*)")
_STRINGS = pattern(r'"([^"]*)"|\b(\d+)\b')
_ATTRIBUTE = pattern(r'\b(?:__)?(optimize|target)(?:__)?[ \t\n]*\(((?:[ \t\n]*(?:"[^"]*"|\d+)[ \t\n]*,?)+)\)')
_MAY_ALIAS = pattern(r"\b(?:__)?may_alias(?:__)?\b")
# Pragmas by which the program may ask for exceptions of arithmetic.
_EXCEPTIONS: Mapping[str, re.Pattern[str]] = {
    "clang": re.compile(r"\bexceptions\s*\(\s*(strict|maytrap)"),
    "float_control": re.compile(r"\b(except\s*(,\s*on|\))|strict)"),
}
# What the compiler says of itself where its macros are known: the facts for which they are asked, with the values that
# make them false.
_ASKED: Mapping[str, tuple[str, frozenset[str]]] = {
    "extended_precision": ("__FLT_EVAL_METHOD__", frozenset(("0", "16"))),
    "narrow": ("__SIZEOF_LONG__", frozenset("8")),
}


@record
class _Fact:
    """A fact's value, and the word that it comes from."""

    value: bool
    word: str


def dialect_of(words: Iterable[str], macros: Mapping[str, str]) -> Dialect:
    """What flags, in their order, and the macros of the compiler under them make of C."""
    facts: dict[str, _Fact] = {}
    unknown: dict[str, None] = {}
    for word in words:
        if builtin := _BUILTIN.fullmatch(word):
            unknown.pop(builtin[2], None)
            unknown |= dict.fromkeys([builtin[2]] if builtin[1] else [])
        for flag in FLAGS if word.startswith(("-f", "-m", "-O", "-q", "-cl", "-std=", "-ansi")) else ():
            if re.fullmatch(flag.words, word):
                facts |= {name: _Fact(value, word) for name, value in flag.sets.items()}
    facts |= _as_compiled(facts, macros)
    modelled = {n: facts[n].value if n in facts else usual for n, usual in MODELLED.items()}
    refused = (FlagRefusal(facts[n].word, *REFUSED[n], n in OF_REALS) for n in REFUSED if n in facts and facts[n].value)
    return replace(STANDARD, **modelled, unknown=frozenset(unknown), refused=tuple(dict.fromkeys(refused)))


def _as_compiled(facts: Mapping[str, _Fact], macros: Mapping[str, str]) -> dict[str, _Fact]:
    """Facts that the compiler itself tells by its macros."""
    found: dict[str, _Fact] = {}
    for name, (macro, usual) in _ASKED.items():
        if macro in macros:
            said = facts[name].word if name in facts and facts[name].value else f"{macro}={macros[macro]}"
            found[name] = _Fact(macros[macro] not in usual, said)
    if macros.get("__NO_MATH_ERRNO__") == "1":
        found["math_errno"] = _Fact(False, "")
    if macros.get("__ARM_SIZEOF_MINIMAL_ENUM") == "1":
        found["short_enums"] = _Fact(True, "")
    if macros.get("__STDC_HOSTED__") == "0":
        found["known_library"] = _Fact(False, "")
    if "_OPENMP" in macros:
        found["openmp"] = _Fact(True, "")
    return found


def speaks_of_openmp(words: Iterable[str]) -> bool:
    """Whether a compiler's words say if it obeys OpenMP."""
    return any(re.fullmatch("-(f|fno-|q)openmp(=.*)?", w) for w in words)


def predefined(changes: Iterable[Change]) -> dict[str, str]:
    """The macros that the compiler has before it reads anything, and their values."""
    found = (re.fullmatch(r"#define ([A-Za-z_]\w*) (\S+)", c.text) for c in changes if c.file == "<built-in>")
    return {m[1]: m[2] for m in found if m is not None}


def dialects(pre: Preprocessed, words: Sequence[str], lines: Iterable[int]) -> dict[int, Dialect]:
    """What C means where lines of preprocessed text are, counted from 0, in a file compiled with these words.

    Pragmas count up to where others take them back, attributes of functions wherever they are: they only add to what
    regions have to be prepared for.
    """
    macros = predefined(pre.changes)
    more = tuple(w for w in _attributes(pre.text))
    typed = not _user_text_has(pre, _MAY_ALIAS)
    states = _Pragmas(pre.text)
    out: dict[int, Dialect] = {}
    for line in sorted(set(lines)):
        here = states.at(line)
        found = dialect_of([*words, *here], macros)
        if more:
            found = found.weakest(dialect_of([*words, *here, *more], macros))
        out[line] = found if typed else replace(found, typed_memory=False)
    return out


def _attributes(text: str) -> Iterator[str]:
    """The flags in attributes of functions, wherever these are."""
    if "optimize" in text or "target" in text:
        for m in _ATTRIBUTE.finditer(text):
            if not text[text.rfind("\n", 0, m.start()) + 1 : m.start()].lstrip().startswith("#"):
                yield from _flags_in(m[2], "-m" if m[1] == "target" else "-f")


def _flags_in(texts: str, prefix: str) -> Iterator[str]:
    """Flags as attributes and `#pragma GCC optimize` have them: without -f, several in a text, -O as a number."""
    for m in _STRINGS.finditer(texts):
        for word in (m[1] or m[2]).split(","):
            word = word.strip()
            if prefix == "-f" and re.fullmatch(r"O?(\d|fast|s|g|z)?", word):
                yield f"-O{word.removeprefix('O')}"
            else:
                yield word if word.startswith("-") else prefix + word


def _user_text_has(pre: Preprocessed, what: re.Pattern[str]) -> bool:
    """Whether it is anywhere in the file or the user's headers."""
    if what.search(pre.text) is None:
        return False
    where = LineMap(pre.text, "")
    return any(where.locate(m.start()).file not in pre.system_headers for m in what.finditer(pre.text))


class _Pragmas:
    """The flags that pragmas of a preprocessed text set, line by line."""

    def __init__(self, text: str) -> None:
        self._changes: list[tuple[int, tuple[str, ...]]] = []
        if "#pragma" not in text:
            return
        now: tuple[str, ...] = ()
        stack: list[tuple[str, ...]] = []
        for number, line in enumerate(text.split("\n")):
            m = _PRAGMA.match(line) if "#" in line else None
            if m is None:
                continue
            now = _after(m[1], m[2], now, stack)
            self._changes.append((number, now))

    def at(self, line: int) -> tuple[str, ...]:
        """Those in force on this line."""
        return next((words for number, words in reversed(self._changes) if number < line), ())


def _after(kind: str, rest: str, now: tuple[str, ...], stack: list[tuple[str, ...]]) -> tuple[str, ...]:
    """The flags after a pragma; `stack` holds those that it may bring back."""
    word = rest.split("(")[0].split()[:1]
    if kind == "GCC" and word == ["push_options"]:
        stack.append(now)
    elif kind == "GCC" and word == ["pop_options"]:
        return stack.pop() if stack else ()
    elif kind == "GCC" and word == ["reset_options"]:
        return ()
    elif kind == "GCC" and word in (["optimize"], ["target"]):
        return (*now, *_flags_in(rest, "-f" if word == ["optimize"] else "-m"))
    elif kind == "STDC" and re.match(r"FENV_ACCESS\s+ON|FENV_ROUND\b", rest):
        return (*now, "-frounding-math", "-ftrapping-math")
    elif kind in _EXCEPTIONS and _EXCEPTIONS[kind].search(rest):
        return (*now, "-ftrapping-math")
    elif kind == "scalar_storage_order":
        other = "default" not in rest
        return (*now, "-fsso-struct=big-endian" if other else "-fsso-struct=native")
    return now
