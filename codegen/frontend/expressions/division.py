"""C's `/` and `%` by a constant, or by a parameter where only a few quotients are possible (else None), and `^` with a
constant, as piecewise quasi-affine functions. C rounds towards zero."""

from __future__ import annotations

import islpy as isl

# Of dividing by a parameter: indices that leave an array by a few of its sizes, as periodic neighbours do.
_QUOTIENTS = (0, 1, 2, 3, 4, -1)


def by_number(op: str, left: isl.PwAff, divisor: int, where: isl.Set) -> isl.PwAff:
    """C truncates towards zero; where the dividend is never negative that is plain floor division."""
    if divisor < 0:
        left, divisor = (left.neg(), -divisor) if op == "/" else (left, -divisor)
    by = isl.Val(divisor, context=left.get_ctx())
    if where.intersect(left.lt_set(_number(left, 0))).is_empty():
        return left.mod_val(by) if op == "%" else left.scale_down_val(by).floor()
    return left.tdiv_r(_number(left, divisor)) if op == "%" else left.tdiv_q(_number(left, divisor))


def by_value(op: str, left: isl.PwAff, right: isl.PwAff, where: isl.Set) -> isl.PwAff | None:
    """Division by a parameter, as in `(i + 1) % n`: affine while only a few quotients are possible, else None."""
    zero, result = _number(left, 0), None
    for quotient in _QUOTIENTS:
        rest = left.sub(right.scale_val(isl.Val(quotient, context=right.get_ctx())))
        # C rounds towards zero: what is left over has the dividend's sign.
        holds = rest.lt_set(right) if quotient >= 0 else rest.le_set(zero)
        holds = holds.intersect(rest.ge_set(zero) if quotient > 0 else rest.neg().lt_set(right))
        if holds.intersect(where).is_empty():
            continue
        piece = (rest if op == "%" else _number(left, quotient)).intersect_domain(holds)
        result = piece if result is None else result.union_add(piece)  # no dividend has two quotients
        where = where.subtract(holds)
    return result.coalesce() if result is not None and where.is_empty() else None


def flipped(value: isl.PwAff, bits: int) -> isl.PwAff:
    """`value ^ bits`: for each run of ones, 2^n - 1 less what the value has there, in place of that."""
    out, at = value, 0
    while bits >> at:
        if not bits >> at & 1:
            at += 1
            continue
        count = 0
        while bits >> (at + count) & 1:
            count += 1
        low, many = (isl.Val(1 << k, context=value.get_ctx()) for k in (at, count))
        there = value.scale_down_val(low).floor().mod_val(many)
        change = _number(value, (1 << count) - 1).sub(there.add(there))
        out, at = out.add(change.scale_val(low)), at + count
    return out


def _number(like: isl.PwAff, value: int) -> isl.PwAff:
    space = isl.LocalSpace.from_space(like.get_domain_space())
    return isl.PwAff.from_aff(isl.Aff.zero_on_domain(space).set_constant_val(isl.Val(value, context=like.get_ctx())))
