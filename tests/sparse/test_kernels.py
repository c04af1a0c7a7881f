"""Kernels over every format against NumPy."""
from __future__ import annotations

import itertools
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from codegen.sparse.api import Options
from codegen.sparse.emit.types import Types
from codegen.sparse.formats.load import load
from codegen.sparse.kernels.compose import kernel_file
from codegen.sparse.python.call import ConversionError
from codegen.sparse.python.kernel import KernelCall
from tests.sparse.inputs import cases
from tests.sparse.pairs import FORMATS
from tests.sparse.reference import Codec, decode, encode

MATRICES = ("COO", "SCOO", "MCOO", "CSR", "CSC", "DIA", "ELL", "BCSR", "BCSR:3x2", "CSF2", "HICOO2", "DENSE")
TENSORS = ("COO3", "MCOO3", "CSF", "HICOO", "DENSE3")
NAMES = ("square", "wide", "tall", "one", "nothing", "last", "hollow", "no rows")


def dense(shape: tuple[int, ...], entries: list) -> np.ndarray:
    out = np.zeros(shape)
    for c, v in entries:
        out[c] += v
    return out


@pytest.mark.parametrize("fmt", MATRICES)
def test_products_with_a_matrix(fmt: str) -> None:
    rng = np.random.default_rng(5)
    spmv = KernelCall("y(i) = A(i,j)*x(j)", {"A": fmt}, flags=("-O1",), parallel=True)
    transposed = KernelCall("y(j) = A(i,j)*x(i)", {"A": fmt}, flags=("-O1",))
    spmm = KernelCall("Y(i,k) += A(i,j)*X(j,k)", {"A": fmt}, flags=("-O1",))
    for name in NAMES:
        shape, entries = cases(2)[name]
        full, a = dense(shape, entries), encode(fmt, Codec(shape), entries)
        x, y = rng.random(shape[1]), np.full(shape[0], 7.0)
        spmv(y=y, A=a, x=x)
        np.testing.assert_allclose(y, full @ x, rtol=1e-12, atol=1e-10)
        x, y = rng.random(shape[0]), np.full(shape[1], 7.0)
        transposed(y=y, A=a, x=x)
        np.testing.assert_allclose(y, full.T @ x, rtol=1e-12, atol=1e-10)
        xs, ys = rng.random((shape[1], 5)), np.full((shape[0], 5), 7.0)
        spmm(Y=ys, A=a, X=xs, n_k=5)
        np.testing.assert_allclose(ys, full @ xs + 7, rtol=1e-12, atol=1e-10)


@pytest.mark.parametrize("fmt", ("COO", "CSR", "CSC", "CSF2", "HICOO2"))
def test_sampled_product(fmt: str) -> None:
    rng = np.random.default_rng(5)
    sddmm = KernelCall("C(i,j) = A(i,j)*X(i,k)*Y(k,j)", {"A": fmt, "C": fmt}, flags=("-O1",))
    shape, entries = cases(2)["wide"]
    a = encode(fmt, Codec(shape), entries)
    x, y, out = rng.random((shape[0], 6)), rng.random((6, shape[1])), np.zeros(len(entries))
    sddmm(C=out, A=a, X=x, Y=y, n_k=6)
    from tests.sparse.reference import decode

    got = decode(fmt, Codec(shape), {**a, "val": out})
    np.testing.assert_allclose(dense(shape, got), dense(shape, entries) * (x @ y), rtol=1e-12)


