"""Which instances the runs of a statement execute, and that none executes one twice, without a search for tiles.

A loop over tiles has one value for each point inside: `c <= p <= c + s - 1` and `c = o (mod s)` make it
`s * floor((p - o) / s) + o`. Put in its place, that leaves sets of points with floors in them, where a projection
would leave "there is a tile" for isl to decide, which takes it minutes where tiles are no powers of two. Every such
formula is proven from the constraints that it was read from.
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from codegen.record import record

_SET, _DIV, _PARAM = isl.dim_type.set, isl.dim_type.div, isl.dim_type.param


@record
class Executed:
    """What is executed: the instances, and whether each only once."""

    instances: isl.Set
    once: bool

    def union(self, other: Executed) -> Executed:
        """What two places execute."""
        once = self.once and other.once and self.instances.is_disjoint(other.instances)
        return Executed(self.instances.union(other.instances), once)


def executed(domain: isl.Set, runs: isl.MultiPwAff) -> Executed | None:
    """The instances that `runs` makes of the values of loop variables, and whether values differ in their instances.
    None where no loop variable follows from the others as that of tiles does."""
    if domain.n_basic_set() > 1:
        domain = domain.make_disjoint()
    found: Executed | None = None
    for basic in domain.get_basic_sets():
        points = _without_tiles(basic)
        if points is None:
            return None
        here, inside = points
        does = isl.Map.from_multi_pw_aff(runs.pullback_multi_aff(inside)).intersect_domain(here)
        new = Executed(does.range(), does.is_injective())
        found = new if found is None else found.union(new)
    return found


def _without_tiles(basic: isl.BasicSet) -> tuple[isl.Set, isl.MultiAff] | None:
    """The values of the other loop variables, those over tiles being 0, and all variables as functions of them. None
    where no loop is one over tiles."""
    here = isl.Set.from_basic_set(basic)
    inside = isl.MultiAff.identity_on_domain_space(basic.get_space())
    gone: list[int] = []
    for k in range(basic.dim(_SET)):
        gone.append(k)
        values = (x for x in _tile_values(basic, k) if not any(x.involves_dims(isl.dim_type.in_, d, 1) for d in gone))
        value = next(values, None)
        if value is None:
            gone.pop()
            continue
        put = isl.MultiAff.identity_on_domain_space(basic.get_space()).set_aff(k, value)
        here = here.preimage_multi_aff(put).fix_val(_SET, k, isl.Val(0))
        inside = inside.pullback_multi_aff(put)
    return (here, inside) if gone else None


def _tile_values(basic: isl.BasicSet, k: int) -> Iterator[isl.Aff]:
    """The value of variable `k`, as a function of those inside, if constraints say that it is that of a tile."""
    steps = [c for c in basic.get_constraints() if _is_stride(c, k)]
    if not steps:
        return
    bounds = [c for c in basic.get_constraints() if not c.is_equality() and _is_bound(c, k)]
    for step in steps:
        size, offset = _stride(step, k)
        for high in (c for c in bounds if _coefficient(c, k) < 0):
            top = high.get_bound(_SET, k)
            value = top.sub(offset).scale_down_val(isl.Val(size)).floor().scale_val(isl.Val(size)).add(offset)
            for low in (c for c in bounds if _coefficient(c, k) > 0):
                if _follows(basic, (step, high, low), k, value):
                    yield value


def _follows(basic: isl.BasicSet, why: tuple[isl.Constraint, ...], k: int, value: isl.Aff) -> bool:
    """Do these constraints alone make variable `k` that value?"""
    where = isl.BasicSet.universe(basic.get_space())
    for c in why:
        where = where.intersect(isl.BasicSet.from_constraint(c))
    variable = isl.Aff.var_on_domain(value.get_domain_local_space(), _SET, k)
    return isl.Set.from_basic_set(where).is_subset(isl.Set.from_basic_set(variable.eq_basic_set(value)))


def _is_bound(c: isl.Constraint, k: int) -> bool:
    return abs(_coefficient(c, k)) == 1 and not _divs(c)


def _is_stride(c: isl.Constraint, k: int) -> bool:
    """Does an equality say that variable `k` is a number of steps away from something else?"""
    return c.is_equality() and abs(_coefficient(c, k)) == 1 and len(_divs(c)) == 1


def _stride(c: isl.Constraint, k: int) -> tuple[int, isl.Aff]:
    """The step, and one of the values that are a number of steps away."""
    (at,) = _divs(c)
    rest = c.set_coefficient_val(_DIV, at, isl.Val(0)).get_aff().set_coefficient_val(isl.dim_type.in_, k, isl.Val(0))
    size = abs(int(c.get_coefficient_val(_DIV, at).to_python()))
    return size, rest if _coefficient(c, k) < 0 else rest.neg()


def _coefficient(c: isl.Constraint, k: int) -> int:
    return int(c.get_coefficient_val(_SET, k).to_python())


def _divs(c: isl.Constraint) -> list[int]:
    return [d for d in range(c.dim(_DIV)) if not c.get_coefficient_val(_DIV, d).is_zero()]
