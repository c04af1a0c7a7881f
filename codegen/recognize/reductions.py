"""Reductions: statements that fold values into one place with an operator whose order does not matter.

Recognised by accesses, not by names: the target is read at the same element it is written, once, under an
operator that is associative and commutative on the element's type.
"""

from __future__ import annotations

import islpy as isl

from codegen.frontend.layers import basic_type
from codegen.record import record
from codegen.scop.dependences import param_space
from codegen.scop.expr import Affine, Binary, Call, Cast, Expr, Lit, Ref, Sym, children, walk
from codegen.scop.model import Scop, Statement

_COMPOUND = {"+=": "+", "-=": "-", "*=": "*", "&=": "&", "|=": "|", "^=": "^"}
_INTEGER_TYPES = frozenset(
    [f"{u}int{b}_t" for u in ("", "u") for b in (8, 16, 32, 64)]
    + ["size_t", "ptrdiff_t", "ssize_t", "intptr_t", "uintptr_t"]
)
_CALLS = {"fmax": "max", "fmaxf": "max", "fmin": "min", "fminf": "min"}


@record
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
    if elem.kind not in ("int", "float") or (op in ("&", "|", "^") and not elem.is_int):
        return None
    if elem.is_int and not is_integer(scop, s, s.rhs):
        return None  # every step would cut off a fraction, so the order shows
    exact = elem.is_int and (op in ("&", "|", "^") or not elem.signed)
    if op in ("min", "max"):
        exact = elem.is_int and all(
            scop.arrays[s.accesses[e.access].array].elem == elem for e in walk(s.rhs) if isinstance(e, Ref)
        )
    return Reduction(s.name, target.array, op, exact)


def is_integer(scop: Scop, s: Statement, e: Expr) -> bool:
    """Is the expression surely computed in integers? What is not known does not count."""
    if isinstance(e, Lit):
        return e.text.rstrip("uUlL").isdigit() or e.text.lower().startswith("0x")
    if isinstance(e, Sym):
        return any(e.text == p.text for p in scop.params)
    if isinstance(e, Ref):
        return scop.arrays[s.accesses[e.access].array].elem.is_int
    if isinstance(e, Cast):
        return basic_type(e.type_text.split()).is_int or e.type_text in _INTEGER_TYPES
    if isinstance(e, Call):
        return e.name in ("abs", "labs") and all(is_integer(scop, s, a) for a in e.args)
    return isinstance(e, Affine) or (bool(children(e)) and all(is_integer(scop, s, c) for c in children(e)))


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


def free_pairs(scop: Scop, reassociate: bool) -> dict[str, isl.UnionMap]:
    """By array, the pairs of instances that fold into it with one operator and may be swapped."""
    out: dict[str, isl.UnionMap] = {}
    members = [r for r in find_reductions(scop) if r.exact or reassociate]
    for a in members:
        for b in members:
            if a.array == b.array and ({a.op, b.op} <= {"+", "-"} or a.op == b.op):
                pairs = isl.Map.from_domain_and_range(scop.statement(a.stmt).domain, scop.statement(b.stmt).domain)
                known = out.get(a.array, isl.UnionMap.empty(param_space(scop)))
                out[a.array] = known.union(isl.UnionMap.from_map(pairs))
    return out
