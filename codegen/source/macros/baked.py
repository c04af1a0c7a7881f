"""Finds the macros and the branches of `#if` that each region's model depends on (`Baked`); target/text/checks.py
prints checks of them into generated code.

The result is right only for them, so the compiler has to see the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from codegen.options import CppOptions
from codegen.record import record
from codegen.source.encoding import decode
from codegen.source.layout.lexis import IDENT, blank_comments, identifiers
from codegen.source.layout.linemap import LineMap
from codegen.source.macro_tables import Macro, Table, tables_at, used
from codegen.source.macros.branches import ConditionalGroup, active, defines, fixed, groups_of, probe, taken
from codegen.source.preprocess import Preprocessed, preprocess_alone
from codegen.source.region_slice import RegionSlice
from codegen.source.regions import Region

_PIECE = re.compile(r"[^;{}]*[;{}]?")
_DECLARATION = re.compile(r"\s*(?!(?:return|goto|else|case|do)\b)[A-Za-z_$][\w$]*[\s*]+[A-Za-z_$(*]")
_VALUE = re.compile(r"=[^,;{}]*")


@record
class Baked:
    """The user's macros that a region depends on, by name; its conditionals and the branches taken in them.

    `threads` is the directive for whether OpenMP was there, where the region is another one otherwise. `text` is its
    own, which the groups are of. `known` is what is defined where the region begins, `fixed` are the names that the
    file itself defines, whatever the options, `elsewhere` those that declarations in headers use.
    """

    macros: Mapping[str, Macro]
    known: Table
    fixed: frozenset[str] = frozenset()
    text: str = ""
    groups: tuple[ConditionalGroup, ...] = ()
    taken: frozenset[int] = frozenset()
    elsewhere: frozenset[str] = frozenset()
    threads: str = ""


def baked(pre: Preprocessed, source: str, slices: Sequence[RegionSlice], cpp: CppOptions) -> dict[int, Baked]:
    """What the regions depend on, by their numbers."""
    tables = tables_at(pre.changes, [s.line for s in slices], pre.system_headers)
    files = {s.file: source for s in slices}
    return {s.region.index: _baked(s, tables[s.line], files, pre, cpp) for s in slices}


def _baked(s: RegionSlice, known: Table, files: dict[str, str], pre: Preprocessed, cpp: CppOptions) -> Baked:
    text = region_text(files[s.file], s.region)
    groups = groups_of(text)
    seen = taken(groups, preprocess_alone(_probe(known, text, groups), cpp, s.file)) if groups else frozenset[int]()
    code = active(text, groups, seen)
    around = list(_around(s, files, pre, _words(code)))
    macros = used("\n".join([code, *(text for _, text in around)]), known)
    elsewhere = frozenset(used("\n".join(text for file, text in around if file != s.file), known))
    own = fixed(files[s.file], s.region.begin)
    kept = frozenset(n for n, m in macros.items() if n in own and m.file == s.file)
    return Baked(macros, known, kept, text, () if defines(code) else groups, seen, elsewhere)


def region_text(source: str, region: Region) -> str:
    """The text between the pragmas."""
    return source[region.body_begin : region.body_end].replace("\r\n", "\n")


def _words(code: str) -> frozenset[str]:
    return frozenset(IDENT.findall(blank_comments(code)))


def _probe(known: Table, text: str, groups: Sequence[ConditionalGroup]) -> str:
    """The macros that are defined before a region, and its conditionals."""
    lines = []
    for m in known.values():
        if not re.match(r"__\w", m.name):
            head = m.name if m.params is None else f"{m.name}({', '.join(m.params)})"
            lines.append(f"#undef {m.name}\n#define {head} {m.body}\n")
    return "".join(lines) + probe(groups)


def _around(
    s: RegionSlice, files: dict[str, str], pre: Preprocessed, words: frozenset[str]
) -> Iterator[tuple[str, str]]:
    """The declarations that the model was made with: the user's files that they are in, and how they are written."""
    if s.refusal is not None:
        return
    where = LineMap(s.text, s.file)
    for at, part in enumerate(s.parts):
        first = where.locate(part.begin)
        last = where.locate(max(part.begin, part.end - 1)).line
        if first.file not in files and first.file in pre.user_deps:
            files[first.file] = read_or_empty(first.file)
        text = files.get(first.file, "")
        text = text[: s.region.begin] if at == s.root else text
        lines = "\n".join(text.split("\n")[first.line - 1 : last])
        yield first.file, "\n".join(_declared(lines, words)) if at == s.root else lines


def _declared(function: str, words: frozenset[str]) -> Iterator[str]:
    """The parameters of a function and declarations in it of what a region uses, without their values."""
    head, brace, rest = blank_comments(function).partition("{")
    yield _parameters(head)
    for piece in _PIECE.findall(rest if brace else ""):
        if _DECLARATION.match(piece) and not words.isdisjoint(identifiers(piece)):
            yield _VALUE.sub("", piece)


def _parameters(head: str) -> str:
    """What follows the name of a function: whatever it is called is of no account."""
    depth = 0
    for at in range(len(head) - 1, -1, -1):
        depth += (head[at] == ")") - (head[at] == "(")
        if head[at] == "(" and depth == 0:
            return head[at:]
    return head


def read_or_empty(path: str) -> str:
    """A header's text; nothing where it cannot be read again."""
    try:
        with open(path, "rb") as file:
            return decode(file.read())
    except OSError:
        return ""
