"""What the kernel benchmark runs: the thirty computations of PolyBench, and the rest of the corpus."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
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
REALS = {"f64": "double", "f32": "float", "i32": "int", "i64": "long"}  # element types, as -DREAL takes them


@dataclass(frozen=True)
class Case:
    """A kernel of the corpus and the sizes it is run with, as its main() takes them."""

    name: str
    group: str
    sizes: tuple[int, ...]
    real: str = ""  # the element type; none where the kernel has types of its own

    @property
    def defines(self) -> tuple[str, ...]:
        """For the preprocessor, of compilers and of the generator."""
        return (f"-DREAL={REALS[self.real]}",) if self.real else ()

    @property
    def whole(self) -> bool:
        return self.real in ("i32", "i64")

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
    source = KERNELS / f"{name}.c"
    first = types(source)[0]  # PolyBench's: int for some
    return Case(name, group, sizes(source, size), first if first in REALS else "")


def of_type(cases: Iterable[Case], real: str) -> tuple[list[Case], list[str]]:
    """The kernels with elements of a type, and the names of those that have none of it."""
    parts: tuple[list[Case], list[str]] = ([], [])
    for c in cases:
        if real in types(c.source):
            parts[0].append(replace(c, real=real))
        else:
            parts[1].append(c.name)
    return parts


def types(source: Path) -> tuple[str, ...]:
    """From the head of a kernel: `types: f64 f32 i32`, or `fixed` where it has types of its own."""
    return tuple(source.read_text().partition("*/")[0].partition("types:")[2].partition("\n")[0].split())


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
