"""The planner for core groups: decides which loops run on the compute cores and how loops are tiled, and returns the
plan (`Decision`); tile sizes come from a `TileSizer` (`tiles.py`, or one fixed size for the published scheme)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import islpy as isl

from codegen.diagnostics import Diagnostic, InputError, Severity
from codegen.plan.model import Directive, Distribute, LoopRef, Order, Parallel, Plan, Schedule, StoreIn, StripMine, Tile
from codegen.scop.tree import Band, Loop, Node, kids, statements, walk
from codegen.strategy.choice import Decision
from codegen.strategy.loops.wavefronts import diagonals
from codegen.strategy.orders.isl_schedule import isl_schedule
from codegen.strategy.orders.reshape import active, parallel_bands, with_flags
from codegen.sunway.plan.gathered import why_not
from codegen.sunway.plan.machine import CoreGroup
from codegen.sunway.plan.producer_consumer import SharedKernel, handed_on
from codegen.sunway.plan.threads import CoreGrid
from codegen.transform.apply import apply
from codegen.transform.program import Program


class TileSizer(Protocol):
    """Who chooses tile sizes."""

    def __call__(self, p: Program, loops: Sequence[Loop], stmts: tuple[str, ...], width: int) -> Mapping[str, int]:
        """Sizes of the tiles of a band: its loops, outermost first, with the statements inside, to one size each."""

    def again(
        self, p: Program, loops: Sequence[Loop], stmts: tuple[str, ...], tiles: Sequence[int], kept: frozenset[str]
    ) -> Mapping[str, int]:
        """Sizes that begin with the `tiles` of an earlier kernel, so that what its cores have `kept` is there already;
        empty if others are better all the same."""

    def diagonal(self, p: Program, loops: Sequence[Loop], stmts: tuple[str, ...]) -> tuple[int, ...]:
        """Sizes for tiles that run diagonal by diagonal; empty for none. The second is a multiple of the first."""


@dataclass
class CoresAuthor:
    """Tries directives one by one and keeps those that are legal."""

    p: Program
    grid: CoreGrid
    group: CoreGroup
    sizes: TileSizer
    directives: list[Directive] = field(default_factory=list)
    remarks: list[Diagnostic] = field(default_factory=list)
    why: str = ""
    apart: bool = True  # parts of a tile get loops of their own
    done: list[SharedKernel] = field(default_factory=list)

    def attempt(self, *steps: Directive) -> bool:
        """All of the steps, or none."""
        saved, count = self.p, len(self.directives)
        for d in steps:
            try:
                self.p = apply(self.p, d)
            except InputError as error:
                self.why = error.message
                self.p = saved
                del self.directives[count:]
                return False
            self.directives.append(d)
        return True

    def remark(self, id: str, text: str, stmt: str, kind: str = "passed") -> None:
        loc = self.p.scop.statement(stmt).loc
        self.remarks.append(Diagnostic(Severity.REMARK, id, text, loc, kind=kind))

    # -- kernels -----------------------------------------------------------------------------------

    def kernels(self) -> None:
        """The outermost bands with parallel loops, in tree order."""
        for path in kernel_bands(self.p.tree):
            band = _band_of(self.p.tree, path)
            if band is not None:
                self._kernel(band)
        for path in chained_bands(self.p.tree):
            self._diagonals(path)

    def _diagonals(self, names: tuple[str, ...]) -> None:
        """No loop is parallel, but tiles on a diagonal are: one diagonal after the other, its tiles on the cores."""
        band = next(n for _, n in walk(self.p.tree) if isinstance(n, Band) and statements(n) == names)
        sizes = self.sizes.diagonal(self.p, band.loops, names)
        if not sizes:
            text = "tiles on diagonals could run at once, but loops inside them reach over whole rows or columns"
            self.remark("no-kernel", f"{text}, for which local memory has no room", names[0], "missed")
        if sizes and self.attempt(*diagonals(self.p.scop, band.loops, names[0], sizes)):
            text = " by ".join(map(str, sizes))
            self.remark("kernel", f"diagonals of tiles of {text} on {self.grid.count} compute cores", names[0])

    def _kernel(self, band: Band) -> None:
        """A band for the cores. Where loops below it could only be cut inside of those that add up before them, those
        go step by step instead, if that helps: boxes are then fetched for a tile of points, and not for each."""
        before = self._state
        if self._tiled(band, 0):
            return
        first = self._state
        for last in (-1, len(band.loops)):
            self._state = before
            if self._tiled(band, last):
                text = "sums keep the order of the source, so of several loops that add up only the last is cut"
                name = statements(band)[0]
                self.remark("reduction-order", f"{text}; --reassociate allows larger tiles", name, "missed")
                return
        self._state = first

    @property
    def _state(self) -> tuple[Program, list[Directive], list[Diagnostic], list[SharedKernel]]:
        return self.p, list(self.directives), list(self.remarks), list(self.done)

    @_state.setter
    def _state(self, state: tuple[Program, list[Directive], list[Diagnostic], list[SharedKernel]]) -> None:
        self.p, self.directives, self.remarks, self.done = (state[0], *(list(x) for x in state[1:]))  # type: ignore[assignment]

    def _tiled(self, band: Band, stepwise: int) -> bool:
        """Cut and share out a band. Of its loops up to number `stepwise` those that are not parallel have tiles of one
        iteration. False where loops below had to be cut inside of others."""
        names = statements(band)
        band = self._folds_inside(band, names)
        order = self._parallel_first(band)
        loops = [next(lp for lp in band.loops if lp.name == n) for n in order]
        parallel = [lp.name for lp in loops if lp.coincident]
        width = 2 if self.grid.rows > 1 and len(parallel) > 1 else 1
        if order != [lp.name for lp in band.loops] and not self.attempt(
            Order(tuple(LoopRef(n, names[0]) for n in order))
        ):
            return True
        sizes = self._as_before(names, loops, width) or self.sizes(self.p, loops, names, width)
        if stepwise:
            steps = [n for n in order[width:stepwise] if n not in parallel]
            sizes = {n: 1 if n in steps and size else size for n, size in sizes.items()}
        refs = tuple((LoopRef(n, names[0]), sizes.get(n, 0)) for n in order)
        # Loops that must keep their order among each other are not tiled together; `_strips` cuts them one by one.
        counts = range(len(refs), width - 1, -1)
        if not any(any(s for _, s in refs[:n]) and self.attempt(Tile(refs[:n])) for n in counts):
            self.remark("no-kernel", self.why or "nothing to tile", names[0], "missed")
            return True
        tiles = [_tile_name(self.p, n, names[0]) for n in parallel[:width]]
        self._keep(names, parallel[:width], sizes)
        bound = [t for t in tiles if t and self._bind(t, names[0])]
        if not bound:
            self.remark("no-kernel", self.why, names[0], "missed")
            return True
        if self.apart:
            self._spread(order, names)
        outside = self._strips(names, sizes)
        if len(bound) == width:
            self.done.append(SharedKernel(names, tuple(loops[:width]), tuple(sizes[lp.name] for lp in loops[:width])))
        text = ", ".join(f"{n}:{s}" for n, s in sizes.items() if s)
        grid = f"{self.grid.rows} x {self.grid.columns}" if len(bound) > 1 else f"{self.grid.count}"
        self.remark("kernel", f"tiles {text} on {grid} compute cores", names[0])
        return outside

    def _bind(self, loop: str, stmt: str) -> bool:
        """Cores share a loop, unless several of them would add to what has no parts."""
        saved, count = self.p, len(self.directives)
        if not self.attempt(Parallel(LoopRef(loop, stmt))):
            return False
        sums = next(lp.reductions for lp in _around(self.p.tree, stmt) if lp.name == loop)
        problem = next(filter(None, (why_not(self.p.scop, array, op) for op, array in sums)), "")
        if problem:
            self.why = problem
            self.p = saved
            del self.directives[count:]
        return not problem

    def _as_before(self, names: tuple[str, ...], loops: Sequence[Loop], width: int) -> Mapping[str, int]:
        """The tiles of an earlier kernel, if cores then own what it hands on to this one."""
        for before in reversed(self.done):
            if len(before.loops) == width:
                arrays = handed_on(self.p.scop, before, SharedKernel(names, tuple(loops[:width]), ()))
                sizes = self.sizes.again(self.p, loops, names, before.sizes, arrays) if arrays else {}
                if sizes:
                    return sizes
        return {}

    def _folds_inside(self, band: Band, names: tuple[str, ...]) -> Band:
        """Loops right below the band join it, with those that do not move what is written innermost: the written tile
        then stays in local memory while they run."""
        chain = list(band.loops)
        node = band.child
        while isinstance(node, Band):
            chain += node.loops
            node = node.child
        if len(chain) == len(band.loops) or len(names) != 1:
            return band
        s = self.p.scop.statement(names[0])
        target = s.accesses[s.target].relation
        still = [lp for lp in chain if not _moves(target, lp, names[0])]
        free = [lp for lp in chain if lp.coincident and lp in band.loops and lp not in still]
        order = [*free, *(lp for lp in chain if lp not in still and lp not in free), *still]
        if not self.attempt(Order(tuple(LoopRef(lp.name, names[0]) for lp in order))):
            return band
        return _band_of(self.p.tree, names) or band

    def _parallel_first(self, band: Band) -> list[str]:
        """Loops in the order they are tiled in. Only a permutable band may be reordered."""
        names = [lp.name for lp in band.loops]
        if not band.permutable:
            return names
        free = [lp.name for lp in band.loops if lp.coincident]
        return [*free, *(n for n in names if n not in free)]

    def _keep(self, names: tuple[str, ...], bound: Sequence[str], sizes: Mapping[str, int]) -> None:
        """Variables of the region whose values outlive a point of the tile get room for the whole tile."""
        scop = self.p.scop
        for v in sorted(n for n, a in scop.arrays.items() if a.inside and a.scope):
            users = [s for s in scop.statements if any(a.array == v for a in s.accesses)]
            if not all(s.name in names for s in users):
                continue
            scope = users[0].iterators[: scop.arrays[v].scope]
            loop = _tile_name(self.p, bound[-1], names[0])
            tiles = {it: _tile_name(self.p, it, users[0].name) for it in scope if sizes.get(it)}
            dims = tuple((it, tile, sizes[it]) for it, tile in tiles.items() if tile)
            if loop and dims:
                self.attempt(StoreIn(v, LoopRef(loop, names[0]), dims))

    def _spread(self, order: Sequence[str], names: tuple[str, ...]) -> None:
        """Inside a tile, parts of different depth get point loops of their own where that is legal."""
        for n in reversed(order):
            if not self.attempt(Distribute(LoopRef(n, names[0]))):
                return

    def _strips(self, names: tuple[str, ...], sizes: Mapping[str, int]) -> bool:
        """Loops below the band that may run long are cut too, outside the point loops if that is legal everywhere."""
        everywhere = True
        for stmt in names:
            around = [lp for lp in _around(self.p.tree, stmt) if not lp.tile]
            done = {lp.of for lp in _around(self.p.tree, stmt) if lp.tile}
            start = next((k for k, lp in enumerate(around) if lp.name in done), len(around))
            long = [
                lp for k, lp in enumerate(around)
                if k >= start and lp.name not in done and sizes.get(lp.name) != 0 and active(self.p.scop, lp, stmt)
            ]  # fmt: skip
            cuts = [(lp, sizes.get(lp.name) or self.sizes(self.p, [lp], (stmt,), 0).get(lp.name, 0)) for lp in long]
            cuts = [(lp, size) for lp, size in cuts if size]
            saved, count = self.p, len(self.directives)
            if self._outside(stmt, around[start:], cuts):
                continue
            self.p = saved
            del self.directives[count:]
            if self._in_order(stmt, around[start:], cuts):
                continue
            everywhere = False
            for lp, size in cuts:
                if not self._outside(stmt, around[start:], [(lp, size)]):
                    self.attempt(Tile(((LoopRef(lp.name, stmt), size),)))
        return everywhere

    def _outside(self, stmt: str, around: Sequence[Loop], cuts: Sequence[tuple[Loop, int]]) -> bool:
        """Are all of the loops cut outside the loops around them?"""
        for lp, size in cuts:
            points = tuple((LoopRef(q.name, stmt), 0) for q in around[: around.index(lp)])
            if not self.attempt(Tile((*points, (LoopRef(lp.name, stmt), size)))):
                return False
        return True

    def _in_order(self, stmt: str, around: Sequence[Loop], cuts: Sequence[tuple[Loop, int]]) -> bool:
        """Several loops that must keep their order among each other: the last is cut, those before it go step by step
        outside the point loops, so that tiles are in local memory while the last one's run. Sums keep their order."""
        if len(cuts) < 2:
            return False
        last = {lp.name: (size if lp is cuts[-1][0] else 1) for lp, size in cuts}
        upto = around[: around.index(cuts[-1][0]) + 1]
        return self.attempt(Tile(tuple((LoopRef(q.name, stmt), last.get(q.name, 0)) for q in upto)))


