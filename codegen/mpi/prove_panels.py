"""Proofs about phases that run in panels: these keep the order of the source, every iteration lies in a panel, and a
panel's buffers have all that is read in it. `wrong_panels` returns what is wrong; empty if nothing is."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from codegen.mpi.blocks import MINE, TAKER, values_of
from codegen.mpi.messages import Exchange, RankedProgram
from codegen.mpi.panels.buffers import (
    PANELS,
    asked_for,
    buffers_of,
    concerned,
    known_panel,
    not_current,
    panel_ranks,
    panel_space,
    reads,
    right_to_send,
)
from codegen.mpi.panels.split import wrong_ranges
from codegen.mpi.phases import Phase
from codegen.mpi.prove import message_elements
from codegen.mpi.trees import MessageLoops

_PARAM = isl.dim_type.param


def wrong_panels(ranked: RankedProgram, found: Sequence[tuple[Exchange, Sequence[MessageLoops]]]) -> str:
    """Every iteration of phases in panels runs in one of them and in time; what it reads of arrays in panels has come
    from who holds it, to where the buffer has it. That loops over elements are right is asked of all messages."""
    for q in (q for q in ranked.cut.shared if q.panels is not None):
        parts = [r for r in ranked.cut.shared if r.shared is q.shared]
        move = next((loops for x, loops in found if x.phase == PANELS + q.name), ())
        problem = wrong_ranges(ranked.p, parts) or _outside(ranked, q) or _misplaced(ranked, q)
        problem = problem or _not_sent(ranked, q, move)
        if problem:
            return problem
    return ""


def _outside(ranked: RankedProgram, q: Phase) -> str:
    """All iterations lie in panels."""
    assert q.panels is not None
    for name, k in q.panels.iterators:
        values = values_of(ranked.p.scop, name, k)
        space = values.get_space()
        behind = isl.Set.from_pw_aff(q.panels.first).apply(isl.Map.lex_le(space))
        before = isl.Set.from_pw_aff(q.panels.past).apply(isl.Map.lex_gt(space))
        if not values.is_subset(behind) or not values.is_subset(before):
            return f"iterations of {name} lie in no panel"
    return ""


def _misplaced(ranked: RankedProgram, q: Phase) -> str:
    """What a rank reads lies in its buffer, which begins where messages think that it does."""
    assert q.panels is not None
    mine, taken = buffers_of(ranked, q), buffers_of(ranked, q, TAKER)
    for array in q.panels.arrays:
        if array not in mine or array not in taken:
            return f"there is no room for panels of `{array}`"
        near = concerned(ranked, q, array)
        space = panel_space(ranked.p, q, near.blocks, MINE)
        read = reads(near, q, array, MINE, space).intersect_params(known_panel(space, q))
        if not read.is_subset(mine[array].elements(read)):
            return f"what is read of `{array}` does not fit the room for its panel"
        for a, b in zip(mine[array].lows, taken[array].lows, strict=True):
            if _by_names(a) != {_as_mine(ranked, n): v for n, v in _by_names(b).items()}:
                return f"panels of `{array}` are put where they are not read"
    return ""


def _by_names(e: isl.Aff) -> dict[str, str]:
    """The coefficients of parameters, and the constant."""
    found = {str(e.get_dim_name(_PARAM, k)): e.get_coefficient_val(_PARAM, k) for k in range(e.dim(_PARAM))}
    return {"": e.get_constant_val().to_str(), **{n: v.to_str() for n, v in found.items() if not v.is_zero()}}


def _as_mine(ranked: RankedProgram, name: str) -> str:
    """The name of an end of a taker's block on that rank itself."""
    names = {t: m for b in ranked.blocks for t, m in zip(b.ends(TAKER), b.ends(MINE), strict=True)}
    return names.get(name, name)


def _not_sent(ranked: RankedProgram, q: Phase, found: Sequence[MessageLoops]) -> str:
    """Ahead of a panel, a rank gets all that it reads there from those that hold it, itself included, and that is what
    the source has there."""
    assert q.panels is not None
    p, taken = ranked.p, buffers_of(ranked, q, TAKER)
    for array in q.panels.arrays:
        ranks = panel_ranks(ranked, q, array)
        parts = [t for t in found if t.array == array]
        got = message_elements(parts, array, p, ranks.get_space()).intersect_params(ranks)
        needed = asked_for(ranked, q, array).intersect_params(ranks)
        if not needed.is_subset(got):
            return f"`{array}` is read in a panel, but not sent: {needed.subtract(got).sample_point()}"
        if not got.is_subset(right_to_send(ranked, q, taken[array])):
            return f"the messages of a panel have elements of `{array}` that their giver does not have, or nobody reads"
        problem = not_current(ranked, q, array)
        if problem:
            return problem
    return ""
