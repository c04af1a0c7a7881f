"""How far a dependence reaches along a loop."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl


def loop_map(exprs: Mapping[str, isl.PwAff]) -> isl.UnionMap:
    """Instances to the loop's value."""
    total: isl.UnionMap | None = None
    for name in sorted(exprs):
        one = isl.UnionMap.from_map(isl.Map.from_pw_aff(exprs[name]))
        total = one if total is None else total.union(one)
    assert total is not None
    return total


def distances(relation: isl.UnionMap, exprs: Mapping[str, isl.PwAff]) -> isl.Set | None:
    """The set of value differences (target minus source) along a loop; None if the loop sees no pair."""
    values = loop_map(exprs)
    pairs = relation.apply_domain(values).apply_range(values)
    if pairs.is_empty():
        return None
    return isl.Map.from_union_map(pairs).deltas()


def is_zero(relation: isl.UnionMap, exprs: Mapping[str, isl.PwAff]) -> bool:
    """Do all pairs share the loop's value?"""
    d = distances(relation, exprs)
    return d is None or d.is_subset(d.fix_val(isl.dim_type.set, 0, isl.Val(0)))


def same_value(relation: isl.UnionMap, exprs: Mapping[str, isl.PwAff]) -> isl.UnionMap:
    """The pairs that share the loop's value: what inner loops still have to order."""
    values = loop_map(exprs)
    return relation.intersect(values.apply_range(values.reverse()))


def bounds(image: isl.Set, pos: int) -> tuple[isl.PwAff, isl.PwAff]:
    """Bounds of a bounded dimension over a simple hull: never too tight, and quick for domains of many pieces.

    The hull of `i < m or i < n` has no upper bound; there each piece counts by itself.
    """
    hull = isl.Set.from_basic_set(image.simple_hull().remove_divs())
    if not hull.dim_is_bounded(isl.dim_type.set, pos):
        hull = image.remove_divs()
    return hull.dim_min(pos), hull.dim_max(pos)


def constant(value: isl.PwAff) -> int | None:
    """The integer a value always is, or None."""
    if value.n_piece() != 1 or not value.is_cst():
        return None
    return int(value.get_pieces()[0][1].get_constant_val().to_str())
