"""Coordinates in one number (INTERLEAVE, ALTO): written and read, in all types, up to the widest codes, by kernels."""
from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from codegen.diagnostics import InputError
from codegen.sparse.algebra.evaluate import decoded, interleaved
from codegen.sparse.algebra.expr import Code, Name, atom, var
from codegen.sparse.algebra.terms import names, solve
from codegen.sparse.formats.load import load
from codegen.sparse.formats.read import read
from codegen.sparse.prove.proof import proven
from codegen.sparse.python.call import ConversionError, Converter
from codegen.sparse.python.kernel import KernelCall
from tests.sparse.brute import Brute
from tests.sparse.inputs import cases
from tests.sparse.reference import Codec, alto, decode, encode
from tests.sparse.test_conversions import pairs


def test_a_code_is_solved_for_its_numbers() -> None:
    code = atom(Code((var("i"), var("j")), (var("NR"), var("NC"))))
    found = solve(var("z") - code, Name("j"))
    assert str(found) == "DECODE1[NR, NC](z)" and found is not None and names(found) == {"z"}
    assert solve(var("i") - code, Name("i")) is None and solve(code * 2, Name("i")) is None


@pytest.mark.parametrize("shape", ((1, 1), (5, 23), (64, 3), (7, 1, 9), (2, 33, 5, 17)))
def test_codes_tell_elements_apart(shape: tuple[int, ...]) -> None:
    every = list(itertools.product(*map(range, shape)))
    codes = [interleaved(c, shape) for c in every]
    assert len(set(codes)) == len(every) and codes == [alto(c, shape) for c in every]
    assert [tuple(decoded(x, shape)) for x in codes] == every


@pytest.mark.parametrize("values, indices", (("f32", "64"), ("i64", "32")))
def test_types(values: str, indices: str) -> None:
    words = ("2", "--formats", "COO,CSR,DIA,MCOO,ALTO2", "--with", "ALTO2", "--values", values, "--indices", indices)
    assert " 0 failures" in pairs(*words, sanitize=False)


@pytest.mark.slow
@pytest.mark.parametrize("values, indices", [*itertools.product(("f32", "f64", "i32", "i64"), ("32", "64"))])
def test_every_type_with_sanitizers(values: str, indices: str) -> None:
    words = ("3", "--formats", "COO3,CSF,ALTO", "--with", "ALTO", "--values", values, "--indices", indices)
    assert " 0 failures" in pairs(*words)


@pytest.mark.slow
def test_threads_give_the_same_bits() -> None:
    words = ("4", "--formats", "MCOO4,ALTO4", "--with", "ALTO4", "--threads", "3", "--policies", "sum")
    assert " 0 failures" in pairs(*words, sanitize=False)


def test_what_is_stored() -> None:
    for name in ("wide", "tall", "one", "hollow", "no rows"):
        shape, entries = cases(3)[name]
        made = Converter("COO3", "ALTO")(**encode("COO3", Codec(shape), entries))
        assert sorted(Brute(load("ALTO"), made).entries()) == sorted(entries), name


def test_wide_codes() -> None:
    """63 bits with 64-bit indices, no more; 31 bits with 32-bit ones."""
    rng = random.Random(2)
    shape = (1 << 40, 5, (1 << 20) + 3 - 4)
    entries = sorted({tuple(rng.randrange(n) for n in shape) for _ in range(50)} | {tuple(n - 1 for n in shape)})
    given = encode("COO3", Codec(shape, index="64"), [(c, float(n)) for n, c in enumerate(entries)])
    made = Converter("COO3", "ALTO", index="64")(**given)
    codes = [alto(c, shape) for c in entries]
    assert made["lin"].tolist() == sorted(codes) and max(codes) >> 62 == 1
    back = Converter("ALTO", "COO3", index="64", check=True)(**made)
    assert sorted(decode("COO3", Codec(shape, index="64"), back)) == [(c, float(n)) for n, c in enumerate(entries)]
    for rows, index in ((1 << 41, "64"), (1 << 10, "32")):
        with pytest.raises(ConversionError) as caught:
            Converter("COO3", "ALTO", index=index)(**encode("COO3", Codec((rows, *shape[1:]), index=index), []))
        assert caught.value.status == 2


