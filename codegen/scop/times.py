"""Lexicographic comparison of schedules: positions in sequences, and values of loops as functions of instances.

What a level decides is out of the way of those below, and positions decide without asking isl. That is far cheaper than
relations between whole time vectors. Times of different length are padded with zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import islpy as isl

from codegen.scop.distance import after, before, together
from codegen.scop.memo import remember

_IN, _DIV, _PARAM = isl.dim_type.in_, isl.dim_type.div, isl.dim_type.param
Pair = tuple[isl.PwAff, isl.PwAff]
Time = Sequence[isl.PwAff | int]  # as `tree.order` gives it


def in_order(pairs: isl.Map, first: Time, then: Time) -> bool:
    """Does the first of each pair come before the second?"""
    return _in_order(pairs, first, then, lambda before, after: None)


def surely_in_order(pairs: isl.Map, first: Time, then: Time) -> bool:
    """Is that seen without asking which pairs share a tile? Numbers of tiles rise with what is cut into tiles. If that
    rises for all pairs they are in order, or in the same tile; then the levels below are asked for all pairs instead,
    which is far cheaper, and mostly enough."""
    return _in_order(pairs, first, then, _both_cut)


def _in_order(pairs: isl.Map, first: Time, then: Time, rising: Callable[[isl.PwAff, isl.PwAff], Pair | None]) -> bool:
    """Level by level; `rising` are values that may be compared in place of a level's, for all pairs."""
    for a, b in _levels(first, then):
        if isinstance(a, int) and isinstance(b, int):
            if a != b:
                return a < b or bool(pairs.is_empty())
            continue
        x, y = _values(pairs, a, b)
        cut = rising(x, y)
        if not pairs.is_disjoint(after(*cut) if cut else after(x, y)):
            return False
        if cut:
            continue
        pairs = pairs.intersect(together(x, y))
        if pairs.is_empty():
            return True
    return bool(pairs.is_empty())


@remember(4096)
def _both_cut(a: isl.PwAff, b: isl.PwAff) -> Pair | None:
    """What is rounded down in these, times its denominator, where they rise with that alone, and alike; None where it
    is not that simple."""
    one, two = _cut(a), _cut(b)
    if one is None or two is None or not all(x.eq(y) for x, y in zip(one[1], two[1], strict=True)):
        return None
    return one[0], two[0]


def _cut(value: isl.PwAff) -> tuple[isl.PwAff, list[isl.Val]] | None:
    """Of `f*floor(e/d) + p`, with integers in e and p a sum of parameters: e, and the numbers d, f and those in p."""
    aff = value.get_pieces()[0][1] if value.n_piece() == 1 else None
    if aff is None or aff.dim(_DIV) != 1 or not all(x.is_zero() for x in _factors(aff, _IN)):
        return None
    factor, inner = aff.get_coefficient_val(_DIV, 0), aff.get_div(0)
    if not factor.is_pos() or not all(x.is_zero() for x in _factors(inner, _DIV)):
        return None
    size = inner.get_denominator_val()
    numbers = [size, factor, aff.get_constant_val(), *_factors(aff, _PARAM)]
    return isl.PwAff.from_aff(inner.scale_val(size)), numbers


def _factors(aff: isl.Aff, kind: isl.dim_type) -> list[isl.Val]:
    return [aff.get_coefficient_val(kind, k) for k in range(aff.dim(kind))]


def earlier(pairs: isl.Map, first: Time, then: Time) -> isl.Map:
    """The pairs whose first comes before the second."""
    found = isl.Map.empty(pairs.get_space())
    for a, b in _levels(first, then):
        if isinstance(a, int) and isinstance(b, int):
            if a != b:
                return found.union(pairs) if a < b else found
            continue
        x, y = _values(pairs, a, b)
        found = found.union(pairs.intersect(before(x, y)))
        pairs = pairs.intersect(together(x, y))
        if pairs.is_empty():
            return found
    return found


def _levels(first: Time, then: Time) -> Iterator[tuple[isl.PwAff | int, isl.PwAff | int]]:
    for k in range(max(len(first), len(then))):
        yield first[k] if k < len(first) else 0, then[k] if k < len(then) else 0


def _values(pairs: isl.Map, a: isl.PwAff | int, b: isl.PwAff | int) -> tuple[isl.PwAff, isl.PwAff]:
    space = pairs.get_space()
    return _on(a, space.domain()), _on(b, space.range())


def _on(value: isl.PwAff | int, space: isl.Space) -> isl.PwAff:
    """A time as a function of instances."""
    if not isinstance(value, int):
        return value
    zero = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(space))
    return isl.PwAff.from_aff(zero.add_constant_val(isl.Val(value)))
