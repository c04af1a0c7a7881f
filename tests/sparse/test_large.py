"""Enough entries that packets, threads and long segments are used, against SciPy."""
from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from codegen.sparse.python.call import Converter

N, ENTRIES = 5000, 150_000


@pytest.fixture(scope="module")
def matrix() -> dict:
    rng = np.random.default_rng(3)
    row = np.minimum(rng.pareto(1.2, ENTRIES) * 40, N - 1).astype(np.int32)
    col = rng.integers(0, N, ENTRIES).astype(np.int32)
    return {"NR": N, "NC": N, "NNZ": ENTRIES, "row": row, "col": col, "val": rng.integers(1, 9, ENTRIES).astype(float)}


def scipy_of(m: dict) -> sp.coo_array:
    return sp.coo_array((m["val"], (m["row"], m["col"])), shape=(N, N))


@pytest.mark.parametrize("threads", (1, 2, 3))
def test_against_scipy(matrix: dict, threads: int) -> None:
    a = scipy_of(matrix)
    order = np.argsort(matrix["row"], kind="stable")
    csr = Converter("COO", "CSR", threads=threads)(**matrix)
    np.testing.assert_array_equal(csr["rowptr"], np.searchsorted(matrix["row"][order], np.arange(N + 1)))
    np.testing.assert_array_equal(csr["col"], matrix["col"][order])
    np.testing.assert_array_equal(csr["val"], matrix["val"][order])
    csc = Converter("CSR", "CSC", threads=threads)(**csr)
    expected = sp.csr_array((csr["val"], csr["col"], csr["rowptr"]), shape=(N, N)).tocsc()
    np.testing.assert_array_equal(csc["colptr"], expected.indptr)
    np.testing.assert_array_equal(csc["row"], expected.indices)
    np.testing.assert_array_equal(csc["val"], expected.data)
    summed = Converter("COO", "CSR", duplicates="sum", threads=threads)(**matrix)
    expected = a.tocsr()
    expected.sum_duplicates()
    np.testing.assert_array_equal(summed["rowptr"], expected.indptr)
    np.testing.assert_array_equal(summed["col"], expected.indices)
    np.testing.assert_array_equal(summed["val"], expected.data)


