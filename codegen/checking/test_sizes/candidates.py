"""Candidate sizes to test, in groups with quotas: 0, 1 and small primes, the edges of tiles, a larger size, negative
values of integers that are no array sizes, and random mixtures. `survey.py` chooses among them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from codegen.checking.harness.memory import SizeInteger
from codegen.record import record

SMALL = (1, 0, 2, 3, 5, 7, 13)
LARGE = (97, 61, 41, 29, 23, 17, 11)
SEED = 20_240_229


@record
class SizeGroup:
    """Candidates of one kind, best first, of which `quota` are wanted."""

    quota: int
    tries: int
    candidates: Iterator[tuple[int, ...]]


def groups(ints: Sequence[SizeInteger], tiles: Sequence[int], sizes: Sequence[int]) -> tuple[SizeGroup, ...]:
    """Everything to try. `tiles` are the plan's, `sizes` the constants among the declared array sizes."""
    if not ints:
        return (SizeGroup(1, 1, iter([()])),)
    edges = [t + d for t in tiles[:3] for d in (-1, 0, 1)]
    equal = list(dict.fromkeys([*SMALL, *edges, *(s for n in sizes for s in (n, n - 1))]))
    return (
        SizeGroup(len(equal), len(equal), (tuple(v for _ in ints) for v in equal)),
        SizeGroup(1, len(LARGE), (tuple(v for _ in ints) for v in LARGE)),
        SizeGroup(5, 40, _edges(ints, tiles)),
        SizeGroup(2, 12, _negative(ints)),
        SizeGroup(8, 60, _mixed(ints, [*SMALL, 4, 6, 11, 17, 24, *edges, *sizes], 0)),
        SizeGroup(4, 40, _mixed(ints, list(range(1, 25)), 1)),
    )


def _edges(ints: Sequence[SizeInteger], tiles: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Some sizes around a tile's, the others small, so that large tiles cost little."""
    rng = random.Random(SEED)
    while tiles:
        t = rng.choice(list(tiles))
        yield tuple(rng.choice((2, 3, 5, 7, t - 1, t, t + 1, 2 * t + 3)) for _ in ints)


def _negative(ints: Sequence[SizeInteger]) -> Iterator[tuple[int, ...]]:
    """One integer that is no array size below zero, the others small."""
    rng = random.Random(SEED + 1)
    free = [k for k, i in enumerate(ints) if not i.extent and i.ctype.signed and i.how != "pinned"]
    while free:
        below = rng.choice(free)
        yield tuple(-rng.choice((1, 2, 7)) if k == below else rng.choice((2, 3, 5, 7)) for k in range(len(ints)))


def _mixed(ints: Sequence[SizeInteger], pool: Sequence[int], salt: int) -> Iterator[tuple[int, ...]]:
    rng = random.Random(SEED + 2 + salt)
    while True:
        yield tuple(rng.choice(pool) for _ in ints)


def spread(ints: Sequence[SizeInteger]) -> SizeGroup:
    """Sizes of which some are multiples of others, for regions that hold only where one fits into another."""
    return SizeGroup(10, 120, _mixed(ints, (1, 2, 3, 4, 6, 12, 24, 36), 2))
