"""The `MicroKernel` record, a register tile of accumulators and one step of a lane expression, and the smaller kernels
for the edges of a result (`smaller`)."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from math import lcm

from codegen.record import record
from codegen.scop.lanes import Lane

# Share of the peak of 8 flops a cycle that f64 6x8 reaches on a Neoverse N1 with gcc 12, k = 256 and panels in L1:
# 98.8 % one step at a time (f32 8x12: 98.8 % of 16). Two at a time, gcc loads the operands of both first and spills
# accumulators: 89 % (f32: 93 %).
UNROLL = 1
# The same with panels in L2: 93.6 % without prefetching, 93.7 % 4 steps ahead, 95.3 % 8, 94.4 % 16, 94.9 % 32.
AHEAD = 8
# So many kernels at most have fewer rows than a tile: each is one more that compilers write out. A tile of 14 has those
# of 2, 4, ..., 12, with which 64 rows take the time of 64 instead of 70.
MOST_LOW = 6


@record
class MicroKernel:
    """A tile of `mr` rows by `nv` vectors, and the step that makes the new value of each accumulator.

    Everything is computed in `elem`. `consts` is the number of scalar parameters s0, s1, ... The k loop does `unroll`
    steps at a time and prefetches packed operands `ahead` steps before their use (0: no prefetching at all).
    """

    elem: str
    step: Lane
    consts: int
    mr: int
    nv: int
    direct: bool = False
    unroll: int = UNROLL
    ahead: int = AHEAD
    lefts: int = 1  # values of a for each row and step; those of one value stand together, row after row
    rights: int = 1  # rows of b for each step
    a_rows: int = 0  # rows that a is packed for, where the tile is a part of them (0: those of the tile)
    b_vectors: int = 0  # the same for the vectors of a row of b
    spread: bool = False  # every value of a is packed as often as a vector has lanes
    narrow: str = ""  # the type of packed operands, where that is not `elem`
    along: bool = False  # callers go along rows of the result: the tile to the right is next, not the one below

    @property
    def strided(self) -> bool:
        """Whether a call can say how far values of a are apart, of the next row and of the next step."""
        return self.lefts == 1 and not self.spread


def low_unit(mr: int, unit: int) -> int:
    """Kernels of fewer rows than a tile have a multiple of this: an even number of whole units, so that most sizes that
    programs have leave nothing over; half of a tile that has no more rows than that. 0: there are none."""
    whole = lcm(unit, 2)
    step = next(n for n in count(whole, whole) if (mr - 1) // n <= MOST_LOW)
    return step if step < mr else mr // 2


def low_rows(mr: int, unit: int) -> tuple[int, ...]:
    """Rows of smaller kernels, fewest first."""
    step = low_unit(mr, unit)
    return tuple(range(step, mr, step)) if step else ()


def smaller(whole: MicroKernel, unit: int) -> tuple[tuple[MicroKernel, ...], tuple[MicroKernel, ...]]:
    """Kernels for the edges of tiles: one for every smaller number of vectors, and those of fewer rows."""
    narrow = tuple(replace(whole, nv=nv, b_vectors=whole.nv) for nv in range(1, whole.nv))
    return narrow, tuple(replace(whole, mr=n, a_rows=whole.mr) for n in low_rows(whole.mr, unit))
