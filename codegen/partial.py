"""Refused regions in parts: finds the largest nests inside that can be modelled, and leaves the rest as written.

Parts run in the order of the source, and inside a loop that stays each of its iterations runs them anew. So each is a
region of its own, as if the user had marked it, and nothing has to be known about two of them together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from codegen.diagnostics import Unsupported
from codegen.frontend.build import extract
from codegen.frontend.prepare import prepared
from codegen.frontend.rewrite.loops.canonical_loops import assigned_in
from codegen.frontend.syntax.constructs import check_constructs
from codegen.frontend.syntax.symbols import RegionSite, part_of
from codegen.record import record
from codegen.scop.effort import reading, spend
from codegen.source.layout.lexis import blank_comments
from codegen.source.layout.outline import Compound, blocks, matched, outline
from codegen.source.pieces import DIRECTIVE
from codegen.source.region_slice import Piece, RegionSlice

LEAST_DEPTH = 2  # of a nest inside a loop that stays: starting it has a price each time
_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)


@record
class _Place:
    """A block of the region: how to get there, its statements in the tree and in the text, and the variables that the
    headers of the loops around it set."""

    path: tuple[tuple[int, int], ...]
    items: tuple[c_ast.Node, ...]
    block: Compound
    counters: frozenset[str] = frozenset()
    looped: bool = False


def parts(s: RegionSlice, site: RegionSite, text: str, proper: bool) -> tuple[Piece, ...]:
    """The parts of a region in this file; with `proper` none is all of it, though that has a model."""
    region = s.region
    top = outline(text, region.body_begin, region.body_end)
    if top is None or DIRECTIVE.search(blank_comments(text[region.body_begin : region.body_end])):
        return ()
    finder = _Finder(s, site, text)
    found = finder.within(_Place((), site.statements, top), proper)
    return tuple(replace(p, number=k + 1) for k, p in enumerate(found))


@record
class _Finder:
    """The search in one region."""

    slice: RegionSlice
    site: RegionSite
    text: str

    def within(self, at: _Place, proper: bool = False) -> Iterator[Piece]:
        """The parts of a block, in order."""
        spans = matched(at.block.spans, at.items, self.text)
        good = [span is not None and self._modelled(at, k, k + 1) for k, span in enumerate(spans)]
        nests = [k for k, node in enumerate(at.items) if _depth(node) and spans[k] is not None]
        runs = list(self._runs(at, good, nests))
        if proper and len(runs) == 1 and runs[0] == (nests[0], nests[-1] + 1):
            runs = [(k, k + 1) for k in nests] if len(nests) > 1 else []
            good = [g and len(nests) > 1 for g in good]
        taken = {k for first, after in runs for k in range(first, after)}
        starts = dict(runs)
        for k in nests:
            if k in starts:
                yield from self._piece(at, k, starts[k])
            elif k not in taken and not good[k]:
                for inner in self._inside(at, k):
                    yield from self.within(inner)

    def _runs(self, at: _Place, good: Sequence[bool], nests: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Statements that can be modelled together, from a nest to a nest, deep enough to be worth it."""
        need = LEAST_DEPTH if at.looped else 1
        worth = [k for k in nests if good[k] and _depth(at.items[k]) >= need and self._free(at, k)]
        while worth:
            first, last = worth[0], worth[0]
            for k in worth[1:]:
                between = range(last + 1, k)
                if any(not good[b] and not isinstance(at.items[b], c_ast.Pragma) for b in between):
                    break
                if not all(self._free(at, b) for b in between) or not self._modelled(at, first, k + 1):
                    break
                last = k
            yield first, last + 1
            worth = [k for k in worth if k > last]

    def _free(self, at: _Place, k: int) -> bool:
        """Does the statement leave the counters of loops around it alone?"""
        return not at.counters & assigned_in(at.items[k])

    def _modelled(self, at: _Place, first: int, after: int) -> bool:
        if isinstance(at.items[first], (c_ast.Decl, c_ast.Pragma)):
            return False  # what follows may use what is declared
        spend(reading(self.slice.text))
        try:
            part = prepared(part_of(self.site, at.path, first - _leading(at.items, first), after))
            check_constructs(part, False)
            extract(part, self.slice.region.index, self.slice.pure_functions)
        except (Unsupported, isl.Error):
            return False
        return True

    def _inside(self, at: _Place, k: int) -> Iterator[_Place]:
        """The blocks of a statement that stays."""
        node, span = at.items[k], matched(at.block.spans, at.items, self.text)[k]
        if span is None or len(span.blocks) != len(blocks(node)):
            return
        loop = isinstance(node, _LOOPS)
        own = frozenset[str]()
        if isinstance(node, c_ast.For):
            own = own.union(*(assigned_in(x) for x in (node.init, node.cond, node.next)))
        for b, items in enumerate(blocks(node)):
            yield _Place((*at.path, (k, b)), items, span.blocks[b], at.counters | own, at.looped or loop)

    def _piece(self, at: _Place, first: int, after: int) -> Iterator[Piece]:
        spans = matched(at.block.spans, at.items, self.text)
        a, b = spans[first], spans[after - 1]
        assert a is not None and b is not None
        begin, lead = a.begin, _leading(at.items, first)
        if lead:
            begin = _line(self.text, at.items[first - lead].coord.line)
            if not re.match(r"[ \t]*#[ \t]*pragma\b", self.text[begin:]):
                return
        begin, end = _whole_lines(self.text, begin, b.end)
        yield Piece(0, first - lead, after, begin, end, at.path, not at.block.braced)


def _leading(items: Sequence[c_ast.Node], k: int) -> int:
    """How many pragmas stand right before a statement."""
    n = 0
    while n < k and isinstance(items[k - n - 1], c_ast.Pragma):
        n += 1
    return n


def _line(text: str, number: int) -> int:
    """Where a line begins."""
    at = 0
    for _ in range(number - 1):
        at = text.find("\n", at) + 1
    return at


def _whole_lines(text: str, begin: int, end: int) -> tuple[int, int]:
    """The span with what is left of its first and last line, if that is blank."""
    start = text.rfind("\n", 0, begin) + 1
    newline = text.find("\n", end)
    if newline >= 0 and not text[end:newline].strip():
        end = newline + 1
    return (begin if text[start:begin].strip() else start), end


def _depth(node: c_ast.Node) -> int:
    """How deep loops are nested in a statement."""
    inner = max((_depth(x) for b in blocks(node) for x in b), default=0)
    return inner + isinstance(node, _LOOPS)
