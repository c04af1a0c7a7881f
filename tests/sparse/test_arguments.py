"""What Python gives to conversions and kernels: any of it is refused with words, or the answer is right."""
from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.sparse.formats.builtin import FAMILIES
from codegen.sparse.formats.load import load
from codegen.sparse.python.call import ConversionError, Converter
from codegen.sparse.python.kernel import KernelCall
from codegen.sparse.python.scipy import arrays_of
from tests.sparse.brute import Brute, Outside
from tests.sparse.reference import Codec, Entry, encode, summed

FOLDER = Path(__file__).parent / "formats"
FILES = tuple(str(FOLDER / f"{name}.fmt") for name in ("ellr", "sellcs", "symm", "csrbe"))
FORMATS = (*FAMILIES, "CSF2", "HICOO2:4", "ALTO2", "BCSR:2x3", *FILES)
FLAGS = ("-O1",)
MUTATIONS = 60

Arrays = dict[str, Any]


def coo(rank: int) -> str:
    return "COO" if rank == 2 else f"COO{rank}"


@cache
def valid(fmt: str) -> Arrays:
    """A small matrix or tensor, as arrays of the format."""
    rank, rng = load(fmt).rank, random.Random(3)
    shape = {1: (7,), 2: (5, 5) if fmt in FILES else (4, 6), 3: (3, 4, 2)}[rank]
    some = [tuple(rng.randrange(n) for n in shape) for _ in range(7)]
    if "symm" in fmt:
        some += [c[::-1] for c in some]
    entries: list[Entry] = [(c, float(1 + sum(c))) for c in dict.fromkeys(some)]
    made: Arrays = Converter(coo(rank), fmt)(**encode(coo(rank), Codec(shape), entries))
    return made


def held(fmt: str, arrays: Arrays) -> dict[tuple[int, ...], float]:
    """What arrays hold, by brute force and by what the format says beside its map."""
    d = load(fmt)
    found = Brute(replace(d, mirror=0, permutation=None), arrays).entries()
    if d.permutation:
        found = [((int(arrays[d.permutation.array][i]), j), v) for (i, j), v in found]
    if d.mirror:
        found += [((j, i), v) for (i, j), v in found if i != j]
    return {c: v for c, v in summed(found).items() if v}


def changed(arrays: Arrays, r: random.Random) -> Arrays:
    """One thing is wrong, perhaps."""
    out = dict(arrays)
    sizes = [n for n, v in arrays.items() if isinstance(v, int)]
    indices = [n for n, v in arrays.items() if not isinstance(v, int) and v.dtype.kind == "i" and v.size]
    kind = r.choice(("size", "element", "element", "element", "swap", "array"))
    if kind == "size" or not indices:
        n = r.choice(sizes)
        out[n] = r.choice((arrays[n] - 1, arrays[n] + 1, 0, -1, 3, 2**31, 2**40, 2**63, -(2**70)))
        return out
    name = r.choice(indices)
    array = out[name] = arrays[name].copy()
    at, other = r.randrange(array.size), r.randrange(array.size)
    if kind == "element":
        array[at] = r.choice((array[at] - 1, array[at] + 1, -1, -2, 0, array.max() + 1, 100, 2**31 - 1, -(2**31)))
    elif kind == "swap":
        array[at], array[other] = array[other], array[at]
    else:
        out[name] = r.choice((array[:-1], np.append(array, array[:1]), array[:0]))
    return out


@pytest.mark.parametrize("fmt", FORMATS, ids=lambda f: Path(f).stem)
def test_any_change_is_refused_or_right(fmt: str) -> None:
    d = load(fmt)
    back = Converter(fmt, coo(d.rank))
    product = KernelCall("y(i) = A(i,j)*x(j)", {"A": fmt}, flags=FLAGS) if d.rank == 2 else None
    assert _read(back, valid(fmt)) == held(fmt, valid(fmt))
    refused = 0
    for seed in range(MUTATIONS):
        arrays = changed(valid(fmt), random.Random(seed))
        try:
            found = _read(back, arrays)
        except (TypeError, ValueError) as error:
            assert str(error)
            refused += 1
            if product is not None:
                with pytest.raises((TypeError, ValueError)):
                    product(y=np.zeros(abs(arrays["NR"]) % 1000), A=arrays, x=np.ones(abs(arrays["NC"]) % 1000))
            continue
        want = held(fmt, arrays)
        assert found == want, (seed, arrays)
        if product is not None:
            y, x = np.zeros(arrays["NR"]), np.arange(1.0, arrays["NC"] + 1)
            product(y=y, A=arrays, x=x)
            sums = np.zeros(arrays["NR"])
            for (i, j), v in want.items():
                sums[i] += v * x[j]
            np.testing.assert_allclose(y, sums)
    assert refused > MUTATIONS // 6


