"""Buffers of panels: the part of an array that a rank reads in a panel, as an array of its own (`buffer_of`); what
ranks send ahead of a panel (`panel_exchange`); and what a rank runs in it, with buffers in the place of arrays
(`panel_program`).

The buffer has the box around what is read: its element [x - low][y - low'] is the array's element [x][y]. A message
takes elements from the array where they are held, and puts them into the buffer of the rank that reads them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from codegen.mpi.blocks import (
    GIVER,
    MINE,
    PANEL,
    TAKER,
    RankBlocks,
    block_params,
    blocks_for,
    held_by,
    run_by,
    with_params,
    within,
)
from codegen.mpi.boxes import Box, ends_near
from codegen.mpi.layout import extent_of
from codegen.mpi.messages import Exchange, RankedProgram, has_current, message_space
from codegen.mpi.pairs import two_ranks
from codegen.mpi.phase_program import outer_names, phase_program
from codegen.mpi.phases import Phase
from codegen.recognize.reductions import free_pairs
from codegen.record import record
from codegen.scop.dependences import compute_dependences, param_space
from codegen.scop.model import Access, AccessStep, Array, Param, Scop, Statement
from codegen.scop.types import LONG
from codegen.transform.program import Program, make_program

_IN, _OUT, _SET, _PARAM = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set, isl.dim_type.param
WIDTH = "tw_width"  # of all panels but the last
PANELS = "panel "  # with the name of a phase: the exchange ahead of one of its panels


@record
class PanelBuffer:
    """`array` as the program has it, and the buffer that stands for it. In each dimension the buffer begins with the
    array's index `lows`; those are over the ends of a rank's blocks and of a panel."""

    array: str
    buffer: Array
    lows: tuple[isl.Aff, ...]
    pasts: tuple[isl.Aff, ...]

    def elements(self, like: isl.Set) -> isl.Set:
        """The elements of the array for which it has room, as a set like another one."""
        ends = (tuple((e,) for e in side) for side in (self.lows, self.pasts))
        return Box(next(ends), next(ends), isl.Set.universe(self.lows[0].get_domain_space().params())).elements(like)


def panel_space(p: Program, q: Phase, blocks: Sequence[RankBlocks], *who: str) -> isl.Space:
    names = [*outer_names(q), *PANEL, *(x.name for x in block_params(blocks, *who))]
    return with_params(param_space(p.scop), names)


def known_panel(space: isl.Space, q: Phase) -> isl.Set:
    """A panel has iterations, and lies between the ends of all."""
    assert q.panels is not None
    local = isl.LocalSpace.from_space(space)
    begin, end = (isl.PwAff.from_aff(isl.Aff.var_on_domain(local, _PARAM, space.find_dim_by_name(_PARAM, n)))
                  for n in PANEL)  # fmt: skip
    inside = begin.ge_set(q.panels.first.align_params(space)).intersect(end.le_set(q.panels.past.align_params(space)))
    return begin.lt_set(end).intersect(inside)


def concerned(ranked: RankedProgram, q: Phase, array: str) -> RankedProgram:
    """The program with those blocks alone that say something about an array in panels of a phase: few blocks make few
    ways in which two ranks can lie."""
    writers = {ranked.cut.phase_of(s.name).name for s, a in ranked.p.scop.accesses_to(array) if a.write}
    near = (b for b in ranked.blocks if {q.name, *writers} & set(b.phases) or any(x.array == array for x in b.arrays))
    return replace(ranked, blocks=tuple(near))


def reads(ranked: RankedProgram, q: Phase, array: str, who: str, space: isl.Space) -> isl.Set:
    """The elements of an array that a rank reads in a panel, in any iteration of the loops around the phase."""
    assert q.panels is not None
    p, along = ranked.p, dict(q.panels.iterators)
    (_, reach), *_ = p.scop.accesses_to(array)
    out = isl.Set.empty(reach.relation.range().get_space().align_params(space))
    for s in (p.scop.statement(n) for n in q.stmts):
        domain = s.domain.intersect_params(p.scop.context).align_params(space)
        domain = within(run_by(domain, q, s.name, ranked.blocks, who), along[s.name], PANEL)
        for a in (a for a in s.accesses if a.array == array):
            out = out.union(a.relation.align_params(space).intersect_domain(domain).range())
    return out.coalesce()


def buffer_of(ranked: RankedProgram, q: Phase, array: str, who: str = MINE) -> PanelBuffer | None:
    """Room for what a rank reads of an array in a panel; None where there is no box of known size around that, or the
    array is none of numbers."""
    a, ranked = ranked.p.scop.arrays[array], concerned(ranked, q, array)
    space = panel_space(ranked.p, q, ranked.blocks, *((MINE,) if who == MINE else (GIVER, TAKER)))
    if a.opaque or a.mixed or not a.declarable or a.elem.kind not in ("float", "int"):
        return None
    part = reads(ranked, q, array, who, space).intersect_params(known_panel(space, q))
    lows, pasts, extents = [], [], []
    for k in range(part.dim(_SET)):
        for low, past, size in _sides(ranked, q, a, k, space, who):
            ends = ends_near(part, k, ((low,),), -1), ends_near(part, k, ((past,),), 1)
            if all(ends):
                lows.append(ends[0][0])
                pasts.append(ends[1][0])
                more = int(ends[1][0].sub(past).sub(ends[0][0].sub(low)).get_constant_val().to_python())
                extents.append(size + (f" + {more}" if more else ""))
                break
        else:
            return None
    name = f"tw_panel_{re.sub(r'[^A-Za-z0-9_]', '_', array)}"
    buffer = Array(name, name, a.elem, a.rank, tuple(extents), place="local")
    return PanelBuffer(array, buffer, tuple(lows), tuple(pasts))


def _sides(
    ranked: RankedProgram, q: Phase, a: Array, k: int, space: isl.Space, who: str
) -> Iterator[tuple[isl.Aff, isl.Aff, str]]:
    """Where a dimension of a buffer can begin and end, and how many indices that are at most, at least one: those of
    a panel, of a rank's block, or all."""
    local = isl.LocalSpace.from_space(space)

    def of(name: str) -> isl.Aff:
        return isl.Aff.var_on_domain(local, _PARAM, space.find_dim_by_name(_PARAM, name))

    yield of(PANEL[0]), of(PANEL[1]), WIDTH
    for b in blocks_for(ranked.blocks, q.name):
        mine = b.ends(MINE)
        yield of(b.ends(who)[0]), of(b.ends(who)[1]), f"tw_max(1, {mine[1]} - {mine[0]})"
    extent = extent_of(ranked.p.scop, a, k)
    if extent is not None and extent.n_piece() == 1:
        zero = isl.Aff.zero_on_domain(local)
        yield zero, extent.align_params(space).get_pieces()[0][1], f"tw_max(1, {a.extents[k]})"


