"""Decides whether none, or all, of the points (row, column, depth) of a box belong to a product over a part of its box.
A corner is a value that is not negative where a point belongs.

All of it is linear, but for minima and maxima, so isl is asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codegen.verify.poly import ONE, ZERO, Poly
from codegen.verify.text.compare import COLUMN, DEPTH, ROW
from codegen.verify.text.facts import Facts
from codegen.verify.text.integers import Integers
from codegen.verify.text.linear import never
from codegen.verify.text.read import Node, nodes
from codegen.verify.text.spans import Span


def with_depth(corner: Node) -> bool:
    """Does the number of steps depend on it, and not only whether there are any?"""
    return any(n.text == DEPTH for n in nodes(corner))


def at(corner: Node, i: Poly, j: Poly, k: Poly, facts: Facts) -> Poly:
    """The value of a corner at a point."""
    return Integers(facts, {ROW: i, COLUMN: j, DEPTH: k}).value(corner)


def none_belongs(corners: Sequence[Node], spans: Mapping[str, Span], facts: Facts) -> bool:
    """Does no point of a box belong?"""
    (i, j, k), inside = _inside(facts, spans["i"], spans["j"], spans["k"])
    return never([*inside, *(at(x, i, j, k, facts) for x in corners)], facts)


def all_belong(
    corners: Sequence[Node], first: tuple[Poly, Poly], sizes: tuple[Poly, Poly], depth: Span, facts: Facts
) -> bool:
    """Do all points of a box belong, which begins at the row and column `first`?"""
    (i, j), (rows, columns) = first, sizes
    (r, c, k), inside = _inside(facts, Span(ZERO, rows), Span(ZERO, columns), depth)
    return all(never([*inside, -at(x, i + r, j + c, k, facts) - 1], facts) for x in corners)


def _inside(facts: Facts, *spans: Span) -> tuple[list[Poly], list[Poly]]:
    """Any point of a box, and what is known of it."""
    point = [facts.fresh("at") for _ in spans]
    return point, [p for x, s in zip(point, spans, strict=True) for p in (x - s.lo, s.hi - ONE - x)]
