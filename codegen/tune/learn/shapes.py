"""The published set of matrix products: each extent in 64, 80, ... 256; 1757 to learn from, 440 to be judged by."""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from math import ceil
from random import Random

from codegen.tune.contraction import Contraction, matmul

EXTENTS = tuple(range(64, 257, 16))
SEED = 2309  # of the split; a policy knows the shapes it was trained on


@lru_cache(maxsize=1)
def _shuffled() -> tuple[Contraction, ...]:
    found = [matmul(m, n, k) for m, n, k in product(EXTENTS, repeat=3)]
    Random(SEED).shuffle(found)
    return tuple(found)


def training() -> tuple[Contraction, ...]:
    return _shuffled()[: ceil(0.8 * (len(EXTENTS) ** 3 - 1))]


def testing() -> tuple[Contraction, ...]:
    return _shuffled()[len(training()) :]
