"""Proofs that ranks compute what the source does, on the generated loops: phases keep their order, blocks cover shared
loops, and every read finds its value locally or in a message. Each returns what is wrong; empty if nothing is. That the
printed text is these loops is proven in `text/read_back.py`.

What they show together: every read on a rank finds the value that the source reads. Phases run in the source's order on
all ranks (`wrong_order`), every iteration of a shared loop runs on one rank (`not_shared_out`), and each value that one
rank reads and another has written in a phase before is in the message between them behind that phase, in which there is
nothing else than what that rank has just written (`wrong_message`). What a rank holds of an element is then what the
source's last write left there, whenever somebody reads it, and at the end of the region.
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from codegen.mpi.blocks import GIVER, TAKER, RankBlocks, blocks_for, held_by, run_by, shared_values
from codegen.mpi.grid import handed_across
from codegen.mpi.messages import (
    END,
    START,
    Exchange,
    RankedProgram,
    final_writers,
    gathered,
    handed_on,
    has_current,
    joined,
    just_written,
    message_space,
)
from codegen.mpi.pairs import two_ranks
from codegen.mpi.phase_program import fixed, outer_names
from codegen.mpi.phases import Cut, Phase
from codegen.mpi.trees import MessageLoops, ModelLoops, no_dependences
from codegen.mpi.wide.halo import needed, not_kept, pairs_in_steps
from codegen.mpi.wide.steps import Wide, not_closed
from codegen.scop.dependences import order_map, param_space
from codegen.scop.isl_helpers import maps_of
from codegen.scop.times import in_order
from codegen.transform.program import Program
from codegen.verify.evidence import between_runs, collect
from codegen.verify.proofs import not_exactly_once, prove, wrong_subscript

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out


def wrong_order(made: ModelLoops) -> str:
    """Each phase runs once in every iteration of the loops around it, and all in the order of the source."""
    times = order_map(made.scop, made.tree)
    before = times.lex_lt_union_map(times)
    evidence = collect(made.scop, no_dependences(param_space(made.scop)), made.code)
    for found in not_exactly_once(evidence):
        return found.message
    kept = all(in_order(m, a.times, b.times) for m, a, b in between_runs(evidence, before))
    return "" if kept else "parts of the region would run in another order than the source's"


def not_shared_out(p: Program, cut: Cut, blocks: Sequence[RankBlocks]) -> str:
    """All values of a shared loop lie in the range that is cut into blocks; that those are parts of it is `tw_part`'s
    affair. No dependence goes from one iteration to another, which `phases.cut` asks of every loop; along further axes
    of a grid it is asked here."""
    for q, b in [(x, b) for x in cut.shared for b in blocks_for(blocks, x.name)]:
        problem = handed_across(p, q, b.axis) if b.axis else ""
        if problem:
            return problem
        for name in q.stmts:
            values = shared_values(p.scop, q, name, b.axis)
            space = values.get_space()
            behind = isl.Set.from_pw_aff(b.first).apply(isl.Map.lex_le(space))
            before = isl.Set.from_pw_aff(b.past).apply(isl.Map.lex_gt(space))
            if not values.is_subset(behind) or not values.is_subset(before):
                return f"iterations of {name} lie outside of all blocks"
    return ""


def wrong_message(
    p: Program, cut: Cut, blocks: Sequence[RankBlocks], found: Sequence[tuple[Exchange, Sequence[MessageLoops]]]
) -> str:
    """Behind every phase, the loops of its messages run over all elements that other ranks read of what was written in
    it, and no others than it wrote; at the end, over the elements whose last value is a giver's."""
    sent = {(x.phase, a): [t for t in parts if t.array == a] for x, parts in found for a in x.elements}
    problem = wrong_loops([t for _, parts in found for t in parts])
    if problem:
        return problem
    finals, ranked = final_writers(p), RankedProgram(p, cut, blocks)
    for q in cut.shared:
        for array in (a for a in sorted(finals) if not joined(q, a)):
            maps = [m for m in maps_of(p.deps.flows[array]) if not cut.in_panels(str(m.get_tuple_name(_OUT)), array)]
            flow = [handed_on(q, m)[1] for m in maps]
            problem = _behind(ranked, q, array, flow, sent.get((q.name, array), ()))
            if problem:
                return problem
    for array in dict.fromkeys(x.array for b in blocks for x in b.arrays):
        problem = _at_start(p, cut, blocks, array, sent.get((START, array), ()))
        if problem:
            return problem
    for array in sorted(finals):
        problem = _at_end(ranked, array, finals[array], sent.get(("", array), ()))
        if problem:
            return problem
    return ""


