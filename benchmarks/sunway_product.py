"""How much of the peak the memory controller leaves to products whose panels cores share: whatever shape tiles have, C
comes and goes, and A and B come once for each row and column of tiles. Beside it what the shape that is chosen gives.

    python -m benchmarks.sunway_product [1000,1100,1200 ...]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from codegen.record import record
from codegen.sunway.mesh.panels import pool
from codegen.sunway.plan.machine import SW26010

SIZES = ((1000, 1100, 1200), (1024, 1120, 1216), (1200, 1200, 1200), (1500, 1500, 1500), (2000, 2300, 2600),
         (2048, 2304, 2624), (4000, 4000, 4000))  # fmt: skip
LANES, CORES = 4, 64
ROUND = 66  # cycles around a step of a block, as templates/file.c.j2 has it


@record
class TileTimes:
    """Cycles of a whole product: what cores multiply, what slices and C take of the controller."""

    work: float
    slices: float
    target: float

    @property
    def in_turn(self) -> float:
        """C comes and goes while nothing is multiplied."""
        return max(self.work, 1.03 * self.slices) + self.target

    @property
    def at_once(self) -> float:
        """Everything that can go on at the same time does, and no cycle is lost around blocks."""
        return self.slices + self.target


def shapes(ni: int, nj: int, nk: int) -> Iterator[TileTimes]:
    """All shapes of tiles that fit, as `tw_best_shape` tries them."""
    each, row, command = 8 * SW26010.byte, SW26010.row, SW26010.command
    for w in range(16, 193, 16):
        for h in range(16, 129, 8):
            wide, tall = _side(nj, w, 16), _side(ni, h, 4)
            deep = min(64, (pool(SW26010) - tall * wide) // (tall + wide)) // 4 * 4
            if deep < 4:
                break
            steps, turns = _panels(nk, 4 * deep), _panels(ni, 8 * tall) * _panels(nj, 8 * wide)
            work = (tall // 4) * (wide // 16) * (16.0 * nk + ROUND * steps)
            left, right = 8 * tall * nk * (each + row / (4 * deep)), 8 * wide * nk * (each + row / wide)
            target = 2 * CORES * tall * wide * (each + row / wide)
            yield TileTimes(turns * work, turns * (left + right + CORES * command * steps), turns * target)


def shares(ni: int, nj: int, nk: int) -> tuple[float, float]:
    """Of the peak: the most that the controller allows, and what the best shape gives as kernels are."""
    least = ni * nj * nk / CORES / LANES
    tried = list(shapes(ni, nj, nk))
    return least / max(least, min(t.at_once for t in tried)), least / min(t.in_turn for t in tried)


def _panels(extent: int, side: int) -> int:
    return -(-extent // side)


def _side(extent: int, most: int, unit: int) -> int:
    return _panels(_panels(extent, 8 * _panels(extent, 8 * most)), unit) * unit


def main(arguments: Sequence[str]) -> int:
    for sizes in [tuple(map(int, a.split(","))) for a in arguments] or SIZES:
        most, now = shares(*sizes)
        words = f"at most {100 * most:.1f} %, with the shape that is chosen {100 * now:.1f} %"
        print(f"{' x '.join(map(str, sizes))}: {words}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
