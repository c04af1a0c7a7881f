"""Builds what lies here and measures it; needs a C compiler with OpenMP and Python with NumPy, nothing else.

    python3 run.py                  all tables
    python3 run.py --only products  or kernels, gcc
    python3 run.py --threads 1,16   instead of one and all cores
    python3 run.py --types f32      products of one type

products: the default text and the one for the machine, against NumPy's BLAS and PyTorch's where that is installed.
kernels: one thread against many, and the default text against the one for the machine.
gcc: the source as it is against the default text, one thread each.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

Product = Callable[[Any, Any, Any], Callable[[], object]]
HERE = Path(__file__).resolve().parent
CASES = json.loads((HERE / "cases.json").read_text())
VERSIONS = tuple(CASES["versions"])  # "default", and the name of a machine
CC = os.environ.get("CC", "gcc")
FLAGS = ["-O3", CASES["native"], "-std=gnu11", "-fopenmp", "-I."]
WRAP = ["-Wl,--wrap=timespec_get", "-Wl,--wrap=calloc", "-lm"]
# Variables that say how many threads a library takes.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="products,kernels,gcc", help="tables, with commas")
    parser.add_argument(
        "--threads",
        default=f"1,{len(os.sched_getaffinity(0))}",
        help="products by so many, with commas; kernels by one and the last",
    )
    parser.add_argument("--rounds", type=int, default=3, help="runs of a kernel, of which the best counts")
    parser.add_argument("--kernels", default="", help="these alone, with commas")
    parser.add_argument("--types", default=",".join(CASES["reals"]), help="of products, with commas")
    parser.add_argument("--sides", nargs=3, help=argparse.SUPPRESS)  # who, type and threads: a process of its own
    given = parser.parse_args()
    os.chdir(HERE)
    if given.sides:
        sides, real, threads = given.sides
        print(json.dumps(measure(sides.split(","), real, int(threads))))
        return 0
    only, teams = given.only.split(","), [int(x) for x in given.threads.split(",")]
    wanted = {k: v for k, v in CASES["kernels"].items() if not given.kernels or k in given.kernels.split(",")}
    build(wanted, only)
    if "products" in only:
        for threads in teams:
            for real in given.types.split(","):
                products(real, threads)
    if "kernels" in only:
        kernels(wanted, teams[-1], given.rounds)
    if "gcc" in only:
        plain(wanted, given.rounds)
    return 0


def build(wanted: dict[str, dict[str, list[str]]], only: Sequence[str]) -> None:
    """All at once, before anything is measured."""
    cc([CC, *FLAGS, "-c", "clock.c", "-o", "clock.o"])
    jobs: list[list[str]] = []
    if "products" in only:
        for real in CASES["reals"]:
            for version in VERSIONS:
                text = [f"-DREAL={CASES['reals'][real]}", f"gemm-{real}-{version}.c", "-o", f"{real}-{version}.so"]
                jobs.append([CC, *FLAGS, "-shared", "-fPIC", *text])
    sides = (*(VERSIONS if "kernels" in only else ()), *(("default", "plain") if "gcc" in only else ()))
    for name, case in wanted.items():
        for side in dict.fromkeys(sides):
            text = [f"{name}-{side}.c", "clock.o", "-DDRIVER", *case["defines"], "-o", f"{name}-{side}", *WRAP]
            jobs.append([CC, *FLAGS, *text])
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(cc, jobs))


def cc(command: list[str]) -> None:
    subprocess.run(command, check=True)


def mean(values: Iterable[float]) -> float:
    """Geometric."""
    logs = [math.log(v) for v in values]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


# -- products ----------------------------------------------------------------------------------------------------


def products(real: str, threads: int) -> None:
    """A table for one type and number of threads."""
    sides = [*VERSIONS, "NumPy", "PyTorch"]
    if threads == 1:  # in turns in one process: cores differ in speed, and a slow moment meets all alike
        found = seconds_of(sides, real, threads)
    else:  # each in a process of its own, twice: threads that wait for work disturb others
        rounds = [{k: v for side in sides for k, v in seconds_of([side], real, threads).items()} for _ in range(2)]
        found = {side: [min(x) for x in zip(*(r[side] for r in rounds), strict=True)] for side in rounds[0]}
    peers = [s for s in sides if s in found and s not in VERSIONS]
    print(f"\n{real} products, {threads} threads: speed as a share of")
    print(f"{'rows x columns x depth':>24}" + "".join(f"{f'{v}/{b}':>26}" for b in peers for v in VERSIONS))
    ratios = [[found[b][at] / found[v][at] for b in peers for v in VERSIONS] for at in range(len(CASES["products"]))]
    for (m, n, k), row in zip(CASES["products"], ratios, strict=True):
        print(f"{f'{m} x {n} x {k}':>24}" + "".join(f"{x:26.2f}" for x in row))
    print(f"{'geometric mean':>24}" + "".join(f"{mean(x):26.2f}" for x in zip(*ratios, strict=True)), flush=True)


def seconds_of(sides: Sequence[str], real: str, threads: int) -> dict[str, list[float]]:
    """Best seconds of each product by these libraries and texts, of a process that has them alone."""
    env = {**os.environ, **dict.fromkeys(THREADS, str(threads))}
    words = [sys.executable, "run.py", "--sides", ",".join(sides), real, str(threads)]
    done = subprocess.run(words, env=env, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, list[float]] = json.loads(done.stdout)
    return found


def measure(sides: Sequence[str], real: str, threads: int) -> dict[str, list[float]]:
    """Best seconds of each product by each that is installed, in turns."""
    import numpy as np

    kind = {"f64": np.float64, "f32": np.float32}[real]
    makers: dict[str, Product] = {}
    for side in sides:
        try:
            makers[side] = maker(side, real, threads)
        except ImportError as error:
            print(f"{side}: {error}", file=sys.stderr)
    rng = np.random.default_rng(1)
    found: dict[str, list[float]] = {side: [] for side in makers}
    for m, n, k in CASES["products"]:
        a, b = (rng.random(s).astype(kind) for s in ((m, k), (k, n)))
        outputs = {side: np.zeros((m, n), kind) for side in makers}
        calls = {side: make(a, b, outputs[side]) for side, make in makers.items()}
        rows = slice(0, m, max(1, m // 5))
        for side, c in outputs.items():
            calls[side]()
            assert np.allclose(c[rows], a[rows] @ b, rtol={"f64": 1e-11, "f32": 1e-3}[real]), (side, m, n, k)
        for side, seconds in zip(calls, best_times(list(calls.values())), strict=True):
            found[side].append(seconds)
    return found


def maker(side: str, real: str, threads: int) -> Product:
    if side == "NumPy":
        return numpy_product
    return torch_product(threads) if side == "PyTorch" else our_product(side, real)


def numpy_product(a: Any, b: Any, c: Any) -> Callable[[], object]:
    import numpy as np

    return lambda: np.matmul(a, b, out=c)


def our_product(version: str, real: str) -> Product:
    function = ctypes.CDLL(str(HERE / f"{real}-{version}.so")).gemm_nn

    def product(a: Any, b: Any, c: Any) -> Callable[[], object]:
        sizes = [ctypes.c_long(x) for x in (*c.shape, a.shape[1])]
        arrays = [ctypes.c_void_p(x.ctypes.data) for x in (c, a, b)]
        return lambda: function(*sizes, *arrays)

    return product


def torch_product(threads: int) -> Product:
    import torch

    torch.set_num_threads(threads)

    def product(a: Any, b: Any, c: Any) -> Callable[[], object]:
        x, y, z = (torch.from_numpy(v) for v in (a, b, c))
        return lambda: torch.mm(x, y, out=z)

    return product


def best_times(calls: Sequence[Callable[[], object]], seconds: float = 0.4, least: int = 3) -> list[float]:
    """Of each, the best of as many turns as fit into its seconds."""
    best, rounds, stop = [math.inf] * len(calls), 0, time.perf_counter() + seconds * len(calls)
    while rounds < least or time.perf_counter() < stop:
        for at, call in enumerate(calls):
            start = time.perf_counter()
            call()
            best[at] = min(best[at], time.perf_counter() - start)
        rounds += 1
    return best


# -- kernels -----------------------------------------------------------------------------------------------------


def run(program: str, sizes: Sequence[int], threads: int) -> tuple[float, str]:
    """The seconds that the kernel's main() reports, and the checksums that it prints."""
    env = {**os.environ, "KERNEL_TIME": "1", "OMP_NUM_THREADS": str(threads), "OMP_PROC_BIND": "close"}
    words = [str(HERE / program), *map(str, sizes)]
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=True)
    return float(done.stderr.split()[-1]), done.stdout


