"""Prints one kernel of the slave file from its staged C tree (`KernelPrinter`): loops that cores share, transfers with
double buffering, and statements on local copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from codegen.ast.ctree import Block, ByThreads, Declare, For, Held, If, Instance, ProductNode, walk
from codegen.plan.model import InLanes
from codegen.scop.model import Scop
from codegen.scop.tree import THREADED
from codegen.sunway.mesh.panels import Mesh
from codegen.sunway.mesh.views import mesh_declarations, mesh_views
from codegen.sunway.partial import PartialResult, begin, leave, own_views
from codegen.sunway.plan.cost import cost_text
from codegen.sunway.plan.launch_options import OURS, LaunchOptions
from codegen.sunway.plan.machine import CoreGroup
from codegen.sunway.plan.threads import CoreGrid
from codegen.sunway.staging.directives import StagingDirectives
from codegen.sunway.staging.local import (
    LocalBuffer,
    SNode,
    Stage,
    has_stage,
    loaded_directly,
    staged_nodes,
    stored_directly,
)
from codegen.sunway.staging.moves import geometry_of, moves, pointer, sides, stay_transfers
from codegen.sunway.staging.transfer import DmaTransfer
from codegen.sunway.text import dialect
from codegen.sunway.text.bodies import LocalNames, LocalView, StagedBody, base_type
from codegen.sunway.text.views import SlaveView, line
from codegen.sunway.vector.vectorize import vectorized
from codegen.target.text.cexpr import IntPrinter
from codegen.target.view import fresh, reserved

FLIGHT = 256  # commands that a core may have on their way


@dataclass
class KernelPrinter:
    """Prints one kernel. `outer` are the loop variables around it, which it gets as arguments."""

    scop: Scop
    group: CoreGroup
    grid: CoreGrid
    helpers: set[str]
    alone: frozenset[str]  # arrays that only one buffer of the kernel touches: their puts may be waited for late
    words: LocalNames
    shared: frozenset[str] = frozenset()  # variables of the region that live in the arguments
    style: LaunchOptions = OURS
    model: bool = False  # print what the timing model needs: cycles in place of arithmetic
    wide: int = 1  # bound loops, one inside the other
    mesh: Mesh | None = None  # panels are shared between cores
    deal: bool = False  # tiles of two bound loops go to the cores in turn, whatever their shape
    stay: Mapping[str, int] = field(default_factory=dict)  # arrays of which so many tiles stay on this core
    only: str = ""  # nothing but their transfers: they "come" or "go"
    fetched: frozenset[str] = frozenset()  # those whose values matter when they come
    staging: StagingDirectives | None = None  # what a plan says about local memory and vectors
    gathers: tuple[PartialResult, ...] = ()  # variables that this core has a part of
    stored: frozenset[str] = frozenset()  # arrays that the kernel stores to without a buffer
    loaded: frozenset[str] = frozenset()  # arrays that it loads from in main memory
    buffers: list[LocalBuffer] = field(default_factory=list)
    lanes: list[InLanes] = field(default_factory=list)  # what runs in vectors
    _bound: int = 0
    _one: bool = False  # inside of what one core runs for all that share its tile

    def views(self, node: SNode, outer: Mapping[str, str], held: dict[str, Held]) -> tuple[SlaveView, ...]:
        taken = reserved(self.scop) | set(outer.values()) | set(self.words.all)
        if self.mesh is not None:
            return mesh_views(self, self.mesh, outer, held)
        self.stored = stored_directly(self.scop, node) - {r.array for r in self.gathers}
        self.loaded = loaded_directly(self.scop, node)
        body = self._views(node, outer, held, frozenset(taken), own_views(self.scop, node, self.gathers))
        if self.deal:
            body = (line(f"long {self.words.turn} = 0;"), *body)
        if self.stay:
            body = (line(f"long {self.words.tile} = -1;", "of this core's"), *body)
        if self.only:
            moved = bool(self.declarations())
            return (*body, line(dialect.wait(self.group, f"&{self.words.done}", self.words.sent))) if moved else body
        waits = tuple(
            line(dialect.wait(self.group, f"&{b.name}_put", f"{b.name}_out")) for b in self.buffers if self.late(b)
        )
        return (*body, *waits, *(leave(r, self.words) for r in self.gathers))

    def late(self, b: LocalBuffer) -> bool:
        return self.style.late and b.put and b.array in self.alone

    def stays(self, b: LocalBuffer) -> str:
        """The name of what says whether this tile stays: one for all arrays where they have equally many."""
        return self.words.stays if len(set(self.stay.values())) == 1 else f"{b.name}_{self.words.stays}"

    def declarations(self) -> tuple[SlaveView, ...]:
        """Local arrays and reply words."""
        if self.mesh is not None:
            return mesh_declarations(self, self.mesh)
        if self.only:
            none = self.only == "come" and not self.fetched
            return () if none else (line(f"volatile int {self.words.done} = 0;"), line(f"int {self.words.sent} = 0;"))
        out = [begin(self.scop, r, self.words, self.model) for r in self.gathers]
        for b in self.buffers:
            elem = base_type(self.scop.arrays[b.array].elem)
            copies = "[2]" if b.ahead else ""
            aligned = f"__attribute__((aligned({self.group.vector_bits // 8})))"
            out.append(line(f"{elem} {b.name}_ldm{copies}[{b.size}] {aligned};", b.note))
            if b.get:
                out.append(line(f"volatile int {b.name}_got{copies};"))
            if b.put:
                late = self.late(b)
                out.append(line(f"volatile int {b.name}_put{' = 0' if late else ''};"))
                if late:
                    out.append(line(f"int {b.name}_out = 0;"))
        return tuple(out)

    # -- nodes -------------------------------------------------------------------------------------

    def _ints(self, names: Mapping[str, str]) -> IntPrinter:
        return IntPrinter({p.name: p for p in self.scop.params}, names, self.helpers)

    def _views(
        self, node: SNode, names: Mapping[str, str], held: dict[str, Held], taken: frozenset[str],
        local: Mapping[tuple[int, int], LocalView],
    ) -> tuple[SlaveView, ...]:  # fmt: skip
        ints = self._ints(names)
        if isinstance(node, Block) and not node.children:
            return ()
        if self._for_one(node):
            self._one = True
            inside = self._views(node, names, held, taken, local)
            self._one = False
            who = self.words.id if self.deal else self.words.column
            return (SlaveView("if", f"{who} == 0", inside),)
        if self.style.vectors and isinstance(node, For) and node.loop.kind not in THREADED and not has_stage(node):
            found = vectorized(self, node, names, held, taken, local)
            if found is not None:
                return found
        if self.model and not has_stage(node) and not isinstance(node, (Stage, Declare)):
            work = cost_text(self.scop, self.group, node, local, ints)
            if work is not None and not _bound_inside(node):
                return (line(f"sw_work({work});"),)
        if isinstance(node, Stage):
            return self._stage(node, names, held, taken, local)
        if isinstance(node, Block):
            out: list[SlaveView] = []
            for child in node.children:
                views = self._views(child, names, held, taken, local)
                out.extend((SlaveView("block", body=views),) if isinstance(child, Declare) else views)
            return tuple(out)
        if isinstance(node, Instance):
            s = self.scop.statement(node.stmt)
            return (line(StagedBody(self.scop, ints, held, local, self.shared, self.words).statement(s, node)),)
        if isinstance(node, If):
            orelse = () if node.orelse is None else self._views(node.orelse, names, held, taken, local)
            return (SlaveView("if", ints.text(node.cond), self._views(node.then, names, held, taken, local), orelse),)
        if isinstance(node, Declare):
            now = {**held, **{h.array: h for h in node.slots}}
            decls = tuple(line(self._declaration(h)) for h in node.slots)
            return (*decls, *self._views(node.body, names, now, taken, local))
        assert not isinstance(node, ProductNode | ByThreads)
        return self._for(node, names, held, taken, local)

    def _for_one(self, node: SNode) -> bool:
        """Is it beside the second of two bound loops, where all that share the first one's tile would run it?"""
        between = self.wide == 2 and self._bound == 1 and not self._one
        return between and not isinstance(node, (Block, Declare, Stage)) and not _bound_below(node)

    def _declaration(self, h: Held) -> str:
        array = self.scop.arrays[h.array]
        sizes = [array.extents[k - array.scope] if s < 0 else str(s) for k, s in enumerate(h.sizes) if s]
        return f"{base_type(array.elem)} {array.name}{''.join(f'[{s}]' for s in sizes)};"

    def _for(
        self, node: For, names: Mapping[str, str], held: dict[str, Held], taken: frozenset[str],
        local: Mapping[tuple[int, int], LocalView],
    ) -> tuple[SlaveView, ...]:  # fmt: skip
        ints = self._ints(names)
        name = fresh(node.loop.name, taken, ("_now", "_next"))
        inner = {**names, node.var: name}
        lower, step, comment = ints.text(node.lower), str(node.step), node.loop.note
        upper = ints.text(node.upper, 5)
        dealt = node.loop.kind in THREADED and self.wide == 2 and self.deal
        if dealt:
            comment = f"{comment}, dealt out one by one" if self._bound else comment
            self._bound += 1
        elif node.loop.kind in THREADED:
            who, count = self._share()
            own = f"{who} * {node.step}" if node.step != 1 else who
            lower = own if lower == "0" else f"{ints.text(node.lower, 5)} + {own}"
            step = str(node.step * count)
            comment = f"{comment}, {'every ' + str(count) + 'th' if count > 1 else 'all'} of them on this core"
            self._bound += 1
        taken = taken | {name}
        before: tuple[SlaveView, ...] = ()
        if isinstance(node.body, Stage) and any(b.ahead for b in node.body.buffers):
            before, body = self._pipeline(node, inner, held, taken, local, (lower, upper, step))
        elif isinstance(node.body, Stage):
            body = self._stage(node.body, inner, held, taken, local)
        else:
            body = self._views(node.body, inner, held, taken, local)
        if node.loop.kind in THREADED:
            self._bound -= 1
            if self.stay and self._bound == self.wide - 1:
                body = (line(f"{self.words.tile}++;"), *body)
            if dealt and self._bound == 1:
                body = (line(f"if ({self.words.turn}++ % {self.grid.count} != {self.words.id})"),
                        line("  continue;"), *body)
        advance = f"{name}++" if step == "1" else f"{name} += {step}"
        if before:
            advance += f", {name}_now ^= 1"
        loop = SlaveView("for", f"long {name} = {lower}; {name} {node.op} {upper}; {advance}", body, comment=comment)
        return (SlaveView("block", body=(*before, loop)),) if before else (loop,)

    def _share(self) -> tuple[str, int]:
        if self.wide < 2:
            return self.words.id, self.grid.count
        return (self.words.row, self.grid.rows) if self._bound == 0 else (self.words.column, self.grid.columns)

    # -- buffers -----------------------------------------------------------------------------------

    def _pipeline(
        self, node: For, names: Mapping[str, str], held: dict[str, Held], taken: frozenset[str],
        local: Mapping[tuple[int, int], LocalView], head: tuple[str, str, str],
    ) -> tuple[tuple[SlaveView, ...], tuple[SlaveView, ...]]:  # fmt: skip
        """The next tile is on its way while this one is worked on: the first fetch, and the loop's body; `head` has the
        texts of the loop's bounds and its step."""
        lower, upper, step = head
        assert isinstance(node.body, Stage)
        name = names[node.var]
        ahead = [b for b in node.body.buffers if b.ahead]
        first = self._fetch(ahead, node, names, "0")
        before = (
            line(f"int {name}_now = 0;"),
            SlaveView("if", f"{lower} {node.op} {upper}", (line(f"const long {name}_next = {lower};"), *first)),
        )
        after = self._fetch(ahead, node, names, f"{name}_now ^ 1")
        step_on = SlaveView(
            "if", f"{name} + {step} {node.op} {upper}", (line(f"const long {name}_next = {name} + {step};"), *after)
        )
        body = self._stage(node.body, names, held, taken, local, (f"{name}_now", step_on))
        return before, body

    def _fetch(self, ahead: Sequence[LocalBuffer], node: For, names: Mapping[str, str], copy: str) -> list[SlaveView]:
        """Commands that fill the copies for the iteration whose value is in NAME_next."""
        next_names = {**names, node.var: f"{names[node.var]}_next"}
        ints = self._ints(next_names)
        out: list[SlaveView] = []
        for b in ahead:
            lows, lens = sides(self, b, ints, out)
            t = DmaTransfer(b, geometry_of(self, b), tuple(ints.text(e, 5) for e in lows), lens)
            out += [line(dialect.fence(self.group))] if b.array in self.stored else []
            out.append(line(f"{b.name}_got[{copy}] = 0;"))
            out.append(t.commands(dialect.get, self.group, f"{b.name}_ldm[{copy}]", f"&{b.name}_got[{copy}]"))
        return out

    def _stage(
        self, node: Stage, names: Mapping[str, str], held: dict[str, Held], taken: frozenset[str],
        local: Mapping[tuple[int, int], LocalView], turn: tuple[str, SlaveView | None] = ("", None),
    ) -> tuple[SlaveView, ...]:  # fmt: skip
        """A stage. `turn`: which copy of buffers that are fetched ahead is used, and what fetches the other."""
        now, step_on = turn
        ints = self._ints(names)
        lets: list[SlaveView] = []
        gets, waits, puts = list[SlaveView](), list[SlaveView](), list[SlaveView]()
        inner = dict(local)
        for b in node.buffers:
            if b not in self.buffers:
                self.buffers.append(b)
            lows, lens = sides(self, b, ints, lets)
            if b.array in self.stay:
                test = line(f"const int {self.stays(b)} = {self.words.tile} < {self.stay[b.array]};")
                lets += [test] if test not in lets else []
            if self.only:
                t = DmaTransfer(b, geometry_of(self, b), tuple(ints.text(e, 5) for e in lows), lens)
                gets += stay_transfers(self, b, t)
                continue
            lets.append(line(pointer(self, b, lens, now if b.ahead else "")))
            place = LocalView(f"{b.name}_t", lows, b.most)
            inner.update(dict.fromkeys(b.keys, place))
            t = DmaTransfer(b, geometry_of(self, b), tuple(ints.text(e, 5) for e in lows), lens, self.style.rows)
            moves(self, b, t, ints, now, (gets, waits, puts))
        if self.only:
            many = sum(self.stay.values()) > FLIGHT or any(len(b.most) > 2 for b in node.buffers)
            waits = [line(dialect.wait(self.group, f"&{self.words.done}", self.words.sent))] if many else []
        body = self._views(node.body, names, held, taken, inner)
        started = () if step_on is None else (step_on,)
        return (*lets, *gets, *started, *waits, *body, *puts)


def _bound_below(node: SNode) -> bool:
    return any(isinstance(n, For) and n.loop.kind in THREADED for n in staged_nodes(node))


def _bound_inside(node: SNode) -> bool:
    return any(isinstance(n, For) and n.loop.kind in THREADED for n in walk(node))  # type: ignore[arg-type]
