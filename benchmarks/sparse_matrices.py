"""Matrices and tensors of the sparse benchmark, made here: coordinates in random order unless said otherwise."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Matrix:
    """Coordinates and values; `banded`: few diagonals, so that diagonal formats make sense."""

    name: str
    shape: tuple[int, int]
    row: Any
    col: Any
    val: Any
    banded: bool = False

    @property
    def nnz(self) -> int:
        return len(self.val)


def _made(name: str, shape: tuple[int, int], row: Any, col: Any, rng: Any, shuffle: bool,
          banded: bool = False) -> Matrix:
    """Without repeats, as 32-bit indices."""
    flat = np.unique(row.astype(np.int64) * shape[1] + col)
    if shuffle:
        rng.shuffle(flat)
    row, col = (flat // shape[1]).astype(np.int32), (flat % shape[1]).astype(np.int32)
    return Matrix(name, shape, row, col, rng.random(len(flat)), banded)


def uniform(nnz: int, rng: Any) -> Matrix:
    n = max(nnz // 10, 10)
    return _made("uniform", (n, n), rng.integers(0, n, nnz), rng.integers(0, n, nnz), rng, True)


def power_law(nnz: int, rng: Any) -> Matrix:
    n = max(nnz // 8, 10)
    row = np.minimum((rng.pareto(1.3, nnz) * n / 400).astype(np.int64), n - 1)
    return _made("power-law", (n, n), row, rng.integers(0, n, nnz), rng, True)


def banded(nnz: int, rng: Any) -> Matrix:
    off = np.array([-200, -101, -100, -99, -1, 0, 1, 99, 100, 101, 200])
    n = max(nnz // len(off), 300)
    row = np.repeat(np.arange(n, dtype=np.int64), len(off))
    col = row + np.tile(off, n)
    keep = (col >= 0) & (col < n)
    return _made("banded", (n, n), row[keep], col[keep], rng, False, True)


def fem(nnz: int, rng: Any) -> Matrix:
    """Nodes of a bumpy mesh with three unknowns each: 3 x 3 blocks near the diagonal, sorted by rows."""
    blocks = max(nnz // 9, 30)
    n = max(blocks // 9, 10)
    a = np.repeat(np.arange(n, dtype=np.int64), 9)
    b = np.clip(a + (rng.normal(0, 40, len(a))).astype(np.int64), 0, n - 1)
    row = (3 * a[:, None] + np.repeat(np.arange(3), 3)).ravel()
    col = (3 * b[:, None] + np.tile(np.arange(3), 3)).ravel()
    return _made("fem", (3 * n, 3 * n), row, col, rng, False)


def block(nnz: int, rng: Any) -> Matrix:
    """Dense 4 x 4 blocks anywhere, entries in random order."""
    blocks = max(nnz // 16, 4)
    n = max(blocks // 6, 4)
    a, b = rng.integers(0, n, blocks), rng.integers(0, n, blocks)
    row = (4 * a[:, None] + np.repeat(np.arange(4), 4)).ravel()
    col = (4 * b[:, None] + np.tile(np.arange(4), 4)).ravel()
    return _made("block", (4 * n, 4 * n), row, col, rng, True)


def hypersparse(nnz: int, rng: Any) -> Matrix:
    """Fewer entries than rows."""
    n = 2 * nnz
    return _made("hypersparse", (n, n), rng.integers(0, n, nnz), rng.integers(0, n, nnz), rng, True)


KINDS: dict[str, Callable[[int, Any], Matrix]] = {
    "uniform": uniform, "power-law": power_law, "banded": banded, "fem": fem, "block": block,
    "hypersparse": hypersparse,
}


def make(kind: str, nnz: int) -> Matrix:
    return KINDS[kind](nnz, np.random.default_rng(11))


def tensor(nnz: int) -> dict[str, Any]:
    """A uniform rank-3 tensor in random order, as the arrays of COO3."""
    rng = np.random.default_rng(12)
    n = max(int(nnz ** 0.5), 4)
    columns = {k: rng.integers(0, n, nnz).astype(np.int32) for k in ("row", "col", "lay")}
    return {"NR": n, "NC": n, "NZ": n, "NNZ": nnz, **columns, "val": rng.random(nnz)}