def best_of(sides: Sequence[tuple[str, int]], sizes: Sequence[int], rounds: int) -> list[float]:
    """Best seconds of programs with numbers of threads, in turn; their checksums have to be the same."""
    best, sums = [math.inf] * len(sides), set()
    for _ in range(rounds):
        for at, (program, threads) in enumerate(sides):
            seconds, text = run(program, sizes, threads)
            best[at] = min(best[at], seconds)
            sums.add(text)
    if len(sums) > 1:
        why = "multiplications and additions may be fused in one text and not in another; -ffp-contract=off tells"
        print(f"{sides[0][0]}: results differ ({why})", file=sys.stderr)
    return best


def kernels(wanted: dict[str, dict[str, list[int]]], threads: int, rounds: int) -> None:
    first, machine = VERSIONS
    print(f"\nkernels: how many times as fast {threads} threads are; the default's speed as a share of {machine}'s")
    print(f"{'':16} {'seconds':>9} {f'{threads} threads':>11} {'1: of machine':>14} {f'{threads}: of machine':>14}")
    gains, shares = [], []
    for name, case in wanted.items():
        sides = [(f"{name}-{v}", t) for v in (first, machine) for t in (1, threads)]
        one, many, one_machine, many_machine = best_of(sides, case["sizes"], rounds)
        gains.append(one / many)
        shares.append(one_machine / one)
        print(
            f"{name:16} {one:9.4f} {one / many:11.2f} {one_machine / one:14.2f} {many_machine / many:14.2f}", flush=True
        )
    print(f"{'geometric mean':16} {'':9} {mean(gains):11.2f} {mean(shares):14.2f}", flush=True)


def plain(wanted: dict[str, dict[str, list[int]]], rounds: int) -> None:
    print(f"\none thread, default against {CC} {' '.join(FLAGS[:2])} of the source")
    gains = []
    for name, case in wanted.items():
        ours, theirs = best_of([(f"{name}-default", 1), (f"{name}-plain", 1)], case["sizes"], rounds)
        gains.append(theirs / ours)
        print(f"{name:16} {theirs / ours:8.2f}", flush=True)
    print(f"{'geometric mean':16} {mean(gains):8.2f}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
