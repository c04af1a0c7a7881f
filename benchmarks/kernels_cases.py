"""What the kernel benchmark runs: the thirty computations of PolyBench, and the rest of the corpus."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.tensor_build import KERNELS

HAND = Path(__file__).resolve().parent / "kernels" / "openmp"
SIZES = ("small", "medium", "large")
POLYBENCH = {
    "datamining": ("correlation", "covariance"),
    "blas": ("gemm", "gemver", "gesummv", "symm", "syr2k", "syrk", "trmm"),
    "kernels": ("2mm", "3mm", "atax", "bicg", "doitgen", "mvt"),
    "solvers": ("cholesky", "durbin", "gramschmidt", "lu", "ludcmp", "trisolv"),
    "medley": ("deriche", "floyd-warshall", "nussinov"),
    "stencils": ("adi", "fdtd-2d", "heat-3d", "jacobi-1d", "jacobi-2d", "seidel-2d"),
}
MORE = "more"
# Factorizations, judged by the matrix product of the same order, and the work of both.
FACTORIZATIONS: dict[str, Callable[[int], float]] = {"cholesky": lambda n: n**3 / 3, "lu": lambda n: 2 * n**3 / 3}
PRODUCT = "gemm"


@dataclass(frozen=True)
class Case:
    """A kernel of the corpus and the sizes it is run with, as its main() takes them."""

    name: str
    group: str
    sizes: tuple[int, ...]

    @property
    def source(self) -> Path:
        return KERNELS / f"{self.name}.c"

    @property
    def by_hand(self) -> Path | None:
        """The same loops with OpenMP written by hand, untiled."""
        path = HAND / f"{self.name}.c"
        return path if path.is_file() else None


def thirty() -> list[str]:
    return [name for names in POLYBENCH.values() for name in names]


def corpus() -> list[str]:
    """Every other kernel whose head says how large it may be."""
    found = (p.stem for p in sorted(KERNELS.glob("*.c")) if re.search(r"^ \* sizes:.* large ", p.read_text(), re.M))
    return [name for name in found if name not in thirty()]


def case(name: str, size: str) -> Case:
    group = next((g for g, names in POLYBENCH.items() if name in names), MORE)
    return Case(name, group, sizes(KERNELS / f"{name}.c", size))


def sizes(source: Path, size: str) -> tuple[int, ...]:
    """From the head of a kernel, `sizes: small n=120 | large n=2000`; medium is the geometric mean of both."""
    head = source.read_text().partition("*/")[0].partition("sizes:")[2].partition("\n")[0]
    small, large = (
        [int(x) for x in re.findall(r"=(\d+)", re.search(rf"\b{word} ([^|\n]*)", head).group(1))]  # type: ignore[union-attr]
        for word in ("small", "large")
    )
    if size == "medium":
        return tuple(round((a * b) ** 0.5) for a, b in zip(small, large, strict=True))
    return tuple(small if size == "small" else large)
