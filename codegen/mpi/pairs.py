"""Returns what holds for the blocks of a giver and a taker, any two ranks of a grid of any size, as a set over the ends
of their blocks."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from codegen.mpi.blocks import GIVER, TAKER, RankBlocks, cut_evenly


def two_ranks(space: isl.Space, blocks: Sequence[RankBlocks], itself: bool = False) -> isl.Set:
    """What holds for the blocks of any two ranks, or with `itself` of a rank and itself, too: along an axis of their
    grid, the one with the lower coordinate has the lower values in all of them, or both have the same; two ranks differ
    along one axis at least."""
    known = next((s for b, n, s in _RANKS if n == itself and _alike(b, blocks) and s.get_space().is_equal(space)), None)
    if known is None:
        known = _two_ranks(space, blocks, itself)
        _RANKS[:] = [*_RANKS[-7:], (tuple(blocks), itself, known)]
    return known


# What was asked for last: the same is asked of every array and phase, and takes a while for many blocks.
_RANKS: list[tuple[Sequence[RankBlocks], bool, isl.Set]] = []


def _alike(a: Sequence[RankBlocks], b: Sequence[RankBlocks]) -> bool:
    """Are they the very same objects?"""
    return len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))


def _two_ranks(space: isl.Space, blocks: Sequence[RankBlocks], itself: bool) -> isl.Set:
    def at_most(values: isl.Set, a: str, b: str) -> isl.Set:
        local = isl.LocalSpace.from_space(values.get_space())
        ends = (isl.Aff.var_on_domain(local, isl.dim_type.param, space.find_dim_by_name(isl.dim_type.param, n))
                for n in (a, b))  # fmt: skip
        return values.intersect(next(ends).le_set(next(ends)))

    def related(axis: int, lower: str, upper: str) -> isl.Set:
        one = isl.Set.universe(space)
        for b in (b for b in blocks if b.axis == axis):
            ends = (*b.ends(lower), *b.ends(upper))
            for k in range(3):
                one = at_most(one, ends[k], ends[k + 1])
        return one

    def alike(axis: int) -> isl.Set:
        one = isl.Set.universe(space)
        for b in (b for b in blocks if b.axis == axis):
            for a, c in zip(b.ends(GIVER), b.ends(TAKER), strict=True):
                one = at_most(at_most(one, a, c), c, a)
            one = at_most(one, *b.ends(GIVER))
        return one

    same, out = isl.Set.universe(space), isl.Set.empty(space)
    for axis in range(max((b.axes for b in blocks), default=1)):
        apart = related(axis, GIVER, TAKER).union(related(axis, TAKER, GIVER))
        out = out.intersect(apart.union(alike(axis))).union(same.intersect(apart))
        same = same.intersect(alike(axis))
    out = out.union(same) if itself else out
    return out.intersect(cut_evenly(space, blocks, GIVER, TAKER)).coalesce()
