"""Chooses the register tile of a matrix product: how many rows of how many vectors, by the number of registers and the
latency and throughput of a step."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from codegen.record import record

LANES, VALUES, VECTORS = "lanes", "values", "vectors"


@record
class Needs:
    """What a step reads and holds.

    `a` tells how a kernel gets the values of A: as LANES of registers, as VALUES that a load brings into every lane,
    or as VECTORS that hold one value each. There are `lefts` values of A for every row and `rights` vectors of B for
    every one of C. `temporaries` results wait for each vector of a row, `constants` registers keep what never changes.
    """

    a: str
    lefts: int = 1
    rights: int = 1
    temporaries: int = 0
    constants: int = 0


@lru_cache(256)  # variants of a machine ask again for each product
def register_tile(
    registers: int,
    lanes: int,
    latency: Fraction | float,
    throughput: Fraction | float,
    needs: Needs,
    max_nv: int | None = None,
) -> tuple[int, int]:
    """(mr, nv): the tile has mr rows of nv vectors. (1, 1) where the registers are too few for any tile.

    Beside the mr*nv accumulators, one row of B is live, and of A the registers of a column where instructions take
    lanes, else one. A row's temporaries are live together: compilers start the vectors of a row side by side. On a
    Neoverse N1 with gcc 12, min-plus in f64 reaches 99.9 % of the units' rate with 5x4 vectors, and 97.8 % with 6x4,
    where an accumulator is spilled.

    Wanted, in this order and each as far as possible:
    1. enough independent operations to fill the pipelines: mr*nv >= latency*throughput;
    2. no more load instructions than operations, for a core starts about as many of the one as of the other; this
       rules out broadcast tiles of one vector, whose mr + 1 loads feed mr operations;
    3. most operations per element loaded. A column of A read by vectors counts in whole vectors: mr*nr/(mr + nr) alone
       would take 13x8 before 8x12, though its 13 values need the loads of 16;
    4. rows in whole vectors where A is read by vectors; the larger tile; the one with fewer temporaries; the wider one,
       whose rows in C are longer.
    """
    widest = registers if max_nv is None else min(max_nv, registers)
    tiles = [(mr, nv) for nv in range(1, widest + 1) for mr in range(1, registers // nv + 1)]
    tiles = [t for t in tiles if _live(t, lanes, needs) <= registers]
    tiles = _where(tiles, lambda t: t[0] * t[1] >= latency * throughput)
    tiles = _where(tiles, lambda t: _a_loads(t[0], lanes, needs) + needs.rights * t[1] <= t[0] * t[1])
    return max(tiles, key=lambda t: _merit(t, lanes, needs), default=(1, 1))


def _where(tiles: list[tuple[int, int]], good: Callable[[tuple[int, int]], bool]) -> list[tuple[int, int]]:
    return [t for t in tiles if good(t)] or tiles


def _a_loads(mr: int, lanes: int, needs: Needs) -> int:
    return needs.lefts * (-(-mr // lanes) if needs.a == LANES else mr)


def _live(tile: tuple[int, int], lanes: int, needs: Needs) -> int:
    mr, nv = tile
    a = _a_loads(mr, lanes, needs) if needs.a == LANES else needs.lefts
    return mr * nv + (needs.rights + needs.temporaries) * nv + a + needs.constants


def _merit(tile: tuple[int, int], lanes: int, needs: Needs) -> tuple[Fraction, bool, int, int, int]:
    mr, nv = tile
    nr = nv * lanes
    loaded = needs.rights * nr + _a_loads(mr, lanes, needs) * (1 if needs.a == VALUES else lanes)
    return Fraction(mr * nr, loaded), needs.a == LANES and mr % lanes == 0, mr * nr, -needs.temporaries * nv, nv
