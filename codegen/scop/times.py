"""Times compared level by level: positions in sequences, and values of loops as functions of instances.

What a level decides is out of the way of those below, and positions decide without asking isl. That is far cheaper than
relations between whole time vectors. Times of different length are padded with zeros.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl

Time = Sequence[isl.PwAff | int]  # as `tree.order` gives it


def in_order(pairs: isl.Map, first: Time, then: Time) -> bool:
    """Does the first of each pair come before the second?"""
    for a, b in _levels(first, then):
        if isinstance(a, int) and isinstance(b, int):
            if a != b:
                return a < b or bool(pairs.is_empty())
            continue
        before, after = _values(pairs, a, b)
        if not pairs.is_disjoint(before.gt_map(after)):
            return False
        pairs = pairs.intersect(before.eq_map(after))
        if pairs.is_empty():
            return True
    return bool(pairs.is_empty())


def earlier(pairs: isl.Map, first: Time, then: Time) -> isl.Map:
    """The pairs whose first comes before the second."""
    found = isl.Map.empty(pairs.get_space())
    for a, b in _levels(first, then):
        if isinstance(a, int) and isinstance(b, int):
            if a != b:
                return found.union(pairs) if a < b else found
            continue
        before, after = _values(pairs, a, b)
        found = found.union(pairs.intersect(before.lt_map(after)))
        pairs = pairs.intersect(before.eq_map(after))
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
    if not isinstance(value, int):
        return value
    zero = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(space))
    return isl.PwAff.from_aff(zero.add_constant_val(isl.Val(value)))
