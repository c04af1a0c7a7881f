"""Block distribution of loops over ranks: contiguous blocks of iterations, with their ends as parameters of the
model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from codegen.mpi.layout import ArrayDistribution
from codegen.mpi.phases import Cut, Phase
from codegen.record import record
from codegen.scop.distance import constant
from codegen.scop.model import Param, Scop
from codegen.scop.types import LONG

MINE, GIVER, TAKER = "mine", "giver", "taker"


@record
class RankBlocks:
    """The values `first` to before `past` of some phases' loops, over the region's parameters, in equal parts for all
    ranks. Indices of `arrays` are shared out in the same way: a rank holds what is in its block."""

    number: int
    first: isl.PwAff
    past: isl.PwAff
    phases: tuple[str, ...] = ()
    arrays: tuple[ArrayDistribution, ...] = ()

    def ends(self, who: str) -> tuple[str, str]:
        """Names of the parameters for where the block of a rank begins and ends."""
        stem = f"tw_{who}{self.number + 1 if self.number else ''}"
        return f"{stem}_from", f"{stem}_to"


def blocks_of(scop: Scop, cut: Cut, layouts: Sequence[ArrayDistribution] = ()) -> tuple[RankBlocks, ...]:
    """One range of values for loops that differ by constants at both ends: what they touch then lies together. Blocks
    of arrays are given by their extents; loops inside such a range follow them."""
    out: list[RankBlocks] = []
    for x in layouts:
        same = next((k for k, b in enumerate(out) if b.past.is_equal(x.extent)), None)
        if same is None:
            zero = x.extent.sub(x.extent)
            out.append(RankBlocks(len(out), zero, x.extent, arrays=(x,)))
        else:
            out[same] = replace(out[same], arrays=(*out[same].arrays, x))
    for q in cut.shared:
        first, past = _range(scop, q)
        for k, b in enumerate(out):
            low, high = b.first.union_min(first).coalesce(), b.past.union_max(past).coalesce()
            fits = not b.arrays or (low.is_equal(b.first) and high.is_equal(b.past))
            if _near(b.first, first) and _near(b.past, past) and fits:
                out[k] = replace(b, first=low, past=high, phases=(*b.phases, q.name))
                break
        else:
            out.append(RankBlocks(len(out), first, past, (q.name,)))
    return tuple(out)


def _near(a: isl.PwAff, b: isl.PwAff) -> bool:
    return constant(a.sub(b).coalesce()) is not None


def _range(scop: Scop, q: Phase) -> tuple[isl.PwAff, isl.PwAff]:
    """The first value of the shared loop and the one behind its last, in all iterations of the loops around it."""
    low: isl.PwAff | None = None
    high: isl.PwAff | None = None
    for name in q.stmts:
        values = scop.statement(name).domain.intersect_params(scop.context)
        n = values.dim(isl.dim_type.set)
        values = values.project_out(isl.dim_type.set, q.depth + 1, n - q.depth - 1)
        values = values.project_out(isl.dim_type.set, 0, q.depth).reset_tuple_id()
        hull = isl.Set.from_basic_set(values.simple_hull())
        values = hull if hull.dim_is_bounded(isl.dim_type.set, 0) else values
        a, b = values.dim_min(0), values.dim_max(0).add_constant_val(isl.Val(1))
        low = a if low is None else low.union_min(a)
        high = b if high is None else high.union_max(b)
    assert low is not None and high is not None
    return low.coalesce(), high.coalesce()


def blocks_for(blocks: Sequence[RankBlocks], phase: str) -> RankBlocks:
    return next(b for b in blocks if phase in b.phases)


def block_of(blocks: Sequence[RankBlocks], array: str) -> tuple[RankBlocks, int] | None:
    """The blocks in which ranks hold an array, and its dimension; None: each holds all of it."""
    return next(((b, x.position) for b in blocks for x in b.arrays if x.array == array), None)


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