@pytest.fixture(scope="module")
def tensor() -> tuple[dict, np.ndarray]:
    shape, entries = (13, 6, 9), [((i, j, k), float(1 + (7 * i + 3 * j + k) % 5)) for i in range(13) for j in range(6)
                                  for k in range(9) if (i * j + 5 * k) % 7 < 2]
    full = np.zeros(shape)
    for c, v in entries:
        full[c] = v
    return encode("ALTO", Codec(shape), entries), full


def test_kernels_on_tensors(tensor: tuple[dict, np.ndarray]) -> None:
    rng = np.random.default_rng(4)
    given, full = tensor
    b, c, v = rng.random((6, 5)), rng.random((9, 5)), rng.random(9)
    out = np.zeros((13, 5))
    KernelCall("M(i,r) = X(i,j,k)*B(j,r)*C(k,r)", {"X": "ALTO"})(M=out, X=given, B=b, C=c, n_r=5)
    np.testing.assert_allclose(out, np.einsum("ijk,jr,kr->ir", full, b, c))
    flat = np.zeros((13, 6))
    KernelCall("Y(i,j) = X(i,j,k)*v(k)", {"X": "ALTO"})(Y=flat, X=given, v=v)
    np.testing.assert_allclose(flat, full @ v)


def test_kernels_on_matrices() -> None:
    shape, entries = cases(2)["tall"]
    given, full = encode("ALTO2", Codec(shape), entries), np.zeros(shape)
    for at, value in entries:
        full[at] += value
    x, y = np.arange(1.0, shape[1] + 1), np.ones(shape[0])
    KernelCall("y(i) = A(i,j)*x(j) + 2*y(i)", {"A": "ALTO2"})(y=y, A=given, x=x)
    np.testing.assert_allclose(y, full @ x + 2)
    square = KernelCall("C(i,k) = A(i,j)*B(k,j)", {"A": "ALTO2", "B": "ALTO2", "C": "ALTO2"})(A=given, B=given)
    got = np.zeros((shape[0], shape[0]))
    for at, value in decode("ALTO2", Codec((shape[0], shape[0])), square):
        got[at] = value
    np.testing.assert_allclose(got, full @ full.T)


CODED = """format F
shape NR, NC
map {[n] -> [i, j] : lin(n) = INTERLEAVE(i, j) and 0 <= i < NR and 0 <= j < NC and 0 <= n < NNZ}
access {[n] -> [n]}
data val
uf lin {[x] : 0 <= x < NNZ} -> {[y] : 0 <= y}
"""


def test_what_no_promise_is_made_of() -> None:
    """Codes in any order: read as they come, written as the entries came."""
    d = read("f.fmt", CODED)
    proven(d)
    given = {"NR": 5, "NC": 3, "NNZ": 2, "lin": np.array([alto((4, 2), (5, 3)), 0]), "val": np.array([2.0, 3.0])}
    assert Brute(d, given).entries() == [((4, 2), 2.0), ((0, 0), 3.0)]


@pytest.mark.parametrize("old, new, words", (
    ("0 <= j < NC", "0 <= j", "j, which has no extent"),
    ("0 <= j < NC", "j < NC", "no variable with 0 <= j"),
    ("(i, j) and", "(i, j + 1) and", "INTERLEAVE of j + 1"),
    ("(i, j) and", "(i, j, i, j, i) and", "takes four at most"),
    ("(i, j) and", "(i, i) and", "does not follow from the tuple"),
))
def test_refused(old: str, new: str, words: str) -> None:
    assert old in CODED
    with pytest.raises(InputError) as caught:
        proven(read("f.fmt", CODED.replace(old, new)))
    assert words in caught.value.message
