"""Measures plans of many kernels, for the cost model of plans to learn from: `python -m benchmarks.tune_collect`.

    python -m benchmarks.tune_collect --records build/plans.jsonl --seconds 40 [KERNEL...]
    python -m codegen.tune.plans.learned --records build/plans.jsonl

Each kernel is searched by chance and by evolution, one thread on a processor of its own, as many kernels at a time as
there are processors. The kernels of `HELD_OUT` are never measured here: they are what the model is judged by.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from multiprocessing.context import ForkContext
from multiprocessing.queues import Queue
from pathlib import Path

from benchmarks.tensor_build import KERNELS
from codegen.diagnostics import TilewrightError
from codegen.options import CppOptions, GenOptions
from codegen.tune.file import sentence, tune_file
from codegen.tune.plans.settings import Settings
from codegen.tune.timing import cores

HELD_OUT = ("2mm", "conv2d-strided", "doitgen", "fdtd-2d", "floyd-warshall", "gemver", "jacobi-2d", "prefix-sum-2d",
            "sad-search", "symm")  # fmt: skip
WORK = 20_000_000  # statement instances of a run
SHARES = (("evolve", 0.6), ("random", 0.4))


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tune_collect", description=__doc__)
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", help="of examples/kernels (default: all others)")
    parser.add_argument("--records", default="build/plans.jsonl", metavar="FILE", help="measurements; added to")
    parser.add_argument("--seconds", type=float, default=40.0, help="for each kernel (default 40)")
    parser.add_argument("--work", type=int, default=WORK, help="statement instances of a run (default 20 million)")
    parser.add_argument("--workers", type=int, default=cores(), help="kernels at a time (default: all processors)")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    given = arguments(words)
    Path(given.records).parent.mkdir(parents=True, exist_ok=True)
    context = get_context("fork")
    began = time.perf_counter()
    with ProcessPoolExecutor(given.workers, context, pinned, (places_of(given.workers, context),)) as pool:
        names = given.kernels or sorted(p.stem for p in KERNELS.glob("*.c"))
        asked = [pool.submit(measured, name, given) for name in names if name not in HELD_OUT]
        for done in asked:
            words = done.result()
            print(f"{time.perf_counter() - began:5.0f} s  {words}", flush=True)
    return 0


def places_of(workers: int, context: ForkContext, each: int = 1) -> Queue[set[int]]:
    """Processors for each worker, as many as `each`."""
    mine = sorted(os.sched_getaffinity(0))
    places: Queue[set[int]] = context.Queue()
    for n in range(workers):
        places.put({mine[(n * each + k) % len(mine)] for k in range(each)})
    return places


def pinned(places: Queue[set[int]]) -> None:
    """Keep this process, and what it starts, on the next processors."""
    os.sched_setaffinity(0, places.get())


def measured(name: str, given: argparse.Namespace) -> str:
    """Search the plans of a kernel; what came out in a line."""
    path = KERNELS / f"{name}.c"
    options = GenOptions(machine="native", cpp=CppOptions(args=(f"-I{KERNELS}",)))
    best = ""
    for method, share in SHARES:
        settings = Settings((method,), share * given.seconds, 1, 1, records=given.records, again=method != SHARES[0][0],
                            seed=given.seed, work=given.work, confirm=0.5)  # fmt: skip
        try:
            done = tune_file(str(path), path.read_text(), options, settings, lambda words: None)
        except TilewrightError as error:
            return f"{name}: {error.message}"
        best = "; ".join(sentence(r) for r in done.regions)
    return f"{name}: {best}"


if __name__ == "__main__":
    sys.exit(main())
