"""Reductions: statements that fold values into one place with an operator whose order does not matter.

Recognised by accesses, not by names: the target is read at the same element it is written, once, under an
operator that is associative and commutative on the element's type.
"""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from codegen.scop.dependences import param_space
from codegen.scop.expr import Binary, Call, Expr, Ref, walk
from codegen.scop.model import Scop, Statement

_COMPOUND = {"+=": "+", "-=": "-", "*=": "*", "&=": "&", "|=": "|", "^=": "^"}
_CALLS = {
    "fmax": "max",
    "fmaxf": "max",
    "fmin": "min",
    "fminf": "min",
    "max": "max",
    "min": "min",
    "MAX": "max",
    "MIN": "min",
}


@dataclass(frozen=True)
class Reduction:
    """`op` is OpenMP's name. `exact` means any order gives the same bits and overflows nowhere new."""

    stmt: str
    array: str
    op: str
    exact: bool


def find_reductions(scop: Scop) -> tuple[Reduction, ...]:
    """All reduction statements of a region."""
    found = (_reduction(scop, s) for s in scop.statements)
    return tuple(r for r in found if r is not None)


def _reduction(scop: Scop, s: Statement) -> Reduction | None:
    target = s.accesses[s.target]
    same = [k for k, a in enumerate(s.accesses) if a.array == target.array and k != s.target]
    if len(same) != 1 or not s.accesses[same[0]].relation.is_equal(target.relation):
        return None
    op = _COMPOUND.get(s.op) if s.op != "=" else _operator(s.rhs, same[0])
    if op is None:
        return None
    elem = scop.arrays[target.array].elem
    exact = elem.is_int and (op in ("min", "max", "&", "|", "^") or not elem.signed)
    if elem.kind not in ("int", "float") or (op in ("&", "|", "^") and not elem.is_int):
        return None
    return Reduction(s.name, target.array, op, exact)


def _operator(rhs: Expr, own: int) -> str | None:
    """The operator of `x = x op e`, `x = e op x`, `x = max(x, e)` or `x = x < e ? e : x`."""
    ref = Ref(own)
    if sum(e == ref for e in walk(rhs)) == 1:
        if isinstance(rhs, Binary) and rhs.op in ("+", "*", "&", "|", "^") and ref in (rhs.left, rhs.right):
            return rhs.op
        if isinstance(rhs, Binary) and rhs.op == "-" and rhs.left == ref:
            return "-"
        if isinstance(rhs, Call) and rhs.name in _CALLS and ref in rhs.args:
            return _CALLS[rhs.name]
        return None
    return None


def reduction_pairs(scop: Scop, array: str) -> isl.UnionMap:
    """All pairs of instances of reductions with one operator into `array`; their order is free."""
    total = isl.UnionMap.empty(param_space(scop))
    members = [r for r in find_reductions(scop) if r.array == array]
    for a in members:
        for b in members:
            if {a.op, b.op} <= {"+", "-"} or a.op == b.op:
                da, db = scop.statement(a.stmt).domain, scop.statement(b.stmt).domain
                total = total.union(isl.UnionMap.from_map(isl.Map.from_domain_and_range(da, db)))
    return total


__all__ = ["Reduction", "find_reductions", "reduction_pairs"]