def buffers_of(ranked: RankedProgram, q: Phase, who: str = MINE) -> Mapping[str, PanelBuffer]:
    assert q.panels is not None
    found = ((array, buffer_of(ranked, q, array, who)) for array in q.panels.arrays)
    return {array: b for array, b in found if b is not None}


def not_current(ranked: RankedProgram, q: Phase, array: str) -> str:
    """Might the holder of an element that is read in a panel not have what the source has there when the phase begins,
    and until it ends?"""
    ranked = concerned(ranked, q, array)
    p = ranked.p
    if any(a.array == array and a.write for n in q.stmts for a in p.scop.statement(n).accesses):
        return f"`{array}` is written where it is read in panels"
    asked = asked_for(ranked, q, array).intersect_params(panel_ranks(ranked, q, array))
    current = has_current(ranked, array, message_space(p, (*outer_names(q), *PANEL), ranked.blocks))
    return "" if asked.is_subset(current) else f"others than its holders write `{array}`"


def right_to_send(ranked: RankedProgram, q: Phase, b: PanelBuffer) -> isl.Set:
    """What a giver may send of an array ahead of a panel: what it has as the source has it, and the taker's buffer has
    room for."""
    ranked = concerned(ranked, q, b.array)
    current = has_current(ranked, b.array, message_space(ranked.p, (*outer_names(q), *PANEL), ranked.blocks))
    return current.intersect(b.elements(current))


def panel_exchange(ranked: RankedProgram, q: Phase) -> Exchange:
    """What ranks, and each itself, give and take ahead of a panel."""
    assert q.panels is not None
    return Exchange(
        PANELS + q.name, (*outer_names(q), *PANEL), {a: asked_for(ranked, q, a).coalesce() for a in q.panels.arrays}
    )


