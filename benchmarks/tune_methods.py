"""Which search finds the fastest plans: the methods of `tilewright tune` on whole regions of the corpus.

    python -m benchmarks.tune_methods [--busy] [KERNEL...]

Every method may try the same number of candidates, so that figures do not depend on how busy the machine is; a plan
that two methods try is built and measured once. The winners then run in turns in one process, with the default plan
and the original, and only these figures count.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from statistics import mean

from benchmarks.tensor_build import KERNELS
from benchmarks.tune_report import geometric
from codegen.options import CppOptions, GenOptions
from codegen.tune.build import FLAGS, built, open_region_compiler
from codegen.tune.plans.bench import Bench, open_bench
from codegen.tune.plans.search import METHODS
from codegen.tune.plans.sizes import Sizes
from codegen.tune.plans.space import Space, space_of
from codegen.tune.plans.study import Over, Study, TriedPlan
from codegen.tune.records import MeasurementSetting, PlanRecord, Records
from codegen.tune.region import open_file
from codegen.tune.timing import Runs, cores

CHOSEN = ("gemm", "syrk", "atax", "gemver", "jacobi-2d", "heat-3d", "conv2d", "covariance")
COMPARED = ("random", "greedy", "beam2", "beam4", "evolve")
WORK = 20_000_000  # statement instances of a run


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tune_methods", description=__doc__)
    parser.add_argument("kernels", nargs="*", default=CHOSEN, metavar="KERNEL", help="of examples/kernels")
    parser.add_argument("--candidates", type=int, default=40, metavar="N", help="for each method (default 40)")
    parser.add_argument("--methods", default=",".join(COMPARED), help="separated by commas")
    parser.add_argument("--threads", type=int, default=cores(), help="of a run")
    parser.add_argument("--busy", action="store_true", help="for a machine with other work: processor time, one thread")
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    given = arguments(words)
    methods = tuple(given.methods.split(","))
    print(f"{'times as fast as the default plan':36}" + "".join(f"{m:>9}" for m in methods), flush=True)
    rows = []
    for name in given.kernels:
        began = time.perf_counter()
        gains, tried = _kernel(name, methods, given.candidates, 1 if given.busy else given.threads, given.busy)
        rows.append(gains)
        took = f"{tried} plans, {time.perf_counter() - began:.0f} s"
        print(f"{name:16} {took:>18} " + "".join(f"{gains[m]:9.3f}" for m in methods), flush=True)
    print(f"{'geometric mean':36}" + "".join(f"{geometric([r[m] for r in rows]):9.3f}" for m in methods))
    shares = {m: mean(r[m] / max(r.values()) for r in rows) for m in methods}
    print(f"{'mean share of the best':36}" + "".join(f"{shares[m]:9.3f}" for m in methods))
    return 0


def _kernel(
    name: str, methods: Sequence[str], candidates: int, threads: int, busy: bool
) -> tuple[dict[str, float], int]:
    """How many times as fast as the default plan each method's winner is, and how many plans were tried."""
    path = KERNELS / f"{name}.c"
    options = GenOptions(machine="native", cpp=CppOptions(args=(f"-I{KERNELS}",)))
    (subject, *_) = open_file(str(path), path.read_text(), options).subjects
    with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
        compiler = open_region_compiler(subject, Path(folder), FLAGS)
        bench, _ = open_bench(subject, compiler, Sizes({}, WORK), threads, busy)
        space = space_of(subject, threads)
        cache, libraries = dict[str, PlanRecord](), dict[str, Path]()
        own = space.text(space.start())
        best = {m: _winner(bench, space, m, candidates, cache, libraries) or own for m in methods}
        plans = list(dict.fromkeys((own, *best.values())))
        paths = [libraries.get(p) or built(subject, compiler, p, f"final{n}") for n, p in enumerate(plans)]
        times = bench.compete([bench.original, *paths], 3.0)[1:]
        took = {plan: t.best for plan, t in zip(plans, times, strict=True)}
        return {m: took[own] / took[plan] for m, plan in best.items()}, len(cache)


def _winner(
    bench: Bench, space: Space, method: str, candidates: int, cache: dict[str, PlanRecord], libraries: dict[str, Path]
) -> str | None:
    def progress(step: TriedPlan, study: Study) -> None:
        if step.number >= candidates:
            raise Over

    setting = MeasurementSetting("", 0, "", "", "", "", "", "", bench.threads, {})
    study = Study(bench, space, Records(), setting, method, 1e9, cores(), progress, lambda words: None, cache,
                  libraries, effort=Runs(3, 50, 0.05))  # fmt: skip
    with suppress(Over):
        METHODS[method](study)
    return study.best.plan if study.best else None


if __name__ == "__main__":
    sys.exit(main())
