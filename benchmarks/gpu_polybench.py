"""The thirty computations of PolyBench on this machine's GPU, with arrays on the device, against simple kernels of the
same loops: one thread for each element, no tiles, no shared memory, loops as the compiler leaves them, single launches.

The simple kernels are printed by the same tool, from plans with `grid` alone: what a programmer writes who puts threads
over the parallel loops and leaves it at that. Sizes are those that PolyBench calls EXTRALARGE; of its 1000 time steps
stencils take 50, which are all alike.

    make bench-gpu-polybench                     this machine's GPU; says so where there is none
    make bench-gpu-polybench B='--only gemm,lu'  some of them
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.device import missing
from benchmarks.kernels_cases import case, thirty
from benchmarks.tensor_build import KERNELS
from codegen.gpu.plan.device import load_device
from codegen.gpu.plan.strategy import device_plan, predicted
from codegen.options import CppOptions, GenOptions
from codegen.pipeline import generate
from codegen.plan.text import show
from codegen.region_model import model_region
from codegen.source_file import open_source
from codegen.strategy.products.forwarding import forwarded

STEPS = 50
EXTRALARGE: Mapping[str, tuple[int, ...]] = {
    "correlation": (2600, 3000), "covariance": (2600, 3000), "gemm": (2000, 2300, 2600), "gemver": (4000,),
    "gesummv": (2800,), "symm": (2000, 2600), "syr2k": (2000, 2600), "syrk": (2000, 2600), "trmm": (2000, 2600),
    "2mm": (1600, 1800, 2200, 2400), "3mm": (1600, 1800, 2000, 2200, 2400), "atax": (1800, 2200), "bicg": (1800, 2200),
    "doitgen": (220, 250, 270), "mvt": (4000,), "cholesky": (4000,), "durbin": (4000,), "gramschmidt": (2600, 2000),
    "lu": (4000,), "ludcmp": (4000,), "trisolv": (4000,), "deriche": (7680, 4320), "floyd-warshall": (5600,),
    "nussinov": (5500,), "adi": (STEPS, 2000), "fdtd-2d": (STEPS, 2000, 2600), "heat-3d": (STEPS, 200),
    "jacobi-1d": (STEPS, 4000), "jacobi-2d": (STEPS, 2800), "seidel-2d": (STEPS, 4000),
}  # fmt: skip
ASKED, LEAST = 5.0, 1.0
AT_ONCE = 4  # programs that begin while another one is timed
HERE = Path(__file__).parent / "device"
# Runs one after the other, each alone on the device; what comes before and behind may overlap. Those of more than a
# second are run once.
TIMED = """#include "polybench.h"
#define TIMED(...) \\
    do { \\
        double gpu_best = 1e300, gpu_all = 0; \\
        gpu_alone(); \\
        for (int gpu_turn = 0; gpu_turn < 4 && gpu_all < 1; gpu_turn++) { \\
            gpu_to_device(); \\
            const double gpu_start = gpu_seconds(); \\
            __VA_ARGS__; \\
            const double gpu_took = gpu_seconds() - gpu_start; \\
            gpu_all += gpu_took; \\
            gpu_best = (gpu_turn || gpu_took > 1) && gpu_took < gpu_best ? gpu_took : gpu_best; \\
            for (int gpu_k = 0; !gpu_turn && gpu_k < gpu_arrays(); gpu_k++) \\
                printf("sum %.12g\\n", gpu_sum_of(gpu_k)); \\
        } \\
        printf("seconds %.9g\\n", gpu_best); \\
        gpu_done(); \\
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
            printed = printed.replace("#define TW_STRIP(n) TW_PRAGMA(unroll n)", "#define TW_STRIP(n)")
        (folder / f"kernel{ending}").write_text(printed, encoding="utf-8")
    (folder / "kernel.tw.c").write_text(made.text, encoding="utf-8")
    head = (KERNELS / "kernels.h").read_text(encoding="utf-8")
    changed = re.sub(r"#define TIMED\(.*?while \(0\)\n", lambda _: TIMED, head, flags=re.S)
    shutil.copy(HERE / "polybench.h", folder)
    (folder / "kernels.h").write_text(changed, encoding="utf-8")
    return ""


def simple_plan(path: Path, text: str, options: GenOptions) -> str:
    """Threads over the parallel loops, and nothing else; elements gather sums themselves where that frees threads."""
    (found,) = open_source(str(path), text, options).slices
    model = model_region(found, options)
    assert model is not None
    device = load_device(options.device)
    ways = [(device_plan(p, device, False), first) for p, first in ((model.program, ()), forwarded(model.program))]
    decision, first = min(ways, key=lambda x: predicted(x[0], device))
    scop, directives = decision.program.scop, (*first, *decision.plan.directives)
    plan = replace(decision.plan, directives=directives, digest=model.digest, part=model.piece)
    return show((plan,), {scop.region: scop})


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
    source = str((HERE / "polybench.cu").resolve())
    subprocess.run(["nvcc", "-O3", "-c", source, "-o", "support.o"], cwd=folder, check=True)


def ready(work: tuple[str, bool, Path, str]) -> str:
    """Generate and build one program, in a process of its own. Why that fails, if it does."""
    name, simple, folder, device = work
    return written(name, folder, device, simple) or built(name, folder)


def timed(name: str, folder: Path, limit: int, within: float) -> Timed:
    """A program's own time, of at most `limit` seconds once it is alone on the device."""
    words = ["./kernel", *map(str, EXTRALARGE[name])]
    env = {**os.environ, "CUDA_MODULE_LOADING": "EAGER", "GPU_LIMIT": str(limit)}
    try:
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=within, env=env)
    except subprocess.TimeoutExpired:
        return Timed(problem="not finished")
    if done.returncode == -signal.SIGALRM:
        return Timed(problem=f"more than {limit} s")
    seconds = re.search(r"^seconds (\S+)$", done.stdout, re.M)
    if done.returncode or seconds is None or "runs on the host" in done.stderr:
        return Timed(problem=(done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1])
    return Timed(float(seconds[1]), tuple(float(x) for x in re.findall(r"^sum (\S+)$", done.stdout, re.M)))


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
    parser.add_argument("--limit", type=int, default=20, help="seconds for a run")
    parser.add_argument("--within", type=float, default=3600, help="seconds for all of it")
    given = parser.parse_args()
    why = missing()
    if why:
        print(f"bench-gpu-polybench: nothing is measured: {why}")
        return 0
    names = given.only.split(",") if given.only else thirty()
    places = {(n, s): Path(given.folder) / f"{n}-{'simple' if s else 'ours'}" for n in names for s in (True, False)}
    begin, end = time.monotonic(), time.monotonic() + given.within
    support(Path(given.folder))
    work = [(n, s, place, given.device) for (n, s), place in places.items()]
    with ProcessPoolExecutor(given.jobs, multiprocessing.get_context("spawn")) as pool:
        problems = dict(zip(places, pool.map(ready, work), strict=True))
    print(f"{len(work)} programs built in {time.monotonic() - begin:.0f} s")

    def run(which: tuple[str, bool]) -> Timed:
        left = end - time.monotonic()
        if problems[which] or left <= 0:
            return Timed(problem=problems[which] or "not begun")
        return timed(which[0], places[which], given.limit, left)

    with ThreadPoolExecutor(AT_ONCE) as threads:
        found = dict(zip(places, threads.map(run, places), strict=True))
    print(*table(names, found), sep="\n")
    return 0