def asked_for(ranked: RankedProgram, q: Phase, array: str) -> isl.Set:
    """What a giver holds of an array and a taker reads in a panel; the two may be one rank."""
    ranked = concerned(ranked, q, array)
    space = message_space(ranked.p, (*outer_names(q), *PANEL), ranked.blocks)
    return held_by(reads(ranked, q, array, TAKER, space), ranked.blocks, array, GIVER)


def panel_ranks(ranked: RankedProgram, q: Phase, array: str) -> isl.Set:
    """What holds for giver, taker and panel."""
    ranked = concerned(ranked, q, array)
    space = message_space(ranked.p, (*outer_names(q), *PANEL), ranked.blocks)
    known = ranked.p.scop.context.align_params(space).intersect(known_panel(space, q))
    return known.intersect(two_ranks(space, ranked.blocks, itself=True))


def panel_program(ranked: RankedProgram, q: Phase) -> Program:
    """What one rank runs of a phase in a panel, with buffers in the place of arrays."""
    assert q.panels is not None
    p = phase_program(ranked.p, q, ranked.blocks)
    space = with_params(param_space(p.scop), PANEL)
    buffers, along = buffers_of(ranked, q), dict(q.panels.iterators)
    context = p.scop.context.align_params(space).intersect(known_panel(space, q)).coalesce()
    stmts = []
    for s in p.scop.statements:
        domain = within(s.domain.align_params(space), along[s.name] - q.depth, PANEL).gist_params(context)
        accesses = tuple(_access(a, buffers, space) for a in s.accesses)
        values = tuple(v.align_params(space) for v in s.values)
        stmts.append(replace(s, domain=domain, accesses=accesses, values=values))
    scop = replace(
        p.scop,
        params=(*p.scop.params, *(Param(n, n, LONG) for n in PANEL)),
        context=context,
        arrays={**p.scop.arrays, **{b.buffer.name: b.buffer for b in buffers.values()}},
        statements=tuple(stmts),
    )
    deps = compute_dependences(scop, p.tree, free_pairs(scop, p.reassociate) or None)
    return make_program(scop, deps, p.tree, p.reassociate)


def _access(a: Access, buffers: Mapping[str, PanelBuffer], space: isl.Space) -> Access:
    aligned = replace(a, index=a.index.align_params(space), relation=a.relation.align_params(space))
    return in_buffer(aligned, buffers[a.array]) if a.array in buffers else aligned


def in_buffer(a: Access, b: PanelBuffer) -> Access:
    """The access to a buffer in the place of one to its array."""
    elements = a.relation.range().get_space()
    moved = _shift(b, elements)
    path = tuple(AccessStep("sub", k) for k in range(b.buffer.rank))
    relation = a.relation.apply_range(isl.Map.from_multi_aff(moved))
    index = isl.MultiPwAff.from_multi_aff(moved).pullback_multi_pw_aff(a.index)
    return replace(a, array=b.buffer.name, index=index, relation=relation, path=path)


def _shift(b: PanelBuffer, elements: isl.Space) -> isl.MultiAff:
    """From elements of an array to those of its buffer."""
    target = elements.set_tuple_name(_SET, b.buffer.name)
    out = isl.MultiAff.zero(elements.map_from_domain_and_range(target))
    local = isl.LocalSpace.from_space(elements)
    for k, low in enumerate(b.lows):
        at = isl.Aff.var_on_domain(local, _SET, k)
        for d in range(low.dim(_PARAM)):
            v = low.get_coefficient_val(_PARAM, d)
            if not v.is_zero():
                n = elements.find_dim_by_name(_PARAM, str(low.get_dim_name(_PARAM, d)))
                at = at.sub(isl.Aff.var_on_domain(local, _PARAM, n).scale_val(v))
        out = out.set_aff(k, at.add_constant_val(low.get_constant_val().neg()))
    return out


def message_statement(s: Statement, b: PanelBuffer) -> Statement:
    """A statement over elements of a message with where they are put as its second access."""
    return replace(s, accesses=(s.accesses[0], in_buffer(s.accesses[0], b)))


def with_buffer(scop: Scop, b: PanelBuffer) -> Scop:
    """A model of a message that also knows the buffer."""
    stmts = tuple(message_statement(s, b) for s in scop.statements)
    return replace(scop, statements=stmts, arrays={**scop.arrays, b.buffer.name: b.buffer})
