"""SpMV over four formats against SciPy's C++ loops, with the time that reading the operands alone must take."""
from __future__ import annotations

from collections.abc import Callable
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
double tw_read(const double *a, int64_t n)
{
    double s[8] = {0};
    for (int64_t i = 0; i + 8 <= n; i += 8)
        for (int64_t k = 0; k < 8; k++)
            s[k] += a[i + k];
    return s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7];
}
"""


def reader() -> tuple[Callable[[], Any], int]:
    """A pass over memory, and how many bytes it reads."""
    ffi, library = load_library(_READ, "double tw_read(const double *a, int64_t n);")
    block = np.ones(8_000_000)
    pointer = ffi.cast("double *", ffi.from_buffer("double[]", block))
    return lambda: (library.tw_read(pointer, len(block)), block)[0], block.nbytes


def _prepared(call: KernelCall, **values: Any) -> Callable[[], Any]:
    """The C call alone: structs are built once."""
    keep: list[Any] = []
    arguments = []
    for parameter in call.prototype[call.prototype.index("(") + 1:-1].split(", "):
        name = parameter.split()[-1].lstrip("*")
        arguments.append(call._argument(name, parameter, values[name], keep))
    return lambda: (call.library.tw_kernel(*arguments), keep)[0]


def spmv(fmt: str, m: Matrix) -> tuple[Callable[[], Any], Callable[[], Any], int, Callable[[], bool]]:
    """(ours, peer, bytes that must be read or written, are the results the same?)"""
    a = Converter("COO", fmt)(**coo(m))
    rng = np.random.default_rng(4)
    x, y, z = rng.random(m.shape[1]), np.zeros(m.shape[0]), np.zeros(m.shape[0])
    ours = _prepared(KernelCall("y(i) = A(i,j)*x(j)", {"A": fmt}), y=y, A=a, x=x)
    size = sum(v.nbytes for v in a.values() if isinstance(v, np.ndarray)) + x.nbytes + y.nbytes
    peer = _peer(fmt, m, a, x, z)

    def same() -> bool:
        ours()
        peer()
        return bool(np.allclose(y, z, rtol=1e-12))

    return ours, peer, size, same


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
