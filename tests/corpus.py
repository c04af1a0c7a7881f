"""The kernels of examples/kernels, and which of them the tests take: the whole corpus is `make corpus`."""

from __future__ import annotations

import os
from pathlib import Path

KERNELS = Path(__file__).parents[1] / "examples" / "kernels"
ALL = bool(os.environ.get("TILEWRIGHT_ALL_TYPES"))
_THIRTY = """correlation covariance gemm gemver gesummv symm syr2k syrk trmm 2mm 3mm atax bicg doitgen mvt cholesky
durbin
gramschmidt lu ludcmp trisolv deriche floyd-warshall nussinov adi fdtd-2d heat-3d jacobi-1d jacobi-2d seidel-2d"""
POLYBENCH = frozenset(_THIRTY.split())


def kernels(part: int, parts: int) -> list[Path]:
    """PolyBench's thirty, and one of so many parts of the others; all of them for `make corpus`."""
    every = sorted(KERNELS.glob("*.c"))
    others = [p for p in every if p.stem not in POLYBENCH]
    return [p for p in every if ALL or p.stem in POLYBENCH or others.index(p) % parts == part]
