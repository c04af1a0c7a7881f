"""The linear-algebra kernels of the corpus against the compiler alone, beside the products they are made of."""

from __future__ import annotations

import os
from dataclasses import dataclass

from benchmarks.tensor_build import KERNELS, SOURCES, Failed, Generated, Program, Workshop
from benchmarks.tensor_groups import Gemm, Group, Vectors, gflop
from benchmarks.tensor_report import Row

EPS = 2.0**-52
CLOCK, WRAP = SOURCES / "kernel_clock.c", ("-Wl,--wrap=timespec_get",)
LEAST_RUNS, SLOW_SECONDS = 7, 4.0  # the original, which may be slow, stops after so many seconds


@dataclass(frozen=True)
class Kernel:
    """Its large sizes as its driver takes them, its work, the products it consists of, the longest of its sums."""

    sizes: tuple[int, ...]
    flop: float
    products: tuple[str, ...]
    depth: int


def _kernels() -> dict[str, Kernel]:
    n = 1000.0 * 1200
    return {
        "gemm": Kernel((1000, 1100, 1200), 2 * 1000 * 1100 * 1200, ("nn:1000:1100:1200",), 1200),
        "2mm": Kernel(
            (800, 900, 1100, 1200),
            2 * 800 * 900 * (1100 + 1200),
            ("nn:800:900:1100", "nn:800:1200:900"),
            2000,
        ),
        "3mm": Kernel(
            (800, 900, 1000, 1100, 1200),
            2 * (800 * 900 * 1000 + 900 * 1100 * 1200 + 800 * 1100 * 900),
            ("nn:800:900:1000", "nn:900:1100:1200", "nn:800:1100:900"),
            3100,
        ),
        "syrk": Kernel((1000, 1200), n * 1201, ("nt:1200:1200:1000",), 1000),
        "syr2k": Kernel((1000, 1200), 2 * n * 1201, ("nt:1200:1200:1000",), 2000),
        "trmm": Kernel((1000, 1200), n * 999, ("tn:1000:1200:1000",), 1000),
        "symm": Kernel((1000, 1200), 2 * n * 1000, ("nn:1000:1200:1000",), 1000),
        "doitgen": Kernel((140, 150, 160), 2 * 140 * 150 * 160 * 160, ("nn:21000:160:160",), 160),
        "gemver": Kernel((2000,), 8 * 2000 * 2000, ("mtv:2000:2000", "mv:2000:2000"), 4000),
        "gesummv": Kernel((1300,), 4 * 1300 * 1300, ("mv:1300:1300",), 1300),
        "mvt": Kernel((2000,), 4 * 2000 * 2000, ("mv:2000:2000", "mtv:2000:2000"), 2000),
        "atax": Kernel((1900, 2100), 4 * 1900 * 2100, ("mv:1900:2100", "mtv:1900:2100"), 4000),
        "bicg": Kernel((1900, 2100), 4 * 1900 * 2100, ("mtv:2100:1900", "mv:2100:1900"), 2100),
    }


class Kernels(Group):
    """Calls per second at large sizes, and GFlop/s beside those of the products it consists of."""

    name = "kernel"
    ours, theirs = "calls/s", "original"
    needs_blas = True
    kernels = _kernels()
    generated = (
        *Gemm.generated[:1],
        *Vectors.generated[:2],
        *(Generated(f"k-{k}", KERNELS / f"{k}.c", ("DRIVER",)) for k in kernels),
    )
    programs = (
        *Gemm.programs[:1],
        *Vectors.programs[:1],
        *(Program(f"kernel-{k}", (CLOCK,), (f"k-{k}",), (), WRAP) for k in kernels),
        *(Program(f"original-{k}", (KERNELS / f"{k}.c", CLOCK), (), ("DRIVER",), WRAP) for k in kernels),
    )

    def measure(self, shop: Workshop) -> list[Row]:
        products = {p for k in self.kernels.values() for p in k.products}
        matrix = sorted(p for p in products if p[:2] in ("nn", "nt", "tn"))
        vector = sorted(products.difference(matrix))
        timed = shop.drive("drive-dgemm", matrix) + shop.drive("drive-dmv", vector)
        for x in timed:
            if x.wrong:
                raise Failed(f"{x.case} {x.wrong}")
        seconds = {(x.case, x.threads): x.seconds[0] for x in timed}
        rows = []
        for name, kernel in self.kernels.items():
            try:
                ours, theirs, wrong = alternate(shop, name, kernel)
            except Failed as failure:
                rows += [Row(self.name, "f64", name, t, 0.0, 0.0, wrong=str(failure)) for t in shop.options.threads]
                continue
            for threads in shop.options.threads:
                parts = [(gflop(p), seconds[p, threads]) for p in kernel.products]
                product = sum(g for g, _ in parts) / sum(s for _, s in parts)
                more = {"GFlop/s": kernel.flop * 1e-9 / ours[threads], "product": product}
                rows.append(Row(self.name, "f64", name, threads, 1 / ours[threads], 1 / theirs, 0.0, more, wrong))
        return rows


def alternate(shop: Workshop, name: str, kernel: Kernel) -> tuple[dict[int, float], float, str]:
    """Best seconds of the generated kernel by threads and of the original, run in turn, and what differs."""
    words = [str(s) for s in kernel.sizes]
    ours = dict.fromkeys(shop.options.threads, float("inf"))
    theirs, slow, wrong, right = float("inf"), 0.0, "", ""
    for _ in range(3 if shop.options.quick else LEAST_RUNS):
        if slow < SLOW_SECONDS:
            seconds, right = once(shop, f"original-{name}", words, 1)
            theirs, slow = min(theirs, seconds), slow + seconds
        for threads in ours:
            seconds, result = once(shop, f"kernel-{name}", words, threads)
            ours[threads] = min(ours[threads], seconds)
            wrong = wrong or difference(result, right, 4 * kernel.depth * EPS)
    return ours, theirs, wrong


def once(shop: Workshop, program: str, words: list[str], threads: int) -> tuple[float, str]:
    """The seconds that a kernel's main() reports, and the checksums that it prints."""
    busy = str(int(shop.options.busy))
    env = {**os.environ, "KERNEL_TIME": "1", "OMP_NUM_THREADS": str(threads), "BENCH_BUSY": busy}
    done = shop.run(program, words, env)
    return float(done.stderr.split()[-1]), done.stdout


def difference(ours: str, theirs: str, allowed: float) -> str:
    """Checksums are weighted sums of positive elements, so their relative error is that of the elements."""
    left, right = ([line.split() for line in text.splitlines()] for text in (ours, theirs))
    if [x[0] for x in left] != [x[0] for x in right] or not left:
        return "other arrays than the original"
    for (array, a, _), (_, b, _) in zip(left, right, strict=True):
        if not abs(float(a) - float(b)) <= allowed * abs(float(b)):
            return f"the checksum of {array} is {a}, not {b}"
    return ""
