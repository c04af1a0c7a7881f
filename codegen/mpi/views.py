"""Template values for phases and messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import islpy as isl

from codegen.ast.ctree import Bin, Block, CExpr, CNode, For, If, Instance, Int, Name, expr_names
from codegen.ast.generate import expression
from codegen.hosts.region import ProductVariant
from codegen.lower.shift import simple
from codegen.mpi.blocks import GIVER, MINE, TAKER, RankBlocks, blocks_for
from codegen.mpi.cost import work_text
from codegen.mpi.messages import START, Exchange
from codegen.mpi.overlap import Margins
from codegen.mpi.phase_program import outer_names
from codegen.mpi.phase_text import check_phase
from codegen.mpi.phases import JOINED, Cut, Phase
from codegen.mpi.share import WideSteps
from codegen.mpi.trees import MessageLoops, ModelLoops
from codegen.mpi.wide import STEPS, WIDE, time_tile
from codegen.region import ProvenRegion as Result
from codegen.scop.model import Access, Param, Scop
from codegen.scop.types import CType
from codegen.target.finish.braces import unwrapped
from codegen.target.guards.tile_offsets import ahead_numbers
from codegen.target.pragmas import pragma_makers
from codegen.target.text.body import BodyPrinter
from codegen.target.text.cexpr import IntPrinter
from codegen.target.text.pieces import View, fresh, words_of
from codegen.target.view import ViewBuilder, reserved
from codegen.transform.program import Program


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
    steps: tuple[WideSteps, Result] | None = None  # several steps without a message, where that is better
    totals: Mapping[str, Sequence[MessageLoops]] = field(default_factory=dict)  # what reductions of phases gather in
    turns: Mapping[str, Sequence[MessageLoops]] = field(default_factory=dict)  # what ranks hand on in a phase
    cyclic: bool = False  # each rank has several blocks, dealt out in turn
    variants: Sequence[ProductVariant] = ()  # of the machine, with the blocks of products there
    helpers: set[str] = field(default_factory=set)
    builders: list[ViewBuilder] = field(default_factory=list)

    @property
    def scop(self) -> Scop:
        return self.program.scop

    def region(self, skeleton: ModelLoops) -> tuple[View, ...]:
        """Everything, from the blocks of this rank to the last exchange."""
        inside = self._around(skeleton.code, {}, reserved(self.scop), skeleton)
        first = next((self._exchange(x, parts, {}) for x, parts in self.found if x.phase == START), ())
        end = (View("decl", "tw_wait();"),) if self.early else ()
        last = next((self._exchange(x, parts, {}) for x, parts in self.found if not x.phase), end)
        enter, leave = self._held("tw_enter_blocks"), self._held("tw_leave_blocks")
        views = (*enter, *self._in_steps((*first, *inside)), *last, *leave)
        return views if self.cyclic else (*self._ends(MINE, "tw_rank()", words_of(views)), *views)

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
        (x, made), (b,) = self.steps, self.blocks
        ints = self._ints({})
        first, past = (ints.text(_value(v, self.scop), 5) for v in (x.wide.first, x.wide.past))
        steps, rows = (
            ints.text(_value(high.sub(low).coalesce(), self.scop))
            for low, high in ((x.wide.first, x.wide.past), (b.first, b.past))
        )
        work = work_text(self.program, self.cut, ints)
        reach = max(x.wide.slope, *x.wide.more.values())
        tile, line = time_tile(made.code)
        self.helpers.add("tw_min")
        head = f"long {STEPS[0]} = {first}; {STEPS[0]} < {past}; {STEPS[0]} = tw_next_step({STEPS[0]}, tw_depth)"
        body = (
            View("decl", f"const long {STEPS[1]} = tw_min(tw_next_step({STEPS[0]}, tw_depth), {past});"),
            *self._exchange(*x.move, {}),
            *self._printed(made, {}),
        )
        return (
            View("decl", f"const long tw_depth = tw_steps({work}, {steps}, {rows}, {reach}, {tile}, {line});"),
            View("if", "tw_depth > 1", body=(View("for", head, "steps without a message", body=body),), orelse=views),
        )

    def _ints(self, names: Mapping[str, str], params: Sequence[Param] = ()) -> IntPrinter:
        return IntPrinter({p.name: p for p in (*self.scop.params, *params)}, names, self.helpers)

    def _around(
        self, node: CNode, names: Mapping[str, str], taken: frozenset[str], skeleton: ModelLoops
    ) -> tuple[View, ...]:
        """The loops around phases."""
        ints = self._ints(names)
        if isinstance(node, Block):
            return tuple(v for k in node.children for v in self._around(k, names, taken, skeleton))
        if isinstance(node, If):
            orelse = () if node.orelse is None else self._around(node.orelse, names, taken, skeleton)
            then = self._around(node.then, names, taken, skeleton)
            return (View("if", ints.text(node.cond), body=then, orelse=orelse),)
        if isinstance(node, For):
            name = fresh(node.loop.name, taken)
            body = self._around(node.body, {**names, node.var: name}, taken | {name}, skeleton)
            return (View("for", _head(node, name, ints), body=body),)
        assert isinstance(node, Instance)
        return self._phase(next(q for q in self.cut.phases if q.name == node.stmt), node, names, taken)

    def _phase(
        self, q: Phase, at: Instance, names: Mapping[str, str], taken: frozenset[str]
    ) -> tuple[View, ...]:
        """One phase, and what is sent behind it."""
        ints, given, lines = self._ints(names), dict[str, str](), []
        for param, e, loop in zip(outer_names(q), at.iterators, q.outer, strict=True):
            text = ints.text(e)
            if not (isinstance(e, Name) and e.name in names):
                name = fresh(loop.name, taken)
                taken = taken | {name}
                lines.append(View("decl", f"const long {name} = {text};"))
                text = name
            given[param] = text
        views = self._beside_messages(q, given)
        after = next((self._exchange(x, parts, given) for x, parts in self.found if x.phase == q.name), ())
        return (View("block", body=(*lines, *views, *after)),) if lines else (*views, *after)

    def _beside_messages(self, q: Phase, given: Mapping[str, str]) -> tuple[View, ...]:
        """A phase, with the wait for what is under way: ahead of it, or of the iterations that touch it."""
        m = self.early.get(q.name)
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
        head = f"int tw_piece = 0; tw_piece < {1 + 2 * len(m.sides)}; tw_piece++"
        return (View("for", head, "the interior while messages travel, then what they are for", body=body),)

    def _in_turns(self, q: Phase, given: Mapping[str, str]) -> tuple[View, ...]:
        """A phase that ranks run one after the other."""
        inside = tuple(v for t in self.turns[q.name] for v in self._elements(t, given))
        words = words_of(inside)
        ends = (*self._ends(GIVER, "tw_giver(tw_k)", words), *self._ends(TAKER, "tw_taker(tw_k)", words))
        head = "long tw_k = 0; tw_k < tw_messages(); tw_k++"
        what = "what ranks need of those before them"
        return (
            View("for", head, what, body=(*ends, *inside)),
            View("decl", "tw_take_turn();"),
            *self._run_of(q, given),
            View("decl", "tw_hand_on();"),
        )

    def _gathering(self, q: Phase, given: Mapping[str, str]) -> tuple[View, ...]:
        """A phase with its reductions: each rank gathers what its block has, and then all of it is joined."""
        before, after = [], []
        for k, (op, array) in enumerate(q.reduced):
            (t,) = (t for t in self.totals[q.name] if t.array == array)
            where = View("block", body=(View("decl", f"const long tw_k = {k};"), *self._elements(t, given)))
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
        body = (*self._ends(MINE, "tw_own", words_of(views)), *views)
        return (_dealt("tw_own", "tw_rank()", "this rank's blocks", body),)

    def _printed(self, made: Result, given: Mapping[str, str]) -> tuple[View, ...]:
        scop = _spelled(made.program.scop, given)
        blocks = tuple(v.blocks for v in self.variants)
        makers = pragma_makers(scop, self.threads)
        builder = ViewBuilder(scop, makers, self.helpers, threads=self.threads, variants=blocks)
        self.builders.append(builder)
        views = unwrapped(builder.build(made.code))
        check_phase(scop, made.code, views)
        return (*ahead_numbers(scop, self.threads, words_of(views)), *views)

    def _ends(self, who: str, rank: str, words: set[str]) -> tuple[View, ...]:
        """Where the blocks of a rank begin and end, if it is asked."""
        out = []
        for b in self.blocks:
            first, past = (self._ints({}).text(_value(v, self.scop)) for v in (b.first, b.past))
            behind = f"{rank} + 1"
            for name, r, end in zip(b.ends(who), (rank, behind), ("tw_low", "tw_high"), strict=True):
                part = f"{'tw_dealt' if self.cyclic else 'tw_part'}({first}, {past}, {r})"
                text = part if b.axes == 1 else f"{end}({b.axis}, {first}, {past}, {rank})"
                if name in words:
                    out.append(View("decl", f"const long {name} = {text};"))
        return tuple(out)

    def _exchange(self, x: Exchange, parts: Sequence[MessageLoops], given: Mapping[str, str]) -> tuple[View, ...]:
        """The elements of all messages, and the exchange of them."""
        inside = tuple(v for t in parts for v in self._elements(t, given))
        words = words_of(inside)
        if self.cyclic:
            inside = (_dealt("tw_own", "tw_giver(tw_k)", "", (*self._ends(GIVER, "tw_own", words), *inside)),)
            ends: tuple[View, ...] = ()
        else:
            ends = (*self._ends(GIVER, "tw_giver(tw_k)", words), *self._ends(TAKER, "tw_taker(tw_k)", words))
        arrays = ", ".join(self.scop.arrays[t.array].base for t in parts)
        what = f"what other ranks read of {arrays}" if x.phase else f"{arrays}: what others hold and this rank computed"
        head = "long tw_k = 0; tw_k < tw_messages(); tw_k++"
        move = "tw_send();" if self.early and x.phase not in ("", WIDE) else "tw_exchange();"
        return View("for", head, what, body=(*ends, *inside)), View("decl", move)

    def _elements(self, t: MessageLoops, given: Mapping[str, str]) -> tuple[View, ...]:
        scop = _spelled(t.made.scop, given)
        (statement,) = scop.statements
        ints = IntPrinter({p.name: p for p in scop.params}, {}, self.helpers)

        def text(at: Instance, names: Mapping[str, str]) -> str:
            own = IntPrinter(ints.params, names, self.helpers)
            return BodyPrinter(scop, own, {}).access(statement, at, 0)

        return self._runs(t.made.code, {}, reserved(scop), ints, text, t.reach)

    def _runs(
        self,
        node: CNode,
        names: Mapping[str, str],
        taken: frozenset[str],
        ints: IntPrinter,
        text: Callable[[Instance, Mapping[str, str]], str],
        reach: Access,
    ) -> tuple[View, ...]:
        """Loops over elements; those that lie side by side go together."""
        own = IntPrinter(ints.params, names, self.helpers)
        if isinstance(node, Block):
            return tuple(v for k in node.children for v in self._runs(k, names, taken, ints, text, reach))
        if isinstance(node, If):
            orelse = () if node.orelse is None else self._runs(node.orelse, names, taken, ints, text, reach)
            body = self._runs(node.then, names, taken, ints, text, reach)
            return (View("if", own.text(node.cond), body=body, orelse=orelse),)
        if isinstance(node, Instance):
            return (View("stmt", _run(text(node, names), "1")),)
        assert isinstance(node, For)
        if _side_by_side(node, reach):
            assert isinstance(node.body, Instance)
            first = replace(node.body, accesses=(_first(node, node.body),))
            past = node.upper if node.op == "<" else Bin("+", node.upper, Int(1))
            return (View("stmt", _run(text(first, names), own.wide(simple(Bin("-", past, node.lower))))),)
        name = fresh(node.loop.name, taken)
        body = self._runs(node.body, {**names, node.var: name}, taken | {name}, ints, text, reach)
        return (View("for", _head(node, name, own), body=body),)


def _dealt(name: str, rank: str, what: str, body: tuple[View, ...]) -> View:
    """A loop over all blocks of a rank."""
    return View("for", f"long {name} = {rank}; {name} < tw_blocks(); {name} += tw_ranks()", what, body=body)


def _mpi_type(t: CType) -> str:
    """MPI's name of a type."""
    if t.kind == "float":
        return "MPI_DOUBLE" if t.bits == 64 else "MPI_FLOAT"
    return f"MPI_{'' if t.signed else 'U'}INT{t.bits}_T"


