"""Which loop is an innermost one for compilers: they write short loops out, and make vectors of the loop around."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod

from codegen.scop.tree import Band, FoundLoop, has_band
from codegen.strategy.cost.groups import GroupInRegion, groups, in_region
from codegen.strategy.cost.tile_sizes import WRITTEN_OUT
from codegen.strategy.cost.traffic import keys

# Pairs of rows that gcc asks about at run time ahead of vectors, at most. With more it makes none: harris takes 4.3
# times as long.
OVERLAPS = 10


def perfect(band: Band) -> bool:
    """Is everything below a loop in the loops of its band, and of bands right inside it?"""
    while isinstance(band.child, Band):
        band = band.child
    return not has_band(band.child)


def counted(c: GroupInRegion) -> int:
    """How many of the loops around a group compilers count: those behind are written out."""
    depth = len(c.lengths)
    while c.group.closed and depth > 1 and _is_written_out(c, depth - 1):
        depth -= 1
    return depth


def innermost(c: GroupInRegion, place: FoundLoop, depth: int) -> bool:
    """Is a loop, number `depth` around its statements, an innermost one for compilers? It is with statements beside
    loops in it that are all written out: morph-open takes 1.1 of the time with first values in a loop of their own."""
    if perfect(place.band):
        return True
    around = c.group.around[: depth - 1 - place.member]
    inside = [in_region(c.p, c.machine, g) for g in groups(place.band, around, place.path)]
    short = all(_is_written_out(x, k) for x in inside for k in range(depth, len(x.lengths)))
    return short and _overlaps(inside, depth) <= OVERLAPS


def _is_written_out(c: GroupInRegion, k: int) -> bool:
    """Is loop number `k` so short that compilers write it out?"""
    return c.lengths[k] <= WRITTEN_OUT and c.fixed(k)


def _overlaps(inside: Sequence[GroupInRegion], depth: int) -> float:
    """Pairs of rows, one of them written, about which compilers ask whether they overlap; loops behind the first
    `depth` are written out."""
    rows: dict[str, float] = {}
    written = set()
    for c in inside:
        for (array, moves), write in keys(c, len(c.lengths)).items():
            apart = prod(n for n, m in zip(c.lengths[depth:], moves[depth:], strict=True) if any(m[:-1]))
            rows[array] = max(rows.get(array, 1.0), apart)
            written |= {array} if write else set()
    return sum(rows[a] * rows[b] for a, b in combinations(sorted(rows), 2) if a in written or b in written)
