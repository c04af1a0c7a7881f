"""Which jammed loops can be printed side by side, and their statements some iterations further on."""

from __future__ import annotations

from collections import Counter

from codegen.ast.ctree import Bin, Block, CExpr, CNode, For, Instance, Int, Name, Neg, expr_names, substitute
from codegen.recognize.stores import conditional
from codegen.record import record
from codegen.scop.model import Scop, Statement
from codegen.scop.tree import ABREAST, JAMMED

Statements = tuple[tuple[Statement, Instance], ...]


@record
class Jammed:
    """A loop whose iterations run side by side in `inner`, and the statements in there, in order."""

    outer: For
    inner: For
    statements: Statements


def jammed(scop: Scop, node: CNode) -> Jammed | None:
    """The loop, when the one inside takes the same course in all its iterations and holds plain assignments only.

    The proofs have shown that its iterations are independent; so they may take turns after each statement.
    """
    if not isinstance(node, For) or node.loop.kind != JAMMED or node.step != 1:
        return None
    inner = node.body
    if not isinstance(inner, For) or node.var in expr_names(inner.lower) | expr_names(inner.upper):
        return None
    found = assignments(scop, inner.body)
    return None if found is None else Jammed(node, inner, found)


def abreast(scop: Scop, node: CNode) -> Statements | None:
    """The statements of a loop whose iterations can be written side by side."""
    if not isinstance(node, For) or node.loop.kind != ABREAST or node.step != 1:
        return None
    return assignments(scop, node.body)


def assignments(scop: Scop, body: CNode, inside: bool = False, perhaps: bool = False) -> Statements | None:
    """The plain assignments to arrays that a body consists of; None when there is something else in it. Variables of
    the region are arrays, too, if `inside`, and what is stored under a condition is plain if `perhaps`."""
    found = []
    for child in body.children if isinstance(body, Block) else (body,):
        if not isinstance(child, Instance):
            return None
        s = scop.statement(child.stmt)
        target = scop.arrays[s.accesses[s.target].array]
        if (target.inside and not inside) or target.mixed or (conditional(s) and not perhaps):
            return None  # a value of a mixed array has one of several types
        found.append((s, child))
    return tuple(found)


def shifted(at: Instance, var: str, by: int) -> Instance:
    """The statement `by` iterations later."""

    def later(e: CExpr) -> CExpr:
        return simple(substitute(e, {var: Bin("+", Name(var), Int(by))})) if by else e

    return Instance(
        at.stmt,
        tuple(map(later, at.iterators)),
        tuple(tuple(map(later, a)) for a in at.accesses),
        tuple(map(later, at.values)),
    )


def simple(e: CExpr) -> CExpr:
    """Constants of a sum put together, as a person would write it."""
    terms, constant = _sum(e)
    if terms is None:
        return e
    out: CExpr | None = None
    for sign, term in sorted(terms, key=lambda t: -t[0]):
        if out is None:
            if sign < 0:
                return e
            out = term
        else:
            out = Bin("+" if sign > 0 else "-", out, term)
    if out is None:
        return Int(constant)
    return out if not constant else Bin("+" if constant > 0 else "-", out, Int(abs(constant)))


def runs_for_sure(node: For) -> bool:
    """Does a loop have an iteration whatever the values of variables are?"""
    return length(node) > 0


def length(node: For) -> int:
    """From where a loop begins to where it ends, if that is the same whatever the values of variables are; else -1."""
    terms, constant = _sum(Bin("-", node.upper, node.lower))
    total: Counter[CExpr] = Counter()
    for sign, term in terms or ():
        total[term] += sign
    same = terms is not None and not any(total.values())
    return max(0, constant + (node.op != "<")) if same else -1


def _sum(e: CExpr) -> tuple[list[tuple[int, CExpr]] | None, int]:
    if isinstance(e, Int):
        return [], e.value
    if isinstance(e, Bin) and e.op in ("+", "-"):
        (left, a), (right, b) = _sum(e.left), _sum(e.right)
        assert left is not None and right is not None
        sign = 1 if e.op == "+" else -1
        return [*left, *((sign * s, t) for s, t in right)], a + sign * b
    if isinstance(e, Neg):
        part, a = _sum(e.arg)
        assert part is not None
        return [(-s, t) for s, t in part], -a
    if isinstance(e, Bin) and e.op == "*" and isinstance(e.left, Int):
        inner, constant = _sum(e.right)
        if inner is not None and len(inner) == 1 and constant:
            sign, term = inner[0]
            return [(sign, Bin("*", e.left, term))], e.left.value * constant
    return [(1, e)], 0
