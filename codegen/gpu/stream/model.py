"""Tiles of a stencil that a block of threads marches along the first axis of the grid, plane by plane, with several
time steps under way: sizes, formulas and the order of events, both printed (`text.py`) and proven (`prove.py`).

With every plane that is brought, each sweep of each iteration computes one plane, some planes behind the sweep that it
reads. Of its own cells a thread keeps the planes that later sweeps need in registers; neighbours' are in shared memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Union

from codegen.gpu.steps.model import StencilTile, StepTile
from codegen.record import record
from codegen.scop.model import Scop
from codegen.strategy.loops.stencil import Stencil, StencilSweep

# Beside the events of tiles that stay in their place: a plane is brought, the one for the next step is there, and what
# is new goes to what threads keep.
COPY, WAIT, KEEP = "copy", "wait", "keep"
# Where a cell lies in shared memory, of so many planes.
PLACE = "(plane * SIDE_1 + p1) * SIDE_2 + p2"


@record
class Version:
    """Values of an array, plane by plane: brought from memory (`sweep` is -1), or computed by a sweep of an iteration.

    It is so many planes behind what is brought (`lag`), begins with step `start` of the march, and its last planes are
    kept: `kept` of them, before the newest, in registers, and `shared` of them, with the newest, in shared memory.
    What is brought is so many planes `ahead`, beside the computation, in the same shared memory."""

    array: str
    sweep: int
    iteration: int
    lag: int = 0
    start: int = 0
    kept: int = 0
    shared: int = 0
    ahead: int = 0


@record
class StreamPace:
    """What is predicted on a device: blocks that run at a time, seconds for a step of them, and seconds for a point
    with plain launches, of as many iterations as a launch has."""

    at_once: int
    step: float
    plain: float


@record
class StreamTile(StencilTile):
    """A stencil with everything that is proven and printed of its tiles. The sides of `shape` are those of a plane, and
    events have numbers of versions."""

    versions: tuple[Version, ...]  # what is brought, then what sweeps compute, in their order
    resident: int = 1  # blocks that a multiprocessor is to have room for
    pace: StreamPace | None = None  # on a device that is known

    @property
    def phases(self) -> int:
        """Steps after which all planes are kept where they were at first."""
        return max((1, *(n for v in self.versions for n in (v.kept, v.shared))))

    @property
    def lag(self) -> int:
        """Of the last sweep."""
        return max(v.lag for v in self.versions)

    @property
    def least(self) -> int:
        """Iterations of a launch: what it keeps is made for as many."""
        return self.shape.steps

    @property
    def ahead(self) -> int:
        """Planes that are on their way while one is computed with."""
        return max(v.ahead for v in self.versions)

    @property
    def constants(self) -> dict[str, int]:
        """What the names of formulas stand for."""
        sides = {f"SIDE_{k}": n for k, n in enumerate(self.shape.sides, 1)}
        margins = {f"MARGIN_{k}": n for k, n in enumerate(self.margins)}
        return {**sides, **margins, "ROWS": self.shape.rows, "PHASES": self.phases}

    @property
    def rooms(self) -> tuple[int, ...]:
        """Bytes of shared memory for each version."""
        cells = prod(self.shape.sides)
        return tuple(-(-v.shared * cells * self.bytes[v.array] // 16) * 16 for v in self.versions)

    @property
    def room(self) -> int:
        """Bytes of shared memory of a block."""
        return sum(self.rooms)

    def latest(self, array: str, before: int) -> int:
        """The number of the version of an array that a sweep sees; -1 where there is none."""
        return max((k for k, v in enumerate(self.versions[:before]) if v.array == array), default=-1)

    def is_last(self, number: int) -> bool:
        """Does a version go to memory?"""
        name = self.versions[number].array
        return any(c.name == name for c in self.carried) and self.latest(name, len(self.versions)) == number


TimeTile = Union[StepTile, StreamTile]  # whatever goes through several time steps in one launch


def values_read(scop: Scop, s: Stencil, x: StencilSweep) -> Iterator[tuple[int, str, tuple[int, ...]]]:
    """The accesses of a sweep to values of written arrays: their numbers, the arrays, and the distances to the element
    that it writes."""
    stmt = scop.statement(x.stmt)
    for k, (name, shift) in enumerate(zip(x.arrays, x.shifts, strict=True)):
        if name in s.written and shift is not None and (k != stmt.target or stmt.op != "="):
            yield k, name, shift