def wrong_loops(parts: Sequence[MessageLoops]) -> str:
    """The loops over the elements of messages run over each of them once, and name it."""
    for t in parts:
        scop = t.made.scop
        wrong = prove(scop, no_dependences(param_space(scop)), t.made.code, (not_exactly_once, wrong_subscript))
        if wrong:
            return wrong[0].message
    return ""


def wrong_turns(ranked: RankedProgram, q: Phase, parts: Sequence[MessageLoops]) -> str:
    """What a rank gets before its turn in a phase is what it reads of those before it, and what those have written. All
    that they run stands before all that it runs, in the source as well."""
    p = ranked.p
    problem = wrong_loops(parts)
    for array in sorted(p.deps.flows):
        if not p.scop.arrays[array].inside:
            flow = [handed_on(q, m)[0] for m in maps_of(p.deps.flows[array])]
            sent = [t for t in parts if t.array == array]
            problem = problem or _behind(ranked, q, array, flow, sent)
            back = message_elements(sent, array, p, message_space(p, outer_names(q), ranked.blocks))
            problem = problem or _backwards(ranked, q, back)
    return problem


def _backwards(ranked: RankedProgram, q: Phase, got: isl.Set) -> str:
    """Would a rank wait for one behind it?"""
    space = got.get_space().params()
    (b,) = blocks_for(ranked.blocks, q.name)
    local = isl.LocalSpace.from_space(space)
    giver, taker = (
        isl.Aff.var_on_domain(local, isl.dim_type.param, space.find_dim_by_name(isl.dim_type.param, b.ends(w)[0]))
        for w in (GIVER, TAKER)
    )
    ranks = two_ranks(space, ranked.blocks).intersect(giver.gt_set(taker))
    return "" if got.intersect_params(ranks).is_empty() else "a rank would wait for one that comes after it"


def wrong_totals(p: Program, q: Phase, parts: Sequence[MessageLoops]) -> str:
    """What ranks join behind a phase is all that its reductions gather in, and nothing else."""
    problem = wrong_loops(parts)
    for t in parts:
        (s,) = t.made.scop.statements
        want = gathered(p, q, t.array)
        got = s.domain.set_tuple_name(t.array).align_params(want.get_space())
        known = t.made.scop.context.align_params(want.get_space())
        if not want.intersect_params(known).is_equal(got.intersect_params(known)):
            problem = problem or f"ranks do not join all of `{t.array}` that they gather in"
    return problem


def wrong_steps(ranked: RankedProgram, wide: Wide, move: tuple[Exchange, Sequence[MessageLoops]]) -> str:
    """Steps without a message: all that a rank reads in them it runs itself, or has from before, or gets ahead of
    them, or has got once because nobody writes it; and messages have what their sender ran last, or holds."""
    p, blocks = ranked.p, ranked.blocks
    problem = not_closed(ranked, wide) or not_kept(ranked, wide) or wrong_loops(move[1])
    if problem:
        return problem
    space, want = message_space(p, move[0].outer, blocks), needed(ranked, wide)
    ranks = pairs_in_steps(ranked, wide).align_params(space)
    for array in sorted(p.deps.flows):
        if not p.scop.arrays[array].inside:
            loops = [t for t in move[1] if t.array == array]
            got = message_elements(loops, array, p, space).intersect_params(ranks)
            right = has_current(ranked, array, space)
            for part in (e.align_params(space).intersect_params(ranks) for e in want.get(array, ())):
                right = right if got.is_subset(right) else right.union(part)
                if not part.is_subset(got):
                    return f"ahead of some steps, messages do not have what is read of `{array}`"
            if not got.is_subset(right):
                return f"ahead of some steps, messages have elements of `{array}` that their sender does not have"
    return ""


def message_elements(parts: Sequence[MessageLoops], array: str, p: Program, space: isl.Space) -> isl.Set:
    """The elements of an array in a message."""
    (one, *_) = p.scop.accesses_to(array)
    out = isl.Set.empty(one[1].relation.range().get_space().align_params(space))
    for t in parts:
        (statement,) = t.made.scop.statements
        out = out.union(statement.domain.set_tuple_name(array).align_params(space))
    return out