def _run(element: str, count: str) -> str:
    return f"tw_run(tw_k, &{element}, {count}, sizeof {element});"


def _head(node: For, name: str, ints: IntPrinter) -> str:
    step = f"{name}++" if node.step == 1 else f"{name} += {node.step}"
    return f"long {name} = {ints.text(node.lower)}; {name} {node.op} {ints.text(node.upper, 5)}; {step}"


def _side_by_side(node: For, reach: Access) -> bool:
    """Is it a loop over the last subscript alone, which steps from element to element in memory?"""
    at, last = node.body, reach.path[-1] if reach.path else None
    if not isinstance(at, Instance) or node.step != 1 or last is None:
        return False
    (index,) = at.accesses
    if index[-1] != Name(node.var) or any(node.var in expr_names(e) for e in index[:-1]):
        return False
    if last.kind == "flat":
        return last.strides[-1] == "1" and last.index + len(last.strides) == len(index)
    return last.kind == "sub" and last.index == len(index) - 1


def _first(node: For, at: Instance) -> tuple[CExpr, ...]:
    return (*at.accesses[0][:-1], node.lower)


def _value(value: isl.PwAff, scop: Scop) -> CExpr:
    """A value of the region's parameters; any number where nothing runs."""
    build = isl.AstBuild.from_context(scop.context.intersect(value.domain().params()))
    plain = value.gist_params(value.domain().params()).coalesce()
    return expression(build.expr_from_pw_aff(plain))


def _spelled(scop: Scop, given: Mapping[str, str]) -> Scop:
    """The loops around a phase by the names that they have in the text."""
    params = tuple(replace(p, text=given.get(p.name, p.text)) for p in scop.params)
    return replace(scop, params=params)
