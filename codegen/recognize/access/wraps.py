"""Periodic subscripts, as in a[(i + 1) % n]: finds the points at which they do not wrap around, all but a few
(`plain_points`), and simplifies subscripts there (`settled`). `ast/schedule.py` gives those points code of their
own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from codegen.recognize.access.strides import AccessStride, move
from codegen.scop.model import Access, Scop, Statement
from codegen.scop.tree import Loop


def plain_points(s: Statement) -> isl.Set | None:
    """The instances at which every quotient in the subscripts has its usual value; None where there is none to speak
    of, or one that takes many values."""
    points = s.domain
    found = False
    for a in s.accesses:
        for k in range(a.index.dim(isl.dim_type.out)):
            part = _usual(a.index.get_pw_aff(k), s.domain)
            if part is not None:
                points, found = points.intersect(part), True
    return points if found and not points.is_empty() else None


def usual_move(scop: Scop, s: Statement, access: Access, loops: Sequence[Loop], which: int) -> AccessStride:
    """How an access moves when the loop advances, at all but a few points. For estimates only."""
    found = move(scop, s, access, loops, which)
    points = plain_points(s) if found.steps is None else None
    if points is None:
        return found
    index = access.index
    for k in range(index.dim(isl.dim_type.out)):
        index = index.set_pw_aff(k, settled(index.get_pw_aff(k), points))
    return move(scop, s, replace(access, index=index), loops, which)


def settled(value: isl.PwAff, where: isl.Set) -> isl.PwAff:
    """The same value for points of `where`, without quotients that are always the same there, and with two pieces of
    which it is always the larger, or always the smaller, told apart by that alone: what else the points of a piece have
    in common would be printed as part of its condition."""
    if value.n_piece() == 2:
        return _extreme(value, where)
    if value.n_piece() != 1 or not value.get_pieces()[0][1].dim(isl.dim_type.div):
        return value
    aff = value.get_pieces()[0][1]
    if aff.dim(isl.dim_type.div) > 1:
        return value
    floor = aff.get_div(0).floor()
    low, high = (_number(v) for v in (where.min_val(floor), where.max_val(floor)))
    if low is None or low != high:
        return value
    times = aff.get_coefficient_val(isl.dim_type.div, 0)
    plain = _zero(aff).set_constant_val(aff.get_constant_val().add(times.mul(isl.Val(low))))
    for kind in (isl.dim_type.param, isl.dim_type.in_):
        for k in range(aff.dim(kind)):
            plain = plain.set_coefficient_val(kind, k, aff.get_coefficient_val(kind, k))
    return isl.PwAff.alloc(value.domain(), plain)


def _extreme(value: isl.PwAff, where: isl.Set) -> isl.PwAff:
    """A value of two pieces as the maximum or the minimum of both, where it is one."""
    first, second = (isl.PwAff.from_aff(aff) for _, aff in value.get_pieces())
    for extreme in (first.max(second), first.min(second)):
        if where.intersect(value.domain()).is_subset(value.eq_set(extreme)):
            return extreme
    return value


def _usual(value: isl.PwAff, domain: isl.Set) -> isl.Set | None:
    """Where the only quotient of a value is what it is at most points; None unless it is one of two numbers."""
    if value.n_piece() != 1:
        return None
    aff = value.get_pieces()[0][1]
    if aff.dim(isl.dim_type.div) != 1:
        return None
    quotient = aff.get_div(0)
    floor = quotient.floor()
    low, high = (_number(v) for v in (domain.min_val(floor), domain.max_val(floor)))
    if low is None or high is None or high != low + 1:
        return None
    by = quotient.get_denominator_val()
    over = quotient.scale_val(by).add_constant_val(by.mul(isl.Val(-high)))  # 0 where the second number begins
    first, last = (_number(v) for v in (domain.min_val(over), domain.max_val(over)))
    if first is None or last is None:
        return None
    return over.ge_set(_zero(over)) if last + 1 > -first else over.lt_set(_zero(over))


def _zero(like: isl.Aff) -> isl.Aff:
    return isl.Aff.zero_on_domain(isl.LocalSpace.from_space(like.get_domain_space()))


def _number(v: isl.Val) -> int | None:
    return int(v.to_str()) if v.is_int() else None


def common(parts: Sequence[isl.Set]) -> isl.Set | None:
    """The points that all have; None where there are none."""
    if not parts:
        return None
    total = parts[0]
    for x in parts[1:]:
        total = total.intersect(x)
    return None if total.is_empty() else total