def _behind(
    ranked: RankedProgram, q: Phase, array: str, flow: Sequence[isl.Map], parts: Sequence[MessageLoops]
) -> str:
    """The message behind a phase, for one array."""
    p, cut, blocks = ranked.p, ranked.cut, ranked.blocks
    space = message_space(p, outer_names(q), blocks)
    ranks, got = two_ranks(space, blocks), message_elements(parts, array, p, space)
    for name in q.stmts:
        s = p.scop.statement(name)
        given = fixed(s.domain, outer_names(q), space)
        for m in (m for m in flow if m.get_tuple_name(_IN) == name):
            reader = cut.phase_of(str(m.get_tuple_name(_OUT)))
            pairs = m.align_params(space).preimage_domain_multi_aff(given)
            pairs = pairs.intersect_domain(run_by(pairs.domain(), q, name, blocks, GIVER, q.depth))
            if reader.shared is not None and not joined(reader, array):
                to = str(m.get_tuple_name(_OUT))
                pairs = pairs.intersect_range(run_by(pairs.range(), reader, to, blocks, TAKER))
            for a in (a for a in s.accesses if a.write and a.array == array):
                relation = a.relation.align_params(space).preimage_domain_multi_aff(given)
                needed = pairs.domain().apply(relation).intersect_params(ranks)
                if not needed.is_subset(got):
                    missing = needed.subtract(got).sample_point()
                    return f"`{array}` is written by {name} on one rank and read on another, but not sent: {missing}"
    right = just_written(ranked, q, array).union(has_current(ranked, array, space))
    if not got.intersect_params(ranks).is_subset(right):
        return f"a message has elements of `{array}` that its sender has not just written"
    return ""


def _at_start(
    p: Program, cut: Cut, blocks: Sequence[RankBlocks], array: str, parts: Sequence[MessageLoops]
) -> str:
    """The first message, for an array of which ranks hold blocks: all that a taker reads before it is written, and
    nothing but what its giver holds."""
    space = message_space(p, (), blocks)
    ranks, got = two_ranks(space, blocks), message_elements(parts, array, p, space)
    for m in (m for m in maps_of(p.deps.live_in) if m.get_tuple_name(_OUT) == array):
        stmt = str(m.get_tuple_name(_IN))
        reader = cut.phase_of(stmt)
        if cut.in_panels(stmt, array):
            continue
        m = m.align_params(space)
        if reader.shared is not None:
            m = m.intersect_domain(run_by(m.domain(), reader, stmt, blocks, TAKER))
        needed = held_by(m.range(), blocks, array, GIVER).intersect_params(ranks)
        if not needed.is_subset(got):
            return f"`{array}` is held by one rank and read by another first, but not sent: {needed.sample_point()}"
    whole = isl.Set.universe(got.get_space())
    if not got.intersect_params(ranks).is_subset(held_by(whole, blocks, array, GIVER)):
        return f"the first message has elements of `{array}` that its sender does not hold"
    return ""


def _at_end(
    ranked: RankedProgram, array: str, flow: Sequence[isl.Map], parts: Sequence[MessageLoops]
) -> str:
    """The last message, for one array: exactly what the giver wrote last."""
    p, cut, blocks = ranked.p, ranked.cut, ranked.blocks
    space = message_space(p, (), blocks)
    ranks, got = two_ranks(space, blocks), message_elements(parts, array, p, space)
    want = isl.Set.empty(got.get_space())
    for m in flow:
        q = cut.phase_of(str(m.get_tuple_name(_IN)))
        if q.shared is None or joined(q, array):
            continue
        assert m.get_tuple_name(_OUT) == END
        s = p.scop.statement(str(m.get_tuple_name(_IN)))
        last = run_by(m.domain().align_params(space), q, s.name, blocks, GIVER)
        for a in (a for a in s.accesses if a.write and a.array == array):
            want = want.union(last.apply(a.relation.align_params(space)))
    want = held_by(want, blocks, array, TAKER)
    want, got = want.intersect_params(ranks), got.intersect_params(ranks)
    return "" if want.is_equal(got) else f"at the end, messages do not have what was last written of `{array}`"
