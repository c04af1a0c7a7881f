"""The directive `balance`: lets the tiles of a loop, and of loops skewed by it, begin some steps ahead, by a new
parameter that is computed at run time, so that the first tile may be shorter and threads get equal parts.

Threads that take tiles in turn get unequal parts where the last tile is short: 48 steps in tiles of 16 are 32 for one
thread and 16 for the other. Where tiles begin some steps ahead of the loop, the first one is short, too. How many that
are changes no order, so the proofs hold for each number, and the run may choose.
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from codegen.plan.model import Balance
from codegen.recognize.access.strides import coefficients
from codegen.recognize.privatize.expansion import size_text
from codegen.scop.distance import bounds
from codegen.scop.model import Param, Scop, Statement, TileOffset
from codegen.scop.tree import Loop, loops, statements
from codegen.scop.types import LONG
from codegen.transform.block import fresh
from codegen.transform.find import find, illegal
from codegen.transform.mark import above, set_loop
from codegen.transform.program import Program
from codegen.transform.tile import origin


def apply(p: Program, d: Balance) -> Program:
    """Move where tiles of a loop begin, and of those inside it that are skewed by it."""
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
    name = fresh(p.scop, f"{step.name}_ahead")
    length = size_text(high.sub(low).add_constant_val(isl.Val(1)), p.scop.params)
    scop = _with_param(p.scop, TileOffset(name, length, d.size))
    begin = low.get_pieces()[0][1].align_params(scop.context.get_space())
    at = begin.find_dim_by_name(isl.dim_type.param, name)
    begin = begin.add_coefficient_val(isl.dim_type.param, at, isl.Val(-1))
    tree = p.tree
    for q in loops(p.tree):
        times = _times(scop, q.loop, step) if q.loop is step or above(place, q) else 0
        if times:
            rest = {s: e.sub(step.exprs[s].scale_val(isl.Val(times))) for s, e in q.loop.exprs.items()}
            start = begin.scale_val(isl.Val(times)).add_constant_val(isl.Val(origin(scop, rest)))
            tree = set_loop(tree, q, replace(q.loop, start=start))
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


def _with_param(scop: Scop, ahead: TileOffset) -> Scop:
    """The region with one integer more, from 0 to below the size."""
    space = scop.context.get_space().add_dims(isl.dim_type.param, 1)
    at = space.dim(isl.dim_type.param) - 1
    space = space.set_dim_name(isl.dim_type.param, at, ahead.param)
    context = scop.context.align_params(space).lower_bound_val(isl.dim_type.param, at, isl.Val(0))
    context = context.upper_bound_val(isl.dim_type.param, at, isl.Val(ahead.size - 1))

    def wider(s: Statement) -> Statement:
        accesses = tuple(
            replace(a, index=a.index.align_params(space), relation=a.relation.align_params(space)) for a in s.accesses
        )
        values = tuple(v.align_params(space) for v in s.values)
        return replace(s, domain=s.domain.align_params(space), accesses=accesses, values=values)

    return replace(
        scop,
        params=(*scop.params, Param(ahead.param, ahead.param, LONG)),
        context=context,
        statements=tuple(map(wider, scop.statements)),
        names=scop.names | {ahead.param},
        aheads=(*scop.aheads, ahead),
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
