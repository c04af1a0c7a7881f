"""Surveys a launch before any of it is printed: stages each of its kernels (`KernelSite`: staged tree, mesh product,
variables that all cores gather) and finds loops that are stencils."""

from __future__ import annotations

from dataclasses import dataclass, field

from codegen.ast.ctree import Block, CNode, Declare, For, If, Instance, node_kids, walk
from codegen.scop.dependences import Dependences
from codegen.scop.model import Scop
from codegen.scop.tree import THREADED
from codegen.strategy.loops.stencil import Stencil, find_stencil
from codegen.sunway.mesh.panels import Mesh, find_mesh
from codegen.sunway.partial import PartialResult, gathered_in
from codegen.sunway.plan.launch_options import LaunchOptions
from codegen.sunway.plan.machine import CoreGroup
from codegen.sunway.plan.threads import CoreGrid
from codegen.sunway.staging.directives import StagingDirectives
from codegen.sunway.staging.local import LocalBuffer, SNode, Stage, buffers_of
from codegen.sunway.staging.stage import Stager
from codegen.sunway.stencil.shape import StencilTile, choose, fits
from codegen.verify.readback import TreePoint, enter


def has_kernel(node: CNode) -> bool:
    return any(isinstance(n, For) and n.loop.kind in THREADED for n in walk(node))


def statements_of(node: CNode) -> frozenset[str]:
    return frozenset(n.stmt for n in walk(node) if isinstance(n, Instance))


@dataclass
class KernelSite:
    """A kernel in its launch. `loops` are those that run on every core around it; `plain` if nothing else is there."""

    node: For
    at: TreePoint
    loops: tuple[For, ...]
    plain: bool
    stager: Stager
    tree: SNode
    in_turn: bool  # tiles of two bound loops go to the cores in turn, whatever their shape
    mesh: Mesh | None
    gathers: tuple[PartialResult, ...] = ()  # variables that all cores have parts of

    @property
    def statements(self) -> tuple[str, ...]:
        return tuple(sorted(statements_of(self.node)))

    @property
    def bound(self) -> tuple[For, ...]:
        """The loops whose tiles the cores share out, where they are nested without anything between them."""
        node = self.tree.body if isinstance(self.tree, Stage) else self.tree
        found = []
        while isinstance(node, For) and node.loop.kind in THREADED:
            found.append(node)
            node = node.body
        return tuple(found)

    def tile(self, array: str) -> LocalBuffer | None:
        """The buffer for a tile of an array, if it serves all uses of the array in the kernel."""
        bound = self.bound
        stage = bound[-1].body if bound else None
        mine = [b for b in buffers_of(self.tree) if b.array == array]
        if not isinstance(stage, Stage) or len(mine) != 1 or mine[0] not in stage.buffers or self.mesh is not None:
            return None
        b = mine[0]
        return None if array in self.stager.left() or b.enlarged or b.common or b.when is not None else b

    @property
    def used(self) -> int:
        """Bytes of local memory that the kernel takes itself."""
        return self.stager.own_bytes + sum(b.footprint for b in buffers_of(self.tree))


@dataclass
class LaunchSurvey:
    """Stages the kernels below a node of the C tree, in its order, and finds loops that are stencils."""

    scop: Scop
    deps: Dependences
    group: CoreGroup
    grid: CoreGrid
    style: LaunchOptions
    strict: bool
    wanted: StagingDirectives | None = None
    sites: dict[int, KernelSite] = field(default_factory=dict)  # by the kernel's node
    stencils: dict[int, tuple[Stencil, StencilTile]] = field(default_factory=dict)

    def find_stencils(self, node: CNode, at: TreePoint) -> None:
        """Among the outermost loops around kernels."""
        if not self.style.steps or not has_kernel(node):
            return
        if isinstance(node, For):
            found = None if node.loop.kind in THREADED else self._steps(node, at)
            if found is not None:
                self.stencils[id(node)] = found
        else:
            for k in node_kids(node):
                self.find_stencils(k, at)

    def visit(self, node: CNode, at: TreePoint, loops: tuple[For, ...] = (), plain: bool = True) -> None:
        """Stages all kernels below a node, whose stencils were found."""
        if isinstance(node, For) and node.loop.kind in THREADED:
            self._kernel(node, at, loops, plain)
        elif isinstance(node, For) and has_kernel(node):
            self.visit(node.body, enter(node, at), (*loops, node), plain and id(node) not in self.stencils)
        elif has_kernel(node):
            for k in node_kids(node):
                self.visit(k, at, loops, plain and not isinstance(node, If))

    def _kernel(self, node: For, at: TreePoint, loops: tuple[For, ...], plain: bool) -> None:
        gathers = gathered_in(self.scop, node)
        mine = frozenset(r.array for r in gathers)
        stager = Stager(self.scop, self.deps, self.group, at, node, self.style.ahead, self.wanted, mine)
        tree = stager.run()
        stager.refuse_overflow(tree, self.strict)
        width, mesh = width_of(node), None
        if self.style.mesh and width == 2 and (self.grid.rows, self.grid.columns) == (8, 8):
            mesh = find_mesh(self.scop, tree)
        if mesh is not None and self.wanted is not None and not self.wanted.shares(mesh.plan.nest.instance.stmt):
            mesh = None
        in_turn = mesh is None and width == 2 and self.style.ahead and _tiles_inside(node)
        self.sites[id(node)] = KernelSite(node, at, loops, plain, stager, tree, in_turn, mesh, gathers)

    def _steps(self, node: For, at: TreePoint) -> tuple[Stencil, StencilTile] | None:
        """The loop as a stencil whose tiles go through many steps at once, if it is one."""
        asked = None if self.wanted is None else self.wanted.steps_of(node)
        if self.wanted is not None and asked is None:
            return None
        found = find_stencil(self.scop, self.deps, node, at)
        if found is None:
            return None
        if asked is not None:
            shape = StencilTile(asked.sides, asked.steps)
            return (found, shape) if fits(self.scop, found, self.group, shape) else None
        best = choose(self.scop, found, self.group, self.grid.count, self.style.sizes.points[found.axes])
        return None if best is None or best.steps < 2 else (found, best)


def width_of(node: CNode) -> int:
    """How many bound loops are nested."""
    if isinstance(node, For):
        return (node.loop.kind in THREADED) + width_of(node.body)
    if isinstance(node, Block):
        return max(width_of(c) for c in node.children)
    if isinstance(node, If):
        return max(width_of(node.then), 0 if node.orelse is None else width_of(node.orelse))
    return width_of(node.body) if isinstance(node, Declare) else 0


def _tiles_inside(node: CNode) -> bool:
    """Are there tile loops inside the bound ones, so that fetching ahead happens there?"""
    return any(isinstance(n, For) and n.loop.tile and n.loop.kind not in THREADED for n in walk(node))
