"""Estimates the seconds that a launch takes on a core group: its loops counted in the middle, each command and each
point at its cost.

The emulator's timing model runs every loop (emulation/predict.py); this is what the planner can afford. A kernel takes
what its busiest core takes, or the memory controller if that is longer, and some of the shorter beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from codegen.ast.ctree import Block, CNode, Declare, For, If, Instance, ProductNode
from codegen.scop.model import Scop
from codegen.scop.tree import THREADED
from codegen.strategy.loops.stencil import Stencil
from codegen.sunway.launch import LaunchPrinter
from codegen.sunway.partial import own_views
from codegen.sunway.plan.cost import arithmetic, point_cost
from codegen.sunway.plan.tiles import BESIDE
from codegen.sunway.profit.middle import Values, trips, value
from codegen.sunway.staging.local import LocalBuffer, SNode, Stage, has_stage, staged_nodes
from codegen.sunway.stencil.shape import StencilTile
from codegen.sunway.survey import KernelSite, has_kernel
from codegen.sunway.text.bodies import LocalView
from codegen.sunway.vector.vectorize import planned
from codegen.sunway.vector.views import block_cost


@dataclass
class _Load:
    """Cycles of the busiest core, of its channel to memory, and of the memory controller for all cores."""

    core: float = 0.0
    controller: float = 0.0
    channel: float = 0.0
    commands: float = 0.0

    @property
    def cycles(self) -> float:
        mine = max(self.core, self.channel)
        return max(mine, self.controller) + BESIDE * min(mine, self.controller)


@dataclass
class CoresEstimate:
    """Goes through the tree of a launch. `commands` counts transfers of all cores."""

    launch: LaunchPrinter
    sizes: Values
    commands: float = 0.0
    _held: set[str] = field(default_factory=set)

    def seconds(self, node: CNode) -> float:
        group = self.launch.group
        return (group.launch + self._node(node, dict(self.sizes), frozenset())) / group.clock_hz

    @property
    def _scop(self) -> Scop:
        return self.launch.scop

    def _node(self, node: CNode, at: Values, loops: frozenset[str]) -> float:
        """Cycles of everything below a node that runs on every core."""
        if isinstance(node, For) and id(node) in self.launch.survey.stencils:
            return self._steps(*self.launch.survey.stencils[id(node)], node, at)
        if isinstance(node, For) and node.loop.kind in THREADED:
            return self._kernel(self.launch.survey.sites[id(node)], at) + self.launch.group.barrier
        if not has_kernel(node):
            return self._alone(node, at)
        if isinstance(node, For):
            count, middle = trips(node, at)
            return count * self._node(node.body, {**at, node.var: middle}, loops) if count else 0.0
        if isinstance(node, If):
            taken = node.then if value(node.cond, at) else node.orelse
            return self._node(taken, at, loops) if taken is not None else 0.0
        parts = node.children if isinstance(node, Block) else (node.body,) if isinstance(node, Declare) else ()
        return sum(self._node(c, at, loops) for c in parts)

    def _alone(self, node: CNode, at: Values) -> float:
        """One core, on main memory."""
        load = _Load()
        self._points(node, at, {}, (1.0, 1.0), load)
        return load.core + self.launch.group.barrier

    def _kernel(self, site: KernelSite, at: Values) -> float:
        load = _Load()
        if site.mesh is not None:
            return self._product(site, at)
        self._walk(site.tree, at, own_views(self._scop, site.node, site.gathers), (1.0, 1.0), load, site)
        self.commands += load.commands
        group, cores = self.launch.group, self.launch.grid.count
        joins = len(site.gathers) * (cores * group.fma_latency + 3 * group.gld + group.startup)
        return load.cycles + (joins + group.barrier if joins else 0.0)

    def _product(self, site: KernelSite, at: Values) -> float:
        """A product whose panels the mesh shares: close to what the arithmetic takes."""
        assert site.mesh is not None
        points = 1.0
        inner = dict(at)
        for lp in (site.mesh.rows, site.mesh.columns, site.mesh.depth):
            count, middle = trips(lp, inner)
            points *= count * lp.step
            inner[lp.var] = middle
        group = self.launch.group
        return points * (1 if group.fuses else 2) / self.launch.grid.count / group.lanes(8) * 1.3 + 20000

    def _steps(self, s: Stencil, shape: StencilTile, node: For, at: Values) -> float:
        """Tiles that go through many steps at once."""
        group, cores = self.launch.group, self.launch.grid.count
        count, middle = trips(node, at)
        inside = {**at, node.var: middle}
        ends = (zip(x.lows, x.highs, strict=True) for x in s.sweeps)
        sides = ([value(high, inside) - value(low, inside) for low, high in pairs] for pairs in ends)
        extents = [max(1, *along) for along in zip(*sides, strict=True)]
        elem = self._scop.arrays[s.written[0]].elem.bytes
        box, tiles, own = 1.0, 1.0, 1.0
        for e, t in zip(extents, shape.sides, strict=True):
            box, tiles, own = box * (t + 2 * shape.halo(s)), tiles * -(-e // t), own * t
        go = len(s.written) - s.anew
        arrays = go + len(s.read)
        row = (shape.sides[-1] + 2 * shape.halo(s)) * elem
        fetch = group.transfer(elem * (box * arrays + own * go), row, arrays + go)
        statements = [self._scop.statement(y.stmt) for y in s.sweeps]
        work = sum(max(arithmetic(y, group), 2 * len(y.accesses)) for y in statements) / group.lanes(elem)
        rounds = -(-count // shape.steps)
        mine = -(-tiles // cores) * (work * shape.steps * (box + own) / 2 + 2 * group.startup)
        load = _Load(mine + (tiles / cores) * fetch, tiles * fetch)
        return rounds * (load.cycles + group.barrier)

    # -- inside a kernel ---------------------------------------------------------------------------

    def _walk(
        self, node: SNode, at: Values, local: Mapping[tuple[int, int], LocalView], times: tuple[float, float],
        load: _Load, site: KernelSite,
    ) -> None:  # fmt: skip
        """`times`: how often the busiest core, and all cores together, come here."""
        if isinstance(node, Stage):
            inner = dict(local)
            for b in node.buffers:
                self._transfers(b, at, times, load)
                inner.update(dict.fromkeys(b.keys, LocalView(f"{b.name}_t", b.lows, b.most)))
            self._walk(node.body, at, inner, times, load, site)
        elif isinstance(node, For) and _staged_or_bound(node):
            count, middle = trips(node, at)
            if count:
                now = self._shared(node, count, times, site)
                self._walk(node.body, {**at, node.var: middle}, local, now, load, site)
        elif isinstance(node, Declare):
            self._held |= {h.array for h in node.slots}
            self._walk(node.body, at, local, times, load, site)
        elif isinstance(node, Block):
            for c in node.children:
                self._walk(c, at, local, times, load, site)
        elif isinstance(node, If):
            taken = node.then if value(node.cond, at) else node.orelse
            if taken is not None:
                self._walk(taken, at, local, times, load, site)
        else:
            self._points(node, at, local, times, load)

    def _shared(self, node: For, count: int, times: tuple[float, float], site: KernelSite) -> tuple[float, float]:
        mine, everybody = times
        grid = self.launch.grid
        if node.loop.kind not in THREADED:
            return mine * count, everybody * count
        bound = [n for n in staged_nodes(site.tree) if isinstance(n, For) and n.loop.kind in THREADED]
        if len(bound) < 2:
            return mine * -(-count // grid.count), everybody * count
        if site.in_turn:  # tiles go to cores one by one
            last = node is bound[-1] or node.var == bound[-1].var
            return (mine * count if not last else -(-mine * count // grid.count)), everybody * count
        share = grid.rows if node.var == bound[0].var else grid.columns
        return mine * -(-count // share), everybody * count

    def _transfers(self, b: LocalBuffer, at: Values, times: tuple[float, float], load: _Load) -> None:
        """A box comes, goes, or both: commands by all who need it; who does not fetch ahead waits."""
        if b.when is not None and not value(b.when, at):
            return
        group, (mine, everybody) = self.launch.group, times
        sides = [max(1, value(e, at)) for e in b.lens]
        size, commands = float(b.bytes), 1.0
        for k, n in enumerate(sides):
            size *= n
            commands *= n if k < len(sides) - 2 else 1
        each = group.transfer(size, sides[-1] * b.bytes, commands)
        everybody = 1.0 if b.common else everybody
        for moved, waits in ((b.get, not b.ahead), (b.put, False)):
            if moved:
                alone = max(each, size * group.core_byte)
                load.controller += everybody * each
                load.channel += mine * alone
                load.commands += everybody * commands
                load.core += mine * (commands * group.issue + (group.startup + alone if waits else 0.0))

    def _points(
        self, node: CNode, at: Values, local: Mapping[tuple[int, int], LocalView], times: tuple[float, float],
        load: _Load, inner: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        """Computing, on what is in local memory or not."""
        if isinstance(node, Instance):
            load.core += times[0] * point_cost(self._scop, self.launch.group, node, local, inner)
        elif isinstance(node, For):
            plan = planned(self._scop, node, self._held, local) if self.launch.style.vectors and not inner else None
            if plan is not None:
                load.core += times[0] * self._vectors(node, plan, at, local)
                return
            count, middle = trips(node, at)
            if count:
                now = times[0] * count, times[1] * count
                self._points(node.body, {**at, node.var: middle}, local, now, load, (*inner, node.var))
        elif isinstance(node, If):
            taken = node.then if value(node.cond, at) else node.orelse
            if taken is not None:
                self._points(taken, at, local, times, load, inner)
        elif isinstance(node, Block):
            for c in node.children:
                self._points(c, at, local, times, load, inner)
        elif isinstance(node, (Declare, ProductNode)):
            self._points(node.body, at, local, times, load, inner)

    def _vectors(self, node: For, plan: object, at: Values, local: Mapping[tuple[int, int], LocalView]) -> float:
        from codegen.sunway.vector.nests import RegisterBlock

        assert isinstance(plan, RegisterBlock)
        c = block_cost(self._scop, self.launch.group, plan, local)
        counts: dict[str, float] = {}
        inside = dict(at)
        for lp in plan.nest.loops:
            count, inside[lp.var] = trips(lp, inside)
            counts[lp.var] = float(count)
        around = 1.0
        for lp in plan.outer:
            around *= counts[lp.var]
        lane = counts[plan.lane.var]
        if not plan.depth:
            return around * (lane // c.lanes * c.step + lane % c.lanes * c.plain + c.around)
        depth = 1.0
        for lp in plan.depth:
            depth *= counts[lp.var]
        rows = counts[plan.row.var] if plan.row is not None else 1.0
        blocks = rows // plan.tall * (lane // (plan.wide * c.lanes))
        left = rows * lane - blocks * plan.tall * plan.wide * c.lanes
        return around * (blocks * (depth * c.step + c.around) + left * depth * c.plain)


def _staged_or_bound(node: For) -> bool:
    """Are there transfers or loops that cores share below?"""
    bound = (isinstance(n, For) and n.loop.kind in THREADED for n in staged_nodes(node))
    return has_stage(node.body) or any(bound)