def table(names: Sequence[str], found: Mapping[tuple[str, bool], Timed]) -> list[str]:
    """A line for each kernel, and one for all."""
    out, ratios = [f"{'':16}{'simple, ms':>12}{'ours, ms':>12}{'ratio':>8}"], dict[str, float]()
    for n in names:
        simple, ours = found[n, True], found[n, False]
        if simple.problem or ours.problem:
            both = (("simple", simple), ("ours", ours))
            said = (f"{way}: {t.problem or f'{1e3 * t.seconds:.3f} ms'}" for way, t in both)
            out.append(f"{n:16}  {'; '.join(said)}")
            continue
        ratios[n] = simple.seconds / ours.seconds
        note = "" if close(simple.sums, ours.sums) else "  DIFFERENT RESULTS"
        out.append(f"{n:16}{1e3 * simple.seconds:12.3f}{1e3 * ours.seconds:12.3f}{ratios[n]:8.2f}{note}")
    if ratios:
        mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
        least = min(ratios, key=lambda n: ratios[n])
        out.append(f"{len(ratios)} of {len(names)}: geometric mean {mean:.2f} (asked {ASKED:g}), least "
                   f"{ratios[least]:.2f} ({least}; asked {LEAST:g})")  # fmt: skip
    return out


if __name__ == "__main__":
    sys.exit(main())
