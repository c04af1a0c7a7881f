"""Messages of wide halos: the elements, as a set for each array, that ranks send each other ahead of some steps that
they take without a message (`wide_halo`); and the proof that what nobody writes need not be sent again (`not_kept`)."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from codegen.mpi.blocks import GIVER, STEPS, TAKER, held_by, is_held, ordered, with_params
from codegen.mpi.messages import RankedProgram
from codegen.mpi.pairs import two_ranks
from codegen.mpi.wide.steps import Wide, before, own_instances, reached, some_steps, step_space
from codegen.scop.isl_helpers import maps_of

_IN, _OUT, _PARAM = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.param
LATER = ("tw_later_from", "tw_later_to")  # in proofs, others that come behind some steps


def needed(ranked: RankedProgram, wide: Wide) -> dict[str, list[isl.Set]]:
    """The elements that a taker reads in some steps, and a giver has: because it computed them last before, or because
    it holds them and nobody has written them. In several parts, for any two ranks and for a rank itself."""
    p, blocks = ranked.p, ranked.blocks
    space = step_space(p.scop, blocks, GIVER, TAKER)
    taker, steps = reached(ranked, wide, TAKER, space), some_steps(space, wide)
    out: dict[str, list[isl.Set]] = {}
    for array in (a for a in sorted(p.deps.flows) if not p.scop.arrays[a].inside):
        found: list[isl.Set] = []
        for m in maps_of(p.deps.flows[array]):
            m = m.align_params(space).intersect_range(taker[str(m.get_tuple_name(_OUT))])
            writer = p.scop.statement(str(m.get_tuple_name(_IN)))
            wrote = before(own_instances(ranked, m.domain(), GIVER), space)
            relation = next(a.relation for a in writer.accesses if a.write and a.array == array)
            found.append(wrote.apply(relation.align_params(space)))
        if is_held(blocks, array):
            found.append(_never_written(ranked, array, taker, space).intersect_params(_longest(space, wide)))
        found = [e for e in (part.intersect_params(steps) for part in found) if not e.is_empty()]
        if found:
            out[array] = found
    return out


def wide_halo(ranked: RankedProgram, wide: Wide) -> dict[str, isl.Set]:
    """What goes from one rank to another ahead of some steps: exactly what is needed, or in a grid the box around it.
    Elements of that which nobody needs, in corners, do no harm: their giver has them as the source has them."""
    ranks, out = pairs_in_steps(ranked, wide), dict[str, isl.Set]()
    for array, parts in needed(ranked, wide).items():
        for part in (e.intersect_params(ranks) for e in parts):
            if ranked.blocks[0].axes > 1:
                out[array] = out[array].union(part) if array in out else part
            elif not part.is_empty():
                out[array] = out[array].union(part).coalesce() if array in out else part.coalesce()
    return out


def pairs_in_steps(ranked: RankedProgram, wide: Wide) -> isl.Set:
    """Some steps, and what holds for the blocks of two ranks: in a grid no more than that they lie in their ranges,
    which is enough there, and has few cases."""
    space = step_space(ranked.p.scop, ranked.blocks, GIVER, TAKER)
    steps = some_steps(space, wide)
    if ranked.blocks[0].axes > 1:
        known = ranked.p.scop.context.align_params(space)
        return known.intersect(ordered(space, ranked.blocks, GIVER, TAKER)).intersect(steps)
    return two_ranks(space, ranked.blocks).intersect(steps)


def _never_written(ranked: RankedProgram, array: str, taker: Mapping[str, isl.Set], space: isl.Space) -> isl.Set:
    """The elements that a giver holds, and a taker reads in some steps before anybody writes them."""
    p, blocks = ranked.p, ranked.blocks
    (_, reach), *_ = p.scop.accesses_to(array)
    out = isl.Set.empty(reach.relation.range().get_space().align_params(space))
    for m in (m for m in maps_of(p.deps.live_in) if m.get_tuple_name(_OUT) == array):
        m = m.align_params(space).intersect_domain(taker[str(m.get_tuple_name(_IN))])
        out = out.union(held_by(m.range(), blocks, array, GIVER))
    return out


def _longest(space: isl.Space, wide: Wide) -> isl.Set:
    """These steps are as many as there were before, or more. Where they are fewer, as many have been taken before
    without a message: all but the first and the last are equally many, and the first are not more."""
    local = isl.LocalSpace.from_space(space)
    begin, end = (isl.PwAff.from_aff(isl.Aff.var_on_domain(local, _PARAM, space.find_dim_by_name(_PARAM, n)))
                  for n in STEPS)  # fmt: skip
    first = wide.first.align_params(space)
    return end.sub(begin).ge_set(begin.sub(first))


def not_kept(ranked: RankedProgram, wide: Wide) -> str:
    """Is what a rank has got once, of elements that nobody writes, all that it reads of them in as many steps later?"""
    p, blocks = ranked.p, ranked.blocks
    space = step_space(p.scop, blocks, GIVER, TAKER)
    space = with_params(space, LATER)
    local = isl.LocalSpace.from_space(space)
    ends = {n: isl.Aff.var_on_domain(local, _PARAM, space.find_dim_by_name(_PARAM, n)) for n in (*STEPS, *LATER)}
    steps = some_steps(space, wide)
    sooner = ends[LATER[1]].sub(ends[LATER[0]]).le_set(ends[STEPS[1]].sub(ends[STEPS[0]]))
    sooner = sooner.intersect(ends[STEPS[1]].le_set(ends[LATER[0]]))
    known = two_ranks(space, blocks).intersect(steps).intersect(_renamed(steps, space)).intersect(sooner)
    taker = reached(ranked, wide, TAKER, space)
    for array in sorted(a for a in p.deps.flows if is_held(blocks, a)):
        got = _never_written(ranked, array, taker, space)
        if not _renamed(got, space).intersect_params(known).is_subset(got):
            return f"a rank reads elements of `{array}` that nobody writes, and that it did not get"
    return ""


def _renamed(values: isl.Set, space: isl.Space) -> isl.Set:
    """A set of some steps, for later ones."""
    for old, new in zip((*STEPS, *LATER), (*LATER, *STEPS), strict=True):
        values = values.set_dim_name(_PARAM, values.find_dim_by_name(_PARAM, old), f"{new}_")
    for name in (*STEPS, *LATER):
        values = values.set_dim_name(_PARAM, values.find_dim_by_name(_PARAM, f"{name}_"), name)
    return values.align_params(space)
