"""What is timed: for each pair our conversion, and the best SciPy and NumPy have for the same work."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import _sparsetools as tools

from benchmarks.sparse_matrices import Matrix

Arrays = dict[str, Any]


@dataclass(frozen=True)
class Pair:
    """`peer` returns something to compare; `only`: which matrices make sense."""

    source: str
    target: str
    peer: Callable[[Matrix, Arrays], Any]
    same: Callable[[Arrays, Any], bool]
    only: Callable[[Matrix], bool] = lambda m: True

    @property
    def name(self) -> str:
        return f"{self.source}->{self.target}"


def coo(m: Matrix) -> Arrays:
    return {"NR": m.shape[0], "NC": m.shape[1], "NNZ": m.nnz, "row": m.row, "col": m.col, "val": m.val}


def coo_tocsr(n: int, k: int, row: Any, col: Any, val: Any) -> tuple[Any, Any, Any]:
    ptr, out, data = np.empty(n + 1, np.int32), np.empty(len(val), np.int32), np.empty_like(val)
    tools.coo_tocsr(n, k, len(val), row, col, val, ptr, out, data)
    return ptr, out, data


def csr(m: Matrix) -> Arrays:
    ptr, col, val = coo_tocsr(*m.shape, m.row, m.col, m.val)
    return {"NR": m.shape[0], "NC": m.shape[1], "NNZ": m.nnz, "rowptr": ptr, "col": col, "val": val}


def peer_csr(m: Matrix, a: Arrays) -> Any:
    return coo_tocsr(*m.shape, m.row, m.col, m.val)


def peer_csc(m: Matrix, a: Arrays) -> Any:
    return coo_tocsr(m.shape[1], m.shape[0], m.col, m.row, m.val)


def peer_transposed(m: Matrix, a: Arrays) -> Any:
    ptr, row, val = np.empty(m.shape[1] + 1, np.int32), np.empty(m.nnz, np.int32), np.empty(m.nnz)
    tools.csr_tocsc(*m.shape, a["rowptr"], a["col"], a["val"], ptr, row, val)
    return ptr, row, val


def peer_coo(m: Matrix, a: Arrays) -> Any:
    row = np.empty(m.nnz, np.int32)
    tools.expandptr(m.shape[0], a["rowptr"], row)
    return row, a["col"].copy(), a["val"].copy()


def peer_dia(m: Matrix, a: Arrays) -> Any:
    """As coo_array.todia, but with the values row by row, as ours are."""
    off, at = np.unique(m.col - m.row, return_inverse=True)
    val = np.zeros((m.shape[0], len(off)))
    val[m.row, at] = m.val
    return off, val


def peer_ell(m: Matrix, a: Arrays) -> Any:
    """Through the C++ conversion to rows, the only one there is, then NumPy."""
    ptr, col, val = coo_tocsr(*m.shape, m.row, m.col, m.val)
    length = np.diff(ptr)
    k = int(length.max(initial=0))
    at = np.arange(m.nnz, dtype=np.int64) + np.repeat(np.arange(m.shape[0], dtype=np.int64) * k - ptr[:-1], length)
    cols, vals = np.full(m.shape[0] * k, -1, np.int32), np.zeros(m.shape[0] * k)
    cols[at], vals[at] = col, val
    return cols, vals


def peer_bcsr(b: int) -> Callable[[Matrix, Arrays], Any]:
    def run(m: Matrix, a: Arrays) -> Any:
        ptr, col, val = coo_tocsr(*m.shape, m.row, m.col, m.val)
        count = tools.csr_count_blocks(*m.shape, b, b, ptr, col)
        bptr, bcol = np.empty(m.shape[0] // b + 1, np.int32), np.empty(count, np.int32)
        data = np.zeros((count, b, b))
        tools.csr_tobsr(*m.shape, b, b, ptr, col, val, bptr, bcol, data.ravel())
        return bptr, bcol, data

    return run


def spread(x: Any) -> Any:
    x = x.astype(np.uint64)
    for shift, mask in ((16, 0x0000ffff0000ffff), (8, 0x00ff00ff00ff00ff), (4, 0x0f0f0f0f0f0f0f0f),
                        (2, 0x3333333333333333), (1, 0x5555555555555555)):
        x = (x | x << np.uint64(shift)) & np.uint64(mask)
    return x


def peer_mcoo(m: Matrix, a: Arrays) -> Any:
    order = np.argsort(spread(m.row) << np.uint64(1) | spread(m.col), kind="stable")
    return m.row[order], m.col[order], m.val[order]


def peer_mcoo3(t: Arrays) -> Any:
    """A comparison sort of the keys, then the coordinates in that order."""
    def spread3(x: Any) -> Any:
        x = x.astype(np.uint64) & np.uint64(0x1fffff)
        for shift, mask in ((32, 0x001f00000000ffff), (16, 0x001f0000ff0000ff), (8, 0x100f00f00f00f00f),
                            (4, 0x10c30c30c30c30c3), (2, 0x1249249249249249)):
            x = (x | x << np.uint64(shift)) & np.uint64(mask)
        return x

    key = spread3(t["row"]) << np.uint64(2) | spread3(t["col"]) << np.uint64(1) | spread3(t["lay"])
    order = np.argsort(key, kind="stable")
    return tuple(t[k][order] for k in ("row", "col", "lay", "val"))


def _equal(*names: str) -> Callable[[Arrays, Any], bool]:
    return lambda ours, peer: all(np.array_equal(ours[n].ravel(), p.ravel()) for n, p in zip(names, peer, strict=True))


def _blocks(ours: Arrays, peer: Any) -> bool:
    """The peer's blocks come in the order they are met row by row, ours in the order of the entries: sort both."""
    def ordered(ptr: Any, col: Any, val: Any) -> tuple[Any, Any, Any]:
        order = np.lexsort((col, np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))))
        return ptr, col[order], val.reshape(len(col), -1)[order]

    mine = ordered(ours["browptr"], ours["bcol"], ours["val"])
    return all(np.array_equal(a, b) for a, b in zip(mine, ordered(*peer), strict=True))


def _few_diagonals(m: Matrix) -> bool:
    return m.banded


def _short_rows(m: Matrix) -> bool:
    return int(np.bincount(m.row, minlength=m.shape[0]).max()) * m.shape[0] <= 16 * m.nnz


def _blocked(m: Matrix) -> bool:
    return m.shape[0] % 4 == 0 and m.shape[1] % 4 == 0


PAIRS = (
    Pair("COO", "CSR", peer_csr, _equal("rowptr", "col", "val")),
    Pair("COO", "CSC", peer_csc, _equal("colptr", "row", "val")),
    Pair("CSR", "CSC", peer_transposed, _equal("colptr", "row", "val")),
    Pair("CSR", "COO", peer_coo, _equal("row", "col", "val")),
    Pair("COO", "DIA", peer_dia, _equal("off", "val"), _few_diagonals),
    Pair("COO", "ELL", peer_ell, _equal("col", "val"), _short_rows),
    Pair("COO", "BCSR:4x4", peer_bcsr(4), _blocks, _blocked),
    Pair("COO", "MCOO", peer_mcoo, _equal("row", "col", "val")),
)
SAME_MCOO3 = _equal("row", "col", "lay", "val")
