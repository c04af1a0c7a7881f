"""The kernels of examples/kernels, and which of them the tests take: the whole corpus is `make corpus`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from codegen.diagnostics import Diagnostic

T = TypeVar("T")
KERNELS = Path(__file__).parents[1] / "examples" / "kernels"
ALL = bool(os.environ.get("TILEWRIGHT_ALL_TYPES"))
_THIRTY = """correlation covariance gemm gemver gesummv symm syr2k syrk trmm 2mm 3mm atax bicg doitgen mvt cholesky
durbin
gramschmidt lu ludcmp trisolv deriche floyd-warshall nussinov adi fdtd-2d heat-3d jacobi-1d jacobi-2d seidel-2d"""
POLYBENCH = frozenset(_THIRTY.split())


def some(items: Sequence[T], part: int, parts: int) -> list[T]:
    """One of so many parts, spread over the whole; all of it for `make corpus`."""
    return list(items if ALL else items[part::parts])


def kernels(part: int, parts: int) -> list[Path]:
    """One of so many parts of the kernels, with half of PolyBench's; all of them for `make corpus`."""
    every = sorted(KERNELS.glob("*.c"))
    others = [p.stem for p in every if p.stem not in POLYBENCH]
    chosen = {*some(sorted(POLYBENCH), part % 2, 2), *some(others, part, parts)}
    return [p for p in every if p.stem in chosen]


# Which tests take which: those that run what was generated, and those that have compilers look at it. Plans of the
# rest are looked at in test_fallbacks.py.
RUN, COMPILED = (0, 12), (1, 12)


# Kernels whose first plan is not carried out, and why that is no loss. A name that is missing here is an optimisation
# that was lost without a word.
FALLBACKS = {
    "red-black-3d": "isl finds no schedule for its parity; the source's order has the parallel loops that there are",
}


def lost(name: str, diagnostics: Iterable[Diagnostic]) -> list[str]:
    """Remarks on plans that were given up, where none is expected."""
    return [d.message for d in diagnostics if d.id == "unproven" or (d.id == "fallback" and name not in FALLBACKS)]