def _moves(target: isl.Map, lp: Loop, stmt: str) -> bool:
    """Does the written element change with this loop?"""
    n = target.dim(isl.dim_type.in_)
    used = [k for k in range(n) if lp.exprs[stmt].involves_dims(isl.dim_type.in_, k, 1)]
    return any(target.involves_dims(isl.dim_type.in_, k, 1) and _shifts(target, k) for k in used)


def _shifts(target: isl.Map, k: int) -> bool:
    index = isl.PwMultiAff.from_map(target)
    return any(
        index.get_pw_aff(d).involves_dims(isl.dim_type.in_, k, 1) for d in range(index.dim(isl.dim_type.out))
    )


def _around(tree: Node, stmt: str) -> tuple[Loop, ...]:
    from codegen.scop.tree import enclosing

    return enclosing(tree, stmt)


def _tile_name(p: Program, of: str, stmt: str) -> str:
    return next((lp.name for lp in _around(p.tree, stmt) if lp.tile and lp.of == of), "")


def kernel_bands(tree: Node) -> list[tuple[str, ...]]:
    """The statements of each outermost band with a parallel loop (in front, or anywhere if it is permutable)."""
    return _outermost(tree, _is_kernel)


def chained_bands(tree: Node) -> list[tuple[str, ...]]:
    """The statements of bands that can be tiled though none of their loops is parallel, and none below."""

    def sequential(band: Band) -> bool:
        inside = (lp for _, n in walk(band) if isinstance(n, Band) for lp in n.loops)
        return band.permutable and len(band.loops) > 1 and not any(lp.coincident or lp.tile for lp in inside)

    return _outermost(tree, sequential)


