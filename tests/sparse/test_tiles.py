"""Products with dense matrices of every width: tiles of columns and what is left, sums in flight, rows far apart."""
from __future__ import annotations

import numpy as np
import pytest

from codegen.sparse.python.kernel import KernelCall
from tests.sparse.reference import Codec, encode

WIDTHS = (0, 1, 3, 4, 7, 16, 21, 37)
SANE = ("-O2", "-Wall", "-Werror")
DTYPES = {"f64": "float64", "f32": "float32", "i32": "int32", "i64": "int64"}


def matrix(shape: tuple[int, int], dtype: str, fmt: str, seed: int = 2, index: str = "32") -> tuple[np.ndarray, dict]:
    rng = np.random.default_rng(seed)
    full = np.where(rng.random(shape) < 0.15, rng.integers(1, 9, shape), 0).astype(dtype)
    entries = [(tuple(map(int, c)), full[tuple(c)].item()) for c in np.argwhere(full)]
    return full, encode(fmt, Codec(shape, dtype, index), entries)


def whole(shape: tuple[int, ...], dtype: str, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-9, 9, shape).astype(dtype)


TILED = (("CSR", "f64", "32"), ("CSR", "i64", "64"), ("COO", "f32", "32"), ("CSC", "i32", "32"), ("ELL", "f64", "64"),
         ("DIA", "f64", "32"), ("BCSR:3x2", "f64", "32"), ("CSF2", "f64", "32"))
DOTS = (("CSR", "f64", "32"), ("CSR", "i32", "64"), ("COO", "f32", "32"), ("CSC", "f64", "32"), ("ELL", "i64", "32"))


@pytest.mark.parametrize("fmt, value, index", TILED)
def test_rows_in_tiles(fmt: str, value: str, index: str) -> None:
    dtype = DTYPES[value]
    full, a = matrix((23, 19), dtype, fmt, index=index)
    makes = KernelCall("Y(i,k) = A(i,j) * X(j,k)", {"A": fmt}, value, index, flags=SANE)
    adds = KernelCall("Y(i,k) -= 2 * A(i,j) * X(j,k)", {"A": fmt}, value, index, flags=SANE)
    begins = KernelCall("Y(i,k) = A(i,j) * X(j,k) + 3*B(i,k)", {"A": fmt}, value, index, flags=SANE, parallel=True)
    for n in WIDTHS:
        x, b = whole((19, n), dtype, n), whole((23, n), dtype, 50 + n)
        y = np.full((23, n), 7, dtype)
        makes(Y=y, A=a, X=x, n_k=n)
        np.testing.assert_array_equal(y, full @ x)
        adds(Y=y, A=a, X=x, n_k=n)
        np.testing.assert_array_equal(y, -(full @ x))
        begins(Y=y, A=a, X=x, B=b, n_k=n)
        np.testing.assert_array_equal(y, full @ x + 3 * b)


@pytest.mark.parametrize("order", ["Y(j,k)", "Y(k,j)"])
@pytest.mark.parametrize("fmt, value, index", DOTS)
def test_sums_in_flight(fmt: str, value: str, index: str, order: str) -> None:
    dtype = DTYPES[value]
    full, a = matrix((23, 19), dtype, fmt, index=index)
    kernel = KernelCall(f"C(i,j) = A(i,j) * X(i,k) * {order}", {"A": fmt, "C": fmt}, value, index, flags=SANE)
    for n in WIDTHS:
        x, y = whole((23, n), dtype, n), whole((19, n), dtype, 50 + n)
        c = np.full_like(a["val"], 7)
        kernel(C=c, A=a, X=x, Y=y if order == "Y(j,k)" else np.ascontiguousarray(y.T), n_k=n)
        want = np.where(full != 0, full * (x @ y.T), 0)
        made = KernelCall("D(i,j) = C(i,j) * E(i,j)", {"C": fmt}, value, index)
        dense = np.zeros_like(full)
        made(D=dense, C={**a, "val": c}, E=np.ones_like(full))
        np.testing.assert_array_equal(dense, want)


def test_rows_far_apart() -> None:
    """Columns so far apart that rows are asked for ahead, also past the end of the last row."""
    rng, n, m, w = np.random.default_rng(1), 40, 9000, 9
    row, col = rng.integers(0, n, 300), rng.integers(0, m, 300)
    order = np.argsort(row, kind="stable")
    a = {"NR": n, "NC": m, "NNZ": 300, "rowptr": np.searchsorted(row[order], np.arange(n + 1)).astype(np.int32),
         "col": col[order].astype(np.int32), "val": np.ones(300)}
    x, y, c = whole((n, w), "float64", 1), whole((m, w), "float64", 2), np.zeros(300)
    KernelCall("C(i,j) = A(i,j) * X(i,k) * Y(j,k)", {"A": "CSR", "C": "CSR"}, flags=SANE)(C=c, A=a, X=x, Y=y, n_k=w)
    np.testing.assert_array_equal(c, (x[row[order]] * y[col[order]]).sum(axis=1))
