"""The register tile of a product: how many rows of how many vectors are kept while the products are summed up."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction


def register_tile(
    registers: int,
    lanes: int,
    latency: Fraction | float,
    throughput: Fraction | float,
    a_vectors: bool,
    max_nv: int | None = None,
    spare: int = 0,
) -> tuple[int, int]:
    """(mr, nv): the tile has mr rows of nv vectors. (1, 1) where the registers are too few for any tile.

    Beside the mr*nv accumulators, one row of B is live (nv registers), and of A the ceil(mr/lanes) registers of a
    column where instructions multiply by a lane (`a_vectors`), else one with a value in every lane. `spare` registers
    are left for what else a step needs.

    Wanted, in this order and each as far as possible:
    1. enough independent operations to fill the pipelines: mr*nv >= latency*throughput;
    2. no more load instructions than operations, for a core starts about as many of the one as of the other; this
       rules out broadcast tiles of one vector, whose mr + 1 loads feed mr operations;
    3. most operations per element loaded. A column of A read by vectors counts in whole vectors: mr*nr/(mr + nr) alone
       would take 13x8 before 8x12, though its 13 values need the loads of 16;
    4. rows in whole vectors where A is read by vectors; the larger tile; the wider one, whose rows in C are longer.
    """
    free = registers - spare
    widest = free if max_nv is None else min(max_nv, free)
    tiles = [(mr, nv) for nv in range(1, widest + 1) for mr in range(1, free + 1)]
    tiles = [t for t in tiles if _live(t, lanes, a_vectors) <= free]
    tiles = _where(tiles, lambda t: t[0] * t[1] >= latency * throughput)
    tiles = _where(tiles, lambda t: _a_loads(t[0], lanes, a_vectors) + t[1] <= t[0] * t[1])
    return max(tiles, key=lambda t: _merit(t, lanes, a_vectors), default=(1, 1))


def _where(tiles: list[tuple[int, int]], good: Callable[[tuple[int, int]], bool]) -> list[tuple[int, int]]:
    return [t for t in tiles if good(t)] or tiles


def _a_loads(mr: int, lanes: int, a_vectors: bool) -> int:
    return -(-mr // lanes) if a_vectors else mr


def _live(tile: tuple[int, int], lanes: int, a_vectors: bool) -> int:
    mr, nv = tile
    return mr * nv + nv + (_a_loads(mr, lanes, True) if a_vectors else 1)


def _merit(tile: tuple[int, int], lanes: int, a_vectors: bool) -> tuple[Fraction, bool, int, int]:
    mr, nv = tile
    nr = nv * lanes
    loaded = nr + _a_loads(mr, lanes, a_vectors) * (lanes if a_vectors else 1)
    return Fraction(mr * nr, loaded), a_vectors and mr % lanes == 0, mr * nr, nv
