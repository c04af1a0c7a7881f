"""The thirty computations of PolyBench on this machine's GPU, with arrays on the device, against simple kernels of the
same loops: one thread for each element, no tiles, no shared memory, loops as the compiler leaves them, single launches.

The simple kernels are printed by the same tool, from plans with `grid` alone: what a programmer writes who puts threads
over the parallel loops and leaves it at that. Sizes are those that PolyBench calls EXTRALARGE.

    make bench-gpu-polybench                     this machine's GPU; says so where there is none
    make bench-gpu-polybench B='--only gemm,lu'  some of them
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.device import missing
from benchmarks.kernels_cases import KERNELS, case, thirty
from codegen.gpu.plan.device import load_device
from codegen.gpu.plan.strategy import device_plan
from codegen.options import CppOptions, GenOptions
from codegen.pipeline import generate
from codegen.plan.text import show
from codegen.region_model import model_region
from codegen.source_file import open_source

EXTRALARGE: Mapping[str, tuple[int, ...]] = {
    "correlation": (2600, 3000), "covariance": (2600, 3000), "gemm": (2000, 2300, 2600), "gemver": (4000,),
    "gesummv": (2800,), "symm": (2000, 2600), "syr2k": (2000, 2600), "syrk": (2000, 2600), "trmm": (2000, 2600),
    "2mm": (1600, 1800, 2200, 2400), "3mm": (1600, 1800, 2000, 2200, 2400), "atax": (1800, 2200), "bicg": (1800, 2200),
    "doitgen": (220, 250, 270), "mvt": (4000,), "cholesky": (4000,), "durbin": (4000,), "gramschmidt": (2600, 2000),
    "lu": (4000,), "ludcmp": (4000,), "trisolv": (4000,), "deriche": (7680, 4320), "floyd-warshall": (5600,),
    "nussinov": (5500,), "adi": (1000, 2000), "fdtd-2d": (1000, 2000, 2600), "heat-3d": (1000, 200),
    "jacobi-1d": (1000, 4000), "jacobi-2d": (1000, 2800), "seidel-2d": (1000, 4000),
}  # fmt: skip
ASKED, LEAST = 5.0, 1.0
SUPPORT = r"""#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static struct { void *at; size_t bytes; } taken[64];
static int count;
extern "C" void *gpu_calloc(size_t n, size_t size)
{
  void *at = NULL;
  const size_t bytes = n * size ? n * size : 1;
  if (cudaMallocManaged(&at, bytes) != cudaSuccess || count == 64)
    exit(9);
  memset(at, 0, bytes);
  taken[count].at = at;
  taken[count++].bytes = bytes;
  return at;
}
extern "C" void gpu_free(void *at) { (void)at; }
extern "C" void gpu_to_device(void)
{
  for (int k = 0; k < count; k++) {
#if CUDART_VERSION >= 13000
    cudaMemLocation place = {};
    place.type = cudaMemLocationTypeDevice;
    cudaMemPrefetchAsync(taken[k].at, taken[k].bytes, place, 0, 0);
#else
    cudaMemPrefetchAsync(taken[k].at, taken[k].bytes, 0, 0);
#endif
  }
  cudaDeviceSynchronize();
}
extern "C" double gpu_seconds(void)
{
  struct timespec t;
  cudaDeviceSynchronize();
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
"""
TIMED = """void gpu_to_device(void);
double gpu_seconds(void);
#define TIMED(...) \\
    do { \\
        double best = 1e300, all = 0; \\
        gpu_to_device(); \\
        for (int turn = 0; turn < 4 && (turn < 2 || all < 1); turn++) { \\
            const double start = gpu_seconds(); \\
            __VA_ARGS__; \\
            const double took = gpu_seconds() - start; \\
            all += took; \\
            best = turn && took < best ? took : best; \\
        } \\
        printf("seconds %.9g\\\\n", best); \\
    } while (0)
"""


@dataclass(frozen=True)
class Timed:
    """Seconds of a kernel, and what its arrays sum up to; a sentence where there are none."""

    seconds: float = 0.0
    sums: tuple[float, ...] = ()
    problem: str = ""


def written(name: str, folder: Path, device: str, simple: bool) -> str:
    """The files of a kernel. Why there are none, if there are none."""
    path, defines = KERNELS / f"{name}.c", tuple(case(name, "large").defines)
    text, cpp = path.read_text(encoding="utf-8"), CppOptions(args=(*defines, f"-I{KERNELS}"))
    options = GenOptions(target="cuda", stem="kernel", device=device, arrays="managed", cpp=cpp)
    try:
        options = replace(options, plan_text=simple_plan(path, text, options)) if simple else options
        made = generate(str(path), text, options)
    except Exception as error:
        return str(error)
    if not any(r.transformed for r in made.regions):
        return "runs on the host: no loop for threads"
    folder.mkdir(parents=True, exist_ok=True)
    for ending, printed in made.extra.files:
        if simple:  # loops and launches as a programmer writes them
            printed = printed.replace('_Pragma("unroll 16")', "").replace("tw_can_overlap() ? 1 : 0", "0")
        (folder / f"kernel{ending}").write_text(printed, encoding="utf-8")
    (folder / "kernel.tw.c").write_text(made.text, encoding="utf-8")
    head = (KERNELS / "kernels.h").read_text(encoding="utf-8")
    changed = re.sub(r"#define TIMED\(.*?while \(0\)\n", lambda _: TIMED, head, flags=re.S)
    (folder / "kernels.h").write_text(changed, encoding="utf-8")
    return ""


def simple_plan(path: Path, text: str, options: GenOptions) -> str:
    """Threads over the parallel loops, and nothing else."""
    (found,) = open_source(str(path), text, options).slices
    model = model_region(found, options)
    assert model is not None
    decision = device_plan(model.program, load_device(options.device), False)
    scop = decision.program.scop
    return show((replace(decision.plan, digest=model.digest, part=model.piece),), {scop.region: scop})


def built(name: str, folder: Path) -> str:
    """Compile and link. What the compiler says, if it fails."""
    defines = [*case(name, "large").defines, "-DDRIVER", "-Dcalloc=gpu_calloc", "-Dfree=gpu_free"]
    steps = (
        ["gcc", "-w", "-O2", *defines, "-I.", "-c", "kernel.tw.c", "-o", "kernel.o"],
        ["nvcc", "-O3", "-arch=native", "-c", "kernel.tw.cu", "-o", "device.o"],
        ["nvcc", "kernel.o", "device.o", "../support.o", "-lm", "-o", "kernel"],
    )
    for words in steps:
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            return (done.stderr.strip().splitlines() or ["?"])[-1]
    return ""


def support(folder: Path) -> None:
    """What all programs need."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "support.cu").write_text(SUPPORT, encoding="utf-8")
    subprocess.run(["nvcc", "-O3", "-c", "support.cu", "-o", "support.o"], cwd=folder, check=True)


def ready(work: tuple[str, bool, Path, str]) -> str:
    """Generate and build one program, in a process of its own. Why that fails, if it does."""
    name, simple, folder, device = work
    return written(name, folder, device, simple) or built(name, folder)


def timed(name: str, folder: Path, limit: float) -> Timed:
    words = ["./kernel", *map(str, EXTRALARGE[name])]
    env = {**os.environ, "CUDA_MODULE_LOADING": "EAGER"}
    try:
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=limit, env=env)
    except subprocess.TimeoutExpired:
        return Timed(problem=f"more than {limit:g} s")
    seconds = re.search(r"^seconds (\S+)$", done.stdout, re.M)
    if done.returncode or seconds is None or "runs on the host" in done.stderr:
        return Timed(problem=(done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1])
    sums = re.findall(r"-?\d+\.?\d*(?:e[-+]?\d+)?|nan|inf", done.stdout.replace(seconds[0], ""))
    return Timed(float(seconds[1]), tuple(map(float, sums)))


