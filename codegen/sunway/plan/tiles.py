"""Chooses tile sizes for kernels on a core group by a model of local memory and DMA (`TileModel`), instead of one
constant.

For every candidate the boxes of all references are estimated from how far each loop moves them; those that fit are
compared by the time one point takes: transfers at the rate of their blocks, shared by all cores, against arithmetic.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from codegen.record import record
from codegen.scop.tree import Loop
from codegen.sunway.plan.launch_options import USUAL
from codegen.sunway.plan.machine import CoreGroup
from codegen.sunway.plan.nest import KernelNest, ReferenceGroup, describe
from codegen.sunway.plan.threads import CoreGrid
from codegen.transform.program import Program

SIZES = (4, 8, 16, 32, 48, 64, 96, 128, 192, 256, 512)
FEW = (1, 2, 4, 8, 16, 32, 64, 128)  # for nests of more than three loops
SHARED = (48, 48, 8)  # a tile of a product that the mesh shares: its sides are chosen at run time (mesh/views.py)
BESIDE = 0.3  # of the shorter of computing and fetching, which do not overlap all the time
VECTORS = 4  # of sums that are computed side by side: with shorter tiles, each would wait for its last addition
SHORT = 16  # loops that never run longer than this stay whole


@record
class _BoxTransfer:
    """A box of `bytes`: cycles in which the controller moves one of them, whether it is written, and the first of the
    innermost loops that do not move it."""

    bytes: int
    cycles: float
    write: bool
    stays: int


@dataclass
class TileModel:
    """Chooses sizes; remembers those of loops below a band for when they are asked for."""

    group: CoreGroup
    grid: CoreGrid
    mesh: bool = False
    share: float = 1.0  # of local memory that may be used
    extents: tuple[int, ...] = USUAL.extents  # of loops of which nothing is known
    chosen: dict[tuple[str, str], int] = field(default_factory=dict)

    def __call__(self, p: Program, loops: Sequence[Loop], stmts: tuple[str, ...], width: int) -> Mapping[str, int]:
        if not width:
            return {lp.name: self.chosen.get((stmts[0], lp.name), 32) for lp in loops}
        nest, below = describe(p, loops, stmts, width)
        return self._remember(nest, self.best(nest), below, loops)

    def again(
        self, p: Program, loops: Sequence[Loop], stmts: tuple[str, ...], tiles: Sequence[int], kept: frozenset[str]
    ) -> Mapping[str, int]:
        """Sizes that begin with `tiles`, if the kernel is then no slower: what is kept on the cores costs nothing."""
        nest, below = describe(p, loops, stmts, len(tiles))
        if len(nest.names) > 3 or nest.is_product:
            return {}
        best = self.best(nest)
        choices = [*((t,) for t in tiles), *(self._choices(nest, k) for k in range(len(tiles), len(nest.names)))]
        sizes = self._all(nest, choices)
        less = replace(nest, groups=tuple(g for g in nest.groups if g.array not in kept))
        if not all(best) or self.bytes(nest, sizes) > self._room or self.cost(less, sizes) > self.cost(nest, best):
            return {}
        return self._remember(nest, sizes, below, loops)

    def _remember(
        self, nest: KernelNest, sizes: Sequence[int], below: Sequence[tuple[str, str]], loops: Sequence[Loop]
    ) -> Mapping[str, int]:
        result = dict(zip(nest.names, sizes, strict=True))
        for stmt, name in below:
            self.chosen[stmt, name] = result.get(name, 32)
        return {lp.name: result[lp.name] for lp in loops}

    def diagonal(self, p: Program, loops: Sequence[Loop], stmts: tuple[str, ...]) -> tuple[int, ...]:
        """The largest tiles that fit. Boxes are read and written; small steps of time keep many tiles on a diagonal."""
        nest, below = describe(p, loops, stmts, 0)
        if below or any(e is not None for e in nest.extents):
            return ()
        first = (4, 8) if len(loops) > 2 else (16, 32, 64)
        shapes = itertools.product(first, *([(16, 32, 64)] * (len(loops) - 1)))
        fitting = [s for s in shapes if self.bytes(nest, s) <= self._room and s[1] % s[0] == 0]
        return max(fitting, key=prod, default=())

    @property
    def _room(self) -> int:
        return int(self.share * (self.group.ldm_bytes - self.group.reserve - 1024))

    def best(self, nest: KernelNest) -> tuple[int, ...]:
        """The sizes with the least time per point among those that fit."""
        full = (self.grid.rows, self.grid.columns) == (8, 8)
        if self.mesh and full and nest.is_product:
            return SHARED if self.group.vector_bits == 256 else tuple(2 * n for n in SHARED)
        choices = [self._choices(nest, k) for k in range(len(nest.names))]
        found = self._climb(nest, choices) if len(nest.names) > 3 else self._all(nest, choices)
        whole = [e is not None and e <= SHORT for e in nest.extents]
        return tuple(0 if w else s for s, w in zip(found, whole, strict=True))

    def _all(self, nest: KernelNest, choices: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        """The best of all combinations, with whole blocks of registers for sums; the smallest where none fits."""
        fitting = [s for s in itertools.product(*choices) if self.bytes(nest, s) <= self._room]
        if nest.vectors is not None:
            least = self.group.lanes(8) * VECTORS
            fitting = [s for s in fitting if s[nest.vectors] >= least] or fitting
        return min(fitting, key=lambda s: self.cost(nest, s), default=tuple(min(c) for c in choices))

    def _climb(self, nest: KernelNest, choices: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        """From the smallest sizes on, the one larger size that helps most, as long as any helps."""
        at = [min(2, len(c) - 1) for c in choices]  # a single step away from ones shows no gain yet
        if self.bytes(nest, tuple(c[k] for c, k in zip(choices, at, strict=True))) > self._room:
            at = [0] * len(choices)

        def sizes(places: Sequence[int]) -> tuple[int, ...]:
            return tuple(c[k] for c, k in zip(choices, places, strict=True))

        now = self.cost(nest, sizes(at))
        while True:
            steps = [[*at[:k], at[k] + 1, *at[k + 1 :]] for k in range(len(at)) if at[k] + 1 < len(choices[k])]
            steps = [s for s in steps if self.bytes(nest, sizes(s)) <= self._room]
            better = min(steps, key=lambda s: self.cost(nest, sizes(s)), default=None)
            if better is None or self.cost(nest, sizes(better)) >= now:
                return sizes(at)
            at, now = better, self.cost(nest, sizes(better))

    def _choices(self, nest: KernelNest, k: int) -> tuple[int, ...]:
        extent = nest.extents[k]
        if extent is not None and extent <= SHORT:
            return (max(1, extent),)
        sizes: tuple[int, ...] = SIZES if len(nest.names) <= 3 else FEW
        if extent is not None:
            sizes = tuple(sorted({*sizes, extent}))
        return tuple(s for s in sizes if extent is None or s < 2 * extent) or (sizes[0],)

    def bytes(self, nest: KernelNest, sizes: Sequence[int]) -> int:
        """Local memory of all boxes, one copy of each."""
        total = nest.variables
        for k in range(nest.bound):
            total *= sizes[k]
        for g in nest.groups:
            total += g.bytes * prod(g.sides(sizes))
        return total

    def _ahead(self, nest: KernelNest, sizes: Sequence[int]) -> bool:
        """Is there room for a second copy of what is only read, so that it is fetched ahead?"""
        more = sum(g.bytes * prod(g.sides(sizes)) for g in nest.groups if not g.write)
        return self.bytes(nest, sizes) + more <= self._room

    def cost(self, nest: KernelNest, sizes: Sequence[int]) -> float:
        """Cycles per point of one core, with all cores at work: the geometric mean over typical extents."""
        extents = self.extents if None in nest.extents else self.extents[:1]
        early = self._ahead(nest, sizes)
        boxes = [self._box(nest, g, sizes) for g in nest.groups]
        return prod(self._cost(nest, sizes, boxes, e, early) for e in extents) ** (1 / len(extents))

    def _box(self, nest: KernelNest, g: ReferenceGroup, sizes: Sequence[int]) -> _BoxTransfer:
        sides = g.sides(sizes)
        n, block, commands = g.bytes * prod(sides), sides[-1] * g.bytes, prod(sides[:-2])
        moving = (k for k in range(len(sizes) - 1, nest.bound - 1, -1) if g.moved_by(k))
        return _BoxTransfer(n, self.group.transfer(n, block, commands), g.write, next(moving, nest.bound - 1) + 1)

    def _cost(
        self, nest: KernelNest, sizes: Sequence[int], boxes: Sequence[_BoxTransfer], typical: int, early: bool
    ) -> float:
        """As `cost`, where loops of unknown length have a typical one. `early`: are boxes fetched ahead?"""
        cores, points = self.grid.count, prod(sizes)
        lanes = self.group.vector_bits // 64
        core = nest.work * points / lanes + 30  # of one core: what it computes, and the transfers that it waits for
        controller = ahead = 0.0  # for all cores; and of one core's channel, for what is fetched ahead
        for box in boxes:
            share = 1.0
            for k in range(len(sizes) - 1, box.stays - 1, -1):
                share /= max(1.0, (nest.extents[k] or typical) / sizes[k])
            moved = 2 if box.write else 1  # it comes and goes
            controller += moved * share * cores * box.cycles
            if box.write or not early:
                core += moved * share * (box.bytes * self.group.core_byte + self.group.startup)
            else:
                ahead += share * box.bytes * self.group.core_byte
        mine = max(core, ahead) / self.balance(nest, sizes, typical)
        return (max(mine, controller) + BESIDE * min(mine, controller)) / points

    def balance(self, nest: KernelNest, sizes: Sequence[int], typical: int) -> float:
        """The part of the cores' time that is not idle."""
        if nest.bound > 1 and len(sizes) > 2:
            return self._in_turn(nest, sizes, typical)
        shape = (self.grid.count,) if nest.bound < 2 else (self.grid.rows, self.grid.columns)
        total = 1.0
        for k, n in enumerate(shape):
            e = nest.extents[k] or typical
            tiles = -(-e // sizes[k])
            total *= e / (-(-tiles // n) * n * sizes[k])
        return total

    def _in_turn(self, nest: KernelNest, sizes: Sequence[int], typical: int) -> float:
        """As `balance`, for tiles that go to the cores in turn."""
        a, b = (nest.extents[k] or typical for k in (0, 1))
        tiles, area = -(-a // sizes[0]) * -(-b // sizes[1]), a * b
        if nest.triangular:
            tiles, area = tiles // 2 + 1, area // 2
        return area / (-(-tiles // self.grid.count) * self.grid.count * sizes[0] * sizes[1])
