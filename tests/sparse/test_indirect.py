"""Formats whose map describes another matrix than the one they hold: symmetric and skew ones, rows by length."""
from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.diagnostics import InputError
from codegen.sparse.formats.load import load
from codegen.sparse.formats.read import read
from codegen.sparse.prove.proof import proven
from codegen.sparse.python.call import ConversionError, Converter
from codegen.sparse.python.kernel import KernelCall
from tests.sparse.brute import Brute
from tests.sparse.reference import Codec, Entry, decode, encode

FOLDER = Path(__file__).parent / "formats"
PATHS = {name: str(FOLDER / f"{name}.fmt") for name in ("sellcs", "jds", "symm", "skew")}


def matrix(name: str, n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    full = np.where(rng.random((n, n)) < 0.3, rng.integers(1, 9, (n, n)), 0).astype(float)
    if name in ("sellcs", "jds"):
        return full
    return full + full.T if name == "symm" else full - full.T


def entries_of(full: np.ndarray) -> list[Entry]:
    return [((int(i), int(j)), float(full[i, j])) for i, j in np.argwhere(full)]


def meant(path: str, made: dict[str, Any]) -> np.ndarray:
    """The matrix, from what the arrays hold by brute force and what the format says beside its map."""
    d = load(path)
    out = np.zeros((made["NR"], made["NC"]))
    for (i, j), v in Brute(replace(d, mirror=0, permutation=None), made).entries():
        if d.permutation:
            out[made[d.permutation.array][i], j] = v
        else:
            out[i, j] = v
            out[j, i] = v if i == j else d.mirror * v
    return out


@pytest.mark.parametrize("name", PATHS)
def test_there_and_back(name: str) -> None:
    path = PATHS[name]
    there = [Converter("CSR", path, **k) for k in ({}, {"optimize": False}, {"threads": 2})]
    back = Converter(path, "CSC", check=True)
    product = KernelCall("y(i) = 2*A(i,j)*x(j) + b(i)", {"A": path}, flags=("-O1", "-Wall", "-Werror"))
    turned = KernelCall("y(j) = A(i,j)*x(i)", {"A": path}, parallel=True)
    square = KernelCall("C(i,k) = A(i,j)*A(j,k)", {"A": path, "C": "CSR"})
    diagonal = KernelCall("s = A(i,i)", {"A": path})
    for n in (0, 1, 2, 5, 9, 21):
        full = matrix(name, n, n)
        for convert in there:
            made = convert(**encode("CSR", Codec(full.shape), entries_of(full)))
            np.testing.assert_array_equal(meant(path, made), full)
        np.testing.assert_array_equal(_dense("CSC", back(**made), full.shape), full)
        x, y, b = np.arange(1.0, n + 1), np.full(n, 7.0), np.arange(n) % 3.0
        product(y=y, A=made, x=x, b=b)
        np.testing.assert_array_equal(y, 2 * full @ x + b)
        turned(y=y, A=made, x=x)
        np.testing.assert_array_equal(y, full.T @ x)
        np.testing.assert_array_equal(_dense("CSR", square(A=made), full.shape), full @ full)
        s = np.zeros(1)
        diagonal(s=s, A=made)
        assert s[0] == np.trace(full)


def _dense(fmt: str, made: dict[str, Any], shape: tuple[int, ...]) -> np.ndarray:
    out = np.zeros(shape)
    for c, v in decode(fmt, Codec(shape), made):
        out[c] += v
    return out


def test_longest_rows_come_first_within_each_window() -> None:
    full = matrix("sellcs", 21, 3)
    made = Converter("CSR", PATHS["sellcs"])(**encode("CSR", Codec(full.shape), entries_of(full)))
    lengths = (full[made["perm"]] != 0).sum(axis=1)
    for first in range(0, 21, 8):
        assert sorted(made["perm"][first:first + 8]) == list(range(first, min(first + 8, 21)))
        assert (np.diff(lengths[first:first + 8]) <= 0).all()


def test_jagged_diagonals_have_no_gaps() -> None:
    """Places from 0 on, diagonals of ever fewer rows; also where entries of one place are added up first."""
    rng = np.random.default_rng(5)
    for policy, shape in itertools.product(("keep", "sum"), ((7, 5), (1, 9), (13, 3), (0, 4), (4, 0))):
        count = 3 * shape[0] if shape[1] else 0
        entries = [((int(rng.integers(shape[0])), int(rng.integers(shape[1]))), float(n + 1)) for n in range(count)]
        made = Converter("COO", PATHS["jds"], duplicates=policy)(**encode("COO", Codec(shape), entries))
        full = np.zeros(shape)
        for c, v in entries:
            full[c] += v
        lengths = np.diff(made["jdptr"])
        assert made["jdptr"][0] == 0 and made["jdptr"][-1] == made["NNZ"] and (np.diff(lengths) <= 0).all()
        assert made["NNZ"] == (len(entries) if policy == "keep" else np.count_nonzero(full))
        got = np.zeros(shape)
        for (i, j), v in Brute(replace(load(PATHS["jds"]), permutation=None), made).entries():
            got[made["perm"][i], j] += v
        np.testing.assert_array_equal(got, full)
        np.testing.assert_array_equal(_dense("CSR", Converter(PATHS["jds"], "CSR")(**made), shape), full)
    twice = encode("COO", Codec((2, 2)), [((0, 1), 1.0), ((0, 1), 2.0)])
    with pytest.raises(ConversionError, match="coordinates"):
        Converter("COO", PATHS["jds"], duplicates="reject")(**twice)


def test_diagonals_that_are_none_are_found() -> None:
    full = matrix("jds", 6, 1)
    made = Converter("CSR", PATHS["jds"])(**encode("CSR", Codec(full.shape), entries_of(full)))
    back = Converter(PATHS["jds"], "COO", check=True)
    for wrong, words in (([0, *made["jdptr"][:-1]], "NNZ is"), ([0, 1, *made["jdptr"][2:]], "sorted"),
                         ([*made["jdptr"][:1], made["NNZ"], *made["jdptr"][2:]], "below")):
        with pytest.raises(ConversionError, match=words):
            back(**{**made, "jdptr": np.array(wrong, np.int32)})


@pytest.mark.parametrize("name", ("symm", "skew"))
def test_other_matrices_are_refused(name: str) -> None:
    there = Converter("COO", PATHS[name])
    for shape, entries in (((3, 3), [((0, 1), 2.0)]), ((3, 3), [((0, 1), 2.0), ((1, 0), 3.0)]), ((2, 3), []),
                           ((3, 3), [((1, 1), 4.0), ((2, 1), 1.0), ((1, 2), 1.0 if name == "skew" else -1.0)])):
        with pytest.raises(ConversionError, match="out of range"):
            there(**encode("COO", Codec(shape), entries))


def test_an_order_of_rows_that_is_none_is_found() -> None:
    full = matrix("sellcs", 5, 1)
    made = Converter("CSR", PATHS["sellcs"])(**encode("CSR", Codec(full.shape), entries_of(full)))
    back = Converter(PATHS["sellcs"], "COO", check=True)
    for wrong in ([0, 1, 2, 3, 3], [0, 1, 2, 3, 5], [-1, 1, 2, 3, 4]):
        with pytest.raises(ConversionError, match="each row once"):
            back(**{**made, "perm": np.array(wrong, np.int32)})


def test_refusals() -> None:
    text = load(PATHS["symm"]).text
    for old, new, words in (("and jj <= ii", "", "one triangle"), ("\nsymmetric", "\nsymmetric\nskew", "one of them"),
                            ("\nsymmetric", "\npermute perm within 0", "at least one row"),
                            ("\nsymmetric", "\npermute col", "used for two things")):
        with pytest.raises(InputError, match=words):
            proven(read("f.fmt", text.replace(old, new)))
    jagged = load(PATHS["jds"]).text
    for old, new, words in (("permute perm", "", "have gaps"), ("permute perm", "permute perm within 8", "have gaps"),
                            ("0 <= x <= ND", "0 <= x <= ND + 1", "one element for each diagonal"),
                            ("[k]}", "[s]}", "own"), ("ii = k - jdptr(s) and", "", "no function is stored"),
                            ("ii = k - jdptr(s)", "ii = k - jdptr(s) - 1", "no function is stored"),
                            ("0 <= k < NNZ and", "0 <= k < NNZ and k <= 9 and", "is not understood"),
                            ("{[y] : 0 <= y <= NNZ}", "{[y] : 0 <= y < NNZ}", "its range is smaller")):
        assert old in jagged
        with pytest.raises(InputError, match=words):
            proven(read("f.fmt", jagged.replace(old, new)))
    with pytest.raises(InputError, match="does not hold the matrix"):
        KernelCall("L(i,j)*x(j) = b(i)", {"L": PATHS["symm"]})