def close(a: Sequence[float], b: Sequence[float]) -> bool:
    """Both computed the same, but for products and sums that are rounded at once."""
    same = len(a) == len(b)
    return same and all((x != x and y != y) or x == y or abs(x - y) <= 1e-6 * max(abs(x), abs(y))
                        for x, y in zip(a, b, strict=True))  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--only", default="", help="kernels, by commas")
    parser.add_argument("--device", default="h200", help="the device that plans are made for")
    parser.add_argument("--folder", default="build/bench/gpu-polybench")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--limit", type=float, default=60, help="seconds for a run")
    given = parser.parse_args()
    why = missing()
    if why:
        print(f"bench-gpu-polybench: nothing is measured: {why}")
        return 0
    names = given.only.split(",") if given.only else thirty()
    places = {(n, s): Path(given.folder) / f"{n}-{'simple' if s else 'ours'}" for n in names for s in (True, False)}

    work = [(n, s, place, given.device) for (n, s), place in places.items()]
    support(Path(given.folder))
    ratios: dict[str, float] = {}
    print(f"{'':16}{'simple, ms':>12}{'ours, ms':>12}{'ratio':>8}", flush=True)
    pool = ProcessPoolExecutor(given.jobs, multiprocessing.get_context("spawn"))
    problems = pool.map(ready, work)
    for n in names:
        wrong = [x for x in (next(problems), next(problems)) if x]
        ways = (places[n, True], places[n, False])
        simple, ours = (Timed(problem=wrong[0]) if wrong else timed(n, place, given.limit) for place in ways)
        if simple.problem or ours.problem:
            print(f"{n:16} {simple.problem or ours.problem}", flush=True)
            continue
        ratios[n] = simple.seconds / ours.seconds
        note = "" if close(simple.sums, ours.sums) else "  DIFFERENT RESULTS"
        print(f"{n:16}{1e3 * simple.seconds:12.3f}{1e3 * ours.seconds:12.3f}{ratios[n]:8.2f}{note}", flush=True)
    pool.shutdown()
    if ratios:
        mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
        least = min(ratios, key=lambda n: ratios[n])
        print(f"{len(ratios)} of {len(names)}: geometric mean {mean:.2f} (asked {ASKED:g}), least {ratios[least]:.2f} "
              f"({least}; asked {LEAST:g})")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
