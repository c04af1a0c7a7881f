"""Overlap of communication and computation: finds the iterations of a phase that touch no element of a message under
way, as the fewest iterations at both ends of a block that have to wait (`margins`).

Behind a phase its messages are sent, and the next phase begins with the iterations that neither use an element that may
still arrive nor store into one that MPI may still read. It waits ahead of the others, which lie at the two ends of a
block. What may be under way is what any exchange of the region moves, in any iteration of the loops around it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from codegen.mpi.blocks import GIVER, MINE, TAKER, block_params, blocks_for, run_by, with_params
from codegen.mpi.messages import Exchange, RankedProgram, message_space
from codegen.mpi.pairs import two_ranks
from codegen.mpi.phases import Phase
from codegen.record import record
from codegen.scop.dependences import param_space

WIDEST = 4  # iterations at an end of a block that may wait: rows of a stencil


@record
class Margins:
    """How many iterations at the beginning and at the end of a block wait for messages, along the first axis of a grid
    of ranks, and along `more`."""

    low: int
    high: int
    more: tuple[tuple[int, int], ...] = ()

    @property
    def sides(self) -> tuple[tuple[int, int], ...]:
        return ((self.low, self.high), *self.more)


def margins(ranked: RankedProgram, moves: Sequence[Exchange]) -> Mapping[str, Margins]:
    """The shared phases that can begin before messages have arrived, with what of them has to wait; the fewest
    iterations on either side."""
    out = {}
    for q in (q for q in ranked.cut.shared if not q.reduced and not q.ordered and q.panels is None):
        busy = busy_iterations(ranked, q, moves)
        found = _margins(busy, ranked, q)
        if found is not None:
            out[q.name] = found
    return out


def _margins(busy: isl.Set, ranked: RankedProgram, q: Phase) -> Margins | None:
    def fits(sides: Sequence[int]) -> bool:
        return not wrongly_early(busy, ranked, q, _of(sides))

    sides = [WIDEST] * 2 * (1 + len(q.across))
    if not fits(sides):
        return None
    for at in range(len(sides)):
        sides[at] = next(k for k in range(WIDEST + 1) if fits([*sides[:at], k, *sides[at + 1 :]]))
    return _of(sides)


def _of(sides: Sequence[int]) -> Margins:
    return Margins(sides[0], sides[1], tuple(zip(sides[2::2], sides[3::2], strict=True)))


def wrongly_early(busy: isl.Set, ranked: RankedProgram, q: Phase, m: Margins) -> str:
    """Does an iteration between the margins touch what may be under way? Empty if none does."""
    inside = busy
    for b in blocks_for(ranked.blocks, q.name):
        inside = _between(inside, b.axis, b.ends(MINE), m.sides[b.axis])
    return "" if inside.is_empty() else f"{', '.join(q.stmts)} would run too early: {inside.sample_point()}"


def busy_iterations(ranked: RankedProgram, q: Phase, moves: Sequence[Exchange]) -> isl.Set:
    """The values of the shared loops of a phase, in this rank's block, with which it touches a message's element."""
    p, blocks = ranked.p, ranked.blocks
    space = with_params(param_space(p.scop), [x.name for x in block_params(blocks, MINE)])
    out = isl.Set.empty(space.set_from_params().add_dims(isl.dim_type.set, 1 + len(q.across)))
    for x in (x for x in moves if x.phase):
        for array in sorted(x.elements):
            arriving = _under_way(ranked, x, array, TAKER, space)
            leaving = _under_way(ranked, x, array, GIVER, space)
            for s in (p.scop.statement(n) for n in q.stmts):
                for a in (a for a in s.accesses if a.array == array):
                    elements = arriving.union(leaving) if a.write else arriving
                    domain = s.domain.intersect_params(p.scop.context).align_params(space)
                    domain = run_by(domain, q, s.name, blocks, MINE)
                    touch = a.relation.align_params(space).intersect_domain(domain).intersect_range(elements).domain()
                    for k in reversed(range(touch.dim(isl.dim_type.set))):
                        if k not in q.positions(s.name):
                            touch = touch.project_out(isl.dim_type.set, k, 1)
                    out = out.union(touch.reset_tuple_id())
    return out.coalesce()


def _between(busy: isl.Set, axis: int, ends: tuple[str, str], sides: tuple[int, int]) -> isl.Set:
    """The iterations of a set that lie between the margins of a block along an axis."""
    space = busy.get_space()
    local = isl.LocalSpace.from_space(space)
    at = isl.Aff.var_on_domain(local, isl.dim_type.set, axis)
    first, past = (
        isl.Aff.var_on_domain(local, isl.dim_type.param, space.find_dim_by_name(isl.dim_type.param, e)) for e in ends
    )
    low, high = first.add_constant_val(isl.Val(sides[0])), past.add_constant_val(isl.Val(-sides[1]))
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
