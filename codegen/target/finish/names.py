"""Names of generated code: `tw_` before all of them, `TW_` before macros, or a prefix of the user's own, which is put
in their place; checks that nobody else has these names, and raises InputError otherwise.

The words stand in templates, tables and printers alike, so they are exchanged in the finished text. What the regions
themselves call by such a name is the user's, and stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import count
from types import MappingProxyType

from codegen.diagnostics import InputError, Loc
from codegen.patterns import pattern
from codegen.record import record
from codegen.source.layout.lexis import CHAR, KEYWORDS, STRING, blank, blank_comments
from codegen.source.layout.linemap import LineMap
from codegen.source.macro_tables import Change
from codegen.source.preprocess import Preprocessed

DEFAULT = "tw"
_OUR_NAME = r"(?:\b|(?<=-D))(?:tw|TW)_\w+"  # in Makefiles -DTW_SERIAL
_OURS = pattern(_OUR_NAME)
_DEFINED = pattern(rf"#define ({_OUR_NAME})")
_QUOTED = pattern(f"{STRING}|{CHAR}")
_WORD = pattern(r"[A-Za-z_]\w*")
_ASKED = pattern(r"^[ \t]*#[ \t]*(?:el)?if[^\n]*", re.M)
_OPTIONS = pattern(r'^# \d+ "<(?:built-in|command[- ]line)>"', re.M)  # as gcc and as clang call them
_NO_NAMES = rf"^[ \t]*#[ \t]*(?:include\b[^\n]*|pragma\b[^(\n]*|\w+)|{STRING}"  # files, words of directives and texts


def prefix(text: str) -> str:
    """What names are to begin with; the underscore after it may be written too. Those that begin with one belong to
    compilers."""
    if re.fullmatch(r"[A-Za-z]\w*", text, re.ASCII) is None:
        raise ValueError(f"no C name can begin with '{text}'")
    return text.removesuffix("_")


@record
class NameSpelling:
    """How generated names are spelled; `kept` are the user's own that look like ours, `entries` more of ours."""

    prefix: str = DEFAULT
    kept: frozenset[str] = frozenset()
    entries: frozenset[str] = frozenset()

    def of(self, text: str) -> str:
        """Generated text with its names exchanged."""
        if self.prefix == DEFAULT:
            return text
        text = _OURS.sub(lambda m: self.word(m.group()), text)
        if not self.entries:
            return text
        return _WORD.sub(lambda m: f"{self.prefix}_{m.group()}" if m.group() in self.entries else m.group(), text)

    def new(self, text: str) -> frozenset[str]:
        """The names that are exchanged in a text, as they are spelled afterwards."""
        found = () if self.prefix == DEFAULT else _OURS.findall(text)
        return frozenset(self.word(w) for w in found) - self.kept

    def word(self, word: str) -> str:
        """One name."""
        if word in self.kept:
            return word
        return f"{self.prefix.upper() if word.startswith('TW') else self.prefix}_{word[3:]}"


def names_for(prefix: str, regions: Iterable[str], entries: Iterable[str] = ()) -> NameSpelling:
    """The names for a file: `regions` are the texts of its regions, `entries` functions that other files call."""
    if prefix == DEFAULT:
        return NameSpelling()
    kept = frozenset(w for r in regions for w in _OURS.findall(blank_comments(r)))
    return NameSpelling(prefix, kept, entries_of(entries))


def entries_of(functions: Iterable[str]) -> frozenset[str]:
    """The names of launches, and of what is handed to them."""
    return frozenset(n for f in functions for n in (f, f"{f}_args"))


def check_names(
    names: NameSpelling, file: str, source: str, support: str, made: Iterable[str], taken: Mapping[str, Loc]
) -> None:
    """Nobody else may have the names: `support` is the text above the user's own before they are exchanged in it,
    `made` are those in the regions, `taken` those that the source and its headers have."""
    if names.prefix == DEFAULT:
        for word in sorted(taken.keys() & {*_OURS.findall(support), *made}):
            raise _name_taken(word, taken[word])
        return
    found = {m.group(): m.start() for m in reversed(list(_WORD.finditer(blank_comments(source))))}
    for word in sorted(names.kept.intersection(_OURS.findall(support))):
        raise InputError("name-taken", f"`{word}` is a name of the source and one of generated code",
                         _place(file, source, found[word]), "rename it in the source")  # fmt: skip
    new = {*(names.word(w) for w in _OURS.findall(support)), *made} - names.kept
    for word in sorted(new.intersection(found)):
        raise _name_taken(word, _place(file, source, found[word]))