@pytest.mark.parametrize("threads", (1, 2))
def test_blocks_and_padding(matrix: dict, threads: int) -> None:
    a = scipy_of(matrix)
    a.sum_duplicates()
    bsr = a.tobsr((2, 2))
    bsr.sort_indices()
    made = Converter("COO", "BCSR", threads=threads)(**matrix)
    np.testing.assert_array_equal(made["browptr"], bsr.indptr)
    block_row = np.repeat(np.arange(len(bsr.indptr) - 1), np.diff(bsr.indptr))
    order = np.lexsort((made["bcol"], block_row))  # blocks of a row come as they are met
    np.testing.assert_array_equal(made["bcol"][order], bsr.indices)
    np.testing.assert_array_equal(made["val"].reshape(bsr.data.shape)[order], bsr.data)
    entry = matrix["row"] // 2 * (N // 2 + 1) + matrix["col"] // 2
    met = {int(b): n for n, b in reversed(list(enumerate(entry.tolist())))}
    first = np.array([met[int(b)] for b in block_row * (N // 2 + 1) + made["bcol"]])
    assert (np.diff(first)[np.diff(block_row) == 0] > 0).all()
    keep = matrix["row"] > 400  # short rows only
    part = {**matrix, "NNZ": int(keep.sum()), **{k: matrix[k][keep] for k in ("row", "col", "val")}}
    ell, one = (Converter("COO", "ELL", threads=t)(**part) for t in (threads, 1))
    np.testing.assert_array_equal(ell["col"], one["col"])
    np.testing.assert_array_equal(ell["val"], one["val"])
    back = Converter("ELL", "COO")(**ell)
    assert abs(scipy_of({**part, **back}).tocsr() - scipy_of(part).tocsr()).max() == 0


@pytest.mark.parametrize("threads", (1, 2))
def test_morton_order(matrix: dict, threads: int) -> None:
    made = Converter("COO", "MCOO", threads=threads)(**matrix)

    def spread(x: np.ndarray) -> np.ndarray:
        return sum(((x.astype(np.uint64) >> np.uint64(b)) & np.uint64(1)) << np.uint64(2 * b) for b in range(16))

    order = np.argsort(spread(matrix["row"]) << np.uint64(1) | spread(matrix["col"]), kind="stable")
    for k in ("row", "col", "val"):
        np.testing.assert_array_equal(made[k], matrix[k][order])


@pytest.mark.parametrize("rank, bits", ((3, 40), (3, 62), (4, 31), (4, 61)))
def test_morton_order_of_large_coordinates(rank: int, bits: int) -> None:
    """Coordinates that need more than one word, or two."""
    rng = np.random.default_rng(9)
    names = ("row", "col", "lay", "box")[:rank]
    coords = {k: rng.integers(0, 2**bits, 500) >> rng.integers(0, bits, 500) for k in names}
    given = {**dict.fromkeys(("NR", "NC", "NZ", "NT")[:rank], 2**bits), "NNZ": 500, **coords, "val": np.arange(500.0)}

    def key(n: int) -> int:
        bit = [(int(coords[k][n]) >> b & 1) for b in range(62, -1, -1) for k in names]
        return int("".join(map(str, bit)), 2)

    order = sorted(range(500), key=key)
    for optimize in (True, False):
        made = Converter(f"COO{rank}", f"MCOO{rank}", index="64", optimize=optimize)(**given)
        np.testing.assert_array_equal(made["val"], np.arange(500.0)[order])
        np.testing.assert_array_equal(made["lay"], coords["lay"][order])


def test_already_sorted(matrix: dict) -> None:
    """Entries in order take the chain that moves nothing; the result is the same."""
    order = np.lexsort((matrix["col"], matrix["row"]))
    ordered = {**matrix, **{k: matrix[k][order] for k in ("row", "col", "val")}}
    made = Converter("COO", "CSR")(**ordered)
    np.testing.assert_array_equal(made["col"], ordered["col"])
    np.testing.assert_array_equal(made["rowptr"], np.searchsorted(ordered["row"], np.arange(N + 1)))


def test_the_published_small_case() -> None:
    row = np.array([0, 0, 1, 1, 2, 2, 3], np.int32)
    col = np.array([1, 0, 1, 0, 1, 3, 3], np.int32)
    val = np.array([4, 1, 7, 6, 1, 3, 5.0])
    made = Converter("COO", "DIA")(NR=4, NC=4, NNZ=7, row=row, col=col, val=val)
    assert made["off"].tolist() == [-1, 0, 1]
    assert made["val"].tolist() == [0, 1, 4, 6, 7, 0, 1, 0, 3, 0, 5, 0]
    back = Converter("CSR", "COO")(NR=4, NC=4, NNZ=7, rowptr=np.array([0, 2, 4, 4, 7], np.int32),
                                   col=np.array([0, 1, 0, 1, 1, 2, 3], np.int32), val=val)
    assert back["row"].tolist() == [0, 0, 1, 1, 3, 3, 3]


def test_scipy_matrices_without_copies(matrix: dict) -> None:
    from codegen.sparse.python.scipy import arrays_of, matrix_of

    a = scipy_of(matrix).tocsr()
    given = arrays_of(a)
    assert given["col"] is a.indices
    made = Converter("CSR", "CSC")(**given)
    b = matrix_of("csc", made)
    assert np.shares_memory(b.data, made["val"]) and np.shares_memory(b.indices, made["row"])
    assert abs(a - b).max() == 0
    blocks = matrix_of("bsr", Converter("CSR", "BCSR")(**given), (2, 2))
    assert abs(a - blocks).max() == 0
    back = Converter("BCSR", "COO")(**arrays_of(blocks))
    assert abs(matrix_of("coo", back) - a).max() == 0
    with pytest.raises(TypeError):
        arrays_of(a.tolil())


def test_fewer_threads_than_asked_for() -> None:
    """A run-time limit may give a region fewer threads; every entry must still arrive."""
    import os
    import subprocess
    import sys

    program = (
        "import numpy as np\n"
        "from codegen.sparse.python.call import Converter\n"
        "rng = np.random.default_rng(1)\n"
        "n = 120000\n"
        "a = dict(NR=4000, NC=4000, NNZ=n, row=rng.integers(0, 4000, n).astype(np.int32),\n"
        "         col=rng.integers(0, 4000, n).astype(np.int32), val=rng.random(n))\n"
        "for to in ('CSR', 'MCOO'):\n"
        "    one, many = (Converter('COO', to, threads=t)(**a) for t in (1, 4))\n"
        "    assert all(np.array_equal(one[k], many[k]) for k in one), to\n"
    )
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "OMP_THREAD_LIMIT": "2"},
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
