"""A file with versions of its functions: copies for the levels ahead of each function, which asks at run time for the
one to call; and above the user's own text what they need."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import count

from codegen.machine.variants import DISPATCHES, MachineVariant
from codegen.record import record
from codegen.source.layout.lexis import blank_comments, identifiers
from codegen.source.preprocess import Preprocessed
from codegen.target.dispatch.functions import DispatchedFunction, bare_code
from codegen.target.dispatch.levels import Level, LevelText, attribute, level_text, renamed, words_in
from codegen.target.finish.names import NameSpelling
from codegen.target.finish.wrap import WIDTH, wrap

MARK = "\1"  # where a function begins, behind its brace and where it ends; no C text has it
_STORAGE = re.compile(r"\b(?:static|extern|inline|__inline__|__inline)\b[ \t]*")
_SAID = re.compile(r"#line(?: (\d+) |$)")
_LAST_LINE = re.compile(r"(?:#line .*\n)?\Z")


@record
class Version:
    """A function as it was generated, from its name's parenthesis on, and the copy for a level, counted from the
    highest."""

    level: int
    original: str
    copy: str


@record
class Dispatched:
    """The file's body and the text above it, with versions. `moved` are lines of the old body, counted from 0, and how
    much further down all from there on stand."""

    body: str
    support: str
    levels: tuple[LevelText, ...]
    versions: tuple[Version, ...]
    moved: tuple[tuple[int, int], ...]


@record
class Spelling:
    """How generated names are spelled, which others are taken, and the file's name in `#line`; empty for no lines."""

    names: NameSpelling
    taken: frozenset[str]
    line_name: str = ""


def marks(functions: Sequence[DispatchedFunction]) -> list[tuple[int, int, str]]:
    """Insertions into the source by which functions are found in the new text."""
    return [(at, at, MARK) for f in functions for at in (f.begin, f.body + 1, f.end)]


def words_of(text: str, pre: Preprocessed) -> frozenset[str]:
    """All that names of copies may not be."""
    macros = (w for c in pre.changes for w in words_in(c.text))
    return frozenset({*identifiers(text), *identifiers(pre.text), *macros})


def dispatched(
    body: str,
    support: str,
    functions: Sequence[DispatchedFunction],
    machines: Sequence[MachineVariant],
    spelling: Spelling,
) -> Dispatched:
    """`body` has marks; `machines` are all that the preprocessor chooses among."""
    parts = body.split(MARK)
    assert len(parts) == 3 * len(functions) + 1, "functions lie in each other"
    names, asked = spelling.names, [m for m in machines if m.level]
    inside = words_in("".join(parts[2::3]))
    wanted = [w for w in words_in(support) if names.word(w) in inside]
    whens = [*(m.when for m in machines), ""]
    tuned = not any(f.calls for f in functions)  # what they call is not, and would not be written out in them
    own = [Level(m.level, tuned and bool(m.tune)) for m in asked]
    levels = tuple(
        level_text(support, whens, whens.index(m.when), x, wanted) for m, x in zip(asked, own, strict=True)
    )
    in_body = [{names.word(a): names.word(b) for a, b in x.names.items()} for x in levels]
    out, taken = [parts[0]], set(spelling.taken)
    versions: list[Version] = []
    moved: list[tuple[int, int]] = []
    lines = parts[0].count("\n")
    for n, f in enumerate(functions):
        head, inner, behind = parts[3 * n + 1 : 3 * n + 4]
        called = [_free(f"{f.name}_{m.level}", taken) for m in asked]
        taken |= set(called)
        name_at = f.at - f.begin
        copies = []
        for k, (level, name) in enumerate(zip(own, called, strict=True)):
            rest = head[name_at + len(f.name) :]
            copy = renamed(rest + inner, in_body[k])
            start = f"{names.word(attribute(level))} static {_STORAGE.sub('', head[:name_at])}{name}"
            copies.append(_line(f.line, spelling) + _narrow(start + copy, rest + inner, f.line, spelling))
            versions.append(Version(k, rest + inner, copy))
        if f.recurs:  # copies come before it
            copies.insert(0, f"{_line(f.line, spelling)}{head[: len(blank_comments(head[:-1]).rstrip())]};")
        ahead = "\n".join([f"#ifdef {names.word('TW_DISPATCH')}", *copies, "#endif\n"]) + _line(f.line, spelling)
        ahead = ahead if not out[-1] or out[-1].endswith("\n") else f"\n{ahead}"
        choice = f"\n{_choice(f, called, names)}{_line(f.line + head.count(chr(10)) + 1, spelling)}".removesuffix("\n")
        if not inner.startswith(("\n", "\r\n")):
            choice += "\n"
        ahead, choice = (_as_in(body, x) for x in (ahead, choice))
        moved += [(lines, ahead.count("\n")), (lines + head.count("\n") + 1, choice.count("\n"))]
        lines += (head + inner + behind).count("\n")
        out += [ahead, head, choice, inner, behind]
    above = _LAST_LINE.sub("", support) + _levels(levels, asked) + _LAST_LINE.search(support)[0]  # type: ignore[index]
    return Dispatched("".join(out), above, levels, tuple(versions), tuple(moved))