def check_prefix(names: NameSpelling, preprocessed: str, text: str) -> None:
    """No name that a region's text gets by the user's prefix may be one of the function that it stands in."""
    if names.prefix == DEFAULT:
        return
    new = {names.word(w) for w in _OURS.findall(text)} - names.kept
    words = _WORD.finditer(_QUOTED.sub(lambda q: blank(q.group()), preprocessed))
    taken = next((m for m in words if m[0] in new), None)
    if taken is not None:
        raise _name_taken(taken[0], LineMap(preprocessed).locate(taken.start()))


def check_region_names(
    text: str, original: str, loc: Loc, macros: frozenset[str] = frozenset(),
    ours: Mapping[str, Loc] = MappingProxyType({}),
) -> None:  # fmt: skip
    """A region's new text may not declare what the region itself calls by such a name, nor what is a macro; `ours` are
    the macros that look like names of generated code, which only a region's own text may have. To ask whether one is
    defined is how switches are used."""
    words, its_own = ({*_WORD.findall(_ASKED.sub("", blank_comments(t)))} for t in (text, original))
    for word in sorted(ours.keys() & words - its_own):
        raise _name_taken(word, ours[word])
    for word in sorted({*filter(_OURS.fullmatch, its_own), *(macros & words)}):
        qualifiers = r"(?:const\s+|(?:__)?restrict\s+)*"
        variable = rf"[\w*]\s+(?:\*\s*)*{qualifiers}\b{word}\s*(?:=[^=]|\[\w+\]\s*[;=])"
        declaration = re.compile(rf"{variable}|\.{word}\s*=[^=]")  # or a member of what a launch gets
        if declaration.search(text) and not declaration.search(original):
            raise InputError("name-taken", f"`{word}` is a name of the source and one of generated code", loc,
                             "rename it in the source")  # fmt: skip


def names_taken(pre: Preprocessed) -> dict[str, Loc]:
    """The names of the source and of its headers that look like those of generated code, and where they are first.

    Macros count where they are defined: to ask for one is how switches are used.
    """
    found = our_macros(pre)
    if "tw_" in pre.text or "TW_" in pre.text:
        where = LineMap(pre.text)
        for m in _OURS.finditer(_QUOTED.sub(lambda q: blank(q.group()), pre.text)):
            found.setdefault(m.group(), where.locate(m.start()))
    return found


def our_macros(pre: Preprocessed) -> dict[str, Loc]:
    """The macros that look like names of generated code, switches of the command line aside."""
    found: dict[str, Loc] = {}
    for change in pre.changes:
        m = _DEFINED.match(change.text)
        if m is not None and (not change.file.startswith("<") or m[1].startswith(DEFAULT)):
            begin = _line_start(pre.text, change.line)
            found.setdefault(m[1], replace(LineMap(pre.text).locate(begin), col=1))
    return found


def apart_from_options(support: str, pre: Preprocessed, kept: Iterable[str]) -> str:
    """Text above the user's own, with other names for variables of its own that the command line makes macros of: no
    other macro is defined there. Functions and types may be somebody's, and `kept` are macros that it means."""
    defined = (c.text.split(maxsplit=2)[1] for c in _before_the_file(pre) if "define " in c.text)
    found = {w for w in defined if _WORD.fullmatch(w) and not w.startswith("_") and not w.endswith("_t")} - {*kept}
    words = set(_WORD.findall(support)) if found else set()
    for word in sorted(found & words - KEYWORDS):
        if not _OURS.match(word) and not re.search(rf"\b{word}\s*\(", support):
            other = next(w for k in count(2) if (w := f"{word}_{k}") not in words | found)
            support = _with_another_name(support, word, other)
    return support


def _with_another_name(text: str, word: str, other: str) -> str:
    return re.sub(rf"({_NO_NAMES})|\b{word}\b", lambda m: m[1] or other, text, flags=re.M)


def _before_the_file(pre: Preprocessed) -> list[Change]:
    """What options define, `-D` and the headers of `-include`, system headers aside."""
    begin = max((m.start() for m in _OPTIONS.finditer(pre.text)), default=0)
    last = pre.text.count("\n", 0, begin)
    own = (c for c in pre.changes if c.file != "<built-in>" and c.file not in pre.system_headers)
    return [c for c in own if c.line < last]


def _line_start(text: str, line: int) -> int:
    at = 0
    for _ in range(line):
        at = text.find("\n", at) + 1
    return at


def _name_taken(word: str, loc: Loc) -> InputError:
    return InputError("name-taken", f"generated code would use `{word}`, which is a name of the source", loc,
                      "choose another --prefix")  # fmt: skip


def _place(file: str, source: str, offset: int) -> Loc:
    line = source.count("\n", 0, offset) + 1
    return Loc(file, line, offset - (source.rfind("\n", 0, offset) + 1) + 1)
