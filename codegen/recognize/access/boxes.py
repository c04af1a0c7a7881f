"""Bounding boxes of iteration domains (`hull`), and the affine constraints that cut corners off (`cuts`: triangles,
bands); None where no conjunction of such describes the domain, as with steps other than one."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl


def hull(domain: isl.Set, outer: Sequence[int]) -> isl.Set:
    """The smallest box around the inner dimensions, for every value of the outer ones."""
    n = domain.dim(isl.dim_type.set)
    plain = domain.reset_tuple_id() if domain.has_tuple_id() else domain
    total = isl.Set.universe(plain.get_space())
    for d in (x for x in range(n) if x not in outer):
        total = total.intersect(_without(plain, [x for x in range(n) if x != d and x not in outer]))
    return total


def _without(domain: isl.Set, dims: Sequence[int]) -> isl.Set:
    """The domain with any value of some of its dimensions."""
    for d in sorted(dims, reverse=True):
        domain = domain.project_out(isl.dim_type.set, d, 1).insert_dims(isl.dim_type.set, d, 1)
    return domain


def cuts(domain: isl.Set, outer: Sequence[int], depth: Sequence[int]) -> tuple[isl.Aff, ...] | None:
    """Affine values that are not negative exactly inside the domain, within its hull; None when there are no such.

    Those without the iterators `depth` tell of the others alone whether they are in the domain at any depth. No values
    at all: the domain is a box. Loops with steps other than one have no such values.
    """
    plain = domain.reset_tuple_id() if domain.has_tuple_id() else domain
    n = plain.dim(isl.dim_type.set)
    inner = [d for d in range(n) if d not in outer]
    if not all(_solid(_without(plain, [x for x in inner if x != d]), d) for d in inner):
        return None
    box = hull(domain, outer)
    if box.is_subset(plain):
        return ()
    shadow = _without(plain, depth)
    parts = _constraints(plain, box), _constraints(shadow, box)
    if parts[0] is None or parts[1] is None:
        return None
    found = [*parts[0], *(a for a in parts[1] if not any(a.plain_is_equal(b) for b in parts[0]))]
    flat = [a for a in found if not any(a.involves_dims(isl.dim_type.in_, d, 1) for d in depth)]
    exact = _within(box, found).is_equal(plain) and _within(box, flat).is_equal(shadow.intersect(box))
    return tuple(found) if exact else None


def _constraints(part: isl.Set, box: isl.Set) -> list[isl.Aff] | None:
    """What cuts a part out of the box, if that is a conjunction of plain inequalities."""
    rest = part.gist(box).coalesce()
    if rest.n_basic_set() != 1:
        return None
    found = rest.get_basic_sets()[0].get_constraints()
    if any(c.is_equality() or c.get_aff().dim(isl.dim_type.div) for c in found):
        return None
    return [c.get_aff() for c in found]


def _within(box: isl.Set, corners: Sequence[isl.Aff]) -> isl.Set:
    for aff in corners:
        box = box.intersect(aff.ge_set(isl.Aff.zero_on_domain(aff.get_domain_local_space())))
    return box


def _solid(line: isl.Set, d: int) -> bool:
    """Has dimension `d` no gaps?"""
    parts = line.get_basic_sets()
    if len(parts) == 1 and not parts[0].dim(isl.dim_type.div):
        return True
    up = isl.Map.universe(line.get_space().map_from_set())
    for k in range(line.dim(isl.dim_type.set)):
        up = up.equate(isl.dim_type.in_, k, isl.dim_type.out, k) if k != d else up
    up = up.order_lt(isl.dim_type.in_, d, isl.dim_type.out, d)
    return bool(line.apply(up).intersect(line.apply(up.reverse())).is_subset(line))
