"""Builds the `View` records (C lines and loops that templates print) of what one rank runs of a region
(`RankViews.region`): its blocks, the loops around phases, the phases, and what ranks send or join behind them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from codegen.ast.ctree import Block, CNode, For, If, Instance, Name
from codegen.hosts.variants import ProductVariant
from codegen.mpi.blocks import MINE, STEPS, RankBlocks, blocks_for
from codegen.mpi.messages import START, Exchange, RankedProgram
from codegen.mpi.overlap import Margins
from codegen.mpi.panels.buffers import PANELS
from codegen.mpi.phase_program import outer_names
from codegen.mpi.phases import JOINED, Cut, Phase
from codegen.mpi.share import WideSteps
from codegen.mpi.text.cost import work_text
from codegen.mpi.text.message_views import EACH, MessageViews, dealt, head, spelled
from codegen.mpi.text.panel_views import panel_views
from codegen.mpi.text.phase_text import check_phase
from codegen.mpi.trees import MessageLoops, ModelLoops
from codegen.mpi.wide.steps import time_tile
from codegen.record import record
from codegen.region import ProvenRegion as Result
from codegen.scop.model import Scop
from codegen.scop.types import CType
from codegen.target.finish.braces import unwrapped
from codegen.target.guards.tile_offsets import ahead_numbers
from codegen.target.pragmas import pragma_makers
from codegen.target.text.pieces import View, fresh, words_of
from codegen.target.view import ViewBuilder, reserved
from codegen.transform.program import Program


@record
class PrintedPhase:
    """The views of a proven program that a rank runs, and the names in them of loops around it and of its block."""

    made: Result
    given: Mapping[str, str]
    views: tuple[View, ...]


@record
class StepsOfRank:
    """Several steps without a message, what a rank runs in them and, where threads run tiles over time one behind the
    other, what it runs if there are few tiles."""

    found: WideSteps
    made: Result
    plain: tuple[Result, ...] = ()


@dataclass
class RankViews:
    """Prints what one rank does of a region. `results` are the proven programs of phases, by name."""

    program: Program
    cut: Cut
    blocks: Sequence[RankBlocks]
    results: Mapping[str, Result]
    found: Sequence[tuple[Exchange, Sequence[MessageLoops]]]
    threads: bool
    early: Mapping[str, Margins] = field(default_factory=dict)  # phases that begin while messages are under way
    steps: StepsOfRank | None = None  # where that is better
    totals: Mapping[str, Sequence[MessageLoops]] = field(default_factory=dict)  # what reductions of phases gather in
    turns: Mapping[str, Sequence[MessageLoops]] = field(default_factory=dict)  # what ranks hand on in a phase
    cyclic: bool = False  # each rank has several blocks, dealt out in turn
    variants: Sequence[ProductVariant] = ()  # of the machine, with the blocks of products there
    helpers: set[str] = field(default_factory=set)
    builders: list[ViewBuilder] = field(default_factory=list)
    printed: list[PrintedPhase] = field(default_factory=list)  # what was proven of phases

    @property
    def scop(self) -> Scop:
        return self.program.scop

    @property
    def ranked(self) -> RankedProgram:
        return RankedProgram(self.program, self.cut, self.blocks)

    @property
    def messages(self) -> MessageViews:
        return MessageViews(self.scop, self.blocks, self.helpers, self.cyclic, bool(self.early))

    def region(self, skeleton: ModelLoops) -> tuple[View, ...]:
        """Everything, from the blocks of this rank to the last exchange."""
        inside = self._around(skeleton.code, {}, reserved(self.scop), skeleton)
        first = next((self.messages.exchange(x, parts, {}) for x, parts in self.found if x.phase == START), ())
        end = (View("decl", "tw_wait();"),) if self.early else ()
        last = next((self.messages.exchange(x, parts, {}) for x, parts in self.found if not x.phase), end)
        enter, leave = self._held("tw_enter_blocks"), self._held("tw_leave_blocks")
        views = (*enter, *self._in_steps((*first, *inside)), *last, *leave)
        return views if self.cyclic else (*self.messages.ends(MINE, "tw_rank()", words_of(views)), *views)

    def _held(self, call: str) -> tuple[View, ...]:
        """Where `check` takes away what a rank does not hold, and collects what ranks hold."""
        out = list(self._held_boxes(call))
        for x in (x for b in self.blocks for x in b.arrays if x.axes == 1):
            a = self.scop.arrays[x.array]
            before, (n, *behind) = a.extents[: x.position], a.extents[x.position :]
            each = " * ".join([f"(long)sizeof({a.elem.spelling})", *(f"({e})" for e in behind)])
            count = " * ".join(f"(long)({e})" for e in before) or "1"
            out.append(View("decl", f"{call}({a.base}, {count}, {n}, {each});"))
        return tuple(out)

    def _held_boxes(self, call: str) -> Iterator[View]:
        """The same for boxes: what a rank does not hold along one axis or another."""
        for array in dict.fromkeys(x.array for b in self.blocks for x in b.arrays if x.axes > 1):
            a = self.scop.arrays[array]
            size = f"(long)sizeof({a.elem.spelling})"
            for x in (x for b in self.blocks for x in b.arrays if x.array == array):
                before, (n, *behind) = a.extents[: x.position], a.extents[x.position :]
                each = " * ".join([size, *(f"({e})" for e in behind)])
                count = " * ".join(f"(long)({e})" for e in before) or "1"
                byte = "0x5a" if call == "tw_enter_blocks" else "0"
                yield View("decl", f"tw_outside({x.axis}, {a.base}, {count}, {n}, {each}, {byte});")
            if call == "tw_leave_blocks":
                yield View("decl", f"tw_whole_box({a.base}, {' * '.join([size, *(f'({e})' for e in a.extents)])});")

    def _in_steps(self, views: tuple[View, ...]) -> tuple[View, ...]:
        """The region up to its last exchange: in steps without a message, where that is better, or with one each."""
        if self.steps is None:
            return views
        x, made = self.steps.found, self.steps.made
        first, past = (self.messages.value(v, 5) for v in (x.wide.first, x.wide.past))
        steps, *rows = (
            self.messages.value(high.sub(low).coalesce())
            for low, high in ((x.wide.first, x.wide.past), *((b.first, b.past) for b in self.blocks))
        )
        work = work_text(self.program, self.cut, self.messages.ints({}))
        reach = max(x.wide.slope, *x.wide.more.values())
        tile, line = time_tile(made.plan, made.code, x.wide.slope)
        along = f"{len(rows)}, (const long[]){{ {', '.join(rows)} }}"
        self.helpers.add("tw_min")
        over = f"long {STEPS[0]} = {first}; {STEPS[0]} < {past}; {STEPS[0]} = tw_next_step({STEPS[0]}, tw_depth)"
        body = (
            View("decl", f"const long {STEPS[1]} = tw_min(tw_next_step({STEPS[0]}, tw_depth), {past});"),
            *self.messages.exchange(*x.move, {}),
            *self._tiles(self.steps, tile),
        )
        return (
            View("decl", f"const long tw_depth = tw_wide_steps({work}, {steps}, {reach}, {tile}, {line}, {along});"),
            View("if", "tw_depth > 1", body=(View("for", over, "steps without a message", body=body),), orelse=views),
        )

    def _tiles(self, steps: StepsOfRank, tile: int) -> tuple[View, ...]:
        """What a rank runs in some steps: tiles over time, or one step after the other."""
        for plain in steps.plain:
            few = f"tw_few_tiles({STEPS[1]} - {STEPS[0]}, {tile})"
            return (View("if", few, body=self._printed(plain, {}), orelse=self._printed(steps.made, {})),)
        return self._printed(steps.made, {})

    def _around(
        self, node: CNode, names: Mapping[str, str], taken: frozenset[str], skeleton: ModelLoops
    ) -> tuple[View, ...]:
        """The loops around phases."""
        ints = self.messages.ints(names)
        if isinstance(node, Block):
            return tuple(v for k in node.children for v in self._around(k, names, taken, skeleton))
        if isinstance(node, If):
            orelse = () if node.orelse is None else self._around(node.orelse, names, taken, skeleton)
            then = self._around(node.then, names, taken, skeleton)
            return (View("if", ints.text(node.cond), body=then, orelse=orelse),)
        if isinstance(node, For):
            name = fresh(node.loop.name, taken)
            body = self._around(node.body, {**names, node.var: name}, taken | {name}, skeleton)
            return (View("for", head(node, name, ints), body=body),)
        assert isinstance(node, Instance)
        return self._phase(next(q for q in self.cut.phases if q.name == node.stmt), node, names, taken)

    def _phase(
        self, q: Phase, at: Instance, names: Mapping[str, str], taken: frozenset[str]
    ) -> tuple[View, ...]:
        """One phase, and what is sent behind it."""
        ints, given, lines = self.messages.ints(names), dict[str, str](), []
        for param, e, loop in zip(outer_names(q), at.iterators, q.outer, strict=True):
            text = ints.text(e)
            if not (isinstance(e, Name) and e.name in names):
                name = fresh(loop.name, taken)
                taken = taken | {name}
                lines.append(View("decl", f"const long {name} = {text};"))
                text = name
            given[param] = text
        views = self._beside_messages(q, given)
        after = next((self.messages.exchange(x, parts, given) for x, parts in self.found if x.phase == q.name), ())
        return (View("block", body=(*lines, *views, *after)),) if lines else (*views, *after)

    def _beside_messages(self, q: Phase, given: Mapping[str, str]) -> tuple[View, ...]:
        """A phase, with the wait for what is under way: ahead of it, or of the iterations that touch it."""
        m = self.early.get(q.name)
        if q.panels is not None:
            made, loops = self.results[q.name], next(x for x in self.found if x[0].phase == PANELS + q.name)[1]
            return panel_views(self.messages, self.ranked, q, loops, self._printed(made, given), given)
        if m is None:
            wait = (View("decl", "tw_wait();"),) if self.early else ()
            return (*wait, *(self._in_turns(q, given) if q.ordered else self._gathering(q, given)))
        if not any(low or high for low, high in m.sides):
            return self._run_of(q, given)
        ends, lines = dict[str, str](), []
        for b in blocks_for(self.blocks, q.name):
            (first, past), (low, high) = b.ends(MINE), m.sides[b.axis]
            begin, end = (f"tw{b.axis + 1 if b.axis else ''}_{word}" for word in ("from", "to"))
            piece = "tw_piece" if b.axes == 1 else f"tw_piece_at({b.axis}, tw_piece)"
            which = f"{piece}, {first}, {past}, {low}, {high}"
            lines.append(f"const long {begin} = tw_piece_from({which}), {end} = tw_piece_to({which});")
            ends |= {first: begin, past: end}
        body = (
            *(View("decl", line) for line in lines),
            View("if", "tw_piece == 1", body=(View("stmt", "tw_wait();"),)),
            *self._run_of(q, {**given, **ends}),
        )
        pieces = f"int tw_piece = 0; tw_piece < {1 + 2 * len(m.sides)}; tw_piece++"
        return (View("for", pieces, "the interior while messages travel, then what they are for", body=body),)

    def _in_turns(self, q: Phase, given: Mapping[str, str]) -> tuple[View, ...]:
        """A phase that ranks run one after the other."""
        body = self.messages.between_two(self.messages.all_elements(self.turns[q.name], given))
        return (
            View("for", EACH, "what ranks need of those before them", body=body),
            View("decl", "tw_take_turn();"),
            *self._run_of(q, given),
            View("decl", "tw_hand_on();"),
        )

    def _gathering(self, q: Phase, given: Mapping[str, str]) -> tuple[View, ...]:
        """A phase with its reductions: each rank gathers what its block has, and then all of it is joined."""
        before, after = [], []
        for k, (op, array) in enumerate(q.reduced):
            (t,) = (t for t in self.totals[q.name] if t.array == array)
            where = View("block", body=(View("decl", f"const long tw_k = {k};"), *self.messages.elements(t, given)))
            before.append(where)
            if JOINED[op] in ("MPI_SUM", "MPI_BXOR"):
                before.append(View("decl", f"tw_partial({k});"))
            after.append(View("decl", f"tw_total({k}, {_mpi_type(self.scop.arrays[array].elem)}, {JOINED[op]});"))
        return (*before, *self._run_of(q, given), *after)

    def _run_of(self, q: Phase, given: Mapping[str, str]) -> tuple[View, ...]:
        """What one rank runs of a phase."""
        views = self._printed(self.results[q.name], given)
        if not self.cyclic or q.shared is None:
            return views
        body = (*self.messages.ends(MINE, "tw_own", words_of(views)), *views)
        return (dealt("tw_own", "tw_rank()", "this rank's blocks", body),)

    def _printed(self, made: Result, given: Mapping[str, str]) -> tuple[View, ...]:
        scop = spelled(made.program.scop, given)
        blocks = tuple(v.blocks for v in self.variants)
        makers = pragma_makers(scop, self.threads)
        builder = ViewBuilder(scop, makers, self.helpers, threads=self.threads, variants=blocks)
        self.builders.append(builder)
        views = unwrapped(builder.build(made.code))
        check_phase(scop, made.code, views)
        self.printed.append(PrintedPhase(made, given, (*ahead_numbers(scop, self.threads, words_of(views)), *views)))
        return self.printed[-1].views


def _mpi_type(t: CType) -> str:
    """MPI's name of a type."""
    if t.kind == "float":
        return "MPI_DOUBLE" if t.bits == 64 else "MPI_FLOAT"
    return f"MPI_{'' if t.signed else 'U'}INT{t.bits}_T"