def _read(back: Converter, arrays: Arrays) -> dict[tuple[int, ...], float]:
    made = back(**arrays)
    names = [n for n in ("row", "col", "lay", "box") if n in made]
    entries = zip(zip(*(made[n].tolist() for n in names), strict=True), made["val"].tolist(), strict=True)
    return {c: v for c, v in summed(list(entries)).items() if v}


CSR: Arrays = {"NR": 3, "NC": 4, "NNZ": 4, "rowptr": np.array([0, 2, 2, 4], np.int32),
               "col": np.array([0, 3, 1, 2], np.int32), "val": np.arange(1.0, 5.0)}
WRONG: list[tuple[Arrays, type, str]] = [
    ({"NNZ": 3}, ValueError, "col must have 3 elements, not 4"), ({"NNZ": 5}, ValueError, "col must have 5 elements"),
    ({"NNZ": 3, "col": CSR["col"][:3], "val": CSR["val"][:3]}, ValueError, r"rowptr\[3\] is 4, and NNZ is 3"),
    ({"NR": -1}, ValueError, "NR is -1"), ({"NC": 2**63}, ValueError, "NC is"), ({"NR": 3.0}, TypeError, "NR must be"),
    ({"NR": "3"}, TypeError, "NR must be an integer, not str"), ({"NC": None}, TypeError, "NC must be an integer"),
    ({"rowptr": np.array([1, 2, 2, 4], np.int32)}, ValueError, r"rowptr\[0\] is 1, and must be 0"),
    ({"rowptr": np.array([0, 3, 2, 4], np.int32)}, ValueError, r"rowptr\[2\] is 2, which is below rowptr\[1\], 3"),
    ({"rowptr": np.array([0, 2, 4], np.int32)}, ValueError, "rowptr must have 4 elements, not 3"),
    ({"col": np.array([0, 4, 1, 2], np.int32)}, ValueError, r"col\[1\] is 4, and must be at most 3"),
    ({"col": np.array([0, -7, 1, 2], np.int32)}, ValueError, r"col\[1\] is -7, and must be at least 0"),
    ({"col": CSR["col"].astype(np.int64)}, TypeError, "col must be a NumPy array of int32, not one of int64"),
    ({"col": CSR["col"].astype(">i4")}, TypeError, "col must be a NumPy array of int32"),
    ({"col": [0, 3, 1, 2]}, TypeError, "col must be a NumPy array of int32, not list"),
    ({"val": np.zeros(8)[::2]}, ValueError, "val must be contiguous"), ({"cols": 1}, TypeError, "does not take cols"),
    ({"val": np.frombuffer(b"\0" * 33, np.uint8)[1:].view(np.float64)}, ValueError, "aligned"),
]


