"""Splits a large region into pieces of consecutive statements, each modelled, planned and proven on its own.

Pieces run one after the other, as in the source. So whatever is legal within each of them is legal for the whole, and
nothing has to be known about two of them together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from pycparser import c_ast

from codegen.patterns import pattern
from codegen.record import record
from codegen.source.layout.lexis import CHAR, STRING, blank_comments
from codegen.source.region_slice import Piece, RegionSlice

WHOLE = 128  # statements of a region that is looked at as a whole first
EACH = 32  # statements of a piece, unless one nest has more
DIRECTIVE = pattern(r"^[ \t]*(?:#|%:)(?![ \t]*pragma\b)", re.M)
_TEXT = pattern(f"{STRING}|{CHAR}")


@record
class RegionPieces:
    """A region in pieces, and how many statements it has; without pieces where it has to stay whole."""

    pieces: tuple[Piece, ...]
    statements: int


def maybe_large(s: RegionSlice) -> bool:
    """Is it worth a look? Every statement ends in a semicolon."""
    return s.refusal is None and s.text.count(";", *s.span) > EACH


def cut(s: RegionSlice, statements: Sequence[c_ast.Node], source: str) -> RegionPieces:
    """The region in pieces of about EACH statements, given its statements in the parser's tree and the file."""
    sizes = [sum(1 for _ in _single(x)) for x in statements]
    groups = [*_groups(s, statements, sizes, source), (len(statements), s.region.body_end)]
    made = tuple(
        Piece(k + 1, first, after, begin, end)
        for k, ((first, begin), (after, end)) in enumerate(pairwise(groups))
    )
    sound = len(made) > 1 and all(_balanced(source[p.begin : p.end]) for p in made)
    return RegionPieces(made if sound else (), sum(sizes))


def _groups(
    s: RegionSlice, statements: Sequence[c_ast.Node], sizes: Sequence[int], source: str
) -> Iterator[tuple[int, int]]:
    """Where pieces begin: the number of a statement and an offset in the file."""
    region, held = s.region, 0
    yield 0, region.body_begin
    if DIRECTIVE.search(blank_comments(source[region.body_begin : region.body_end])):
        return
    starts = [0, *(m.end() for m in re.finditer("\n", source))]
    for k, (node, size) in enumerate(zip(statements, sizes, strict=True)):
        if isinstance(node, c_ast.Decl):
            return  # what follows may use it
        begin = _own_line(s, node, starts, source)
        if held and held + size > EACH and begin is not None and not isinstance(statements[k - 1], c_ast.Pragma):
            yield k, begin
            held = 0
        held += size


def _own_line(s: RegionSlice, node: c_ast.Node, starts: Sequence[int], source: str) -> int | None:
    """The offset of the line that a statement begins, with nothing before it on that line."""
    at = node.coord
    if at is None or str(at.file) != s.file or not s.region.first_line < at.line < s.region.last_line or not at.column:
        return None
    begin = starts[at.line - 1]
    return begin if not source[begin : begin + at.column - 1].strip() else None


def _single(node: c_ast.Node | None) -> Iterator[c_ast.Node]:
    """The statements without a structure in one."""
    if isinstance(node, c_ast.Compound):
        for item in node.block_items or ():
            yield from _single(item)
    elif isinstance(node, (c_ast.For, c_ast.While, c_ast.DoWhile)):
        yield from _single(node.stmt)
    elif isinstance(node, c_ast.If):
        yield from _single(node.iftrue)
        yield from _single(node.iffalse)
    elif node is not None and not isinstance(node, (c_ast.Pragma, c_ast.EmptyStatement)):
        yield node


def _balanced(text: str) -> bool:
    """Does every brace and parenthesis have its partner? Macros may hide one, and then a cut would be wrong."""
    plain = _TEXT.sub('""', blank_comments(text))
    return all(plain.count(a) == plain.count(b) for a, b in ("{}", "()", "[]"))
