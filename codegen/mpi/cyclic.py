"""Block-cyclic distribution: decides whether ranks get several small blocks in turn, where the work moves through the
range, as in factorizations. Returns the messages for that; None where one block for each rank is better.

In step k of a factorization only rows behind k are left. With one block for each rank, those with the first rows soon
have nothing to do. With several blocks each, all have some of what is left. What is computed in a step and read in the
next goes to all ranks there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from codegen.mpi.blocks import TAKER
from codegen.mpi.messages import START, Exchange, RankedProgram, message_space
from codegen.mpi.pairs import two_ranks
from codegen.mpi.phases import Phase
from codegen.scop.model import Scop

_SET, _PARAM = isl.dim_type.set, isl.dim_type.param


def in_turn(ranked: RankedProgram, moves: Sequence[Exchange]) -> tuple[Exchange, ...] | None:
    """What ranks send if blocks are dealt out in turn; None where one block each is better: the same iterations in
    all steps, arrays in blocks, or values that only some ranks read."""
    phases = [q for q in ranked.cut.shared if q.depth]
    if any(b.arrays for b in ranked.blocks) or not any(_moves(ranked.p.scop, q) for q in phases):
        return None
    if any(x.phase == START for x in moves) or any(q.reduced or q.ordered for q in ranked.cut.shared):
        return None
    out = []
    for x in moves:
        space = message_space(ranked.p, x.outer, ranked.blocks)
        ranks = two_ranks(space, ranked.blocks)
        to_all = {a: for_all(ranked, e.align_params(space).intersect_params(ranks)) for a, e in x.elements.items()}
        for a, e in x.elements.items():
            exact = e.align_params(space).intersect_params(ranks)
            if not to_all[a].align_params(space).intersect_params(exact.params()).is_subset(exact):
                return None
        out.append(replace(x, elements=to_all))
    return tuple(out)


def _moves(scop: Scop, q: Phase) -> bool:
    """Do the iterations of a phase's shared loop depend on the loops around it?"""
    for s in (scop.statement(n) for n in q.stmts):
        values = s.domain.intersect_params(scop.context)
        values = values.project_out(_SET, q.depth + 1, values.dim(_SET) - q.depth - 1).reset_tuple_id()
        around = values.project_out(_SET, q.depth, 1)
        any_time = values.project_out(_SET, 0, q.depth)
        if not around.flat_product(any_time).is_subset(values):
            return True
    return False


def for_all(ranked: RankedProgram, elements: isl.Set) -> isl.Set:
    """Elements that any taker reads."""
    for name in (n for b in ranked.blocks for n in b.ends(TAKER)):
        elements = elements.project_out(_PARAM, elements.find_dim_by_name(_PARAM, name), 1)
    return elements.coalesce()
