"""Plain nests of products. A product is planned over the box around its instances, with a condition where corners are
cut off (triangles, bands); its plain nest, which is printed and proven, has bounds in place of that condition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from codegen.ast.ctree import Bin, CExpr, CNode, For, Fun, If, Instance, Int, ProductNode
from codegen.ast.linear import linear


def plain_nest(node: ProductNode) -> CNode:
    """A product's plain nest: without tests for what bounds of its loops can say. It is made once, so that its loops
    are the same ones for all who ask."""
    known: CNode | None = node.__dict__.get("_plain")
    if known is None:
        known = node.__dict__["_plain"] = _bounded(node.body)
    return known


def _bounded(body: CNode) -> CNode:
    """A condition that moves by one with a loop, and with none inside it, is a bound of that loop."""
    loops, instance, corners = opened(body)
    if not corners:
        return body
    rest = []
    for e in corners:
        k = _bounded_by(loops, e)
        if k is None:
            rest.append(Bin(">=", e, Int(0)))
        else:
            loops = (*loops[:k], _cut(loops[k], e), *loops[k + 1 :])
    node: CNode = instance
    if rest:
        node = If(_all(rest), instance)
    for lp in reversed(loops):
        node = replace(lp, body=node)
    return node


def opened(node: CNode) -> tuple[tuple[For, ...], Instance, tuple[CExpr, ...]]:
    """The loops of a product's body, its statement, and what must not be negative for it to run."""
    loops: list[For] = []
    while isinstance(node, For):
        loops.append(node)
        node = node.body
    corners: list[CExpr] = []
    if isinstance(node, If):
        corners = _conjuncts(node.cond)
        node = node.then
    assert isinstance(node, Instance)
    return tuple(loops), node, tuple(corners)


def _conjuncts(e: CExpr) -> list[CExpr]:
    """The left sides of `x >= 0 && ...`."""
    if isinstance(e, Bin) and e.op == "&&":
        return [*_conjuncts(e.left), *_conjuncts(e.right)]
    assert isinstance(e, Bin) and e.op == ">=" and e.right == Int(0)
    return [e.left]


def _all(conditions: Sequence[CExpr]) -> CExpr:
    first, *others = conditions
    for e in others:
        first = Bin("&&", first, e)
    return first


def _bounded_by(loops: Sequence[For], corner: CExpr) -> int | None:
    """The number of the innermost loop that a condition moves with; None where it does so in larger steps."""
    value = linear(corner)
    if value is None:
        return None
    moves = [value.factor(lp.var) for lp in loops]
    last = max((k for k, by in enumerate(moves) if by), default=None)
    return last if last is not None and abs(moves[last]) == 1 else None


def _cut(lp: For, corner: CExpr) -> For:
    """The loop over those of its values for which a sum that moves by one with it is not negative."""
    value = linear(corner)
    assert value is not None and lp.op == "<" and lp.step == 1
    by = value.factor(lp.var)
    others = replace(value, terms=tuple(t for t in value.terms if t[0] != lp.var))
    if by > 0:
        return replace(lp, lower=Fun("max", (lp.lower, others.scaled(-1).expression())))
    return replace(lp, upper=Fun("min", (lp.upper, others.shifted(1).expression())))
