"""Normalizes accumulation statements of a region: `t = t + e` becomes `t += e`, likewise for `-` and `*`."""

from __future__ import annotations

from dataclasses import replace

from codegen.scop.expr import Binary, Expr, Ref
from codegen.scop.model import Scop, Statement


def with_reductions(scop: Scop) -> Scop:
    """The region with its sums and products spelled as such. Accesses stay as they are, and so do dependences."""
    return replace(scop, statements=tuple(_folded(s) for s in scop.statements))


def _folded(s: Statement) -> Statement:
    value = s.rhs
    if s.op != "=" or not isinstance(value, Binary) or value.op not in ("+", "-", "*"):
        return s
    if _own(s, value.left):
        return replace(s, op=f"{value.op}=", rhs=value.right)
    if value.op != "-" and _own(s, value.right):
        return replace(s, op=f"{value.op}=", rhs=value.left)
    return s


def _own(s: Statement, e: Expr) -> bool:
    """Is this the element that the statement writes?"""
    if not isinstance(e, Ref) or e.access == s.target:
        return isinstance(e, Ref)
    a, b = s.accesses[e.access], s.accesses[s.target]
    return a.array == b.array and not a.partial and a.relation.is_equal(b.relation)
