"""Tiles of a stencil that a block of threads takes through several time steps: sizes, formulas and the order of events,
both printed (`text.py`) and proven (`prove.py`)."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from codegen.ast.ctree import CExpr
from codegen.record import record
from codegen.strategy.loops.stencil import Stencil, StencilSweep

LOAD, SWEEP, BARRIER = "load", "sweep", "barrier"
TIME = "tw_t"  # the first iteration of a launch
# Which row of a tile row `r` of a thread is, and where a cell of a tile lies in shared memory, by the number of axes.
ROW = "chunk * ROWS + r"
PLACE = {1: "p0", 2: "p0 * SIDE_1 + p1", 3: "(p0 * SIDE_1 + p1) * SIDE_2 + p2"}


def first(axis: int) -> str:
    """The point that the first cell of a block's tile is along an axis."""
    return f"block * (SIDE_{axis} - 2 * MARGIN_{axis}) - MARGIN_{axis}"


@record
class StepEvent:
    """What all threads of a block do: they bring cells to shared memory, compute sweep number `sweep`, or meet."""

    kind: str
    sweep: int = -1


@record
class CarriedArray:
    """An array whose values go from launch to launch: from its own memory to that of `other`, and back. `other` is an
    array that every iteration writes anew before anything reads it; where there is none, the launcher takes memory."""

    name: str
    other: str


@record
class LoadedArray:
    """The box of elements that is brought to shared memory: first ones, and those past the last."""

    name: str
    lows: tuple[CExpr, ...]
    highs: tuple[CExpr, ...]
    fresh: bool  # every iteration writes it anew: only elements that nothing writes are brought


@record
class BlockShape:
    """Iterations of a launch, cells of a tile along each axis, and threads of a block."""

    steps: int
    sides: tuple[int, ...]
    threads: int

    @property
    def chunks(self) -> int:
        """Threads along the first axis."""
        return self.threads // prod(self.sides[1:])

    @property
    def rows(self) -> int:
        """Cells of a thread, neighbours along the first axis."""
        return self.sides[0] // self.chunks if self.chunks else 0


@record
class StencilTile:
    """What tiles of a stencil have in common, whether they stay in their place or are marched along an axis."""

    stencil: Stencil
    shape: BlockShape
    margins: tuple[int, ...]  # cells at either end of an axis that are other blocks' to write
    carried: tuple[CarriedArray, ...]
    loaded: tuple[LoadedArray, ...]  # all that are written
    bytes: Mapping[str, int]  # of their elements
    loop: tuple[StepEvent, ...]


@record
class StepTile(StencilTile):
    """A stencil with everything that is proven and printed of its tiles."""

    before: tuple[StepEvent, ...]
    resident: int = 1  # blocks that a multiprocessor is to have room for
    fewest: int = 0  # iterations that a launch is worth at least; 0: as many as tiles are made for

    @property
    def constants(self) -> dict[str, int]:
        """What the names of formulas stand for."""
        sides = {f"SIDE_{k}": n for k, n in enumerate(self.shape.sides)}
        margins = {f"MARGIN_{k}": n for k, n in enumerate(self.margins)}
        return {**sides, **margins, "ROWS": self.shape.rows}

    @property
    def room(self) -> int:
        """Bytes of shared memory of a block."""
        return sum(-(-prod(self.shape.sides) * n // 16) * 16 for n in self.bytes.values())

    @property
    def least(self) -> int:
        """Iterations of a launch at least: cells that are lost in fewer are lost in as many as tiles are made for."""
        return self.fewest or self.shape.steps

    def held(self, sweep: int) -> str:
        """The array of whose cells a thread has its own in registers when a sweep begins; empty where it has none.
        Sweeps over the grid leave there what they write, those that stand still along an axis do not."""
        sweeps, since = self.stencil.sweeps, set[str]()
        for k in range(sweep - 1, sweep - 1 - len(sweeps), -1):
            if is_thin(sweeps[k]):
                since.add(sweeps[k].target)
                continue
            target = sweeps[k].target
            at_first = k < 0 and not any(c.name == target for c in self.carried)
            return "" if target in since or at_first else target
        return ""


def is_thin(x: StencilSweep) -> bool:
    """Does the sweep stand still along an axis?"""
    return not all(x.axes)


def lost(s: Stencil, steps: int) -> dict[str, list[tuple[int, int]]]:
    """For each written array, how many cells at either end of each axis hold no right value after so many iterations on
    a tile that is complete at first."""
    out = {a: [(0, 0)] * s.axes for a in s.written}
    for _ in range(steps):
        for x in s.sweeps:
            out[x.target] = [_reached(s, x, out, axis) for axis in range(s.axes)]
    return out


def _reached(s: Stencil, x: StencilSweep, now: Mapping[str, list[tuple[int, int]]], axis: int) -> tuple[int, int]:
    low, high = now[x.target][axis]
    for name, shift in reads_of(s, x):
        low = max(low, now[name][axis][0] + max(0, -shift[axis]))
        high = max(high, now[name][axis][1] + max(0, shift[axis]))
    return low, high


def reads_of(s: Stencil, x: StencilSweep) -> list[tuple[str, tuple[int, ...]]]:
    """What a sweep reads of written arrays, by the distance to the element it writes."""
    return [(n, shift) for n, shift in zip(x.arrays, x.shifts, strict=True) if n in s.written and shift is not None]
