"""Removes the `#define` and `#undef` lines that -dD has put into preprocessed text and records them; returns the macros
that are defined at given lines, and those of the user's own that a piece of source uses."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from codegen.record import record
from codegen.source.layout.lexis import CHAR, IDENT, MARKER, SPLICE, STRING, blank_comments
from codegen.source.layout.linemap import unquote

_CHANGE = re.compile(r"#[ \t]*(define|undef)[ \t]+([A-Za-z_$][\w$]*)(\([^)]*\))?[ \t]*(.*)")
_DIRECTIVE = re.compile(r"^[ \t]*(?:#|%:)[ \t]*(\w*)([^\n]*)", re.M)
_QUOTED = re.compile(f"{STRING}|{CHAR}")


@record
class Macro:
    """A definition; `params` is None for a macro without arguments. `foreign`: a compiler or a system header has it."""

    name: str
    params: tuple[str, ...] | None
    body: str
    file: str = ""
    foreign: bool = False


@record
class Change:
    """A `#define` or `#undef`: its line in the preprocessed text, counted from 0, and the file it was written in."""

    line: int
    file: str
    text: str


Table = Mapping[str, Macro]


def take_changes(out: str) -> tuple[str, tuple[Change, ...]]:
    """Preprocessed text without the definitions that -dD put there, and those. Their lines stay, empty."""
    lines = out.split("\n")
    found: list[Change] = []
    file = ""
    for at, line in enumerate(lines):
        if line[:1] != "#":
            continue
        if line.startswith(("#define ", "#undef ")):
            found.append(Change(at, file, line))
            lines[at] = ""
        elif line.startswith("# ") and (marker := MARKER.match(line)) is not None and marker[2] is not None:
            file = unquote(marker[2])
    return "\n".join(lines), tuple(found)


def tables_at(changes: Iterable[Change], lines: Iterable[int], system: frozenset[str]) -> dict[int, Table]:
    """What is defined where lines of the preprocessed text begin; `system` are the system headers."""
    out: dict[int, Table] = {}
    table: dict[str, Macro] = {}
    todo = sorted(set(lines), reverse=True)
    for change in changes:
        while todo and todo[-1] <= change.line:
            out[todo.pop()] = dict(table)
        if not todo:
            break
        m = _CHANGE.match(change.text)
        if m is None or m[1] == "undef":
            table.pop(m[2] if m else "", None)
            continue
        params = None if m[3] is None else tuple(p.strip() for p in m[3][1:-1].split(",") if p.strip())
        foreign = change.file in system or change.file == "<built-in>"
        table[m[2]] = Macro(m[2], params, m[4].strip(), change.file, foreign)
    return out | dict.fromkeys(todo, table)


def macro_names(changes: Iterable[Change], source: str) -> frozenset[str]:
    """The names that a macro has anywhere: in the file, its headers or the command line, the compiler's own aside, and
    those that begin as helpers do, which are looked for when these are known. Of a preprocessor that shows no
    definitions those of the source are known."""
    lines = [c.text for c in changes] or [m[0].strip() for m in _DIRECTIVE.finditer(source)]
    found = (m[2] for m in map(_CHANGE.match, lines) if m is not None and m[1] == "define")
    return frozenset(name for name in found if not name.startswith(("__", "tw_", "TW_")))


def used(source: str, table: Table) -> dict[str, Macro]:
    """The user's own macros that stand in a piece of source, and in what those stand for, by name.

    Of directives only the bodies of definitions count.
    """
    todo = [_code(source)]
    found: dict[str, Macro] = {}
    while todo:
        text = todo.pop()
        for m in IDENT.finditer(text):
            macro = table.get(m.group())
            if macro is None or macro.foreign or macro.name in found:
                continue
            if macro.params is not None and not text[m.end() :].lstrip().startswith("("):
                continue
            found[macro.name] = macro
            todo.append(_without(_code(macro.body), macro.params or ()))
    return dict(sorted(found.items()))


def _without(text: str, words: Collection[str]) -> str:
    return IDENT.sub(lambda w: " " if w.group() in words else w.group(), text)


def _code(source: str) -> str:
    """Source without comments, strings and directives other than definitions."""
    text = _QUOTED.sub('""', blank_comments(SPLICE.sub(" ", source)))
    return _DIRECTIVE.sub(lambda m: m[2] if m[1] == "define" else "", text)
