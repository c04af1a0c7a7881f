"""Dependences along a loop: whether all pairs have the same value of it (`is_zero`), and those that have
(`same_value`). Also bounds of a set's dimension, and the constant that a value always is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import islpy as isl

from codegen.scop.isl_helpers import formula, maps_of, union_of
from codegen.scop.memo import remember


def is_zero(relation: isl.UnionMap, exprs: Mapping[str, isl.PwAff]) -> bool:
    """Do all pairs share the loop's value?"""
    return all(m.is_disjoint(before(a, b)) and m.is_disjoint(after(a, b)) for m, a, b in seen(relation, exprs))


def same_value(relation: isl.UnionMap, exprs: Mapping[str, isl.PwAff]) -> isl.UnionMap:
    """The pairs that share the loop's value: what inner loops still have to order."""
    return union_of([m.intersect(together(a, b)) for m, a, b in seen(relation, exprs)], relation.get_space())


# Most dependences are asked about the same loops, again and again.


@remember(4096)
def before(a: isl.PwAff, b: isl.PwAff) -> isl.Map:
    """The pairs of points whose first has the smaller value; `formula` says at which points."""
    found = _on_pairs(a, b)
    return found[0].lt_set(found[1]).unwrap() if found else formula(a).lt_map(formula(b))


@remember(4096)
def after(a: isl.PwAff, b: isl.PwAff) -> isl.Map:
    """Those whose first has the larger value."""
    found = _on_pairs(a, b)
    return found[0].gt_set(found[1]).unwrap() if found else formula(a).gt_map(formula(b))


@remember(4096)
def together(a: isl.PwAff, b: isl.PwAff) -> isl.Map:
    """Those that share the value."""
    found = _on_pairs(a, b)
    return found[0].eq_set(found[1]).unwrap() if found else formula(a).eq_map(formula(b))


def _on_pairs(a: isl.PwAff, b: isl.PwAff) -> tuple[isl.Aff, isl.Aff] | None:
    """Values that are one formula each, as functions of pairs of points: isl compares those in a sixth of the time."""
    if a.n_piece() != 1 or b.n_piece() != 1:
        return None
    x, y = a.get_pieces()[0][1], b.get_pieces()[0][1]
    first, then = x.get_domain_space(), y.get_domain_space()
    if not first.has_equal_params(then):
        return None
    pairs = first.map_from_domain_and_range(then)
    return x.pullback_multi_aff(isl.MultiAff.domain_map(pairs)), y.pullback_multi_aff(isl.MultiAff.range_map(pairs))


def seen(
    relation: isl.UnionMap, exprs: Mapping[str, isl.PwAff]
) -> Iterator[tuple[isl.Map, isl.PwAff, isl.PwAff]]:
    """The maps between statements inside the loop, with its values at both ends."""
    for m in maps_of(relation):
        ends = [exprs.get(str(m.get_tuple_name(t))) for t in (isl.dim_type.in_, isl.dim_type.out)]
        if ends[0] is not None and ends[1] is not None:
            yield m, ends[0], ends[1]


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