@pytest.mark.parametrize("fmt", TENSORS)
def test_tensor_kernels(fmt: str) -> None:
    rng = np.random.default_rng(5)
    mttkrp = KernelCall("M(i,r) = X(i,j,k)*B(j,r)*C(k,r)", {"X": fmt}, flags=("-O1",))
    ttm = KernelCall("Y(i,j,r) = X(i,j,k)*U(k,r)", {"X": fmt}, flags=("-O1",))
    for name in NAMES:
        shape, entries = cases(3)[name]
        full, a = dense(shape, entries), encode(fmt, Codec(shape), entries)
        b, c = rng.random((shape[1], 4)), rng.random((shape[2], 4))
        m, y = np.ones((shape[0], 4)), np.ones((*shape[:2], 4))
        mttkrp(M=m, X=a, B=b, C=c, n_r=4)
        np.testing.assert_allclose(m, np.einsum("ijk,jr,kr->ir", full, b, c), rtol=1e-10, atol=1e-9)
        ttm(Y=y, X=a, U=c, n_r=4)
        np.testing.assert_allclose(y, np.einsum("ijk,kr->ijr", full, c), rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize("formats", (("CSR", "CSR", "CSR"), ("COO", "DIA", "CSC"), ("BCSR", "ELL", "DIA")))
def test_sparse_sum(formats: tuple[str, str, str]) -> None:
    from tests.sparse.reference import decode

    a, b, c = formats
    add = KernelCall("C(i,j) = A(i,j) - B(j,i)", {"A": a, "B": b, "C": c}, flags=("-O1",))
    (shape, left), (_, right) = cases(2)["square"], cases(2)["hollow"]
    right = [e for e in right if max(e[0]) < 9]
    codec = Codec(shape)
    made = add(A=encode(a, codec, left), B=encode(b, codec, right))
    assert made is not None
    np.testing.assert_array_equal(dense(shape, decode(c, codec, made)), dense(shape, left) - dense(shape, right).T)
    with pytest.raises(ConversionError):
        add(A=encode(a, Codec((3, 4)), []), B=encode(b, Codec((3, 4)), []))


@pytest.mark.parametrize("fmt, convert", (("CSR", {}), ("CSC", {}), ("ELL", {}), ("COO", {"L": "CSR"}),
                                          ("CSR", {"L": "CSC"})))
@pytest.mark.parametrize("upper", (False, True))
def test_triangular_system_with_several_right_sides(fmt: str, convert: dict, upper: bool) -> None:
    n, sides = 40, 5
    rng = np.random.default_rng(2)
    full = np.where(rng.random((n, n)) < 0.2, rng.random((n, n)), 0) + np.diag(2 + rng.random(n))
    text = f"L(i,j)*X(j,k) = B(i,k){', j >= i' if upper else ''}"
    solve = KernelCall(text, {"L": fmt}, convert=convert, flags=("-O1", "-Wall", "-Werror"), parallel=not upper)
    entries = [((int(i), int(j)), full[i, j]) for i, j in zip(*np.nonzero(full), strict=True)]
    b, x = rng.random((n, sides)), np.zeros((n, sides))
    solve(X=x, L=encode(fmt, Codec((n, n)), entries), B=b, n_k=sides)
    np.testing.assert_allclose(np.triu(full) @ x if upper else np.tril(full) @ x, b, rtol=1e-10)
    with pytest.raises(ConversionError, match="singular"):
        solve(X=x, L=encode(fmt, Codec((n, n)), [e for e in entries if e[0] != (3, 3)]), B=b, n_k=sides)


@pytest.mark.parametrize("fmt, convert", (("CSR", {}), ("CSC", {}), ("DIA", {}), ("ELL", {}), ("COO", {"L": "CSR"})))
@pytest.mark.parametrize("upper", (False, True))
def test_triangular_system(fmt: str, convert: dict, upper: bool) -> None:
    n = 40
    rng = np.random.default_rng(2)
    full = np.where(rng.random((n, n)) < 0.2, rng.random((n, n)), 0) + np.diag(2 + rng.random(n))
    solve = KernelCall(f"L(i,j)*x(j) = b(i){', j >= i' if upper else ''}", {"L": fmt}, convert=convert, flags=("-O1",))
    entries = [((int(i), int(j)), full[i, j]) for i, j in zip(*np.nonzero(full), strict=True)]
    b, x = rng.random(n), np.zeros(n)
    solve(x=x, L=encode(fmt, Codec((n, n)), entries), b=b)
    np.testing.assert_allclose(np.triu(full) @ x if upper else np.tril(full) @ x, b, rtol=1e-10)
    with pytest.raises(ConversionError, match="singular"):
        solve(x=x, L=encode(fmt, Codec((n, n)), [e for e in entries if e[0] != (3, 3)]), b=b)


@pytest.mark.parametrize("upper", (False, True))
@pytest.mark.parametrize("parallel", (False, True))
def test_where_the_diagonal_of_a_triangle_is(upper: bool, parallel: bool) -> None:
    """At the end of each row, where nothing is asked of the others; elsewhere, in two parts, zero, or missing."""
    rng = np.random.default_rng(8)
    solve = KernelCall(f"L(i,j)*x(j) = b(i){', j >= i' if upper else ''}", {"L": "CSR"}, parallel=parallel,
                       flags=("-O1", "-Wall", "-Werror"))
    for n in (0, 1, 2, 7, 33):
        full = np.where(rng.random((n, n)) < 0.3, rng.random((n, n)), 0) + np.diag(2 + rng.random(n))
        full = np.triu(full) if upper else np.tril(full)
        entries = [((int(i), int(j)), full[i, j]) for i, j in zip(*np.nonzero(full), strict=True)]
        twice = [(c, v / 2) for c, v in entries if c[0] == c[1]]
        for given in (entries, entries[::-1], [*[e for e in entries if e[0][0] != e[0][1]], *twice, *twice],
                      [*entries, *((c[::-1], 9.0) for c, _ in entries if c[0] != c[1])]):
            b, x = rng.random(n), np.zeros(n)
            solve(x=x, L=encode("CSR", Codec((n, n)), given), b=b)
            np.testing.assert_allclose(full @ x, b, rtol=1e-10)
        for given in ([(c, 0.0 if c == (n // 2, n // 2) else v) for c, v in entries],
                      [e for e in entries if e[0] != (n // 2, n // 2)]) if n else ():
            with pytest.raises(ConversionError, match="singular"):
                solve(x=x, L=encode("CSR", Codec((n, n)), given), b=b)


def test_conversion_and_kernel_in_one_function() -> None:
    shape, entries = cases(2)["wide"]
    spmv = KernelCall("y(i) = A(i,j)*x(j)", {"A": "COO"}, convert={"A": "BCSR"}, flags=("-O1",))
    x, y = np.arange(shape[1], dtype=float), np.zeros(shape[0])
    spmv(y=y, A=encode("COO", Codec(shape), entries), x=x)
    np.testing.assert_allclose(y, dense(shape, entries) @ x)


def test_kernels_are_free_of_warnings(tmp_path: Path) -> None:
    """Over every built-in format, with and without OpenMP."""
    kernels = {
        1: ("y(i) = A(i)", "Y(i,r) = A(i)*U(i,r)"),
        2: ("y(i) = A(i,j)*x(j)", "y(j) += A(i,j)*x(i)", "Y(i,r) = A(i,j)*U(j,r)", "s(r) = A(i,j)*U(i,r)"),
        3: ("M(i,r) = A(i,j,k)*B(j,r)*C(k,r)", "Y(i,j,r) = A(i,j,k)*U(k,r)", "y(i) = A(i,j,k)*x(k)"),
        4: ("y(i) = A(i,j,k,l)*x(l)", "Y(l,r) = A(i,j,k,l)*U(j,r)"),
    }
    types = itertools.cycle((Types(), Types("f32", "64"), Types("i32", "32"), Types("i64", "64")))
    files = []
    for rank, formats in FORMATS.items():
        for fmt, text in itertools.product(formats, kernels[rank]):
            file = tmp_path / f"k{len(files)}.c"
            file.write_text(kernel_file(text, {"A": load(fmt)}, Options(next(types), name="k")).file.source)
            files.append(str(file))
    for more in ((), ("-fopenmp",)):
        words = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", *more, *files]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:3000]


def test_nothing_is_read_where_there_is_no_diagonal(tmp_path: Path) -> None:
    """The first and the last offset decide for a whole row, but only where there are any."""
    main = ("int main(void) { dia_f64_i32 a = {.NR = 3, .NC = 4}; double x[4] = {1}, y[3] = {9, 9, 9};\n"
            "    a.off = malloc(1); a.val = malloc(1); int status = k(y, &a, x); dia_f64_i32_free(&a);\n"
            "    return status || y[0] || y[1] || y[2]; }\n")
    made = kernel_file("y(i) = A(i,j)*x(j)", {"A": load("DIA")}, Options(name="k"))
    (tmp_path / "k.c").write_text(made.file.source + "\n" + main)
    words = ["cc", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "k.c", "-o", "k"]
    if subprocess.run(words, cwd=tmp_path, capture_output=True, check=False).returncode:
        pytest.skip("no sanitizers here")
    leaks = {**os.environ, "ASAN_OPTIONS": "detect_leaks=1"}
    done = subprocess.run([tmp_path / "k"], capture_output=True, text=True, check=False, env=leaks)
    assert done.returncode == 0, done.stderr[:2000]


EXPRESSIONS = {  # what it computes with A, x, y, b, d dense, a = 1.5
    "y(i) = a*A(i,j)*x(j) + 2*y(i)": lambda A, x, y, b, d: 1.5 * (A @ x) + 2 * y,
    "y(i) = b(i) - A(i,j)*x(j)": lambda A, x, y, b, d: b - A @ x,
    "y(i) += 0.25*A(i,j)*x(j)": lambda A, x, y, b, d: y + 0.25 * (A @ x),
    "y(i) = A(i,j)*x(j)/d(i) - a*b(i)": lambda A, x, y, b, d: (A @ x) / d - 1.5 * b,
    "y(i) = A(i,j)*x(j)/3": lambda A, x, y, b, d: (A @ x) / 3,
    "y = b(i)*A(i,j)*x(j)": lambda A, x, y, b, d: np.array([b @ A @ x]),
}


@pytest.mark.parametrize("text", EXPRESSIONS)
@pytest.mark.parametrize("fmt", ("CSR", "DIA"))
def test_scalars_and_dense_terms(fmt: str, text: str) -> None:
    kernel = KernelCall(text, {"A": fmt}, flags=("-O1",))
    for name in ("square", "wide", "tall", "nothing", "no rows", "hollow"):
        shape, entries = cases(2)[name]
        full = dense(shape, entries)
        rng = np.random.default_rng(3)
        x, y, b, d = rng.random(shape[1]), rng.random(max(shape[0], 1)), rng.random(shape[0]), 1 + rng.random(shape[0])
        y = y[:1 if text[:3] == "y =" else shape[0]].copy()
        want = EXPRESSIONS[text](full, x, y, b, d)
        given = {"x": x, "y": y, "b": b, "d": d, "a": 1.5, "A": encode(fmt, Codec(shape), entries)}
        kernel(**{n: given[n] for n in kernel.wanted})
        np.testing.assert_allclose(y, want, rtol=1e-12, atol=1e-12)


def test_scaled_results_and_sums() -> None:
    shape, entries = cases(2)["square"]
    a = encode("CSR", Codec(shape), entries)
    made = np.zeros(len(entries))
    d = np.arange(1.0, shape[0] + 1)
    KernelCall("C(i,j) = 0.5*A(i,j)/d(i)", {"A": "CSR", "C": "CSR"}, flags=("-O1",))(C=made, A=a, d=d)
    rows = np.repeat(np.arange(shape[0]), np.diff(a["rowptr"]))
    np.testing.assert_allclose(made, 0.5 * a["val"] / d[rows])
    out = KernelCall("C(i,j) = a*A(i,j) - 2*B(j,i)", dict.fromkeys("ABC", "CSR"), flags=("-O1",))(A=a, B=a, a=3.0)
    full, got = dense(shape, entries), dense(shape, decode("CSR", Codec(shape), out))
    np.testing.assert_allclose(got, 3 * full - 2 * full.T)


PRODUCTS = {  # formats of A, B and C, options, and what it computes
    "C(i,k) = A(i,j) * B(j,k)": (("CSR", "CSR", "CSR"), {"parallel": True}, lambda a, b: a @ b),
    "C(i,k) = 2*A(j,i) * B(k,j)": (("COO", "CSC", "DIA"), {"index": "64"}, lambda a, b: 2 * a.T @ b.T),
    "C(i,k) = A(j,i) * B(j,k) - s*A(i,k)": (("CSC", "ELL", "CSC"), {"value": "i32"}, lambda a, b: a.T @ b - 3 * a),
}


MASKED = {  # formats, options, and what it computes of dense matrices
    "C(i,j) = A(i,j) * B(i,j)": ("CSR CSR CSR", {"parallel": True}, lambda a, b: a * b),
    "C(i,j) = s*A(i,j) * B(j,i) * A(i,j) + B(j,i)": ("COO CSC DIA", {"index": "64"},
                                                     lambda a, b: 3 * a * a * b.T + b.T),
    "C(i,k) = M(i,k) * A(i,j) * B(j,k)": ("CSR CSR CSR CSR", {"parallel": True}, lambda a, b, m: m * (a @ b)),
    "C(i,k) = A(i,j) * B(k,j) * M(k,i) - M(k,i)": ("CSC COO CSC ELL", {"value": "i32"},
                                                 lambda a, b, m: m.T * (a @ b.T) - m.T),
}


@pytest.mark.parametrize("text", MASKED)
def test_sparse_times_sparse_element_by_element(text: str) -> None:
    """Elementwise products, and products of which only the elements in a mask are wanted."""
    words, options, expected = MASKED[text]
    formats = dict(zip("CAB" + "M" * ("M(" in text), words.split(), strict=True))
    kernel = KernelCall(text, formats, flags=("-O1", "-Wall", "-Werror"), **options)
    types = ("int32" if "value" in options else "float64", options.get("index", "32"))
    rng, scalars = np.random.default_rng(7), {"s": 3} if "s*" in text else {}
    for i, j, k in ((9, 7, 4), (40, 40, 40), (1, 1, 1), (0, 3, 5)):
        sizes = {"i": i, "j": j, "k": k}
        given, parts = {}, []
        for t in sorted(set(formats) - {"C"}):
            first, second = re.search(rf"{t}\((\w),(\w)\)", text).groups()
            shape = sizes[first], sizes[second]
            x = np.where(rng.random(shape) < 0.4, rng.integers(1, 9, shape), 0)
            entries = [(tuple(map(int, c)), float(x[tuple(c)])) for c in np.argwhere(x)]
            given[t] = encode(formats[t], Codec(shape, *types), entries)
            parts.append(x)
        made, want = kernel(**given, **scalars), expected(*parts)
        np.testing.assert_array_equal(dense(want.shape, decode(formats["C"], Codec(want.shape, *types), made)), want)
    wrong = {t: encode(f, Codec((n + 2, 3), *types), []) for n, (t, f) in enumerate(formats.items()) if t != "C"}
    with pytest.raises(ConversionError):
        kernel(**wrong, **scalars)


RINGS = {"min-plus": (np.minimum, np.add, np.inf), "max-times": (np.maximum, np.multiply, -np.inf),
         "max-min": (np.maximum, np.minimum, -np.inf), "or-and": (np.bitwise_or, np.bitwise_and, 0)}


@pytest.mark.parametrize("name, fmt", [*zip(RINGS, ("CSR", "ELL", "DIA", "BCSR"), strict=True)])
def test_semirings(name: str, fmt: str) -> None:
    """Entries that are not there take no part, stored zeros of padded formats neither."""
    plus, times, zero = RINGS[name]
    whole = name == "or-and"
    value, dtype = ("i32", "int32") if whole else ("f64", "float64")
    rng, n = np.random.default_rng(3), 23
    there = rng.random((3, n, n)) < 0.2
    a, b, m = (rng.integers(1, 9, (3, n, n)) * (1 if whole else 0.5)).astype(dtype)
    x = rng.integers(-9, 9, (n, 4)).astype(dtype)

    def of(values: np.ndarray, inside: np.ndarray, f: str) -> dict:
        entries = [(tuple(map(int, c)), float(values[tuple(c)])) for c in np.argwhere(inside)]
        return encode(f, Codec((n, n), dtype), entries)

    def product(left: np.ndarray, right: np.ndarray, inside: np.ndarray) -> np.ndarray:
        out = np.full((left.shape[0], right.shape[1]), zero, dtype)
        for i, j in np.argwhere(inside):
            out[i] = plus(out[i], times(left[i, j], right[j]))
        return out

    call = {"value": value, "flags": ("-O1", "-Wall", "-Werror"), "semiring": name}
    spmm = KernelCall("Y(i,k) = A(i,j) * X(j,k)", {"A": fmt}, **call)
    y = np.zeros((n, 4), dtype)
    spmm(Y=y, A=of(a, there[0], fmt), X=x, n_k=4)
    np.testing.assert_array_equal(y, product(a, x, there[0]))
    spmv = KernelCall("y(i) = 2*A(i,j) * x(j) + b(i)", {"A": fmt}, **call)
    y = np.zeros(n, dtype)
    spmv(y=y, A=of(a, there[0], fmt), x=x[:, 0].copy(), b=x[:, 1].copy())
    np.testing.assert_array_equal(y, plus(x[:, 1], times(np.array(2, dtype), product(a, x[:, :1], there[0])[:, 0])))
    spgemm = KernelCall("C(i,k) = M(i,k) * A(i,j) * B(j,k)", dict.fromkeys("MABC", "CSR"), **call)
    made = spgemm(M=of(m, there[2], "CSR"), A=of(a, there[0], "CSR"), B=of(b, there[1], "CSR"))
    for i in range(n):
        for k in np.flatnonzero(there[2][i]):
            both = np.flatnonzero(there[0][i] & there[1][:, k])
            at = [p for p in range(made["rowptr"][i], made["rowptr"][i + 1]) if made["col"][p] == k]
            assert len(at) == bool(both.size)
            if both.size:
                assert made["val"][at[0]] == plus.reduce(times(m[i, k], times(a[i, both], b[both, k])))


@pytest.mark.parametrize("text", PRODUCTS)
def test_sparse_times_sparse(text: str) -> None:
    formats, options, expected = PRODUCTS[text]
    kernel = KernelCall(text, dict(zip("ABC", formats, strict=True)), flags=("-O1", "-Wall", "-Werror"), **options)
    types = ("int32" if "value" in options else "float64", options.get("index", "32"))
    rng, scalars = np.random.default_rng(5), {"s": 3} if "s*" in text else {}
    for n, m, o in ((9, 7, 4), (40, 40, 40), (1, 1, 1), (5, 5, 5)):
        shapes = ((n, m), (m, o)) if "A(i,j)" in text else ((n, n), (n, n))
        a, b = (np.where(rng.random(s) < 0.2, rng.integers(1, 9, s), 0) for s in shapes)
        given = {}
        for t, f, x in zip("AB", formats, (a, b), strict=False):
            entries = [(tuple(map(int, c)), float(x[tuple(c)])) for c in np.argwhere(x)]
            given[t] = encode(f, Codec(x.shape, *types), entries)
        made, want = kernel(**given, **scalars), expected(a, b)
        np.testing.assert_array_equal(dense(want.shape, decode(formats[2], Codec(want.shape, *types), made)), want)
        if formats[2] == "CSR":
            assert all((np.diff(made["col"][p:q]) > 0).all() for p, q in itertools.pairwise(made["rowptr"]))
    wrong = {t: encode(f, Codec(s, *types), []) for t, f, s in zip("AB", formats, ((2, 3), (4, 4)), strict=False)}
    with pytest.raises(ConversionError):
        kernel(**wrong, **scalars)
