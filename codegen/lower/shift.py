"""Functions on statements and loops of the C tree: a statement some iterations later, an access some elements further
on, a sum simplified, and a loop's end, its length where that is constant (else -1), and whether it is sure to run."""

from __future__ import annotations

from collections import Counter

from codegen.ast.ctree import Bin, CExpr, For, Instance, Int, Name, Neg, substitute


def shifted(at: Instance, var: str, by: int | CExpr) -> Instance:
    """The statement `by` iterations later."""
    count = Int(by) if isinstance(by, int) else by

    def later(e: CExpr) -> CExpr:
        return simple(substitute(e, {var: Bin("+", Name(var), count)})) if count != Int(0) else e

    return Instance(
        at.stmt,
        tuple(map(later, at.iterators)),
        tuple(tuple(map(later, a)) for a in at.accesses),
        tuple(map(later, at.values)),
    )


def along(at: Instance, number: int, by: int) -> tuple[CExpr, ...]:
    """The subscripts of an access, `by` elements further on in the row."""
    row = at.accesses[number]
    return (*row[:-1], simple(Bin("+", row[-1], Int(by))) if by else row[-1])


def simple(e: CExpr) -> CExpr:
    """Constants of a sum put together, and multiples of one term, as a person would write it."""
    terms, constant = _sum(e)
    if terms is None:
        return e
    out: CExpr | None = None
    for sign, term in sorted(_collected(terms), key=lambda t: -t[0]):
        if out is None:
            if sign < 0:
                return e
            out = term
        else:
            out = Bin("+" if sign > 0 else "-", out, term)
    if out is None:
        return Int(constant)
    return out if not constant else Bin("+" if constant > 0 else "-", out, Int(abs(constant)))


def _collected(terms: list[tuple[int, CExpr]]) -> list[tuple[int, CExpr]]:
    """The terms of a sum, those that are multiples of one as one; unchanged where there are none."""
    found: Counter[CExpr] = Counter()
    for sign, term in terms:
        if isinstance(term, Bin) and term.op == "*" and isinstance(term.left, Int):
            found[term.right] += sign * term.left.value
        else:
            found[term] += sign
    if len(found) == len(terms):
        return terms
    return [(1 if c > 0 else -1, of if abs(c) == 1 else Bin("*", Int(abs(c)), of)) for of, c in found.items() if c]


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


def past(node: For) -> CExpr:
    """Where a loop ends, which it does not reach."""
    return node.upper if node.op == "<" else simple(Bin("+", node.upper, Int(1)))
