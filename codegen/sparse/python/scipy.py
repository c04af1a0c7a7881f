"""Gives a SciPy matrix (coo, csr, csc or bsr) as the named arrays that a `Converter` takes, and a result of one as a
SciPy array; both share memory."""
from __future__ import annotations

from typing import Any

_FIELDS = {"csr": ("rowptr", "col"), "csc": ("colptr", "row"), "bsr": ("browptr", "bcol")}


def arrays_of(matrix: Any) -> dict[str, Any]:
    """What a Converter from COO, CSR, CSC or BCSR takes, for a matrix or array of that kind."""
    base = {"NR": matrix.shape[0], "NC": matrix.shape[1]}
    if matrix.format == "coo":
        row, col = matrix.coords if hasattr(matrix, "coords") else (matrix.row, matrix.col)
        return {**base, "NNZ": matrix.nnz, "row": row, "col": col, "val": matrix.data}
    if matrix.format not in _FIELDS:
        raise TypeError(f"{matrix.format} is not coo, csr, csc or bsr")
    pointers, indices = _FIELDS[matrix.format]
    size = "NNB" if matrix.format == "bsr" else "NNZ"
    count, inner, data = int(matrix.indptr[-1]), matrix.indices, matrix.data
    if len(inner) > count:  # SciPy may keep room behind the last entry
        inner, data = inner[:count], data[:count]
    return {**base, size: count, pointers: matrix.indptr, indices: inner, "val": data.reshape(-1)}


def matrix_of(kind: str, a: dict[str, Any], block: tuple[int, int] = (1, 1)) -> Any:
    """A SciPy array of kind coo, csr, csc or bsr over a Converter's result."""
    import scipy.sparse as sparse  # type: ignore[import-untyped]

    shape = a["NR"], a["NC"]
    if kind == "coo":
        return sparse.coo_array((a["val"], (a["row"], a["col"])), shape=shape)
    pointers, indices = (a[n] for n in _FIELDS[kind])
    data = a["val"].reshape(-1, *block) if kind == "bsr" else a["val"]
    return getattr(sparse, f"{kind}_array")((data, indices, pointers), shape=shape, copy=False)
