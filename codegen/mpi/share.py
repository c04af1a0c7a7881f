"""Distributes a region over ranks (`share_out`): phases, blocks, messages, and what is computed while messages travel,
as a `SharedRegion`. Raises NotShared with the reason where every rank has to run all of it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from codegen.diagnostics import InputError
from codegen.mpi.blocks import STEPS, blocks_of
from codegen.mpi.cyclic import in_turn
from codegen.mpi.grid import on_grid
from codegen.mpi.layout import layouts
from codegen.mpi.messages import WIDE, Exchange, RankedProgram, exchanges, gathered, in_turns
from codegen.mpi.overlap import Margins, margins
from codegen.mpi.panels.buffers import panel_exchange
from codegen.mpi.panels.split import in_panels
from codegen.mpi.phase_program import outer_names
from codegen.mpi.phases import Cut, NotShared, Phase, any_loop
from codegen.mpi.trees import MessageLoops, box_transfers, panel_transfers, transfers
from codegen.mpi.variables import cut_with_variables
from codegen.mpi.wide.halo import pairs_in_steps, wide_halo
from codegen.mpi.wide.steps import Wide, widened
from codegen.options import GenOptions
from codegen.plan.model import Ranks
from codegen.record import record
from codegen.region_model import Modelled
from codegen.scop.model import Scop
from codegen.scop.tree import Loop
from codegen.transform.program import Program


@record
class WideSteps:
    """How far ranks compute beyond their blocks in some steps, and what they get ahead of those."""

    wide: Wide
    move: tuple[Exchange, tuple[MessageLoops, ...]]


@record
class SharedRegion:
    """`own` are variables of the region that are one object on each rank; `early` are the phases that begin while
    messages are under way."""

    ranked: RankedProgram
    moves: tuple[tuple[Exchange, tuple[MessageLoops, ...]], ...]
    own: tuple[str, ...]
    early: Mapping[str, Margins]
    totals: Mapping[str, tuple[MessageLoops, ...]]  # what reductions of phases gather in
    turns: Mapping[str, tuple[MessageLoops, ...]]  # what ranks hand on in phases that they run one after the other
    cyclic: bool = False  # each rank has several blocks, dealt out in turn

    @property
    def program(self) -> Program:
        return self.ranked.p


def share_out(model: Modelled, options: GenOptions, asked: tuple[Ranks, ...] | None) -> SharedRegion:
    """`asked` are the loops that a plan wants to be shared, None for any. Raises NotShared, and InputError for what the
    user asked for and cannot have."""
    held = layouts(model.program.scop, options.distribute)
    if model.alone:
        raise NotShared("it runs on the thread that comes to it")
    along = {x.array: x.position for x in held if not x.axis}
    p, found, own = cut_with_variables(model.program, any_loop if asked is None else partial(_wanted, asked), along)
    for d in asked or ():
        if not any(_wanted((d,), q.shared, q.stmts) for q in found.shared if q.shared is not None):
            why = found.why or "a loop around it is shared, or loops around it count something else"
            raise InputError("illegal-plan", f"ranks cannot share loop {d.loop}: {why}", d.loc, "leave it out")
    if asked == ():
        raise NotShared("its plan shares no loop among ranks")
    if not found.shared:
        raise NotShared(found.why or "every loop of it carries a dependence")
    found = in_panels(p, on_grid(p, found, held), held)
    _check_arrays(p.scop, found)
    ranked = RankedProgram(p, found, blocks_of(p.scop, found, held))
    plain = exchanges(p, found, ranked.blocks)
    dealt = in_turn(ranked, plain)
    sent = plain if dealt is None else dealt
    panels = [(q, panel_exchange(ranked, q)) for q in found.shared if q.panels is not None]
    moves = (
        *((x, transfers(p, found, x, ranked.blocks)) for x in sent),
        *((x, panel_transfers(ranked, q, x)) for q, x in panels),
    )
    totals = {q.name: _totals(ranked, q) for q in found.shared if q.reduced}
    turns = {
        q.name: transfers(p, found, in_turns(p, found, ranked.blocks, q), ranked.blocks)
        for q in found.shared if q.ordered
    }  # fmt: skip
    early = margins(ranked, sent) if dealt is None else {}
    return SharedRegion(ranked, moves, own, early, totals, turns, dealt is not None)


def _totals(ranked: RankedProgram, q: Phase) -> tuple[MessageLoops, ...]:
    arrays = {a: gathered(ranked.p, q, a) for _, a in q.reduced}
    for b in ranked.blocks:
        for x in b.arrays:
            if x.array in arrays:
                name = ranked.p.scop.arrays[x.array].base
                raise NotShared(f"a reduction gathers in `{name}`, of which ranks hold blocks")
    return transfers(ranked.p, ranked.cut, Exchange(q.name, outer_names(q), arrays), ranked.blocks, apart=False)


def several_steps(ranked: RankedProgram) -> WideSteps | None:
    """Steps without a message, where ranks can take them."""
    wide = widened(ranked)
    if wide is None:
        return None
    x = Exchange(WIDE, STEPS, wide_halo(ranked, wide))
    if ranked.blocks[0].axes == 1:
        return WideSteps(wide, (x, transfers(ranked.p, ranked.cut, x, ranked.blocks)))
    boxes = box_transfers(ranked, x, pairs_in_steps(ranked, wide))
    return None if boxes is None else WideSteps(wide, (x, boxes))


def _wanted(asked: tuple[Ranks, ...], loop: Loop, stmts: tuple[str, ...]) -> bool:
    return any(d.loop.name == loop.name and (not d.loop.stmt or d.loop.stmt in stmts) for d in asked)


def _check_arrays(scop: Scop, found: Cut) -> None:
    """What shared phases write can be sent element by element."""
    for q in found.shared:
        for name in q.stmts:
            s = scop.statement(name)
            for a in s.writes:
                array = scop.arrays[a.array]
                if array.inside:
                    continue
                if array.opaque or array.mixed:
                    raise NotShared(f"which elements of `{array.base}` are stored is not known before it runs")
                if sum(1 for b in s.writes if b.array == a.array) > 1:
                    raise NotShared(f"one statement stores several elements of `{array.base}`")
