"""One launch: kernels one after the other on all cores, barriers only where data pass between cores."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import islpy as isl

from codegen.ast.ctree import Block, CNode, Declare, For, Held, If, Instance, walk
from codegen.diagnostics import Unsupported
from codegen.scop.dependences import Dependences
from codegen.scop.isl_helpers import maps_of
from codegen.scop.model import Scop
from codegen.scop.tree import THREADED
from codegen.sunway import dialect
from codegen.sunway.bodies import words_for
from codegen.sunway.folds import with_folds
from codegen.sunway.local import Buffer, SNode, buffers_of
from codegen.sunway.machine import CoreGroup
from codegen.sunway.mesh import find_mesh
from codegen.sunway.slave import Phase
from codegen.sunway.stage import Stager
from codegen.sunway.stencil import Stencil, find_stencil
from codegen.sunway.stencil_shape import Shape, choose
from codegen.sunway.stencil_views import stencil_views
from codegen.sunway.style import OURS, PLAIN, Style
from codegen.sunway.threads import Grid
from codegen.sunway.views import Function, View, line, texts
from codegen.target.cexpr import IntPrinter
from codegen.target.view import fresh, reserved
from codegen.verify.readback import Point, enter


def has_kernel(node: CNode) -> bool:
    return any(isinstance(n, For) and n.loop.kind in THREADED for n in walk(node))


def statements_of(node: CNode) -> frozenset[str]:
    return frozenset(n.stmt for n in walk(node) if isinstance(n, Instance))


@dataclass
class KernelInfo:
    """What became of one kernel, for reports."""

    name: str
    buffers: tuple[Buffer, ...]
    left: Mapping[str, str]
    tree: SNode
    touched: Mapping[str, isl.Set]
    mesh: bool


@dataclass
class Launch:
    """Prints one launch."""

    scop: Scop
    deps: Dependences
    group: CoreGroup
    grid: Grid
    name: str
    style: Style = OURS
    model: bool = False
    strict: bool = True  # what does not fit into local memory is refused; else it stays in main memory
    helpers: set[str] = field(default_factory=set)
    functions: list[Function] = field(default_factory=list)
    kernels: list[KernelInfo] = field(default_factory=list)
    shared: dict[str, Held] = field(default_factory=dict)
    others: dict[str, Stencil] = field(default_factory=dict)  # arrays that need a second copy
    stencils: list[tuple[Stencil, Shape]] = field(default_factory=list)
    barriers: int = 0

    def __post_init__(self) -> None:
        self.scop = with_folds(self.scop)
        self.words = words_for(self.scop)
        self._wide: dict[str, frozenset[str]] = {}
        self._pairs: set[tuple[str, str]] = set()
        for d in self.deps.all:
            for m in maps_of(d.relation):
                from codegen.sunway.names import tuple_names

                a, b = tuple_names(m)
                self._pairs |= {(a, b), (b, a)}

    def entry(self, node: CNode, start: Point) -> tuple[View, ...]:
        """The body of the function that every core runs."""
        body, _ = self._node(node, start, {}, frozenset())
        return tuple(body)

    # -- walking -----------------------------------------------------------------------------------

    def _node(
        self, node: CNode, at: Point, names: Mapping[str, str], open_: frozenset[str]
    ) -> tuple[list[View], frozenset[str]]:
        ints = IntPrinter({p.name: p for p in self.scop.params}, names, self.helpers)
        if isinstance(node, For) and node.loop.kind in THREADED:
            return self._phase(node, at, names, open_)
        if not has_kernel(node):
            return self._alone(node, at, names, open_)
        if isinstance(node, Block):
            out: list[View] = []
            for child in node.children:
                views, open_ = self._node(child, at, names, open_)
                out += views
            return out, open_
        if isinstance(node, If):
            then, a = self._node(node.then, at, names, open_)
            orelse, b = ([], open_) if node.orelse is None else self._node(node.orelse, at, names, open_)
            return [View("if", ints.text(node.cond), tuple(then), tuple(orelse))], a | b
        if isinstance(node, Declare):
            for h in node.slots:
                if any(s < 0 for s in h.sizes):
                    raise Unsupported("sunway-shared", f"`{h.array}` is shared between kernels and has no fixed size",
                                      self.scop.loc, "declare it outside the region")
                self.shared[h.array] = h
            return self._node(node.body, at, names, open_)
        assert isinstance(node, For)
        if self.style.steps and not names:
            made = self._steps(node, at)
            if made is not None:
                return self._either(made, node, at, open_)
        return self._loop(node, at, names, open_)

    def _loop(
        self, node: For, at: Point, names: Mapping[str, str], open_: frozenset[str]
    ) -> tuple[list[View], frozenset[str]]:
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
        return [View("for", head, tuple(body), comment=node.loop.note or "on every core")], open_ | after

    def _steps(self, node: For, at: Point) -> Stencil | None:
        """The loop as a stencil whose tiles go through many steps at once, if it is one."""
        found = find_stencil(self.scop, self.deps, node, at)
        shape = None if found is None else choose(self.scop, found, self.group, self.grid.count)
        if found is None or shape is None or shape.steps < 2:
            return None
        title = f"{self.name}_steps{len(self.functions)}"
        body = stencil_views(self, found, shape)
        self.functions.append(
            Function(
                f"void {title}({self.name}_args *{self.words.args}, int {self.words.id})",
                f"{shape.steps} time steps at once on tiles of {' x '.join(map(str, shape.sides))} and their margins",
                body,
            )
        )
        self.others |= dict.fromkeys(found.written, found)
        self.stencils.append((found, shape))
        return found

    def _either(
        self, found: Stencil, node: For, at: Point, open_: frozenset[str]
    ) -> tuple[list[View], frozenset[str]]:
        """Many steps at once where there is memory for second copies; else one step after the other."""
        call = line(f"{self.functions[-1].head.split()[1].split('(')[0]}({self.words.args}, {self.words.id});")
        # Tiles take all of their arrays along, whatever part of them the sweeps touch.
        before, _ = self._sync(statements_of(node), open_, frozenset((*found.written, *found.read)))
        plain, _ = self._loop(node, at, {}, open_)
        test = " && ".join(f"{self.words.args}->{a}_other" for a in found.written)
        return [*before, View("if", test, (call,), tuple(plain))], statements_of(node)

    def _sync(
        self, stmts: frozenset[str], open_: frozenset[str], wide: frozenset[str] = frozenset()
    ) -> tuple[list[View], frozenset[str]]:
        """A barrier in front of these statements, if they depend on what ran since the last one.

        Boxes of the arrays `wide` hold more than is touched, so for those any other use counts."""
        for s in stmts:
            self._wide[s] = wide
        common = {a for a in self.shared if self._uses(a, stmts) and self._uses(a, open_)}
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

    @property
    def _barrier(self) -> str:
        """What separates kernels. The published scheme ends the launch and starts another, which the model counts."""
        return "sw_relaunch();" if self.model and not self.style.merged else dialect.barrier(self.group)

    def _uses(self, array: str, stmts: frozenset[str], write: bool = False) -> bool:
        return any(
            a.array == array and (a.write or not write)
            for s in self.scop.statements
            if s.name in stmts
            for a in s.accesses
        )

    def _phase(
        self, node: For, at: Point, names: Mapping[str, str], open_: frozenset[str]
    ) -> tuple[list[View], frozenset[str]]:
        stager = Stager(self.scop, self.deps, self.group, at, node, self.style.ahead)
        tree = stager.run()
        number = len(self.kernels)
        stager.refuse_overflow(tree, self.strict)
        buffers = buffers_of(tree)
        width = _width(node)
        wide = frozenset(b.array for b in buffers if b.enlarged)
        before, open_ = self._sync(statements_of(node), open_, wide)
        left = stager.left()
        alone = frozenset(
            b.array for b in buffers if sum(o.array == b.array for o in buffers) == 1 and b.array not in left
        )
        mesh = None
        if self.style.mesh and width == 2 and (self.grid.rows, self.grid.columns) == (8, 8):
            mesh = find_mesh(self.scop, tree)
        phase = Phase(
            self.scop, self.group, self.grid, self.helpers, alone, self.words, frozenset(self.shared),
            self.style, self.model, width, mesh,
            mesh is None and width == 2 and self.style.ahead and _tiles_inside(node),
        )
        body = phase.views(tree, names, dict(self.shared))
        title = f"{self.name}_k{number}"
        self.kernels.append(KernelInfo(title, tuple(phase.buffers), left, tree, stager.touched, mesh is not None))
        words = set(re.findall(r"\w+", " ".join(texts(body))))
        outer = [n for n in names.values() if n in words]
        arguments = "".join(f", long {n}" for n in outer)
        self.functions.append(
            Function(
                f"void {title}({self.name}_args *{self.words.args}, int {self.words.id}{arguments})",
                _describe(node),
                (*phase.declarations(), *body),
            )
        )
        call = "".join(f", {n}" for n in outer)
        return [*before, line(f"{title}({self.words.args}, {self.words.id}{call});")], open_

    def _alone(
        self, node: CNode, at: Point, names: Mapping[str, str], open_: frozenset[str]
    ) -> tuple[list[View], frozenset[str]]:
        """What is not parallel: the first core does it, on main memory."""
        before, open_ = self._sync(statements_of(node), open_)
        phase = Phase(self.scop, self.group, self.grid, self.helpers, frozenset(), self.words, frozenset(self.shared),
                      PLAIN, self.model)
        body = phase.views(node, names, dict(self.shared))
        return [*before, View("if", f"{self.words.id} == 0", body)], open_


def _width(node: CNode) -> int:
    """How many bound loops are nested."""
    if isinstance(node, For):
        return (node.loop.kind in THREADED) + _width(node.body)
    if isinstance(node, Block):
        return max(_width(c) for c in node.children)
    if isinstance(node, If):
        return max(_width(node.then), 0 if node.orelse is None else _width(node.orelse))
    return _width(node.body) if isinstance(node, Declare) else 0


def _tiles_inside(node: CNode) -> bool:
    """Are there tile loops inside the bound ones, so that fetching ahead happens there?"""
    return any(isinstance(n, For) and n.loop.tile and n.loop.kind not in THREADED for n in walk(node))


def _describe(node: For) -> str:
    return f"{', '.join(sorted(statements_of(node)))} in tiles of {node.loop.of}"
