"""The checking mode: every promise of a format, broken once."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.sparse.python.call import ConversionError, Converter
from codegen.sparse.python.kernel import KernelCall
from tests.sparse.inputs import cases
from tests.sparse.reference import Codec, decode, encode

RANGE, UNSORTED = 2, 3
# format, array, index, new value, status
BROKEN = [
    ("COO", "row", 3, -1, RANGE), ("COO", "col", 0, 23, RANGE), ("SCOO", "row", 0, 4, UNSORTED),
    ("MCOO", "col", 0, 22, UNSORTED), ("CSR", "col", 5, 99, RANGE), ("CSR", "rowptr", 0, 1, RANGE),
    ("CSR", "rowptr", 2, 0, UNSORTED), ("CSR", "rowptr", 5, 2, RANGE), ("CSC", "colptr", 3, 50, RANGE),
    ("DIA", "off", 1, -5, RANGE), ("DIA", "off", 1, -4, UNSORTED), ("ELL", "col", 0, -2, RANGE),
    ("ELL", "col", 0, 23, RANGE), ("BCSR", "bcol", 0, 12, RANGE), ("CSF2", "idx0", 0, 4, UNSORTED),
    ("CSF2", "ptr0", 1, 0, UNSORTED), ("HICOO2", "eind0", 0, 8, RANGE), ("HICOO2", "bind0", 0, 1, RANGE),
    ("HICOO2", "eind0", 0, 7, RANGE), ("HICOO2", "bptr", 1, 99, RANGE),
    ("ALTO2", "lin", 0, -1, RANGE), ("ALTO2", "lin", -1, 256, RANGE), ("ALTO2", "lin", -1, 255, RANGE),
    ("ALTO2", "lin", 0, 200, UNSORTED),
]


@pytest.fixture(scope="module")
def converters() -> dict[str, Converter]:
    return {f: Converter(f, "COO") for f in sorted({b[0] for b in BROKEN})}


@pytest.mark.parametrize("broken", BROKEN, ids=lambda b: f"{b[0]}.{b[1]}[{b[2]}]={b[3]}")
def test_broken_promises(broken: tuple[str, str, int, int, int], converters: dict[str, Converter]) -> None:
    fmt, array, at, value, status = broken
    shape, entries = cases(2)["wide"]
    arrays = encode(fmt, Codec(shape), entries)
    changed = arrays[array].copy()
    changed[at] = value
    with pytest.raises(ConversionError) as caught:
        converters[fmt](**{**arrays, array: changed})
    assert caught.value.status == status


@pytest.mark.parametrize("fmt", sorted({b[0] for b in BROKEN}))
def test_good_input_passes(fmt: str, converters: dict[str, Converter]) -> None:
    for name in ("square", "wide", "nothing", "last", "no rows"):
        shape, entries = cases(2)[name]
        codec = Codec(shape)
        made = converters[fmt](**encode(fmt, codec, entries))
        assert sorted(decode("COO", codec, made)) == sorted(entries)


def test_arrays_that_do_not_fit() -> None:
    convert = Converter("COO", "CSR")
    row, col, val = np.zeros(2, np.int32), np.zeros(2, np.int32), np.ones(2)
    with pytest.raises(ValueError, match="3 elements"):
        convert(NR=1, NC=1, NNZ=3, row=row, col=col, val=val)
    with pytest.raises(TypeError, match="int32"):
        convert(NR=1, NC=1, NNZ=2, row=row.astype(np.int64), col=col, val=val)


def test_sizes_that_do_not_fit_the_index() -> None:
    convert = Converter("COO", "CSR")
    empty = np.zeros(0, np.int32)
    with pytest.raises(ConversionError) as caught:
        convert(NR=2**31, NC=1, NNZ=0, row=empty, col=empty, val=np.zeros(0))
    assert caught.value.status == RANGE
    huge = Converter("COO", "DENSE", index="64")
    with pytest.raises(ConversionError) as caught:
        huge(NR=2**40, NC=2**40, NNZ=0, row=empty.astype(np.int64), col=empty.astype(np.int64), val=np.zeros(0))
    assert caught.value.status == 1


def test_too_many_entries_for_the_index() -> None:
    """Counters must not overflow before anyone looks; no array is read."""
    convert = Converter("COO", "CSR")
    src = convert._ffi.new("coo_f64_i32 *")
    src.NR, src.NC, src.NNZ = 3, 3, 2**31
    dst = convert._ffi.new("csr_f64_i32 *")
    assert convert._library.tw_convert(src, dst) == RANGE and dst.rowptr == convert._ffi.NULL


def test_nothing_behind_a_pointer() -> None:
    convert = Converter("CSR", "COO")
    for missing in ("rowptr", "col", "val"):
        src, dst = convert._ffi.new("csr_f64_i32 *"), convert._ffi.new("coo_f64_i32 *")
        arrays = {"rowptr": np.array([0, 1], np.int32), "col": np.zeros(1, np.int32), "val": np.ones(1)}
        src.NR = src.NC = src.NNZ = 1
        keep = {n: convert._ffi.from_buffer(a) for n, a in arrays.items() if n != missing}
        for n, b in keep.items():
            setattr(src, n, convert._ffi.cast("double *" if n == "val" else "int32_t *", b))
        assert convert._library.tw_convert(src, dst) == RANGE, missing
    null = convert._ffi.NULL
    assert convert._library.tw_convert(null, dst) == RANGE and convert._library.tw_convert(src, null) == RANGE


ENDS = """format ENDS
shape NR, NC
map {{[{tuple}] -> [i, j] : u = j and w = i and w = idx(k) and 0 <= u < NC and begin(u) <= k < end(u) and 0 <= k < NNZ
     and 0 <= w < NR}}
