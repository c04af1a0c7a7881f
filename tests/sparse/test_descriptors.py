"""Every descriptor is understood whole, or refused by name; brute force is the judge of what is accepted."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.diagnostics import InputError
from codegen.sparse.algebra.affine import implied
from codegen.sparse.algebra.expr import num, product, var
from codegen.sparse.algebra.poly import poly_of, scaled
from codegen.sparse.algebra.relation import Constraint
from codegen.sparse.emit.types import Types
from codegen.sparse.formats.load import load
from codegen.sparse.formats.read import read
from codegen.sparse.prove.proof import proven
from codegen.sparse.python.call import Converter
from tests.sparse.brute import Brute
from tests.sparse.fuzz import run
from tests.sparse.harness import Batch
from tests.sparse.reference import Codec, Entry, decode, encode

FOLDER = Path(__file__).parent / "formats"
# What each format has a place for.
PARTS = {"sell": lambda i, j: True, "ellr": lambda i, j: True, "grid": lambda i, j: True, "csrbe": lambda i, j: True,
         "band": lambda i, j: abs(i - j) <= 1, "tril": lambda i, j: j <= i, "lower": lambda i, j: j <= i}


def _path(name: str) -> str:
    return str(FOLDER / f"{name}.fmt")


def _entries(shape: tuple[int, int], name: str, step: int) -> list[Entry]:
    places = [(i, j) for i in range(shape[0]) for j in range(shape[1]) if PARTS[name](i, j)]
    return [(c, float(n + 1)) for n, c in enumerate(reversed(places[::step]))]


@pytest.fixture(scope="module")
def batch() -> Batch:
    pairs = [pair for n in PARTS for pair in (("COO", _path(n)), (_path(n), "COO"))]
    jobs = [(*pair, "", fast) for pair in pairs for fast in (True, False)]
    return Batch(jobs, Types(), ("-O0",), 2)


@pytest.mark.parametrize("name", sorted(PARTS))
def test_there_and_back(name: str, batch: Batch) -> None:
    path = _path(name)
    for shape, step in (((9, 4), 2), ((5, 7), 3), ((1, 1), 1), ((4, 4), 99), ((0, 3), 1), ((3, 0), 1)):
        entries = _entries(shape, name, step)
        given = encode("COO", Codec(shape), entries)
        made, *others = [batch.run(("COO", path, "", fast), given, threads)[1]
                         for fast, threads in ((True, 0), (False, 0), (True, 2))]
        assert sorted(Brute(load(path), made).entries()) == sorted(entries), shape
        assert all(np.array_equal(made[k], o[k]) for o in others for k in made), shape
        _, back = batch.run((path, "COO", "", True), made)
        assert sorted(decode("COO", Codec(shape), back)) == sorted(entries), shape


@pytest.mark.parametrize("name", ("band", "tril", "lower"))
def test_an_entry_outside_is_found(name: str, batch: Batch) -> None:
    given = encode("COO", Codec((4, 4)), [((0, 0), 1.0), ((1, 3), 2.0)])
    for fast, threads in ((True, 0), (False, 0), (True, 2)):
        assert batch.run(("COO", _path(name), "", fast), given, threads)[0] == 2


def test_gaps_between_begin_and_end() -> None:
    """Rows of a source may lie anywhere, and what lies between them is no entry."""
    given = {"NR": 3, "NC": 4, "NNZ": 6, "begin": np.array([4, 2, 0], np.int32), "end": np.array([6, 2, 1], np.int32),
             "col": np.array([1, 3, 3, 3, 0, 2], np.int32), "val": np.array([5.0, 9, 9, 9, 1, 2])}
    for target in ("COO", "CSR", "CSC"):
        made = Converter(str(FOLDER / "csrbe.fmt"), target)(**given)
        assert sorted(decode(target, Codec((3, 4)), made)) == [((0, 0), 1.0), ((0, 2), 2.0), ((2, 1), 5.0)]


def _text(name: str, old: str, new: str) -> str:
    text = (FOLDER / f"{name}.fmt").read_text() if (FOLDER / f"{name}.fmt").exists() else load(name).text
    assert old in text
    return text.replace(old, new)


REFUSED = {
    "length that nobody fills": (_text("ellr", "0 <= s < len(ii)", "len(ii) <= K"), 8, "len is never filled"),
    "no fill": (_text("ELL", " fill -1", ""), 7, "has elements without an entry"),
    "fill that may be an entry": (_text("ELL", "fill -1", "fill 0"), 7, "could be an entry"),
    "zeros beyond the counts": (_text("ellr", "0 <= c < NC", "1 <= c < NC"), 9, "filled with 0, which lies outside"),
    "fill out of range": (_text("ELL", "-1 <= y", "0 <= y"), 7, "outside its range"),
    "values without fill": (_text("DIA", "val fill 0", "val"), 3, "places without an entry"),
    "bound on a position": (_text("CSR", "0 <= k < NNZ", "0 <= k < NNZ and k <= 3*ii"), 3, "is not understood"),
    "two tuples of one index": (_text("band", "2*ii + jj", "ii + jj"), 5, "two tuples could have the same index"),
    "two entries of one index": (_text("ELL", "K*ii + s", "s"), 5, "two entries could have the same index"),
    "packed too tightly": (_text("tril", "(ii*(ii + 1)) div 2", "(ii*ii) div 2"), 5, "come out even"),
    "index from an array": (_text("sell", "4*s + r", "sptr(sl) + 4*s + r"), 7, "access reads sptr"),
    "a shorter array": (_text("CSR", "0 <= x <= NR", "0 <= x < NR"), 7, "rowptr(ii + 1) may lie outside"),
    "a longer array": (_text("COO", "uf row {[x] : 0 <= x < NNZ}", "uf row {[x] : 0 <= x <= NNZ}"), 7, "nothing fills"),
    "a narrow range": (_text("CSR", "0 <= y <= NNZ", "0 <= y < NNZ"), 7, "its range is smaller"),
    "ends beyond the begins": (_text("csrbe", "uf end {[y] : 0 <= y < NR}", "uf end {[y] : 0 <= y <= NR}"), 9,
                               "differ"),
    "an unknown symbol": (_text("CSR", "0 <= jj < NC", "0 <= jj < M"), 3, "nothing says what M is"),
    "sizes alone": (_text("COO", "0 <= n < NNZ", "0 <= n < NNZ and NR <= 100"), 3, "sizes alone"),
    "a box from 1": (_text("COO", "uf row {[x] : 0 <= x", "uf row {[x] : 1 <= x"), 7, "no box"),
    "two ways": (_text("COO", "ii = i and", "ii = i and row(n+1) = j and"), 7, "used in two ways"),
    "pointers that must grow": (_text("CSR", "rowptr(ii1) <= rowptr(ii2)", "rowptr(ii1) < rowptr(ii2)"), 9,
                                "stays as it is"),
    "a second order": (_text("SCOO", "data val\n", "data val\nforall n1, n2 : n1 < n2 <=> col(n1) <= col(n2)\n"), 10,
                       "a second order"),
    "an order of what counts nothing": (_text("CSR", "data val\n", "data val\nforall jj1, jj2 : jj1 < jj2 <=> "
                                              "dim0(jj1) <= dim0(jj2)\n"), 7, "counts nothing"),
}


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_refused_by_name(name: str) -> None:
    text, line, words = REFUSED[name]
    with pytest.raises(InputError) as caught:
        proven(read("f.fmt", text))
    assert caught.value.id == "unsolved-format" and words in caught.value.message, caught.value.message
    assert caught.value.loc.line == line


def test_random_descriptors() -> None:
    """`python -m tests.sparse.fuzz --count 1000` tries more."""
    tried = run(5, 3, ("-O0",))
    assert not tried.wrong, tried.wrong[0]
    assert tried.right >= 2 and tried.runs >= 16


def test_what_isl_is_asked() -> None:
    x, n, s = var("x"), var("n"), product(var("n"), var("x"))
    assert implied((Constraint(x), Constraint(n - x - 1)), Constraint(n - 1))
    assert implied((Constraint(s - 3),), Constraint(s - 2)) and not implied((Constraint(s),), Constraint(x))
    assert not implied((Constraint(x),), Constraint(x, True))
    half = poly_of(read_index("(x*(x + 1)) div 2"))
    assert half is not None and poly_of(read_index("(x*x) div 2")) is None
    assert scaled(half) == (product(x, x) + x) * 2
    assert poly_of(num(4)) == {(): 4}


def read_index(text: str):
    from codegen.sparse.algebra.parse import Reader

    return Reader("", text).exp()
