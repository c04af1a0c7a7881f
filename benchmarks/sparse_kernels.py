"""SpMV over four formats against SciPy's C++ loops, with the time that moving the operands alone must take.

Two bounds stand beside each time. One counts every byte of the operands once, as if caches had no limit. The other
counts x as often as its lines must come into a core's own second-level cache, through which the matrix streams too.
Both are divided by the speed of a pass over memory, measured in turn with the kernels, on as many threads.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import _sparsetools as tools

from benchmarks.sparse_matrices import Matrix
from benchmarks.sparse_pairs import coo, coo_tocsr
from codegen.sparse.python.build import load_library
from codegen.sparse.python.call import Converter
from codegen.sparse.python.kernel import KernelCall

_READ = """
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <omp.h>
static double part(const double *a, int64_t n)
{
    double s[8] = {0};
    for (int64_t i = 0; i + 8 <= n; i += 8)
        for (int64_t k = 0; k < 8; k++)
            s[k] += a[i + k];
    return s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7];
}
double tw_read(const double *a, int64_t n, int threads)
{
    double sum = 0;
    if (threads == 1)
        return part(a, n);
#pragma omp parallel for num_threads(threads) reduction(+:sum)
    for (int t = 0; t < threads; t++)
        sum += part(a + n * t / threads, n * (t + 1) / threads - n * t / threads);
    return sum;
}
/* Lines of x that must be fetched: `at` is the order in which it is read, `bytes` of the matrix go by with each
   element. A cache of `sets` times 8 lines of 64 bytes; in each set the line that was not used for longest goes. */
int64_t tw_lines(const int32_t *at, int64_t n, double bytes, int64_t sets)
{
    enum { WAYS = 8 };
    int64_t *line = malloc(sets * WAYS * sizeof *line), missed = 0, gone = 0;
    double stream = 0;
    memset(line, -1, sets * WAYS * sizeof *line);
    for (int64_t k = 0; k < n; k++) {
        stream += bytes;
        for (int own = 0; own < 2; own++) {
            int64_t want = own ? at[k] / 8 : ((int64_t)1 << 40) + gone;
            if (!own && stream < 64 * (gone + 1))
                continue;
            gone += !own;
            int64_t *set = line + want % sets * WAYS, way = 0;
            while (way < WAYS - 1 && set[way] != want)
                way++;
            missed += own && set[way] != want;
            memmove(set + 1, set, way * sizeof *set);
            set[0] = want;
        }
    }
    free(line);
    return missed;
}
"""


@lru_cache(maxsize=1)
def _library() -> tuple[Any, Any]:
    return load_library(_READ, "double tw_read(const double *a, int64_t n, int threads);\n"
                        "int64_t tw_lines(const int32_t *at, int64_t n, double bytes, int64_t sets);\n"
                        "void omp_set_num_threads(int n);", ("-fopenmp",))


class Reader:
    """Passes over memory that no cache holds; `size`: bytes of each."""

    def __init__(self) -> None:
        self.block = np.ones(8_000_000)
        self.size = self.block.nbytes

    def run(self, threads: int) -> Callable[[], Any]:
        ffi, library = _library()
        pointer = ffi.cast("double *", ffi.from_buffer("double[]", self.block))
        return lambda: library.tw_read(pointer, len(self.block), threads)


@dataclass(frozen=True)
class Case:
    """Calls, and how many bytes must move: `once` counts each once, `gathered` lines of x as often as they come."""

    nnz: int
    ours: Callable[[], Any]
    peer: Callable[[], Any]
    threaded: Callable[[int], Callable[[], Any]]
    same: Callable[[], bool]
    once: int
    gathered: int

    def same_threaded(self, threads: int) -> bool:
        self.threaded(threads)()
        return self.same()


def spmv(fmt: str, m: Matrix) -> Case:
    a = Converter("COO", fmt)(**coo(m))
    rng = np.random.default_rng(4)
    x, y, z = rng.random(m.shape[1]), np.zeros(m.shape[0]), np.zeros(m.shape[0])
    one, many = (KernelCall("y(i) = A(i,j)*x(j)", {"A": fmt}, parallel=p).prepared(y=y, A=a, x=x)
                 for p in (False, True))
    matrix = sum(v.nbytes for v in a.values() if isinstance(v, np.ndarray))
    peer = _peer(fmt, m, a, x, z)

    def threaded(threads: int) -> Callable[[], Any]:
        return lambda: (_library()[1].omp_set_num_threads(threads), many())

    def same() -> bool:
        z.fill(-1)
        peer()
        right = bool(np.allclose(y, z, rtol=1e-12))
        y.fill(-1)
        one()
        return right and bool(np.allclose(y, z, rtol=1e-12))

    one()
    order = _order(fmt, a)
    sets = second_level() // (64 * 8)
    ffi, library = _library()
    lines = library.tw_lines(ffi.from_buffer("int32_t[]", order), len(order), matrix / len(order), sets)
    rest = matrix + y.nbytes
    return Case(m.nnz, one, peer, threaded, same, rest + x.nbytes, rest + max(x.nbytes, 64 * lines))


def second_level() -> int:
    """Bytes of a core's own second-level cache; 1 MiB where nobody says."""
    try:
        text = Path("/sys/devices/system/cpu/cpu0/cache/index2/size").read_text(encoding="ascii").strip()
        return int(text.rstrip("KM")) * {"K": 1 << 10, "M": 1 << 20}[text[-1]]
    except (OSError, KeyError, ValueError):
        return 1 << 20


def _order(fmt: str, a: dict[str, Any]) -> Any:
    """Which elements of x are read, one after the other."""
    if fmt == "DIA":
        j = np.arange(a["NR"], dtype=np.int32)[:, None] + a["off"]
        return np.ascontiguousarray(j[(j >= 0) & (j < a["NC"])])
    if fmt.startswith("BCSR"):
        return np.ascontiguousarray((4 * a["bcol"][:, None] + np.arange(4, dtype=np.int32)).ravel())
    return np.ascontiguousarray(a["col"][a["col"] >= 0])


def _peer(fmt: str, m: Matrix, a: dict[str, Any], x: Any, z: Any) -> Callable[[], Any]:
    """SciPy's loop for the format, as its product calls it: into zeros. For ELL, which SciPy lacks, that for rows."""
    if fmt == "DIA":
        data = np.zeros((a["ND"], m.shape[1]))
        for d, off in enumerate(a["off"].tolist()):
            values = a["val"].reshape(m.shape[0], -1)[:, d]
            rows = np.arange(max(0, -off), min(m.shape[0], m.shape[1] - off))
            data[d, rows + off] = values[rows]
        off32 = a["off"].copy()

        def dia() -> None:
            z.fill(0)
            tools.dia_matvec(*m.shape, len(off32), m.shape[1], off32, data, x, z)

        return dia
    if fmt.startswith("BCSR"):
        b = 4
        ptr, col, val = a["browptr"][:m.shape[0] // b + 1].copy(), a["bcol"], a["val"]

        def bsr() -> None:
            z.fill(0)
            tools.bsr_matvec(m.shape[0] // b, m.shape[1] // b, b, b, ptr, col, val, x, z)

        return bsr
    ptr, col, val = coo_tocsr(*m.shape, m.row, m.col, m.val)

    def csr() -> None:
        z.fill(0)
        tools.csr_matvec(*m.shape, ptr, col, val, x, z)

    return csr


# format: the matrix it is measured on
SPMV = {"CSR": "fem", "ELL": "banded", "DIA": "banded", "BCSR:4x4": "block"}
