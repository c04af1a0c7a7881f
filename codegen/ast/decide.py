"""Simplifies the C tree under facts: comparisons that are known to hold, or not to, are folded away."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from codegen.ast.ctree import (
    Bin,
    Block,
    CExpr,
    CNode,
    Cond,
    Declare,
    For,
    Fun,
    If,
    Instance,
    Neg,
    ProductNode,
    block,
    expr_kids,
)
from codegen.ast.linear import Linear, linear

# Is the sum >= 0? None where that is not known.
Known = Callable[[Linear], bool | None]
COMPARISONS = ("<", "<=", ">", ">=", "==")


def comparisons(e: CExpr) -> Iterator[Bin]:
    """All comparisons in an expression."""
    if isinstance(e, Bin) and e.op in COMPARISONS:
        yield e
    for k in expr_kids(e):
        yield from comparisons(k)


def signs(e: Bin) -> tuple[Linear, ...] | None:
    """Sums that are all >= 0 exactly where the comparison holds; None where its sides are no sums."""
    left, right = linear(e.left), linear(e.right)
    if left is None or right is None:
        return None
    difference = left.plus(right, -1)
    if e.op == "==":
        return difference, difference.scaled(-1)
    if e.op in ("<", "<="):
        difference = difference.scaled(-1)
    return (difference.shifted(-1 if e.op in ("<", ">") else 0),)


def condition(e: CExpr, known: Known) -> CExpr | bool:
    """The condition without what is known."""
    if isinstance(e, Bin) and e.op in ("&&", "||"):
        left, right = condition(e.left, known), condition(e.right, known)
        settles = e.op == "||"  # this value of one side is the value of both
        if left is settles or right is settles:
            return settles
        if isinstance(left, bool):
            return right
        return left if isinstance(right, bool) else Bin(e.op, left, right)
    if isinstance(e, Bin) and e.op in COMPARISONS:
        found = signs(e)
        truths = [known(s) for s in found] if found is not None else [None]
        if any(t is False for t in truths):
            return False
        if all(truths):
            return True
    return e


def expression(e: CExpr, known: Known) -> CExpr:
    """The expression without choices that are known."""
    if isinstance(e, Cond):
        cond = condition(e.cond, known)
        if isinstance(cond, bool):
            return expression(e.yes if cond else e.no, known)
        return Cond(cond, expression(e.yes, known), expression(e.no, known))
    if isinstance(e, Bin):
        return Bin(e.op, expression(e.left, known), expression(e.right, known))
    if isinstance(e, Neg):
        return Neg(expression(e.arg, known))
    return Fun(e.name, tuple(expression(a, known) for a in e.args)) if isinstance(e, Fun) else e


def decided(node: CNode, known: Known) -> CNode | None:
    """The tree without tests whose result is known; None where nothing is left of it."""
    if isinstance(node, Block):
        kids = [k for k in (decided(c, known) for c in node.children) if k is not None]
        return block(kids) if kids else None
    if isinstance(node, If):
        return _decided_if(node, known)
    if isinstance(node, Instance):
        return Instance(
            node.stmt,
            tuple(expression(e, known) for e in node.iterators),
            tuple(tuple(expression(e, known) for e in a) for a in node.accesses),
            tuple(expression(e, known) for e in node.values),
        )
    if isinstance(node, ProductNode):
        return node
    assert isinstance(node, (For, Declare))
    body = decided(node.body, known)
    return None if body is None else replace(node, body=body)


def _decided_if(node: If, known: Known) -> CNode | None:
    cond = condition(node.cond, known)
    if isinstance(cond, bool):
        taken = node.then if cond else node.orelse
        return None if taken is None else decided(taken, known)
    then = decided(node.then, known)
    orelse = None if node.orelse is None else decided(node.orelse, known)
    if then is None:  # the test has no effect, and there is no word for `not`
        return None if orelse is None else If(cond, Block(()), orelse)
    return If(cond, then, orelse)
