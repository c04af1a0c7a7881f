"""Kernels of the sparse benchmark over compressed rows: each with SciPy's C++ loop where there is one, and plain loops.

Plain loops are what a compiler of sparse expressions writes for the notation, by hand and in our words, built with
-O3 -ffast-math: the peer for kernels that SciPy lacks, and for all where TACO's command is not installed.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import _sparsetools as tools

from benchmarks.sparse_matrices import Matrix, make, tensor
from benchmarks.sparse_pairs import csr
from codegen.sparse.python.build import load_library
from codegen.sparse.python.call import Converter
from codegen.sparse.python.kernel import KernelCall

Arrays = dict[str, Any]
WIDTH = 16  # columns of dense operands

_DECLARED = """
void set_threads(int n);
void plain_spmv(int64_t n, const int32_t *ptr, const int32_t *col, const double *val, const double *x, double *y);
void plain_spmm(int64_t n, int64_t w, const int32_t *ptr, const int32_t *col, const double *val, const double *x,
                double *y);
void plain_sddmm(int64_t n, int64_t w, const int32_t *ptr, const int32_t *col, const double *val, const double *x,
                 const double *y, double *out);
void plain_solve(int64_t n, const int32_t *ptr, const int32_t *col, const double *val, const double *b, double *x);
int64_t plain_add(int64_t n, const int32_t *ap, const int32_t *ac, const double *av, const int32_t *bp,
                  const int32_t *bc, const double *bv, int32_t *cp, int32_t *cc, double *cv);
int64_t plain_multiply(int64_t n, const int32_t *ap, const int32_t *ac, const double *av, const int32_t *bp,
                       const int32_t *bc, const double *bv, int32_t *cp, int32_t *cc, double *cv);
void plain_mttkrp(int64_t fibres, int64_t w, const int32_t *i, const int32_t *p0, const int32_t *j, const int32_t *p1,
                  const int32_t *k, const double *val, const double *b, const double *c, double *m);
"""


@lru_cache(maxsize=1)
def plain() -> tuple[Any, Any]:
    text = Path(__file__).with_name("sparse_loops.c").read_text(encoding="utf-8")
    return load_library(text, _DECLARED, ("-ffast-math", "-mcpu=native" if _arm() else "-march=native", "-fopenmp"))


def _arm() -> bool:
    import platform

    return platform.machine() == "aarch64"


def pointer(a: Any) -> Any:
    ffi, _ = plain()
    kind = {"int32": "int32_t *", "float64": "double *"}[str(a.dtype)]
    return ffi.cast(kind, ffi.from_buffer(a))


@dataclass(frozen=True)
class Product:
    """What is timed: our call on one thread and on several, the peers', and whether results agree."""

    nnz: int
    ours: Callable[[], Any]
    threaded: Callable[[int], Callable[[], Any]]
    peers: dict[str, Callable[[], Any]]
    same: Callable[[], bool]
    taken: Callable[[Any], Any]


def _product(nnz: int, text: str, formats: dict[str, str], peers: dict[str, Callable[[], Any]],
             result: Callable[[Any], Any], expected: Callable[[], Any], **values: Any) -> Product:
    flags = ("-mcpu=native" if _arm() else "-march=native",)
    calls = [KernelCall(text, formats, parallel=p, flags=flags) for p in (False, True)]
    one, many = (c.prepared(**values) for c in calls)

    def threaded(threads: int) -> Callable[[], Any]:
        def run() -> Any:
            plain()[1].set_threads(threads)
            return many()

        return run

    def same() -> bool:
        want = expected()
        made = [result(calls[0].taken(one())), result(calls[1].taken(threaded(2)()))]
        return all(np.allclose(m, want, rtol=1e-9, atol=1e-9) for m in made)

    return Product(nnz, one, threaded, peers, same, calls[0].taken)


def _dense(name: str, rows: int, columns: int = 1) -> Any:
    return np.random.default_rng(len(name) + rows).random(rows * columns)


