"""Message sets: which elements each rank must send to which, from the flow of values between blocks.

Every set is over the elements of an array. Its parameters are those of the region, the iteration of the loops around
the phase that has just run, and the blocks of two ranks: the giver, which computed the elements, and the taker. Both
ranks evaluate the same set, so a message has as many elements where it is sent as where it is received.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from codegen.mpi.blocks import (
    GIVER,
    TAKER,
    RankBlocks,
    block_params,
    held_by,
    is_held,
    run_by,
    with_params,
)
from codegen.mpi.layout import extent_of
from codegen.mpi.pairs import two_ranks
from codegen.mpi.phase_program import fixed, outer_names
from codegen.mpi.phases import Cut, Phase
from codegen.record import record
from codegen.scop.dependences import order_map, param_space
from codegen.scop.flows import last_writers
from codegen.scop.isl_helpers import maps_of
from codegen.transform.program import Program

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out
END = "End"  # a reader of everything, behind the region


START = "start"  # ahead of all phases
WIDE = "steps"  # ahead of some steps that ranks take without a message


@record
class Exchange:
    """What moves behind a phase, at the end of the region (no phase), or at its start: for each array a set of
    elements."""

    phase: str
    outer: tuple[str, ...]
    elements: Mapping[str, isl.Set]


def sent_when(cut: Cut, x: Exchange) -> str:
    """When ranks send what an exchange has."""
    q = next((q for q in cut.phases if x.phase == q.name), None)
    if q is not None:
        return f"behind {', '.join(q.stmts)}"
    return {START: "first", "": "at the end"}.get(x.phase, "for each panel")


def message_space(p: Program, outer: Sequence[str], blocks: Sequence[RankBlocks]) -> isl.Space:
    """The parameters of a message."""
    names = [x.name for x in block_params(blocks, GIVER, TAKER)]
    return with_params(param_space(p.scop), [*outer, *names])


def exchanges(p: Program, cut: Cut, blocks: Sequence[RankBlocks]) -> tuple[Exchange, ...]:
    """All that is needed, in the order of the phases; those at which nothing moves are left out."""
    out = []
    first: dict[str, isl.Set] = {}
    for array in dict.fromkeys(x.array for b in blocks for x in b.arrays):
        _add(first, array, _halo(p, cut, blocks, array))
    if first:
        out.append(Exchange(START, (), first))
    for q in cut.shared:
        found: dict[str, isl.Set] = {}
        for array in sorted(p.deps.flows):
            if not p.scop.arrays[array].inside and not joined(q, array):
                maps = [m for m in maps_of(p.deps.flows[array]) if m.get_tuple_name(_IN) in q.stmts]
                flow = [handed_on(q, m)[1] for m in maps if not cut.in_panels(str(m.get_tuple_name(_OUT)), array)]
                _add(found, array, _crossing(RankedProgram(p, cut, blocks), q, array, flow))
        if found:
            out.append(Exchange(q.name, outer_names(q), found))
    last: dict[str, isl.Set] = {}
    for array, flow in final_writers(p).items():
        for q in cut.shared:
            mine = [m for m in flow if m.get_tuple_name(_IN) in q.stmts and not joined(q, array)]
            _add(last, array, _crossing(RankedProgram(p, cut, blocks), q, array, mine, at_end=True))
    return (*out, Exchange("", (), last)) if last else tuple(out)


def handed_on(q: Phase, m: isl.Map) -> tuple[isl.Map, isl.Map]:
    """The part of a flow that goes from rank to rank while they take turns in a phase, and the rest."""
    same = m
    if not q.ordered or str(m.get_tuple_name(_OUT)) not in q.stmts:
        return m.subtract(m), m
    for k in range(q.depth):
        same = same.equate(_IN, k, _OUT, k)
    return same, m.subtract(same)


def in_turns(p: Program, cut: Cut, blocks: Sequence[RankBlocks], q: Phase) -> Exchange:
    """What a rank needs of those before it when its turn comes in a phase."""
    found: dict[str, isl.Set] = {}
    for array in sorted(p.deps.flows):
        if not p.scop.arrays[array].inside:
            maps = [m for m in maps_of(p.deps.flows[array]) if m.get_tuple_name(_IN) in q.stmts]
            flow = [m for m in (handed_on(q, m)[0] for m in maps) if not m.is_empty()]
            _add(found, array, _crossing(RankedProgram(p, cut, blocks), q, array, flow))
    return Exchange(q.name, outer_names(q), found)


def joined(q: Phase, array: str) -> bool:
    """Do all ranks have what was gathered in an array behind a phase, and need what it held before?"""
    return any(a == array for _, a in q.reduced)


def gathered(p: Program, q: Phase, array: str) -> isl.Set:
    """The elements of an array that a reduction of a phase gathers in, in one iteration of the loops around it."""
    space = with_params(param_space(p.scop), outer_names(q))
    out: isl.Set | None = None
    for s, a in p.scop.accesses_to(array):
        if a.write and s.name in q.stmts:
            given = fixed(s.domain, outer_names(q), space)
            domain = s.domain.align_params(space).preimage_multi_aff(given)
            more = domain.apply(a.relation.align_params(space).preimage_domain_multi_aff(given))
            out = more if out is None else out.union(more)
    assert out is not None
    return out.coalesce()


def _add(found: dict[str, isl.Set], array: str, more: isl.Set | None) -> None:
    if more is not None:
        found[array] = found[array].union(more).coalesce() if array in found else more


def final_writers(p: Program) -> dict[str, list[isl.Map]]:
    """For each array of the program, from the last writers of its elements to the end of the region."""
    times = order_map(p.scop, p.tree)
    width = max((m.dim(_OUT) for m in maps_of(times)), default=0)
    out = {}
    for array in sorted(p.deps.flows):
        if p.scop.arrays[array].inside:
            continue
        writes = isl.UnionMap.empty(param_space(p.scop))
        for _, a in p.scop.accesses_to(array):
            if a.write:
                writes = writes.union(isl.UnionMap.from_map(a.relation))
        writes = writes.intersect_params(p.scop.context)
        end = isl.Set.universe(param_space(p.scop).set_from_params().set_tuple_name(isl.dim_type.set, END))
        reads = isl.UnionMap.from_domain_and_range(isl.UnionSet.from_set(end), writes.range())
        out[array] = maps_of(last_writers(reads, writes, _with_end(times, end, width))[0])
    return out


def _with_end(times: isl.UnionMap, end: isl.Set, width: int) -> isl.UnionMap:
    """The order of the region behind a first number, which is larger at its end."""
    out = isl.UnionMap.empty(times.get_space())
    for m in maps_of(times):
        name = m.get_tuple_name(_IN)
        first = m.insert_dims(_OUT, 0, 1).fix_val(_OUT, 0, isl.Val(0)).set_tuple_name(_IN, name)
        out = out.union(isl.UnionMap.from_map(first))
    last = isl.Set.universe(end.get_space().params().set_from_params().add_dims(isl.dim_type.set, width + 1))
    for k in range(width + 1):
        last = last.fix_val(isl.dim_type.set, k, isl.Val(0 if k else 1))
    return out.union(isl.UnionMap.from_map(isl.Map.from_domain_and_range(end, last)))


def _halo(p: Program, cut: Cut, blocks: Sequence[RankBlocks], array: str) -> isl.Set | None:
    """The elements in a giver's block that a taker reads before anybody writes them."""
    space = message_space(p, (), blocks)
    total: isl.Set | None = None
    for m in (m for m in maps_of(p.deps.live_in) if m.get_tuple_name(_OUT) == array):
        m = m.align_params(space)
        reader = str(m.get_tuple_name(_IN))
        if cut.in_panels(reader, array):
            continue
        r = cut.phase_of(reader)
        if r.shared is not None:
            m = m.intersect_domain(run_by(m.domain(), r, reader, blocks, TAKER))
        elements = held_by(m.range(), blocks, array, GIVER).coalesce()
        total = elements if total is None else total.union(elements).coalesce()
    return None if total is None else _simple(total, two_ranks(space, blocks))