def _narrow(text: str, original: str, line: int, spelling: Spelling) -> str:
    """A version, which begins on a line of the source, with the lines broken that longer names made too long. The
    user's own stay as they are. Between parentheses, which may be those of a macro, no line says where it comes from:
    the first behind them does."""
    old = text.replace("\r\n", "\n").split("\n")
    made, firsts = wrap("\n".join(old), [x for x in original.splitlines() if len(x) > WIDTH])
    if not spelling.line_name:
        return made
    lines, out = made.split("\n"), list[str]()
    bare = bare_code("\n".join(old)).split("\n")
    depth, moved = 0, False
    for k, (words, first, past) in enumerate(zip(old, firsts, [*firsts[1:], len(lines)], strict=True)):
        said = _SAID.match(words)
        line = int(said[1]) if said else line + 1  # of what follows
        out += lines[first:past]
        depth += bare[k].count("(") - bare[k].count(")")
        moved = (moved or past - first > 1) and not said
        if moved and depth <= 0 and k + 1 < len(old) and not _SAID.match(old[k + 1]):
            out.append(_line(line, spelling).rstrip())
            moved = False
    return "\n".join(out)


def _free(name: str, taken: Collection[str]) -> str:
    return name if name not in taken else next(x for k in count(2) if (x := f"{name}_{k}") not in taken)


def _as_in(body: str, text: str) -> str:
    return re.sub(r"\r?\n", "\r\n", text) if "\r\n" in body else text


def _line(line: int, spelling: Spelling) -> str:
    return f'#line {line} "{spelling.line_name}"\n' if spelling.line_name else ""


def _choice(f: DispatchedFunction, called: Sequence[str], names: NameSpelling) -> str:
    """The first statements of a function: what the processor has decides which version runs."""
    arguments = ", ".join(f.arguments)
    text = f"#ifdef {names.word('TW_DISPATCH')}\n"
    for k, name in enumerate(called):
        call = f"{name}({arguments});"
        run = f"\n    return {call}\n" if f.returns else f" {{\n    {call}\n    return;\n  }}\n"
        text += f"  if ({names.word('TW_LEVEL')} >= {len(called) - k}){run}"
    return f"{text}#endif\n"


def _levels(levels: Sequence[LevelText], asked: Sequence[MachineVariant]) -> str:
    """What versions need, and the function that asks the processor."""
    out = [
        "/* Functions below have versions for what the processor may have; each asks for the one to call. */",
        f"#if {DISPATCHES} && !({asked[0].when})",
        "#define TW_DISPATCH",
    ]
    for m, x in zip(asked, levels, strict=True):
        words = ",".join([*m.features, *([f"tune={m.tune}"] if x.level.tuned else [])])
        out += [f'#define {attribute(x.level)} __attribute__((target("{words}")))', x.text.rstrip("\n")]
    numbers = ", ".join(f"{len(asked) - k}: {m.level}" for k, m in enumerate(asked))
    out += [
        "#ifndef TW_LEVELS",
        "#define TW_LEVELS",
        "static inline __attribute__((unused)) int tw_level(void)",
        "{",
        "  static int known = -1; /* threads that ask at once find the same */",
        "  int level = __atomic_load_n(&known, __ATOMIC_RELAXED);",
        "  if (level < 0) {",
        "    __builtin_cpu_init();",
        "    level = 0;",
    ]
    for k, m in reversed(list(enumerate(asked))):
        has = " && ".join(f'__builtin_cpu_supports("{x}")' for x in m.features)
        out += [f"    if ({has})", f"      level = {len(asked) - k};"]
    out += [
        "    __atomic_store_n(&known, level, __ATOMIC_RELAXED);",
        "  }",
        "  return level;",
        "}",
        "#endif",
        f"#ifndef TW_LEVEL /* {numbers}, 0: what the compiler was told of; -DTW_LEVEL=0 and the like choose one */",
        "#define TW_LEVEL tw_level()",
        "#endif",
        "#endif",
    ]
    return "".join(f"{x}\n" for x in out if x)
