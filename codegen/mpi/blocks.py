"""Block distribution of loops over ranks: contiguous blocks of iterations, with their ends as parameters of the
model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import islpy as isl

from codegen.mpi.layout import ArrayDistribution
from codegen.mpi.phases import Cut, Phase
from codegen.record import record
from codegen.scop.distance import constant
from codegen.scop.model import Param, Scop
from codegen.scop.types import LONG

MINE, GIVER, TAKER = "mine", "giver", "taker"
STEPS = ("tw_step_from", "tw_step_to")  # where steps without a message begin and end
PANEL = ("tw_panel_from", "tw_panel_to")  # where a panel begins and ends


@record
class RankBlocks:
    """The values `first` to before `past` of some phases' loops, over the region's parameters, in equal parts for all
    ranks. Indices of `arrays` are shared out in the same way: a rank holds what is in its block."""

    number: int
    first: isl.PwAff
    past: isl.PwAff
    phases: tuple[str, ...] = ()
    arrays: tuple[ArrayDistribution, ...] = ()
    axis: int = 0  # of the grid of ranks, which has so many:
    axes: int = 1

    def ends(self, who: str) -> tuple[str, str]:
        """Names of the parameters for where the block of a rank begins and ends."""
        stem = f"tw_{who}{self.number + 1 if self.number else ''}"
        return f"{stem}_from", f"{stem}_to"


def blocks_of(scop: Scop, cut: Cut, layouts: Sequence[ArrayDistribution] = ()) -> tuple[RankBlocks, ...]:
    """One range of values for loops that differ by constants at both ends: what they touch then lies together. Blocks
    of arrays are given by their extents; loops inside such a range follow them."""
    out: list[RankBlocks] = []
    for x in layouts:
        same = next((k for k, b in enumerate(out) if b.axis == x.axis and b.past.is_equal(x.extent)), None)
        if same is None:
            zero = x.extent.sub(x.extent)
            out.append(RankBlocks(len(out), zero, x.extent, (), (x,), x.axis, x.axes))
        else:
            out[same] = replace(out[same], arrays=(*out[same].arrays, x))
    for q, axis in [(x, k) for x in cut.shared for k in range(1 + len(x.across))]:
        first, past = span(shared_values(scop, q, name, axis) for name in q.stmts)
        for k, b in ((k, b) for k, b in enumerate(out) if b.axis == axis):
            low, high = b.first.union_min(first).coalesce(), b.past.union_max(past).coalesce()
            fits = not b.arrays or (low.is_equal(b.first) and high.is_equal(b.past))
            if _near(b.first, first) and _near(b.past, past) and fits:
                out[k] = replace(b, first=low, past=high, phases=(*b.phases, q.name))
                break
        else:
            out.append(RankBlocks(len(out), first, past, (q.name,), (), axis, 1 + len(q.across)))
    return tuple(out)


def _near(a: isl.PwAff, b: isl.PwAff) -> bool:
    return constant(a.sub(b).coalesce()) is not None


def shared_values(scop: Scop, q: Phase, stmt: str, axis: int) -> isl.Set:
    """The values of a shared iterator in all iterations of the loops around it."""
    return values_of(scop, stmt, q.positions(stmt)[axis])


def values_of(scop: Scop, stmt: str, at: int) -> isl.Set:
    """The values of an iterator of a statement."""
    values = scop.statement(stmt).domain.intersect_params(scop.context)
    n = values.dim(isl.dim_type.set)
    values = values.project_out(isl.dim_type.set, at + 1, n - at - 1)
    return values.project_out(isl.dim_type.set, 0, at).reset_tuple_id()


def span(found: Iterable[isl.Set]) -> tuple[isl.PwAff, isl.PwAff]:
    """The first of some values and the one behind the last."""
    low: isl.PwAff | None = None
    high: isl.PwAff | None = None
    for values in found:
        hull = isl.Set.from_basic_set(values.simple_hull())
        values = hull if hull.dim_is_bounded(isl.dim_type.set, 0) else values
        a, b = values.dim_min(0), values.dim_max(0).add_constant_val(isl.Val(1))
        low = a if low is None else low.union_min(a)
        high = b if high is None else high.union_max(b)
    assert low is not None and high is not None
    return low.coalesce(), high.coalesce()


def blocks_for(blocks: Sequence[RankBlocks], phase: str) -> tuple[RankBlocks, ...]:
    """The blocks of a shared phase, one for each axis of the grid of ranks."""
    return tuple(sorted((b for b in blocks if phase in b.phases), key=lambda b: b.axis))


def is_held(blocks: Sequence[RankBlocks], array: str) -> bool:
    """Does a rank hold a part of an array?"""
    return any(x.array == array for b in blocks for x in b.arrays)


def held_by(elements: isl.Set, blocks: Sequence[RankBlocks], array: str, who: str) -> isl.Set:
    """Those elements of an array that a rank holds."""
    for b in blocks:
        for x in (x for x in b.arrays if x.array == array):
            elements = within(elements, x.position, b.ends(who))
    return elements


def run_by(instances: isl.Set, q: Phase, stmt: str, blocks: Sequence[RankBlocks], who: str, gone: int = 0) -> isl.Set:
    """Those instances of a statement in a shared phase that a rank runs; the first `gone` iterators are parameters."""
    for b in blocks_for(blocks, q.name):
        instances = within(instances, q.positions(stmt)[b.axis] - gone, b.ends(who))
    return instances


def block_params(blocks: Sequence[RankBlocks], *who: str) -> tuple[Param, ...]:
    """Where blocks begin and end, as parameters."""
    return tuple(Param(name, name, LONG) for b in blocks for w in who for name in b.ends(w))


def within(values: isl.Set, position: int, ends: tuple[str, str]) -> isl.Set:
    """The part of a set whose iterator at `position` lies in a block."""
    for k, name in enumerate(ends):
        at = values.find_dim_by_name(isl.dim_type.param, name)
        assert at >= 0, name
        local = isl.LocalSpace.from_space(values.get_space())
        own = isl.Aff.var_on_domain(local, isl.dim_type.set, position)
        end = isl.Aff.var_on_domain(local, isl.dim_type.param, at)
        values = values.intersect(own.ge_set(end) if k == 0 else own.lt_set(end))
    return values


def running(scop: Scop, q: Phase, names: Sequence[str], space: isl.Space) -> isl.Set:
    """For which parameters a phase runs at all, if `names` are the iteration of the loops around it."""
    out = isl.Set.empty(space)
    for s in (scop.statement(n) for n in q.stmts):
        n = s.domain.dim(isl.dim_type.set)
        runs = s.domain.project_out(isl.dim_type.set, q.depth, n - q.depth).align_params(space)
        for k, name in enumerate(names):
            at = space.find_dim_by_name(isl.dim_type.param, name)
            runs = runs.equate(isl.dim_type.set, k, isl.dim_type.param, at)
        out = out.union(runs.params())
    return out.coalesce()


def with_params(space: isl.Space, names: Sequence[str]) -> isl.Space:
    """A space of parameters with some more."""
    for name in names:
        if space.find_dim_by_name(isl.dim_type.param, name) < 0:
            at = space.dim(isl.dim_type.param)
            space = space.add_dims(isl.dim_type.param, 1).set_dim_name(isl.dim_type.param, at, name)
    return space


def ordered(space: isl.Space, blocks: Sequence[RankBlocks], *who: str) -> isl.Set:
    """What holds for the blocks of ranks where there is something to share out: they lie in their range."""
    out = isl.Set.universe(space)
    for b in blocks:
        low, high = (isl.Set.from_pw_aff(v).align_params(space) for v in (b.first, b.past))
        for w in who:
            begin, end = (_value_of(space, name) for name in b.ends(w))
            for less, more in ((low, begin), (begin, end), (end, high)):
                pairs = isl.Map.lex_le(less.get_space()).intersect_domain(less).intersect_range(more)
                out = out.intersect(pairs.params())
    return out


def cut_evenly(space: isl.Space, blocks: Sequence[RankBlocks], *who: str) -> isl.Set:
    """What `tw_part` makes of ranges, whether there is something in them or not: blocks inside a range, or empty ones
    at its first value. Nothing is known of ranges that have no ends because their loops do not run."""
    out = isl.Set.universe(space)
    for b in blocks:
        low, high = (isl.Set.from_pw_aff(v).align_params(space) for v in (b.first, b.past))
        some = isl.Map.lex_lt(low.get_space()).intersect_domain(low).intersect_range(high).params()
        none = isl.Map.lex_ge(low.get_space()).intersect_domain(low).intersect_range(high).params()
        for name in (name for w in who for name in b.ends(w)):
            none = none.intersect(_value_of(space, name).intersect(low).params())
        inside = ordered(space, (b,), *who).intersect(some)
        unknown = low.params().intersect(high.params()).complement()
        out = out.intersect(inside.union(none).union(unknown)).coalesce()
    return out


def _value_of(space: isl.Space, name: str) -> isl.Set:
    """The value of a parameter, as a set."""
    one = space.set_from_params().add_dims(isl.dim_type.set, 1)
    at = space.find_dim_by_name(isl.dim_type.param, name)
    return isl.Set.universe(one).equate(isl.dim_type.set, 0, isl.dim_type.param, at)
