"""What a short search that is led by the learned model finds, beside long ones: `python -m benchmarks.tune_held_out`.

    python -m benchmarks.tune_held_out --runs guided:10,greedy:10,greedy:60,beam4:60 [KERNEL...]

A run is a method and its budget in seconds, and may name another checkout of this repository to take the tuner from:
`beam4:60@../before`. Each is `tilewright tune` as users call it; how long that takes is measured. The plans of all runs
then compete in one process with the default plan and the original, and only these figures count. The kernels are those
that the model has not seen.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

from benchmarks.tensor_build import KERNELS, ROOT
from benchmarks.tune_collect import HELD_OUT, pinned, places_of
from benchmarks.tune_report import geometric
from codegen.options import CppOptions, GenOptions
from codegen.record import record
from codegen.tune.build import FLAGS, built, open_region_compiler
from codegen.tune.plans.bench import open_bench
from codegen.tune.plans.sizes import Sizes, spelled
from codegen.tune.region import open_file

SECONDS = 3.0  # of the last comparison
WORK = 60_000_000  # statement instances of a run


@record
class Run:
    """A method, its budget, and the checkout it is taken from."""

    method: str
    budget: float
    tree: Path = ROOT

    @property
    def name(self) -> str:
        return f"{self.method}:{self.budget:g}" + ("" if self.tree == ROOT else " before")


def run_of(text: str) -> Run:
    words, _, tree = text.partition("@")
    method, _, budget = words.partition(":")
    return Run(method, float(budget), Path(tree).resolve() if tree else ROOT)


@record
class Outcome:
    """For each run: how many times as fast as the default plan its plan is, and seconds from start to end."""

    kernel: str
    gains: tuple[float, ...]
    seconds: tuple[float, ...]
    why: str = ""


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tune_held_out", description=__doc__)
    parser.add_argument("kernels", nargs="*", default=HELD_OUT, metavar="KERNEL", help="of examples/kernels")
    parser.add_argument("--runs", default="guided:10,greedy:10,greedy:60,beam4:60", help="METHOD:SECONDS[@DIR],...")
    parser.add_argument("--workers", type=int, default=1, help="kernels at a time (default 1)")
    parser.add_argument("--cores", type=int, default=1, help="for each of several kernels at a time (default 1)")
    parser.add_argument("--threads", type=int, default=1, help="of a run (default 1)")
    parser.add_argument("--work", type=int, default=WORK, help="statement instances of a run (default 60 million)")
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    given = arguments(words)
    runs = [run_of(text) for text in given.runs.split(",")]
    print(f"{'times as fast as the default':28}" + "".join(f"{r.name:>24}" for r in runs), flush=True)
    found = []
    for outcome in _outcomes(given, runs):
        cells = [f"{g:14.3f} {s:6.1f} s " for g, s in zip(outcome.gains, outcome.seconds, strict=True)]
        print(f"{outcome.kernel:28}" + ("".join(cells) or outcome.why), flush=True)
        found += [outcome] if outcome.gains else []
    if found:
        means = [geometric([o.gains[k] for o in found]) for k in range(len(runs))]
        print(f"{'geometric mean':28}" + "".join(f"{g:14.3f}{'':10}" for g in means))
        longest = [max(o.seconds[k] for o in found) / r.budget for k, r in enumerate(runs)]
        print(f"{'longest, of its budget':28}" + "".join(f"{'':14} {x:6.2f}{'':3}" for x in longest))
    return 0


def _outcomes(given: argparse.Namespace, runs: Sequence[Run]) -> Iterator[Outcome]:
    """As they come."""
    if given.workers == 1:
        yield from (_kernel(name, runs, given) for name in given.kernels)
        return
    context = get_context("fork")
    with ProcessPoolExecutor(given.workers, context, pinned, (places_of(given.workers, context, given.cores),)) as pool:
        for done in as_completed([pool.submit(_kernel, name, runs, given) for name in given.kernels]):
            yield done.result()


def _kernel(name: str, runs: Sequence[Run], given: argparse.Namespace) -> Outcome:
    path = KERNELS / f"{name}.c"
    options = GenOptions(machine="native", cpp=CppOptions(args=(f"-I{KERNELS}",)))
    (subject, *_) = open_file(str(path), path.read_text(), options).subjects
    with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
        compiler = open_region_compiler(subject, Path(folder), FLAGS)
        bench, _ = open_bench(subject, compiler, Sizes({}, given.work), given.threads, False)
        sizes = ",".join(f"{text}={n}" for text, n in spelled(subject, bench.vector).items())
        try:
            tuned = [_tuned(path, run, sizes, given.threads, Path(folder)) for run in runs]
        except subprocess.CalledProcessError as error:
            return Outcome(name, (), (), error.stderr.decode().strip().splitlines()[-1])
        plans = list(dict.fromkeys((subject.outcome.plan, *(plan for plan, _ in tuned))))
        paths = [built(subject, compiler, plan, f"final{n}") for n, plan in enumerate(plans)]
        times = bench.compete([bench.original, *paths], SECONDS)[1:]
    took = {plan: t.median for plan, t in zip(plans, times, strict=True)}
    own = took[subject.outcome.plan]
    return Outcome(name, tuple(own / took[plan] for plan, _ in tuned), tuple(s for _, s in tuned))


def _tuned(path: Path, run: Run, sizes: str, threads: int, folder: Path) -> tuple[str, float]:
    """The plan that the command writes, and how long it takes."""
    out = folder / f"{run.method}{run.budget:g}.plan"
    words = ["tune", str(path), f"-I{KERNELS}", "--machine", "native", "--method", run.method, "--budget",
             f"{run.budget:g}", "--threads", str(threads), "--size", sizes, "-o", str(out), "--force"]  # fmt: skip
    others = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(run.tree), *others])}
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "codegen", *words], check=True, capture_output=True, env=env, cwd=run.tree)
    seconds = time.perf_counter() - began
    text = out.read_text()
    return text[text.index("region ") :], seconds


if __name__ == "__main__":
    sys.exit(main())