def _simple(elements: isl.Set, ranks: isl.Set) -> isl.Set | None:
    """The same elements for all ranks that there can be, in few pieces; None: none."""
    exact = elements.intersect_params(ranks).coalesce()
    if exact.is_empty():
        return None
    return exact if exact.n_basic_set() < elements.n_basic_set() else elements


@record
class RankedProgram:
    """A program in phases, and the blocks of iterations that ranks take of each."""

    p: Program
    cut: Cut
    blocks: Sequence[RankBlocks]


def _crossing(
    ranked: RankedProgram, q: Phase, array: str, flow: Sequence[isl.Map], at_end: bool = False
) -> isl.Set | None:
    """The elements that a giver has written in a phase, and a taker reads later: in the iteration of the loops around
    the phase that the parameters give or, at the end, in any."""
    p, cut, blocks = ranked.p, ranked.cut, ranked.blocks
    outer = () if at_end else outer_names(q)
    space = message_space(p, outer, blocks)
    total: isl.Set | None = None
    for m in flow:
        writer = p.scop.statement(str(m.get_tuple_name(_IN)))
        m = m.align_params(space)
        m = m.intersect_domain(run_by(m.domain(), q, writer.name, blocks, GIVER))
        reader = str(m.get_tuple_name(_OUT))
        if reader != END:
            r = cut.phase_of(reader)
            if r.shared is not None and not joined(r, array):
                m = m.intersect_range(run_by(m.range(), r, reader, blocks, TAKER))
        written = m.domain()
        relation = next(a.relation for a in writer.accesses if a.write and a.array == array).align_params(space)
        if not at_end:
            given = fixed(writer.domain, outer, space)
            written, relation = written.preimage_multi_aff(given), relation.preimage_domain_multi_aff(given)
        elements = written.apply(relation).coalesce()
        if at_end and is_held(blocks, array):
            elements = held_by(elements, blocks, array, TAKER)
        total = elements if total is None else total.union(elements).coalesce()
    return None if total is None else _simple(total, two_ranks(space, blocks))