access {{[{tuple}] -> [k]}}
data val fill 0
uf begin {{[x] : 0 <= x < NC}} -> {{[y] : 0 <= y <= NNZ}}
uf end {{[x] : 0 <= x < NC}} -> {{[y] : 0 <= y <= NNZ}}
uf idx {{[x] : 0 <= x < NNZ}} -> {{[y] : 0 <= y <= NR - 1}}
forall k1, k2 : k1 < k2 <=> LEX(dim1(k1), dim0(k1)) <= LEX(dim1(k2), dim0(k2))
"""


@pytest.mark.parametrize("order", ["w, k, u", "u, k, w"])
def test_the_promised_order_is_that_of_positions(order: str, tmp_path: Path) -> None:
    """However the entries are read: here by row or by column, where columns come first."""
    (tmp_path / "ends.fmt").write_text(ENDS.format(tuple=order))
    convert = Converter(str(tmp_path / "ends.fmt"), "COO")
    given = {"NR": 3, "NC": 2, "NNZ": 3, "val": np.arange(1.0, 4.0)}

    def read(begin: list[int], end: list[int], idx: list[int]) -> list[tuple[int, int]]:
        arrays = {"begin": begin, "end": end, "idx": idx}
        made = convert(**given, **{n: np.array(a, np.int32) for n, a in arrays.items()})
        return sorted(zip(made["row"].tolist(), made["col"].tolist(), strict=True))

    assert read([0, 2], [2, 3], [1, 2, 0]) == [(0, 1), (1, 0), (2, 0)]
    for wrong in (([0, 2], [2, 3], [2, 1, 0]), ([1, 0], [3, 1], [0, 1, 2])):
        with pytest.raises(ConversionError) as caught:
            read(*wrong)
        assert caught.value.status == UNSORTED


def test_nothing_at_all() -> None:
    for target in ("DIA", "ELL", "BCSR", "HICOO2", "DENSE"):
        given = {"NR": 0, "NC": 0, "NNZ": 0, "row": np.zeros(0, np.int32), "col": np.zeros(0, np.int32)}
        made = Converter("COO", target)(**given, val=np.zeros(0))
        assert made["val"].size == 0, target


def test_kernels_check_their_arguments() -> None:
    spmv = KernelCall("y(i) = A(i,j)*x(j)", {"A": "CSR"})
    a = {"NR": 2, "NC": 3, "NNZ": 1, "rowptr": np.array([0, 1, 1], np.int32), "col": np.zeros(1, np.int32),
         "val": np.ones(1)}
    y, x = np.zeros(2), np.ones(3)
    spmv(y=y, A=a, x=x)
    assert y.tolist() == [1, 0]
    for wrong, error, words in (({"y": np.zeros(1)}, ValueError, "y must have 2 elements"),
                                ({"x": np.ones(2)}, ValueError, "x must have 3 elements"),
                                ({"x": np.ones(6)[::2]}, ValueError, "contiguous"),
                                ({"x": np.ones(3, np.float32)}, TypeError, "float64"),
                                ({"x": [1, 2, 3]}, TypeError, "NumPy")):
        with pytest.raises(error, match=words):
            spmv(**{"y": y, "A": a, "x": x, **wrong})
    y.flags.writeable = False
    with pytest.raises(ValueError, match="y must be writable"):
        spmv(y=y, A=a, x=x)