@pytest.mark.parametrize(("given", "error", "words"), WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_is_said(given: Arrays, error: type, words: str) -> None:
    convert, product = _csr()
    with pytest.raises(error, match=words):
        convert(**{**CSR, **given})
    with pytest.raises(error, match=words):
        product(y=np.zeros(3), A={**CSR, **given}, x=np.ones(4))


@cache
def _csr() -> tuple[Converter, KernelCall]:
    return Converter("CSR", "CSC"), KernelCall("y(i) = A(i,j)*x(j)", {"A": "CSR"}, flags=FLAGS)


def test_what_is_missing_is_named() -> None:
    convert, product = _csr()
    with pytest.raises(TypeError, match="CSR needs col; its arguments are NR, NC, NNZ, rowptr, col, val"):
        convert(**{n: v for n, v in CSR.items() if n != "col"})
    with pytest.raises(TypeError, match="A needs col"):
        product(y=np.zeros(3), x=np.ones(4), A={n: v for n, v in CSR.items() if n != "col"})
    with pytest.raises(TypeError, match="the kernel needs x"):
        product(y=np.zeros(3), A=CSR)
    with pytest.raises(TypeError, match="does not take z and needs x"):
        product(y=np.zeros(3), A=CSR, z=np.ones(4))
    with pytest.raises(TypeError, match="A must be a dictionary"):
        product(y=np.zeros(3), A=np.ones((3, 4)), x=np.ones(4))


def _read_only() -> np.ndarray:
    out = np.zeros(3)
    out.flags.writeable = False
    return out


SHARED = np.zeros(7)


@pytest.mark.parametrize(("y", "x", "error", "words"), [
    (np.zeros(2), np.ones(4), ValueError, "y must have 3 elements, not 2"),
    (np.zeros(4), np.ones(4), ValueError, "y must have 3 elements, not 4"),
    (np.zeros(3), np.ones(5), ValueError, "x must have 4 elements, not 5"),
    (np.zeros(3), np.ones(3), ValueError, "x must have 4 elements, not 3"),
    (np.zeros(3), np.ones((2, 2)), ValueError, r"x must have the shape \(4,\), not \(2, 2\)"),
    (np.zeros(3, np.float32), np.ones(4), TypeError, "y must be a NumPy array of float64"),
    (np.zeros(3), np.ones(8)[::2], ValueError, "x must be contiguous"),
    (_read_only(), np.ones(4), ValueError, "y must be writable"),
    (SHARED[:3], SHARED[:4], ValueError, "y is written and shares memory with x"),
    (SHARED[1:4], SHARED[3:], ValueError, "shares memory with x"), (np.zeros(3), 1.0, TypeError, "x must be a NumPy"),
    (CSR["val"][:3], np.ones(4), ValueError, "y is written and shares memory with A.val"),
])  # fmt: skip
def test_dense_arguments(y: Any, x: Any, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        _csr()[1](y=y, A=CSR, x=x)
    good = np.zeros(3)
    _csr()[1](y=good, A=CSR, x=SHARED[:4] + 1)
    np.testing.assert_array_equal(good, [3, 0, 7])


def test_other_arguments() -> None:
    kernel = KernelCall("Y(i,k) = a*A(i,j)*X(j,k)", {"A": "CSR"}, flags=FLAGS)
    y, given = np.zeros((3, 2)), {"A": CSR, "X": np.ones((4, 2)), "a": 2, "n_k": 2}
    kernel(Y=y, **given)
    np.testing.assert_array_equal(y, [[6, 6], [0, 0], [14, 14]])
    wrong: list[tuple[Arrays, type, str]] = [
        ({"n_k": -2}, ValueError, "n_k is -2"), ({"n_k": 2.5}, TypeError, "n_k must be an integer"),
        ({"n_k": 1}, ValueError, "Y must have 3 elements, not 6"), ({"a": "2"}, TypeError, "a must be a number"),
        ({"a": 1j}, TypeError, "a must be a number"), ({"X": np.ones((2, 4))}, ValueError, "X must have the shape"),
    ]
    for change, error, words in wrong:
        with pytest.raises(error, match=words):
            kernel(Y=y, **{**given, **change})
    whole = KernelCall("y(i) = a*A(i,j)*x(j)", {"A": "CSR"}, "i32", flags=FLAGS)
    ints = {**CSR, "val": CSR["val"].astype(np.int32)}
    for a, error in ((2**31, ValueError), (1.5, TypeError)):
        with pytest.raises(error, match="a "):
            whole(y=np.zeros(3, np.int32), A=ints, x=np.ones(4, np.int32), a=a)


@pytest.mark.parametrize(("make", "words"), [
    (lambda: Converter("CSR", "CSC", value="f63"), "no type 'f63'"),
    (lambda: Converter("CSR", "CSC", index="31"), "no type '31'"),
    (lambda: Converter("CSR", "CSC", duplicates="drop"), "duplicates must be"),
    (lambda: Converter("CSR", "CSC", threads=0), "threads must be"),
    (lambda: KernelCall("y(i) = A(i,j)*x(j)", {"A": "CSR"}, value="real"), "no type 'real'"),
])  # fmt: skip
def test_options_of_conversions(make: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


def test_room_behind_the_last_entry_of_scipy() -> None:
    scipy = pytest.importorskip("scipy.sparse")
    matrix = scipy.csr_matrix((CSR["val"], CSR["col"], CSR["rowptr"]), shape=(3, 4))
    matrix.indices, matrix.data = np.append(matrix.indices, np.int32(9)), np.append(matrix.data, 9.0)
    assert _csr()[0](**arrays_of(matrix))["colptr"].tolist() == [0, 1, 2, 3, 4]


def test_checks_can_be_left_out() -> None:
    """Names, sizes, types and lengths are looked at all the same."""
    wrong = {**CSR, "NNZ": 3}
    for call in (lambda: Converter("CSR", "CSC", check=False)(**wrong),
                 lambda: KernelCall("y(i) = A(i,j)*x(j)", {"A": "CSR"}, flags=FLAGS, check=False)(
                     y=np.zeros(3), A=wrong, x=np.ones(4))):
        with pytest.raises(ValueError, match="elements"):
            call()
    assert issubclass(ConversionError, ValueError) and issubclass(Outside, Exception)
