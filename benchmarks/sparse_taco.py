"""TACO as a peer, where its command is installed: C that it writes for A(i,j) = B(i,j), compiled and called here.

Its released command reads coordinates only in the order of rows and has no diagonals, padded rows, blocks or Morton
order. Which of the other pairs it can convert is its own answer: it is asked once for each.
"""
from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from codegen.sparse.python.build import load_library

FORMATS = {"COO": "uq", "CSR": "ds", "CSC": "ds:1,0"}
_COORDINATES, _COMPRESSED = ((0, 0), (0, 1), (1, 1)), ((1, 0), (1, 1))  # which index arrays a format has, by mode
_NAMES = {"COO": ("row", "col"), "CSR": ("rowptr", "col"), "CSC": ("colptr", "row")}

_CALL = """
int tw_taco(int32_t *dims, int32_t **given, double *vals, int32_t **made, double **made_vals)
{{
    uint8_t *a[2][2] = {{{{0}}}}, *b[2][2] = {{{{0}}}}, **a_modes[2] = {{a[0], a[1]}}, **b_modes[2] = {{b[0], b[1]}};
    taco_tensor_t A = {{.order = 2, .dimensions = dims, .csize = sizeof(double), .indices = a_modes}};
    taco_tensor_t B = {{.order = 2, .dimensions = dims, .csize = sizeof(double), .indices = b_modes}};
    B.vals = (uint8_t *)vals;
{give}
    int status = {call};
{take}
    *made_vals = (double *)A.vals;
    return status;
}}
"""
_DECLARED = """
void free(void *);
int tw_taco(int32_t *dims, int32_t **given, double *vals, int32_t **made, double **made_vals);
"""


def installed() -> bool:
    return shutil.which("taco") is not None


def kernel(source: str, target: str) -> Callable[[dict[str, Any]], Callable[[], Any]] | None:
    """A function that prepares a call on a matrix; None when TACO is not there or does not convert this pair."""
    if not installed() or source not in FORMATS or target not in FORMATS:
        return None
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernel.c"
        words = ["taco", "A(i,j)=B(i,j)", f"-f=A:{FORMATS[target]}", f"-f=B:{FORMATS[source]}", "-print-nocolor",
                 f"-write-source={file}"]
        done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder)
        text = file.read_text(encoding="utf-8") if done.returncode == 0 and file.exists() else ""
    if "assemble" not in text and "evaluate" not in text:
        return None
    return _Kernel(text, source, target).prepared


class _Kernel:
    def __init__(self, text: str, source: str, target: str) -> None:
        self.source, self.target = source, target
        call = "evaluate(&A, &B)" if "int evaluate(" in text else "assemble(&A, &B) || compute(&A, &B)"
        give = "\n".join(f"    b[{m}][{n}] = (uint8_t *)given[{k}];" for k, (m, n) in enumerate(_places(source)))
        take = "\n".join(f"    made[{k}] = (int32_t *)a[{m}][{n}];" for k, (m, n) in enumerate(_places(target)))
        self.ffi, self.library = load_library(text + _CALL.format(give=give, take=take, call=call), _DECLARED)

    def prepared(self, a: dict[str, Any]) -> Callable[[], Any]:
        """`a`: the matrix as our arrays; the call returns index arrays and values, to be freed with `release`."""
        names = _NAMES[self.source]
        arrays = [np.array([0, a["NNZ"]], np.int32)] * (self.source == "COO") + [a[n] for n in names]
        held = [self.ffi.from_buffer("int32_t[]", x) for x in arrays]
        given = self.ffi.new("int32_t *[3]", [self.ffi.cast("int32_t *", x) for x in held])
        dims, vals = self.ffi.new("int32_t[2]", [a["NR"], a["NC"]]), self.ffi.from_buffer("double[]", a["val"])

        def run() -> Any:
            made, values = self.ffi.new("int32_t *[3]"), self.ffi.new("double **")
            assert self.library.tw_taco(dims, given, vals, made, values) == 0 and held
            return self, made, values

        return run

    def release(self, made: Any, values: Any) -> None:
        for pointer in (*made, values[0]):
            self.library.free(pointer)

    def arrays(self, made: Any, values: Any, a: dict[str, Any]) -> dict[str, Any]:
        """Copies under the names of our format."""
        names = _NAMES[self.target]
        extent = {"CSR": a["NR"], "CSC": a["NC"]}.get(self.target, -1)
        sizes = [a["NNZ"]] * 2 if self.target == "COO" else [extent + 1, a["NNZ"]]
        pointers = list(made)[1:] if self.target == "COO" else list(made)
        out = {n: self._copy(p, size, np.int32) for n, p, size in zip(names, pointers, sizes, strict=False)}
        return {**out, "val": self._copy(values[0], a["NNZ"], np.float64)}

    def _copy(self, pointer: Any, size: int, kind: Any) -> Any:
        return np.frombuffer(self.ffi.buffer(pointer, size * np.dtype(kind).itemsize), kind).copy()


def _places(fmt: str) -> tuple[tuple[int, int], ...]:
    return _COORDINATES if fmt == "COO" else _COMPRESSED


def readable(source: str, a: dict[str, Any]) -> bool:
    """Coordinates only in the order of rows."""
    return source != "COO" or bool((np.diff(a["row"]) >= 0).all())
