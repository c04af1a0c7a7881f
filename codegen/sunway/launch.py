"""Prints one launch: kernels one after the other on all cores, with barriers only where data pass between cores."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import islpy as isl

from codegen.ast.ctree import Block, CNode, Declare, For, Held, If
from codegen.diagnostics import Unsupported
from codegen.plan.model import InLanes, LocalMemory, LoopRef, OnMesh, TimeSteps
from codegen.scop.dependences import Dependences
from codegen.scop.isl_helpers import maps_of
from codegen.scop.model import Scop
from codegen.scop.tree import THREADED
from codegen.strategy.loops.stencil import Stencil
from codegen.sunway.partial import PartialResult, joined
from codegen.sunway.plan.launch_options import OURS, PLAIN, LaunchOptions
from codegen.sunway.plan.machine import CoreGroup
from codegen.sunway.plan.threads import CoreGrid
from codegen.sunway.reductions import with_reductions
from codegen.sunway.resident import Owned, Resident, owned_arrays, residents, without_ahead
from codegen.sunway.resident_views import stay_declarations, stay_moves, stay_parameter
from codegen.sunway.slave import KernelPrinter
from codegen.sunway.staging.directives import StagingDirectives, as_directives, first_statement, merged
from codegen.sunway.staging.local import LocalBuffer, SNode, buffers_of, loaded_directly, stored_directly
from codegen.sunway.stencil.shape import StencilTile
from codegen.sunway.stencil.views import stencil_views
from codegen.sunway.survey import LaunchSurvey, has_kernel, statements_of, width_of
from codegen.sunway.text import dialect
from codegen.sunway.text.bodies import words_for
from codegen.sunway.text.names import tuple_names
from codegen.sunway.text.views import SlaveFunction, SlaveView, line, texts
from codegen.target.text.cexpr import IntPrinter
from codegen.target.view import fresh, reserved
from codegen.verify.cores.check import KernelTask
from codegen.verify.cores.launches.arguments import LaunchTask
from codegen.verify.cores.launches.resident_transfers import MoverTask
from codegen.verify.cores.parts import JoinTask
from codegen.verify.cores.records import Part
from codegen.verify.cores.steps.read import SteppedTask
from codegen.verify.readback import TreePoint, enter


@dataclass
class KernelInfo:
    """What became of one kernel, for reports."""

    name: str
    buffers: tuple[LocalBuffer, ...]
    left: Mapping[str, str]
    tree: SNode
    touched: Mapping[str, isl.Set]
    mesh: bool


@dataclass
class LaunchPrinter:
    """Prints one launch."""

    scop: Scop
    deps: Dependences
    group: CoreGroup
    grid: CoreGrid
    name: str
    style: LaunchOptions = OURS
    model: bool = False
    strict: bool = True  # what does not fit into local memory is refused; else it stays in main memory
    wanted: Mapping[tuple[str, str], int] | None = None  # tiles that stay on their cores, if a plan says which
    staging: StagingDirectives | None = None  # what a plan says about local memory
    helpers: set[str] = field(default_factory=set)
    functions: list[SlaveFunction] = field(default_factory=list)
    kernels: list[KernelInfo] = field(default_factory=list)
    shared: dict[str, Held] = field(default_factory=dict)
    others: dict[str, Stencil] = field(default_factory=dict)  # arrays that need a second copy
    stencils: list[tuple[Stencil, StencilTile]] = field(default_factory=list)
    barriers: int = 0
    owned: list[Owned] = field(default_factory=list)
    residents: list[Resident] = field(default_factory=list)
    missed: dict[str, str] = field(default_factory=dict)  # arrays that pass through main memory between kernels
    tasks: dict[int, KernelTask] = field(default_factory=dict)  # functions with a kernel of the tree, by their number
    movers: dict[int, MoverTask] = field(default_factory=dict)  # functions that move tiles that stay
    stepped: dict[int, SteppedTask] = field(default_factory=dict)  # functions that take many time steps at once
    joins: dict[int, JoinTask] = field(default_factory=dict)  # functions that join the parts of all cores
    gathered: dict[str, PartialResult] = field(default_factory=dict)  # variables that cores have parts of
    root: tuple[CNode, TreePoint] | None = None  # what every core runs
    lanes: list[InLanes] = field(default_factory=list)  # what runs in vectors

    def __post_init__(self) -> None:
        self.source = self.scop
        self.scop = with_reductions(self.scop)
        self.words = words_for(self.scop)
        self._wide: dict[str, frozenset[str]] = {}
        self.survey = LaunchSurvey(self.scop, self.deps, self.group, self.grid, self.style, self.strict, self.staging)

    def begin(self, node: CNode, start: TreePoint) -> LaunchPrinter:
        """With what every core is to run. Loops that are stencils are found; nothing is staged yet."""
        self.root = node, start
        self.survey.find_stencils(node, start)
        return self

    def entry(self) -> tuple[SlaveView, ...]:
        """The body of the function that every core runs."""
        assert self.root is not None
        node, start = self.root
        self.survey.visit(node, start)
        self.gathered = {r.array: r for s in self.survey.sites.values() for r in s.gathers}
        self._decide(statements_of(node))
        mine = {o.array for o in self.owned}
        self._pairs: set[tuple[str, str]] = set()
        # Sums whose order is free are in each other's way all the same.
        conflicts = [*((d.array, d.relation) for d in self.deps.all), *self.deps.folds.items()]
        for m in (m for array, pairs in conflicts if array not in mine for m in maps_of(pairs)):
            a, b = tuple_names(m)
            self._pairs |= {(a, b), (b, a)}
        body, _ = self._node(node, start, {}, frozenset())
        return (*stay_declarations(self), *stay_moves(self, "come"), *body, *stay_moves(self, "go"))

    def _decide(self, stmts: frozenset[str]) -> None:
        """Which arrays stay with their cores from kernel to kernel."""
        sites = list(self.survey.sites.values())
        if not self.style.merged or (len(sites) == 1 and not sites[0].loops):
            return
        inside = [s for s in sites if s.plain]
        rest = stmts - {n for s in inside for n in s.statements}
        self.owned, self.missed = owned_arrays(self.scop, inside, rest)
        room = self.group.ldm_bytes - self.group.reserve - max(s.used for s in sites)
        room = 0 if self.survey.stencils or any(s.mesh for s in sites) else room
        self.residents, missed = residents(self.scop, self.grid, self.owned, room, self.wanted)
        self.missed |= missed

    @property
    def staged(self) -> tuple[LocalMemory, ...]:
        """What is in local memory, and runs in vectors on it, as a plan says it."""
        steps = (
            TimeSteps(LoopRef(s.loop.loop.name, first_statement(s.loop)), shape.steps, shape.sides)
            for s, shape in self.stencils
        )
        sites = self.survey.sites.values()
        shared = (OnMesh(s.mesh.plan.nest.instance.stmt) for s in sites if s.mesh is not None)
        stages = merged(d for s in sites for d in as_directives(s.tree))
        return (*stages, *dict.fromkeys(shared), *steps, *dict.fromkeys(self.lanes))

    @property
    def task(self) -> LaunchTask:
        """What a proof of its arguments needs to know."""
        parts = {r.parts: (r.array, self.grid.count) for r in self.gathered.values()}
        return LaunchTask(self.name, dict(self.shared), frozenset(self.others), parts)

    # -- walking -----------------------------------------------------------------------------------

    def _node(
        self, node: CNode, at: TreePoint, names: Mapping[str, str], open_: frozenset[str]
    ) -> tuple[list[SlaveView], frozenset[str]]:
        ints = IntPrinter({p.name: p for p in self.scop.params}, names, self.helpers)
        if isinstance(node, For) and node.loop.kind in THREADED:
            return self._phase(node, at, names, open_)
        if not has_kernel(node):
            return self._alone(node, at, names, open_)
        if isinstance(node, Block):
            out: list[SlaveView] = []
            for child in node.children:
                views, open_ = self._node(child, at, names, open_)
                out += views
            return out, open_
        if isinstance(node, If):
            cond = at.condition(node.cond)
            yes, no = (replace(at, domain=d.coalesce()) for d in (at.domain.intersect(cond), at.domain.subtract(cond)))
            then, a = self._node(node.then, yes, names, open_)
            orelse, b = ([], open_) if node.orelse is None else self._node(node.orelse, no, names, open_)
            return [SlaveView("if", ints.text(node.cond), tuple(then), tuple(orelse))], a | b
        if isinstance(node, Declare):
            for h in node.slots:
                if any(s < 0 for s in h.sizes):
                    raise Unsupported("sunway-shared", f"`{h.array}` is shared between kernels and has no fixed size",
                                      self.scop.loc, "declare it outside the region")
                self.shared[h.array] = h
            return self._node(node.body, at, names, open_)
        assert isinstance(node, For)
        if id(node) in self.survey.stencils:
            return self._either(*self.survey.stencils[id(node)], node, at, open_)
        return self._loop(node, at, names, open_)

    def _loop(
        self, node: For, at: TreePoint, names: Mapping[str, str], open_: frozenset[str]
    ) -> tuple[list[SlaveView], frozenset[str]]:
        """A sequential loop around kernels, on every core."""
        ints = IntPrinter({p.name: p for p in self.scop.params}, names, self.helpers)
        name = fresh(node.loop.name, reserved(self.scop) | set(names.values()) | set(self.words.all))
        step = f"{name}++" if node.step == 1 else f"{name} += {node.step}"
        head = f"long {name} = {ints.text(node.lower)}; {name} {node.op} {ints.text(node.upper, 5)}; {step}"
        inner = {**names, node.var: name}
        body, after = self._node(node.body, enter(node, at), inner, open_ | statements_of(node.body))
        mine = statements_of(node.body)
        loose = frozenset[str]().union(*(self._wide.get(s, frozenset()) for s in mine))
        if any(self._uses(a, mine, True) for a in loose) and body[0].head != self._barrier:
            self.barriers += 1
            body, after = [*body, line(self._barrier)], frozenset()
        return [SlaveView("for", head, tuple(body), comment=node.loop.note or "on every core")], open_ | after

    def _either(
        self, found: Stencil, shape: StencilTile, node: For, at: TreePoint, open_: frozenset[str]
    ) -> tuple[list[SlaveView], frozenset[str]]:
        """Many steps at once where there is memory for second copies; else one step after the other."""
        title = f"{self.name}_steps{len(self.functions)}"
        body = stencil_views(self, found, shape)
        head = f"void {title}({self.name}_args *{self.words.args}, int {self.words.id})"
        self.stepped[len(self.functions)] = SteppedTask(node, at, head)
        self.functions.append(
            SlaveFunction(
                head,
                f"{shape.steps} time steps at once on tiles of {' x '.join(map(str, shape.sides))} and their margins",
                body,
            )
        )
        self.others |= dict.fromkeys(found.written, found)
        self.stencils.append((found, shape))
        call = line(f"{title}({self.words.args}, {self.words.id});")
        # Tiles take all of their arrays along, whatever part of them the sweeps touch.
        before, _ = self._sync(statements_of(node), open_, frozenset((*found.written, *found.read)))
        plain, _ = self._loop(node, at, {}, open_)
        test = " && ".join(f"{self.words.args}->{a}_other" for a in found.written)
        return [*before, SlaveView("if", test, (call,), tuple(plain))], statements_of(node)

    def _sync(
        self, stmts: frozenset[str], open_: frozenset[str], wide: frozenset[str] = frozenset()
    ) -> tuple[list[SlaveView], frozenset[str]]:
        """A barrier in front of these statements, if they depend on what ran since the last one.

        Boxes of the arrays `wide` hold more than is touched, so for those any other use counts."""
        for s in stmts:
            self._wide[s] = wide
        common = {a for a in (*self.shared, *self.gathered) if self._uses(a, stmts) and self._uses(a, open_)}
        loose = wide.union(*(self._wide.get(s, frozenset()) for s in open_))
        common |= {
            a
            for a in loose
            if (self._uses(a, stmts) and self._uses(a, open_, True))
            or (self._uses(a, stmts, True) and self._uses(a, open_))
        }
        if not common and not any((a, b) in self._pairs for a in open_ for b in stmts):
            return [], open_ | stmts
        self.barriers += 1
        return [line(self._barrier)], stmts

    def _stored(self, stmts: frozenset[str]) -> frozenset[str]:
        """Arrays that kernels with some of these statements store to without a buffer."""
        sites = (s for s in self.survey.sites.values() if s.mesh is None and stmts & set(s.statements))
        return frozenset[str]().union(*(stored_directly(self.scop, s.tree) - set(self.gathered) for s in sites))

    def _put(self, stmts: frozenset[str]) -> frozenset[str]:
        """Arrays that kernels with some of these statements store to by commands."""
        sites = (s for s in self.survey.sites.values() if stmts & set(s.statements))
        return frozenset(b.array for s in sites for b in buffers_of(s.tree) if b.put)

    @property
    def _barrier(self) -> str:
        """What separates kernels. The published scheme ends the launch and starts another, which the model counts."""
        return "sw_relaunch();" if self.model and not self.style.merged else dialect.BARRIER

    def _uses(self, array: str, stmts: frozenset[str], write: bool = False) -> bool:
        return any(
            a.array == array and (a.write or not write)
            for s in self.scop.statements
            if s.name in stmts
            for a in s.accesses
        )

    def _phase(
        self, node: For, at: TreePoint, names: Mapping[str, str], open_: frozenset[str]
    ) -> tuple[list[SlaveView], frozenset[str]]:
        site = self.survey.sites[id(node)]
        stager, mesh = site.stager, site.mesh
        mine = [r for r in self.residents if site.plain and site.tile(r.array) is not None]
        tree = without_ahead(site.tree, frozenset(r.array for r in mine))
        number = len(self.kernels)
        buffers = buffers_of(tree)
        wide = frozenset(b.array for b in buffers if b.enlarged)
        before, then = self._sync(statements_of(node), open_, wide)
        late = self._stored(open_) & ({b.array for b in buffers} - stored_directly(self.scop, tree))
        stale = self._put(open_) & loaded_directly(self.scop, tree) if self.group.cache_bytes else frozenset[str]()
        if not before and (late or stale):
            before = [line(dialect.fence(self.group))]
        open_, left = then, stager.left()
        alone = frozenset(
            b.array for b in buffers if sum(o.array == b.array for o in buffers) == 1 and b.array not in left
        )
        phase = KernelPrinter(
            self.scop, self.group, self.grid, self.helpers, alone, self.words, frozenset(self.shared),
            self.style, self.model, width_of(node), mesh, site.in_turn, {r.array: r.slots for r in mine},
            staging=self.staging, gathers=site.gathers,
        )
        body = phase.views(tree, names, dict(self.shared))
        self.lanes += phase.lanes
        title = f"{self.name}_k{number}"
        self.kernels.append(KernelInfo(title, tuple(phase.buffers), left, tree, stager.touched, mesh is not None))
        words = set(re.findall(r"\w+", " ".join(texts(body))))
        outer = [n for n in names.values() if n in words]
        arguments = "".join((*(f", long {n}" for n in outer), *(f", {stay_parameter(self.scop, r)}" for r in mine)))
        self.functions.append(
            SlaveFunction(
                f"void {title}({self.name}_args *{self.words.args}, int {self.words.id}{arguments})",
                _describe(node),
                (*phase.declarations(), *body),
            )
        )
        parts = {r.own: Part(r.array, r.op, r.parts) for r in site.gathers}
        task = KernelTask(node, at, dict(names), dict(self.shared), width_of(node), mesh is not None, parts)
        self.tasks[len(self.functions) - 1] = task
        call = "".join(f", {n}" for n in (*outer, *(f"{r.box.name}_kept" for r in mine)))
        called = line(f"{title}({self.words.args}, {self.words.id}{call});")
        if not site.gathers:
            return [*before, called], open_
        return [*before, called, *self._joined(site.gathers)], statements_of(node)

    def _joined(self, gathers: tuple[PartialResult, ...]) -> list[SlaveView]:
        """When all cores have met, the first one joins their parts."""
        title = f"{self.name}_join{len(self.functions)}"
        head = f"void {title}({self.name}_args *{self.words.args})"
        body = joined(self.scop, gathers, self.group, self.grid, self.words, self.model)
        self.joins[len(self.functions)] = JoinTask(head, tuple(Part(r.array, r.op, r.parts) for r in gathers))
        names = ", ".join(r.array for r in gathers)
        self.functions.append(SlaveFunction(head, f"what all cores have gathered in {names}", body))
        self.barriers += 1
        return [line(self._barrier), SlaveView("if", f"{self.words.id} == 0", (line(f"{title}({self.words.args});"),))]

    def _alone(
        self, node: CNode, at: TreePoint, names: Mapping[str, str], open_: frozenset[str]
    ) -> tuple[list[SlaveView], frozenset[str]]:
        """What is not parallel: the first core does it, on main memory."""
        before, open_ = self._sync(statements_of(node), open_)
        phase = KernelPrinter(self.scop, self.group, self.grid, self.helpers, frozenset(), self.words,
                              frozenset(self.shared),
                      PLAIN, self.model)
        body = phase.views(node, names, dict(self.shared))
        return [*before, SlaveView("if", f"{self.words.id} == 0", body)], open_


def _describe(node: For) -> str:
    return f"{', '.join(sorted(statements_of(node)))} in tiles of {node.loop.of}"