def spmv(m: Matrix) -> Product:
    a, x = csr(m), _dense("x", m.shape[1])
    y, z = np.zeros(m.shape[0]), np.zeros(m.shape[0])
    _, loops = plain()
    arrays = [pointer(a[n]) for n in ("rowptr", "col", "val")]
    px, pz = pointer(x), pointer(z)

    def scipy() -> Any:
        z.fill(0)
        tools.csr_matvec(*m.shape, a["rowptr"], a["col"], a["val"], x, z)
        return z

    peers = {"scipy": scipy, "plain": lambda: loops.plain_spmv(m.shape[0], *arrays, px, pz)}
    return _product(m.nnz, "y(i) = A(i,j)*x(j)", {"A": "CSR"}, peers, lambda _: y, scipy, A=a, x=x, y=y)


def spmm(m: Matrix) -> Product:
    a, x = csr(m), _dense("X", m.shape[1], WIDTH)
    y, z = np.zeros(m.shape[0] * WIDTH), np.zeros(m.shape[0] * WIDTH)
    _, loops = plain()
    arrays = [pointer(a[n]) for n in ("rowptr", "col", "val")]
    px, pz = pointer(x), pointer(z)

    def scipy() -> Any:
        z.fill(0)
        tools.csr_matvecs(*m.shape, WIDTH, a["rowptr"], a["col"], a["val"], x, z)
        return z

    peers = {"scipy": scipy, "plain": lambda: loops.plain_spmm(m.shape[0], WIDTH, *arrays, px, pz)}
    return _product(m.nnz, "Y(i,k) = A(i,j)*X(j,k)", {"A": "CSR"}, peers, lambda _: y, scipy, A=a, X=x, Y=y, n_k=WIDTH)


def sddmm(m: Matrix) -> Product:
    a, x, y = csr(m), _dense("X", m.shape[0], WIDTH), _dense("Y1", m.shape[1], WIDTH)
    c, z = np.zeros(m.nnz), np.zeros(m.nnz)
    _, loops = plain()
    arguments = [*(pointer(a[n]) for n in ("rowptr", "col", "val")), *map(pointer, (x, y, z))]

    def peer() -> Any:
        loops.plain_sddmm(m.shape[0], WIDTH, *arguments)
        return z

    return _product(m.nnz, "C(i,j) = A(i,j)*X(i,k)*Y(j,k)", {"A": "CSR", "C": "CSR"}, {"plain": peer}, lambda _: c,
                    peer, A=a, X=x, Y=y, C=c, n_k=WIDTH)


def solve(m: Matrix) -> Product:
    """The lower triangle with a strong diagonal."""
    keep = m.row > m.col
    n = min(m.shape)
    keep &= (m.row < n) & (m.col < n)
    row, col = (np.concatenate([x[keep], np.arange(n, dtype=np.int32)]) for x in (m.row, m.col))
    val = np.concatenate([m.val[keep], np.full(n, 64.0)])
    lower = Matrix(m.name, (n, n), row, col, val)
    order = np.lexsort((col, row))
    lower = Matrix(m.name, (n, n), row[order], col[order], val[order])
    a, b = csr(lower), _dense("b", n)
    x, z = np.zeros(n), np.zeros(n)
    _, loops = plain()
    arguments = [*(pointer(a[k]) for k in ("rowptr", "col", "val")), pointer(b), pointer(z)]

    def peer() -> Any:
        loops.plain_solve(n, *arguments)
        return z

    return _product(lower.nnz, "L(i,j)*x(j) = b(i)", {"L": "CSR"}, {"plain": peer}, lambda _: x, peer, L=a, x=x, b=b)


def _sorted(m: Matrix) -> Arrays:
    order = np.lexsort((m.col, m.row))
    return csr(Matrix(m.name, m.shape, m.row[order], m.col[order], m.val[order]))