def just_written(ranked: RankedProgram, q: Phase, array: str) -> isl.Set:
    """The elements of an array that a giver writes in a phase, in the iteration of the loops around it that the
    parameters give."""
    p, blocks = ranked.p, ranked.blocks
    space = message_space(p, outer_names(q), blocks)
    (_, reach), *_ = p.scop.accesses_to(array)
    out = isl.Set.empty(reach.relation.range().get_space().align_params(space))
    for s in (p.scop.statement(n) for n in q.stmts):
        given = fixed(s.domain, outer_names(q), space)
        for a in (a for a in s.accesses if a.write and a.array == array):
            relation = a.relation.align_params(space).preimage_domain_multi_aff(given)
            own = run_by(s.domain.align_params(space).preimage_multi_aff(given), q, s.name, blocks, GIVER, q.depth)
            out = out.union(own.apply(relation))
    return out


def has_current(ranked: RankedProgram, array: str, space: isl.Space) -> isl.Set:
    """The elements of an array of which ranks hold blocks that a giver holds and no other rank writes: whenever it
    sends them, they are what the source has there by then."""
    p, blocks = ranked.p, ranked.blocks
    (_, reach), *_ = p.scop.accesses_to(array)
    none = isl.Set.empty(reach.relation.range().get_space().align_params(space))
    if not is_held(blocks, array) or any(joined(q, array) for q in ranked.cut.phases):
        return none
    out = held_by(none.complement(), blocks, array, GIVER)
    local = isl.LocalSpace.from_space(out.get_space())
    for k in range(out.dim(isl.dim_type.set)):
        extent = extent_of(p.scop, p.scop.arrays[array], k)
        if extent is None:
            return none
        at = isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, k))
        past = extent.align_params(space).add_dims(_IN, out.dim(isl.dim_type.set)).set_tuple_id(_IN, out.get_tuple_id())
        out = out.lower_bound_val(isl.dim_type.set, k, isl.Val(0)).intersect(at.lt_set(past))
    for s, a in p.scop.accesses_to(array):
        q = ranked.cut.phase_of(s.name)
        if a.write and q.shared is not None:
            domain = s.domain.align_params(space)
            others = domain.subtract(run_by(domain, q, s.name, blocks, GIVER))
            out = out.subtract(others.apply(a.relation.align_params(space)))
    return out.coalesce()
