"""Rows of sparse products: in tables and in arrays over all columns, by bits and by sorting, in one pass or two."""
from __future__ import annotations

import itertools
import multiprocessing
import resource
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from codegen.sparse.python.kernel import KernelCall

SANE = ("-O1", "-Wall", "-Werror")
TYPES = {"f64": "float64", "f32": "float32", "i32": "int32", "i64": "int64"}


def random(shape: tuple[int, int], count: int, seed: int) -> sp.csr_array:
    """Whole numbers, so that every order of additions gives the same."""
    rng = np.random.default_rng(seed)
    row, col = rng.integers(0, shape[0], count), rng.integers(0, shape[1], count)
    made = sp.coo_array((np.ones(count), (row, col)), shape=shape).tocsr()
    made.sum_duplicates()
    made.data = rng.integers(1, 9, made.nnz).astype(float)
    return made


def given(a: sp.csr_array, value: str = "f64", index: str = "32", shuffled: bool = False) -> dict:
    """As arrays; `shuffled`: the columns of each row in no order."""
    ptr, col, val = a.indptr, a.indices.copy(), a.data.copy()
    for p, q in itertools.pairwise(ptr) if shuffled else ():
        order = np.random.default_rng(q).permutation(q - p)
        col[p:q], val[p:q] = col[p:q][order], val[p:q][order]
    kind = f"int{index}"
    return {"NR": a.shape[0], "NC": a.shape[1], "NNZ": a.nnz, "rowptr": ptr.astype(kind), "col": col.astype(kind),
            "val": val.astype(TYPES[value])}


def stretched(a: dict, by: int) -> dict:
    """The same entries in columns that lie far apart; SciPy would need arrays of such an extent."""
    return {**a, "NC": a["NC"] * by, "col": a["col"] * by}


def agree(made: dict, want: sp.sparray) -> None:
    want = want.tocsr()
    want.sort_indices()
    np.testing.assert_array_equal(made["rowptr"], want.indptr)
    np.testing.assert_array_equal(made["col"], want.indices)
    np.testing.assert_array_equal(made["val"], want.data)


# Extents and entries: few columns, columns that exceed what arrays over all are made for, and products of long rows.
SHAPES = {"small": (37, 41, 43, 200, 300), "wide": (50, 60, 70_001, 500, 900), "long": (9, 300, 90_001, 1500, 30_000),
          "empty": (5, 4, 3, 0, 0)}


@pytest.mark.parametrize("case", SHAPES)
@pytest.mark.parametrize("flags", [(), ("-DTW_DENSE=0",)], ids=["default", "tables"])
@pytest.mark.parametrize("parallel", [False, True], ids=["one", "threads"])
def test_products(case: str, flags: tuple[str, ...], parallel: bool) -> None:
    n, m, o, first, second = SHAPES[case]
    a, b = random((n, m), first, 1), random((m, o), second, 2)
    formats = dict.fromkeys("ABC", "CSR")
    kernel = KernelCall("C(i,k) = A(i,j) * B(j,k)", formats, flags=(*SANE, *flags), parallel=parallel)
    agree(kernel(A=given(a), B=given(b)), a @ b)
    agree(kernel(A=given(a, shuffled=True), B=given(b, shuffled=True)), a @ b)


@pytest.mark.parametrize("value", TYPES)
@pytest.mark.parametrize("index", ["32", "64"])
def test_types_with_masks_and_sums(value: str, index: str) -> None:
    """A masked product beside a product and a matrix, in every type, with tables and with arrays over all columns."""
    n, m, o = 31, 29, 50_021
    a, b, mask, d = random((n, m), 200, 1), random((m, o), 700, 2), random((n, o), 900, 3), random((n, o), 50, 4)
    want = (a @ b).multiply(mask).tocsr() - 2 * (a @ b) + d
    kernel = KernelCall("C(i,k) = M(i,k)*A(i,j)*B(j,k) - 2*A(i,j)*B(j,k) + D(i,k)", dict.fromkeys("MABCD", "CSR"),
                        value=value, index=index, flags=SANE)
    for shuffled in (False, True):
        made = kernel(M=given(mask, value, index), A=given(a, value, index), D=given(d, value, index, shuffled),
                      B=given(b, value, index, shuffled))
        entries = sp.csr_array((made["val"], made["col"], made["rowptr"]), shape=(n, o))
        assert made["val"].dtype == TYPES[value] and abs(entries - want).max() == 0
        assert all((np.diff(made["col"][p:q]) > 0).all() for p, q in itertools.pairwise(made["rowptr"]))


@pytest.mark.parametrize("text", ["C(i,k) = A(i,j)*B(j,k)", "C(i,k) = M(i,k)*A(i,j)*B(j,k)"])
def test_columns_far_apart(text: str) -> None:
    """Extents far beyond the entries: neither masks nor sums stand in arrays of that size."""
    a, b = random((20, 30), 100, 1), random((30, 1 << 10), 300, 2)
    mask = (a @ b).tocsr()
    mask.data = (np.arange(mask.nnz) % 3).astype(float) + 1
    names = [n for n in "MABC" if f"{n}(" in text]
    kernel = KernelCall(text, dict.fromkeys(names, "CSR"), index="64", flags=SANE)
    by = 1 << 36
    operands = {"A": given(a, index="64"), "B": stretched(given(b, index="64"), by),
                "M": stretched(given(mask, index="64"), by)}
    made = kernel(**{n: x for n, x in operands.items() if n in names})
    agree({**made, "col": made["col"] // by}, (a @ b).multiply(mask) if "M" in names else a @ b)


def _short_of_memory(answer: multiprocessing.Queue) -> None:
    a = sp.csr_array(np.ones((60, 100)))
    columns = np.tile(np.arange(10_000) * 100, 100)
    b = sp.csr_array((np.ones(1_000_000), columns, np.arange(101) * 10_000), shape=(100, 1_000_000))
    kernel = KernelCall("C(i,k) = A(i,j) * B(j,k)", dict.fromkeys("ABC", "CSR"))
    operands = {"A": given(a), "B": given(b)}
    used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (300 << 20), resource.RLIM_INFINITY))
    made = kernel(**operands)
    answer.put([int(made["NNZ"]), bool((made["val"] == 100).all()), made["col"][:3].tolist()])


def test_counted_where_memory_is_short() -> None:
    """60 million products, 600 thousand columns: room for the first cannot be had."""
    fork = multiprocessing.get_context("fork")
    answer = fork.Queue()
    child = fork.Process(target=_short_of_memory, args=(answer,))
    child.start()
    assert answer.get(timeout=60) == [600_000, True, [0, 100, 200]]
    child.join()