def _two(m: Matrix) -> tuple[Arrays, Arrays]:
    """The matrix, and another of its kind: columns moved by one."""
    moved = Matrix(m.name, m.shape, m.row, np.minimum(m.col + 1, m.shape[1] - 1), m.val)
    flat = np.unique(moved.row.astype(np.int64) * m.shape[1] + moved.col)
    row, col = (flat // m.shape[1]).astype(np.int32), (flat % m.shape[1]).astype(np.int32)
    return _sorted(m), _sorted(Matrix(m.name, m.shape, row, col, _dense("v", len(flat))))


def _combined(m: Matrix, sign: str, scipy_loop: Any, plain_loop: Any) -> Product:
    a, b = _two(m)
    most = len(a["val"]) + len(b["val"])
    names = ("rowptr", "col", "val")

    def scipy() -> Any:
        ptr, col, val = np.empty(m.shape[0] + 1, np.int32), np.empty(most, np.int32), np.empty(most)
        scipy_loop(*m.shape, *(a[n] for n in names), *(b[n] for n in names), ptr, col, val)
        return val[:ptr[-1]].copy()

    given = [pointer(x[n]) for x in (a, b) for n in names]

    def loops() -> Any:
        ptr, col, val = np.empty(m.shape[0] + 1, np.int32), np.empty(most, np.int32), np.empty(most)
        count = plain_loop(m.shape[0], *given, pointer(ptr), pointer(col), pointer(val))
        return val[:count]

    return _product(m.nnz, f"C(i,j) = A(i,j) {sign} B(i,j)", dict.fromkeys("ABC", "CSR"),
                    {"scipy": scipy, "plain": loops}, lambda c: c["val"], scipy, A=a, B=b)


def add(m: Matrix) -> Product:
    return _combined(m, "+", tools.csr_plus_csr, plain()[1].plain_add)


def multiply(m: Matrix) -> Product:
    return _combined(m, "*", tools.csr_elmul_csr, plain()[1].plain_multiply)


def spgemm(m: Matrix) -> Product:
    """The matrix by itself; SciPy's result has the columns of a row in no order."""
    a = _sorted(m)
    names = ("rowptr", "col", "val")

    def scipy() -> Any:
        given = [a[n] for n in names] * 2
        count = tools.csr_matmat_maxnnz(*m.shape, a["rowptr"], a["col"], a["rowptr"], a["col"])
        ptr, col, val = np.empty(m.shape[0] + 1, np.int32), np.empty(count, np.int32), np.empty(count)
        tools.csr_matmat(*m.shape, *given, ptr, col, val)
        return ptr, col, val

    def ordered() -> Any:
        ptr, col, val = scipy()
        tools.csr_sort_indices(m.shape[0], ptr, col, val)
        return val

    return _product(m.nnz, "C(i,k) = A(i,j)*B(j,k)", dict.fromkeys("ABC", "CSR"), {"scipy": scipy},
                    lambda c: c["val"], ordered, A=a, B=a)


def mttkrp(m: Matrix) -> Product:
    """On a tensor of as many entries, uniform."""
    t = tensor(m.nnz)
    f = Converter("COO3", "CSF", duplicates="sum")(**t)
    b, c = _dense("B", t["NC"], WIDTH), _dense("C1", t["NZ"], WIDTH)
    out, z = np.zeros(t["NR"] * WIDTH), np.zeros(t["NR"] * WIDTH)
    _, loops = plain()
    arguments = [pointer(x) for x in (f["idx0"], f["ptr0"], f["idx1"], f["ptr1"], f["idx2"], f["val"], b, c, z)]

    def peer() -> Any:
        z.fill(0)
        loops.plain_mttkrp(f["NF0"], WIDTH, *arguments)
        return z

    return _product(f["NNZ"], "M(i,r) = X(i,j,k)*B(j,r)*C(k,r)", {"X": "CSF"}, {"plain": peer}, lambda _: out, peer,
                    X=f, B=b, C=c, M=out, n_r=WIDTH)


PRODUCTS: dict[str, Callable[[Matrix], Product]] = {
    "SpMV": spmv, "SpMM": spmm, "SDDMM": sddmm, "SpTRSV": solve, "add": add, "multiply": multiply, "SpGEMM": spgemm,
    "MTTKRP": mttkrp,
}
KINDS = ("uniform", "power-law", "banded", "block")


def cases(size: int, kinds: tuple[str, ...]) -> list[tuple[str, str, Callable[[], Product]]]:
    """Every kernel on every kind of matrix; a tensor has one kind."""
    made = lru_cache(maxsize=1)(lambda kind: make(kind, size))
    wanted = [k for k in KINDS if k in kinds]
    return [(name, kind, lambda b=build, k=kind: b(made(k))) for kind in wanted for name, build in PRODUCTS.items()
            if build is not mttkrp or kind == "uniform"]
