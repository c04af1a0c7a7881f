"""The tuner on held-out matrix products: every method, the tool's own product, and NumPy: `make bench-tune`.

Searches value trees by measuring. They share a cache, so that a tree is measured once; each may ask for as many trees
as it could have measured by itself in its seconds. Then the winners of all methods run in turns in one process, beside
what `tilewright gen` makes of the loops and NumPy with one thread, and only these figures count.
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
from pathlib import Path
from random import Random

from benchmarks.tensor_build import ROOT
from benchmarks.tune_race import race
from benchmarks.tune_report import Case, as_data, table
from codegen.tune.contraction import Contraction
from codegen.tune.learn import shapes
from codegen.tune.learn.estimate import estimate
from codegen.tune.learn.network import shipped
from codegen.tune.learn.policy import follow
from codegen.tune.measure.clock import Effort
from codegen.tune.measure.measurer import Measurer
from codegen.tune.search import METHODS, Budget, Space, modelled, run
from codegen.tune.tree import Tree, start

SEED = 7
DEPTH = 6  # of the exhaustive search, which goes through about 1,600 trees
DEFAULT = "shortlist"  # the method of `tilewright tune`


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tune", description=__doc__)
    parser.add_argument("--cases", type=int, default=40, metavar="N", help="products of the 440 (default 40)")
    parser.add_argument(
        "--searched", type=int, default=2, metavar="N", help="so many of these go through all searches too (default 2)"
    )
    parser.add_argument("--budget", type=float, default=60.0, metavar="SECONDS", help="of each search (default 60)")
    parser.add_argument("--rate", type=float, default=0.0, help="trees a second that a search can measure (measured)")
    parser.add_argument("--busy", action="store_true", help="for a machine with other work: processor time")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "bench", help="folder for results")
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    given = arguments(words)
    given.out.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    cases: list[Case] = []
    with Measurer(effort=Effort(busy=given.busy), cache=str(given.out / "tune.records")) as bench:
        print(f"peak {bench.peak():.1f} GFLOPS; a policy's answer from start to end: {_answer():.2f} s", flush=True)
        problems = Random(SEED).sample(shapes.testing(), given.cases)
        rate = given.rate or _rate(bench, shapes.training()[:2])
        print(f"a search measures {rate:.1f} trees a second, {rate * given.budget:.0f} in its time", flush=True)
        for n, problem in enumerate(problems):
            found, seconds = _tuned(bench, problem, int(rate * given.budget), rate, n >= given.searched)
            cases.append(race(bench, problem, found, seconds))
            print(f"{time.perf_counter() - began:5.0f} s  {cases[-1].line()}", flush=True)
    text = table(cases, DEFAULT)
    print(text)
    (given.out / "tune.json").write_text(json.dumps(as_data(cases), indent=1) + "\n")
    return 0


def _tuned(
    bench: Measurer, problem: Contraction, trees: int, rate: float, quick: bool
) -> tuple[dict[str, Tree], dict[str, float]]:
    """The tree of each method, and the seconds it takes: those of searches are what they would have taken alone."""
    first, found, seconds = start(problem), dict[str, Tree](), dict[str, float]()
    found["untuned"], seconds["untuned"] = first, 0.0
    began = time.perf_counter()
    path = follow(first, shipped("policy"))
    found["policy"], seconds["policy"] = path[-1], time.perf_counter() - began
    model = estimate(shipped("estimate"), bench.shop.isa)
    ways = {**METHODS, **modelled(lambda ts: list(model(ts)), bench.shop.isa)}
    for name, search in ways.items():
        if quick and name not in ("fixed", "analytic", "shortlist"):
            continue
        depth = DEPTH if name == "exhaustive" else 10
        limit = 0 if name == "exhaustive" else trees
        guess = name == "wide"
        space = Space("v2") if guess else Space()
        value = (lambda ts: list(model(ts))) if guess else bench
        began = time.perf_counter()
        result = run(search, first, value, Budget(1e9, depth, limit), None, space)
        took = time.perf_counter() - began
        found[name] = result.best
        seconds[name] = took if guess else result.trees / rate
    return found, seconds


def _rate(bench: Measurer, problems: Sequence[Contraction]) -> float:
    """Trees that are compiled and measured in a second."""
    from codegen.tune.learn.samples import strange

    trees = [strange(p, 24, "v1", Random(3)) for p in problems]
    with Measurer(effort=bench.effort) as fresh:
        began = time.perf_counter()
        for group in trees:
            fresh(group)
        return sum(map(len, trees)) / (time.perf_counter() - began)


def _answer() -> float:
    """Seconds for one product, from the start of Python to the tree."""
    words = (
        "from codegen.tune.learn.policy import follow;"
        "from codegen.tune.learn.network import shipped;"
        "from codegen.tune.contraction import matmul;"
        "from codegen.tune.tree import show, start;"
        "print(show(follow(start(matmul(112, 128, 192)), shipped('policy'))[-1]))"
    )
    best = float("inf")
    for _ in range(3):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", words], check=True, capture_output=True)
        best = min(best, time.perf_counter() - began)
    return best


if __name__ == "__main__":
    sys.exit(main())
