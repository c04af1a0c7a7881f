"""Counts the points of a set at given sizes: exactly for unions of boxes, for other sets estimated from slices."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

SLICES = 17  # along a dimension of a set that is no box

_SET, _PARAM = isl.dim_type.set, isl.dim_type.param


def with_values(values: isl.Set, given: Mapping[str, int]) -> isl.Set:
    """A set with numbers for its parameters. Raises ValueError if one of them has none."""
    for k in range(values.dim(_PARAM)):
        name = str(values.get_dim_name(_PARAM, k))
        if name in given:
            values = values.fix_val(_PARAM, k, isl.Val(given[name]))
        elif values.involves_dims(_PARAM, k, 1):
            raise ValueError(f"a size for {name} is missing")
    return values.project_out(_PARAM, 0, values.dim(_PARAM))


def points(values: isl.Set) -> float:
    """How many there are in a set without parameters: exactly for unions of boxes, and for others from slices."""
    return sum(_points(b) for b in values.make_disjoint().get_basic_sets())


def _points(b: isl.BasicSet) -> float:
    one = isl.Set.from_basic_set(b)
    n = one.dim(_SET)
    if one.is_empty():
        return 0
    ends = [(_number(one.dim_min_val(k)), _number(one.dim_max_val(k))) for k in range(n)]
    box = isl.Set.universe(one.get_space())
    total = 1
    for k, (low, high) in enumerate(ends):
        box = box.lower_bound_val(_SET, k, isl.Val(low)).upper_bound_val(_SET, k, isl.Val(high))
        total *= high - low + 1
    if total == 1 or one.is_equal(box):
        return total
    low, high = ends[0]
    if high - low < SLICES:
        return sum(points(one.fix_val(_SET, 0, isl.Val(v)).project_out(_SET, 0, 1)) for v in range(low, high + 1))
    width = (high - low + 1) / SLICES
    at = [low + int((k + 0.5) * width) for k in range(SLICES)]
    return width * sum(points(one.fix_val(_SET, 0, isl.Val(v)).project_out(_SET, 0, 1)) for v in at)


def _number(v: isl.Val) -> int:
    return int(v.to_python())
