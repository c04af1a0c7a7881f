"""Extents far beyond the entries: conversions take no memory of that size unless a format has it."""
from __future__ import annotations

import itertools

import numpy as np
import pytest

from codegen.sparse.python.call import ConversionError, Converter

FAR = 1 << 40
N = 50


def coordinates(rows: int, columns: int, seed: int = 1) -> dict:
    """300 entries, some of them at equal places."""
    rng = np.random.default_rng(seed)
    row, col = (rng.choice(rng.integers(0, n, 40), 300) for n in (rows, columns))
    return {"NR": rows, "NC": columns, "NNZ": 300, "row": row, "col": col, "val": np.arange(1.0, 301)}


def entries(a: dict) -> list:
    return sorted(zip(a["row"].tolist(), a["col"].tolist(), a["val"].tolist(), strict=True))


def summed(a: dict) -> dict:
    out: dict = {}
    for i, j, v in entries(a):
        out[i, j] = out.get((i, j), 0) + v
    return out


@pytest.mark.parametrize("threads", [1, 2])
def test_orders(threads: int) -> None:
    a = coordinates(FAR, FAR)
    made = Converter("COO", "SCOO", index="64", threads=threads)(**a)
    order = np.argsort(a["row"], kind="stable")
    for n in ("row", "col", "val"):
        np.testing.assert_array_equal(made[n], a[n][order])
    made = Converter("COO", "SCOO", index="64", threads=threads, duplicates="sum")(**a)
    assert list(zip(made["row"], made["col"], strict=True)) == sorted(summed(a))
    assert entries(made) == [(*c, v) for c, v in sorted(summed(a).items())]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("fmt, shape", [("CSR", (N, FAR)), ("CSC", (FAR, N))])
def test_compressed(fmt: str, shape: tuple[int, int], threads: int) -> None:
    a = coordinates(*shape)
    made = Converter("COO", fmt, index="64", threads=threads, duplicates="sum")(**a)
    ptr, inner = ("rowptr", "col") if fmt == "CSR" else ("colptr", "row")
    outer = np.repeat(np.arange(N), np.diff(made[ptr]))
    assert all((np.diff(made[inner][p:q]) > 0).all() for p, q in itertools.pairwise(made[ptr]))
    row, col = (outer, made[inner]) if fmt == "CSR" else (made[inner], outer)
    assert dict(zip(zip(row.tolist(), col.tolist(), strict=True), made["val"].tolist(), strict=True)) == summed(a)
    with pytest.raises(ConversionError):
        Converter("COO", fmt, index="64", threads=threads, duplicates="reject")(**a)
    again = Converter(fmt, "SCOO", index="64", threads=threads)(**made)
    assert (np.diff(again["row"]) >= 0).all() and entries(again) == [(*c, v) for c, v in sorted(summed(a).items())]


@pytest.mark.parametrize("fmt", ["BCSR:3x2", "DIA", "ELL", "CSF2", "HICOO2:4", "MCOO"])
def test_there_and_back(fmt: str) -> None:
    a = coordinates(N, FAR) if fmt in ("BCSR:3x2", "DIA", "ELL") else coordinates(FAR, FAR)
    policy = None if fmt == "ELL" else "sum"
    first = np.unique(a["row"] * 40 + a["col"], return_index=True)[1]
    a |= {"NNZ": len(first), **{n: a[n][first].copy() for n in ("row", "col", "val")}}
    want = [(*c, v) for c, v in sorted(summed(a).items())]
    made = Converter("COO", fmt, index="64", duplicates=policy)(**a)
    assert entries(Converter(fmt, "COO", index="64")(**made)) == want
    plain = Converter("COO", fmt, index="64", duplicates=policy, optimize=False)(**a)
    if not fmt.startswith("BCSR"):  # blocks of a row may come in any order
        assert all(np.array_equal(made[n], plain[n]) for n in made)
