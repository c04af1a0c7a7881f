"""Overlap of communication and computation: which iterations of a phase touch no element of a message under way.

Behind a phase its messages are sent, and the next phase begins with the iterations that neither use an element that may
still arrive nor store into one that MPI may still read. It waits ahead of the others, which lie at the two ends of a
block. What may be under way is what any exchange of the region moves, in any iteration of the loops around it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from codegen.mpi.blocks import GIVER, MINE, TAKER, block_params, blocks_for, with_params, within
from codegen.mpi.messages import Exchange, RankedProgram, message_space, two_ranks
from codegen.mpi.phases import Phase
from codegen.record import record
from codegen.scop.dependences import param_space

WIDEST = 4  # iterations at an end of a block that may wait: rows of a stencil


@record
class Margins:
    """How many iterations at the beginning and at the end of a block wait for messages."""

    low: int
    high: int


def margins(ranked: RankedProgram, moves: Sequence[Exchange]) -> Mapping[str, Margins]:
    """The shared phases that can begin before messages have arrived, with what of them has to wait; the fewest
    iterations on either side."""
    out = {}
    for q in (q for q in ranked.cut.shared if not q.reduced and not q.ordered):
        busy = busy_iterations(ranked, q, moves)
        found = _margins(busy, ranked, q)
        if found is not None:
            out[q.name] = found
    return out


def _margins(busy: isl.Set, ranked: RankedProgram, q: Phase) -> Margins | None:
    def fits(low: int, high: int) -> bool:
        return not wrongly_early(busy, ranked, q, Margins(low, high))

    if not fits(WIDEST, WIDEST):
        return None
    low = next(k for k in range(WIDEST + 1) if fits(k, WIDEST))
    return Margins(low, next(k for k in range(WIDEST + 1) if fits(low, k)))


def wrongly_early(busy: isl.Set, ranked: RankedProgram, q: Phase, m: Margins) -> str:
    """Does an iteration between the margins touch what may be under way? Empty if none does."""
    ends = blocks_for(ranked.blocks, q.name).ends(MINE)
    inside = _between(busy, ends, m)
    return "" if inside.is_empty() else f"{', '.join(q.stmts)} would run too early: {inside.sample_point()}"


def busy_iterations(ranked: RankedProgram, q: Phase, moves: Sequence[Exchange]) -> isl.Set:
    """The values of the shared loop of a phase, in this rank's block, with which it touches an element of a message."""
    p, blocks = ranked.p, ranked.blocks
    space = with_params(param_space(p.scop), [x.name for x in block_params(blocks, MINE)])
    ends = blocks_for(blocks, q.name).ends(MINE)
    out = isl.Set.empty(space.set_from_params().add_dims(isl.dim_type.set, 1))
    for x in (x for x in moves if x.phase):
        for array in sorted(x.elements):
            arriving = _under_way(ranked, x, array, TAKER, space)
            leaving = _under_way(ranked, x, array, GIVER, space)
            for s in (p.scop.statement(n) for n in q.stmts):
                for a in (a for a in s.accesses if a.array == array):
                    elements = arriving.union(leaving) if a.write else arriving
                    domain = within(s.domain.intersect_params(p.scop.context).align_params(space), q.depth, ends)
                    touch = a.relation.align_params(space).intersect_domain(domain).intersect_range(elements).domain()
                    n = touch.dim(isl.dim_type.set)
                    touch = touch.project_out(isl.dim_type.set, q.depth + 1, n - q.depth - 1)
                    out = out.union(touch.project_out(isl.dim_type.set, 0, q.depth).reset_tuple_id())
    return out.coalesce()


def _between(busy: isl.Set, ends: tuple[str, str], m: Margins) -> isl.Set:
    """The iterations of a set that lie between the margins of a block."""
    space = busy.get_space()
    local = isl.LocalSpace.from_space(space)
    at = isl.Aff.var_on_domain(local, isl.dim_type.set, 0)
    first, past = (
        isl.Aff.var_on_domain(local, isl.dim_type.param, space.find_dim_by_name(isl.dim_type.param, e)) for e in ends
    )
    low, high = first.add_constant_val(isl.Val(m.low)), past.add_constant_val(isl.Val(-m.high))
    return busy.intersect(at.ge_set(low)).intersect(at.lt_set(high))


def _under_way(ranked: RankedProgram, x: Exchange, array: str, mine: str, space: isl.Space) -> isl.Set:
    """The elements that a rank gives, or takes, in an exchange with any other rank; `mine` says which of the two."""
    blocks = ranked.blocks
    wide = message_space(ranked.p, x.outer, blocks)
    elements = x.elements[array].align_params(wide).intersect_params(two_ranks(wide, blocks))
    other = GIVER if mine == TAKER else TAKER
    gone = (*x.outer, *(n for b in blocks for n in b.ends(other)))
    for name in gone:
        elements = elements.project_out(isl.dim_type.param, elements.find_dim_by_name(isl.dim_type.param, name), 1)
    for b in blocks:
        for old, new in zip(b.ends(mine), b.ends(MINE), strict=True):
            at = elements.find_dim_by_name(isl.dim_type.param, old)
            elements = elements.set_dim_name(isl.dim_type.param, at, new)
    return elements.align_params(space).coalesce()
