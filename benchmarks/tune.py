"""The tuner on held-out matrix products: every method, the tool's own product, and NumPy: `make bench-tune`.

Searches value trees by measuring. They share measurements, so that an order of points is compiled and measured once;
each ends when it would have spent its seconds by itself, by the times of a small and of a full compilation. Then the
winners of all methods run in turns in one process, beside what `tilewright gen` makes of the loops, the loops as the
compiler leaves them, and NumPy with one thread, and only these figures count. How far two copies of one tree lie apart
there is the noise: within it, two methods are equal.

What searches ask for takes more than a minute for each product, but not twice: every figure is added to
`tune.records`, by machine, compiler, flags and the tool's own back end. `make bench-tune-searches` searches all
products, however long that takes; `make bench-tune` those for which its ten minutes are enough, which are all whose
figures are known.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks.tensor_build import ROOT
from benchmarks.tune_race import race
from benchmarks.tune_report import SEARCHES, Case, as_data, table
from codegen.lower.nest.kernel import KEPT
from codegen.machine.detect import detect
from codegen.tune.contraction import Contraction
from codegen.tune.cost import Model
from codegen.tune.learn import shapes
from codegen.tune.learn.answer import answers
from codegen.tune.learn.samples import strange
from codegen.tune.measure.clock import Effort
from codegen.tune.measure.measurer import Measurer
from codegen.tune.plans.search.trees import BEST, searches
from codegen.tune.search import METHODS, Budget, Space, run
from codegen.tune.search.frame import Over
from codegen.tune.tree import Tree, key, start

SEED = 7
QUICK = 9.0  # seconds for a product that is not searched
KNOWN, NEW = 45.0, 110.0  # seconds for one whose searches meet figures that are known, or new ones, before one was seen
DEPTH = 7  # of the exhaustive search: about 4,500 trees, among them register tiles in blocks of rows
DIRECT = ("fixed", "analytic", "learned", BEST)  # that measure a handful, or nothing


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tune", description=__doc__)
    parser.add_argument("--cases", type=int, default=13, metavar="N", help="products of the 440 (default 13)")
    parser.add_argument("--part", default="0/1", metavar="K/N", help="of these, every Nth from K on (default all)")
    parser.add_argument("--searched", type=int, metavar="N", help="of them that are searched at most (default: all)")
    parser.add_argument("--minutes", type=float, default=10.0, help="in which as many are searched as fit (default 10)")
    parser.add_argument("--budget", type=float, default=60.0, metavar="SECONDS", help="of each search (default 60)")
    parser.add_argument("--depth", type=int, default=DEPTH, help=f"of the exhaustive search (default {DEPTH})")
    parser.add_argument("--learning", action="store_true", help="products of the training set, for trying things out")
    parser.add_argument("--busy", action="store_true", help="for a machine with other work: processor time")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "bench", help="folder for results")
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    given = arguments(words)
    given.out.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    cases: list[Case] = []
    cache = str(given.out / "tune.records")
    with Measurer(options=KEPT, effort=Effort(busy=given.busy), cache=cache) as bench:
        answer = _answer()
        print(f"peak {bench.peak():.1f} GFLOPS; a policy's answer from start to end: {answer:.2f} s", flush=True)
        problems = chosen(given)
        pace = _pace(bench, shapes.training()[:2])
        print(f"one order takes {pace.one:.2f} s, {1 / pace.each:.1f} of many a second are measured", flush=True)
        longest = {True: KNOWN, False: NEW}
        for n, problem in enumerate(problems):
            first, before = time.perf_counter() - began, bench.measured
            near = _within(start(problem), given.depth)
            known = all(key(t) in bench.cache.known for t in near)
            rest = longest[known] + QUICK * (len(problems) - n)
            most = len(problems) if given.searched is None else given.searched
            searched = n < most and first + rest < 60 * given.minutes
            found, seconds = _tuned(bench, problem, given, pace, near if searched else [])
            ready = time.perf_counter() - began
            cases.append(race(bench, problem, found, seconds))
            last = time.perf_counter() - began
            longest[known] = max(longest[known], last - first) if searched else longest[known]
            took = f"{bench.measured - before} measured in {ready - first:.0f} s"
            print(f"{last:5.0f} s  {cases[-1].line()}; {took}", flush=True)
            (given.out / "tune.json").write_text(json.dumps(as_data(cases), indent=1) + "\n")
        print(table(cases, BEST, bench.peak(), answer, given.depth))
    return 0


def chosen(given: argparse.Namespace) -> list[Contraction]:
    """The products of this run."""
    first, step = map(int, given.part.split("/"))
    return Random(SEED).sample(shapes.training() if given.learning else shapes.testing(), given.cases)[first::step]


@dataclass(frozen=True)
class Pace:
    """Seconds for one order, and for each of many."""

    one: float
    each: float

    def seconds(self, count: int) -> float:
        return max(self.one, count * self.each) if count else 0.0


class _Clock:
    """A value that counts the seconds one search would have taken alone, its own thinking and every order that it asks
    for, and ends it after so many."""

    def __init__(self, bench: Measurer, pace: Pace, limit: float) -> None:
        self.bench, self.pace, self.limit = bench, pace, limit
        self.seconds, self.asked = 0.0, set[str]()
        self.since = time.perf_counter()

    def __call__(self, trees: Sequence[Tree]) -> list[float | None]:
        self.seconds += time.perf_counter() - self.since
        if self.seconds > self.limit:
            raise Over
        found = self.bench(trees)
        new = {key(t) for t, x in zip(trees, found, strict=True) if x is not None} - self.asked
        self.asked |= new
        self.seconds += self.pace.seconds(len(new))
        self.since = time.perf_counter()
        return found


def _tuned(
    bench: Measurer, problem: Contraction, given: argparse.Namespace, pace: Pace, near: Sequence[Tree]
) -> tuple[dict[str, Tree], dict[str, float]]:
    """The tree of each method, and the seconds it takes: those of searches are what they would have taken alone. `near`
    is everything within the oracle's steps, measured all at once, which keeps every core busy; without it there are no
    searches."""
    first, isa = start(problem), bench.compiler.isa
    found, seconds = {"untuned": first}, {"untuned": 0.0}
    model = Model(detect().machine, isa)
    ways = searches(model, isa)
    bench(near)
    for name in (*DIRECT, *(("exhaustive", *SEARCHES, "wide") if near else ())):
        guess, oracle = name == "wide", name == "exhaustive"
        value = model if guess else _Clock(bench, pace, 1e9 if oracle else given.budget)
        began = time.perf_counter()
        result = run(
            ways[name], first, value, Budget(1e9, given.depth if oracle else 10), None, Space("v2" if guess else "v1")
        )
        took = time.perf_counter() - began
        found[name] = result.best
        seconds[name] = value.seconds if isinstance(value, _Clock) else took
    for name, version in (("policy", "v2"), ("policy-v1", "v1")):
        began = time.perf_counter()
        found[name] = answers(first, model, version)[0]  # be it better than the start or not: nothing is measured
        seconds[name] = time.perf_counter() - began
    return found, seconds


def _within(first: Tree, steps: int) -> list[Tree]:
    """What an exhaustive search will ask for."""
    found: list[Tree] = []

    def value(trees: Sequence[Tree]) -> list[float | None]:
        found.extend(trees)
        return [0.0] * len(trees)

    run(METHODS["exhaustive"], first, value, Budget(1e9, steps))
    return found


def _pace(bench: Measurer, problems: Sequence[Contraction]) -> Pace:
    """How long it takes to compile and measure one order, and each of many."""
    groups = [strange(p, 60, "v1", Random(3)) for p in problems]
    with Measurer(options=bench.compiler.options, effort=bench.effort) as fresh:
        fresh.peak()
        single = []
        for tree in (start(p) for p in problems):
            began = time.perf_counter()
            fresh([tree])
            single.append(time.perf_counter() - began)
        before, began = fresh.measured, time.perf_counter()
        for group in groups:
            fresh(group)
        return Pace(min(single), (time.perf_counter() - began) / (fresh.measured - before))


def _answer() -> float:
    """Seconds for one product, from the start of Python to the tree."""
    words = (
        "from codegen.tune.learn.answer import answers;"
        "from codegen.machine.detect import detect;"
        "from codegen.tune.contraction import matmul;"
        "from codegen.tune.cost import Model;"
        "from codegen.tune.native import native_isa;"
        "from codegen.tune.tree import show, start;"
        "print(show(answers(start(matmul(112, 128, 192)), Model(detect().machine, native_isa()))[0]))"
    )
    best = float("inf")
    for _ in range(3):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", words], check=True, capture_output=True)
        best = min(best, time.perf_counter() - began)
    return best


if __name__ == "__main__":
    sys.exit(main())
