"""Who runs what: the values of shared loops in contiguous blocks, one for each rank, as parameters of the model."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from codegen.mpi.phases import Cut, Phase
from codegen.record import record
from codegen.scop.distance import constant
from codegen.scop.model import Param, Scop
from codegen.scop.types import LONG

MINE, GIVER, TAKER = "mine", "giver", "taker"


@record
class Blocks:
    """The values `first` to before `past` of some phases' loops, over the region's parameters, in equal parts for all
    ranks."""

    number: int
    first: isl.PwAff
    past: isl.PwAff
    phases: tuple[str, ...]

    def ends(self, who: str) -> tuple[str, str]:
        """Names of the parameters for where the block of a rank begins and ends."""
        stem = f"tw_{who}{self.number + 1 if self.number else ''}"
        return f"{stem}_from", f"{stem}_to"


def blocks_of(scop: Scop, cut: Cut) -> tuple[Blocks, ...]:
    """One range of values for loops that differ by constants at both ends: what they touch then lies together."""
    out: list[Blocks] = []
    for q in cut.shared:
        first, past = _range(scop, q)
        for k, b in enumerate(out):
            if _near(b.first, first) and _near(b.past, past):
                out[k] = Blocks(k, b.first.union_min(first), b.past.union_max(past), (*b.phases, q.name))
                break
        else:
            out.append(Blocks(len(out), first, past, (q.name,)))
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


def blocks_for(blocks: Sequence[Blocks], phase: str) -> Blocks:
    return next(b for b in blocks if phase in b.phases)


def block_params(blocks: Sequence[Blocks], *who: str) -> tuple[Param, ...]:
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


def ordered(space: isl.Space, blocks: Sequence[Blocks], *who: str) -> isl.Set:
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


def _value_of(space: isl.Space, name: str) -> isl.Set:
    """The value of a parameter, as a set."""
    one = space.set_from_params().add_dims(isl.dim_type.set, 1)
    at = space.find_dim_by_name(isl.dim_type.param, name)
    return isl.Set.universe(one).equate(isl.dim_type.set, 0, isl.dim_type.param, at)