def _outermost(node: Node, wanted: Callable[[Band], bool]) -> list[tuple[str, ...]]:
    """The statements of each band that is wanted, outermost ones only."""
    if isinstance(node, Band) and wanted(node):
        return [statements(node)]
    return [x for k in kids(node) for x in _outermost(k, wanted)]


def _is_kernel(band: Band) -> bool:
    return band.loops[0].coincident or (band.permutable and any(lp.coincident for lp in band.loops))


def _band_of(tree: Node, names: tuple[str, ...]) -> Band | None:
    """The outermost band over exactly these statements that is a kernel."""
    for _, node in walk(tree):
        if isinstance(node, Band) and statements(node) == names and _is_kernel(node):
            return node
    return None


def sunway_plan(source: Program, group: CoreGroup, grid: CoreGrid, sizes: TileSizer, apart: bool = True) -> Decision:
    """A plan for a region given in source order. Without `apart` the parts of a tile share their loops, and so do the
    lives of variables."""
    try:
        tree = isl_schedule(source.scop, source.deps, source.tree, "smart")
    except isl.Error:  # of points in two colours it cannot carry the dependences
        tree = parallel_bands(with_flags(source).tree)
    author = CoresAuthor(source.with_tree(tree), grid, group, sizes, [Schedule(tree)], apart=apart)
    author.kernels()
    return Decision(Plan(source.scop.region, tuple(author.directives)), tuple(author.remarks), author.p)


def split_plan(
    source: Program, cut: StripMine, group: CoreGroup, grid: CoreGrid, sizes: TileSizer, apart: bool
) -> Decision:
    """The same for the region with instances told apart that stand in each other's way."""
    found = sunway_plan(apply(source, cut), group, grid, sizes, apart)
    return replace(found, plan=replace(found.plan, directives=(cut, *found.plan.directives)))
