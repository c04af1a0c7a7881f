"""balance: count the iterations of a loop from a number that is found when the program runs.

Threads that take tiles of a loop in turn get unequal parts where the last tile is short: 48 steps in tiles of 16 are 32
for one thread and 16 for the other. Counted from a number below the size of a tile, the first one is short, too. Which
number that is changes no order, so the proofs hold for each of them, and the run may choose.
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from codegen.plan.model import Balance
from codegen.recognize.expand import size_text
from codegen.recognize.strides import coefficients
from codegen.scop.distance import bounds
from codegen.scop.model import First, Param, Scop, Statement
from codegen.scop.tree import Loop, loops, statements
from codegen.scop.types import LONG
from codegen.transform.block import fresh
from codegen.transform.find import find, illegal
from codegen.transform.mark import above, set_loop
from codegen.transform.program import Program


def apply(p: Program, d: Balance) -> Program:
    """Shift a loop, and those inside it that are skewed by it."""
    place, *others = find(p.tree, d.loop, d.loc)
    if others:
        raise illegal(f"there are several loops {d.loop}", d.loc, "name a statement, as in `S1.t`")
    step = place.loop
    if step.tile:
        raise illegal(f"loop {d.loop} is one over tiles", d.loc, "balance the loop before it is cut into tiles")
    ends = _ends(p.scop, step, statements(place.band))
    if ends is None:
        raise illegal(f"loop {d.loop} has no simple first and last value", d.loc, "leave the directive out")
    low, high = ends
    name = fresh(p.scop, f"{step.name}_first")
    length = size_text(high.sub(low).add_constant_val(isl.Val(1)), p.scop.params)
    scop = _with_param(p.scop, First(name, length, d.size))
    tree = p.tree
    for q in loops(p.tree):
        if (q.path, q.member) == (place.path, place.member) or above(place, q):
            times = _times(scop, q.loop, step)
            exprs = {s: _moved(scop.statement(s), e, low, name, times) for s, e in q.loop.exprs.items()}
            tree = set_loop(tree, q, replace(q.loop, exprs=exprs))
    return replace(p, scop=scop, tree=tree)


def _ends(scop: Scop, lp: Loop, names: tuple[str, ...]) -> tuple[isl.PwAff, isl.PwAff] | None:
    """First and last value of a loop, each a sum of parameters."""
    images = [isl.Map.from_pw_aff(lp.exprs[n]).intersect_domain(scop.statement(n).domain).range() for n in names]
    image = images[0]
    for other in images[1:]:
        image = image.union(other)
    image = image.coalesce()
    if not image.dim_is_bounded(isl.dim_type.set, 0):
        return None
    low, high = bounds(image, 0)
    simple = all(v.n_piece() == 1 and not v.get_pieces()[0][1].dim(isl.dim_type.div) for v in (low, high))
    return (low, high) if simple else None


def _with_param(scop: Scop, first: First) -> Scop:
    """The region with one integer more, from 0 to below the size."""
    space = scop.context.get_space().add_dims(isl.dim_type.param, 1)
    at = space.dim(isl.dim_type.param) - 1
    space = space.set_dim_name(isl.dim_type.param, at, first.param)
    context = scop.context.align_params(space).lower_bound_val(isl.dim_type.param, at, isl.Val(0))
    context = context.upper_bound_val(isl.dim_type.param, at, isl.Val(first.size - 1))

    def wider(s: Statement) -> Statement:
        accesses = tuple(
            replace(a, index=a.index.align_params(space), relation=a.relation.align_params(space)) for a in s.accesses
        )
        values = tuple(v.align_params(space) for v in s.values)
        return replace(s, domain=s.domain.align_params(space), accesses=accesses, values=values)

    return replace(
        scop,
        params=(*scop.params, Param(first.param, first.param, LONG)),
        context=context,
        statements=tuple(map(wider, scop.statements)),
        names=scop.names | {first.param},
        firsts=(*scop.firsts, first),
    )


def _times(scop: Scop, lp: Loop, step: Loop) -> int:
    """How far a loop moves on with one step, for all statements alike; 0 where that is not simple."""
    found = set()
    for name, value in lp.exprs.items():
        count = len(scop.statement(name).iterators)
        own, steps = coefficients(value, count), coefficients(step.exprs[name], count)
        if own is None or steps is None or sum(map(bool, steps)) != 1:
            return 0
        k = next(k for k, c in enumerate(steps) if c)
        found.add(own[k] / steps[k])
    (times,) = found if len(found) == 1 else {0}
    return int(times) if times == int(times) else 0


def _moved(s: Statement, value: isl.PwAff, low: isl.PwAff, first: str, times: int) -> isl.PwAff:
    """The value plus `times` times (first - low)."""
    if not times:
        return value
    space = isl.LocalSpace.from_space(s.domain.get_space())
    aff = isl.Aff.var_on_domain(space, isl.dim_type.param, s.domain.find_dim_by_name(isl.dim_type.param, first))
    from_ = low.get_pieces()[0][1]
    aff = aff.add_constant_val(from_.get_constant_val().neg())
    for k in range(from_.dim(isl.dim_type.param)):
        at = s.domain.find_dim_by_name(isl.dim_type.param, str(from_.get_dim_name(isl.dim_type.param, k)))
        aff = aff.add_coefficient_val(isl.dim_type.param, at, from_.get_coefficient_val(isl.dim_type.param, k).neg())
    return value.add(isl.PwAff.from_aff(aff.scale_val(isl.Val(times))))
