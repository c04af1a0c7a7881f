"""Kernels of the corpus against gcc, clang with Polly, and OpenMP by hand: `make bench-kernels`.

Everything is generated and compiled first. Then, kernel by kernel, all programs run in turn, and the best of several
runs of each counts; how many, is a matter of time (`kernels_measure.py`): quick ones run more often, of slow ones a run
is enough unless the call is close. Checksums are compared in the same runs; a difference fails the benchmark.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.kernels_build import OWNERSHIP, Shop
from benchmarks.kernels_cases import FACTORIZATIONS, PRODUCT, REALS, SIZES, Case, case, corpus, of_type, thirty
from benchmarks.kernels_gains import gains, gains_text
from benchmarks.kernels_measure import Best, measure
from benchmarks.kernels_plot import plot
from benchmarks.kernels_report import as_data, asked, in_any_order, summary, table
from benchmarks.tensor_build import ROOT
from codegen.machine.detect import detect


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kernels", description=__doc__)
    parser.add_argument("--only", default="", metavar="KERNELS", help="these kernels of the corpus, by name")
    parser.add_argument(
        "--set",
        choices=("polybench", "more", "all"),
        default="all",
        help="the thirty of PolyBench, the rest of the corpus, or both (default)",
    )
    parser.add_argument("--threads", default="1,all", metavar="LIST", help="numbers of threads, or all (default 1,all)")
    parser.add_argument("--size", choices=SIZES, default="large", help="of every kernel (default large)")
    parser.add_argument("--real", choices=REALS, default="", help="element type (default: that of each kernel)")
    parser.add_argument("--quick", action="store_true", help="fewer runs of quick kernels")
    parser.add_argument(
        "--busy", action="store_true", help="for a machine with other work: one thread in processor time"
    )
    parser.add_argument("--no-polly", action="store_true", help="leave clang out")
    parser.add_argument("--clang", default="", metavar="NAME", help="the clang to use (default clang-19, then clang)")
    parser.add_argument(
        "--without",
        default=OWNERSHIP,
        metavar="DIRECTIVES",
        help="also measure plans without these, as in copy,jam; or without all that ownership brings (default); or ''",
    )
    parser.add_argument(
        "--peers",
        action="store_true",
        help="gcc and Polly alone beside ours; where Polly is ahead, ours with --reassociate, too",
    )
    parser.add_argument("--options", default="", metavar="WORDS", help="further options for tilewright gen")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "bench", help="folder for results")
    given = parser.parse_args(words)
    known = [*thirty(), *corpus()]
    sets = {"polybench": thirty(), "more": corpus(), "all": known}
    given.only = given.only.split(",") if given.only else sets[given.set]
    for name in given.only:
        if name not in known:
            parser.error(f"no kernel {name} with sizes in examples/kernels")
    cores = len(os.sched_getaffinity(0))
    try:
        given.threads = tuple(dict.fromkeys(cores if t == "all" else int(t) for t in given.threads.split(",")))
    except ValueError:
        given.threads = ()
    if not given.threads or min(given.threads) < 1:
        parser.error("--threads takes numbers and the word all, separated by commas")
    return given


def main(words: Sequence[str] | None = None) -> int:
    given = arguments(words)
    without = tuple(x for x in given.without.split(",") if x and not given.peers)
    name = f"kernels-{given.real}" if given.real else "kernels"
    shop = Shop(given.out / name, given.busy, tuple(given.options.split()), without=without, peers=given.peers)
    shop.out.mkdir(parents=True, exist_ok=True)
    polly = "Polly left out" if given.no_polly else shop.find_polly(given.clang)
    load = os.getloadavg()[0]
    if load > 0.5:
        print(f"other programs run here (load {load:.1f}): figures of several threads mean little, for one see --busy")
    start = time.perf_counter()
    cases = [case(kernel, given.size) for kernel in given.only]
    if given.real:
        cases, others = of_type(cases, given.real)
        if others:
            print(f"not with {given.real}: {', '.join(others)}")
    product = None if given.peers else _product(cases)
    shop.build({c.name: c for c in (*cases, *([product] if product else []))}.values(), max(given.threads) > 1)
    print(f"built in {time.perf_counter() - start:.0f} s: {shop.version()}; {polly}; {_host()}", flush=True)
    found: list[Best] = []
    for c in cases:
        best = measure(shop, c, given.threads, given.quick)
        if given.peers and best.behind(given.threads):  # a fair comparison beside it: all in turn again
            shop.add_free(c)
            best = measure(shop, c, given.threads, given.quick)
        found.append(best)
        print(table(found[-1:], given.threads).splitlines()[-1], flush=True)
    # A yardstick here, not a case: Polly's is not asked for.
    whole = measure(replace(shop, clang=None), product, given.threads, given.quick) if product else None
    lines = asked(found, given.threads, whole)
    print(f"\n== after {time.perf_counter() - start:.0f} s, size {given.size}\n{table(found, given.threads, whole)}\n")
    print(in_any_order(found, given.threads))
    print(summary(lines, found))
    data = {
        "host": _host(),
        "compilers": [shop.version(), polly],
        "load": load,
        "threads": given.threads,
        "size": given.size,
        "real": given.real,
        "quick": given.quick,
        "busy": given.busy,
        **as_data(found, lines),
    }
    print(gains_text(gains(data), given.without))
    path = given.out / f"{name}.json"
    path.write_text(json.dumps(data, indent=1) + "\n")
    print(f"results: {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}")
    print(plot(found, given.threads, given.out, name))
    return 1 if any(side == "ours" for b in found for side, _ in b.wrong) else 0


def _product(cases: Sequence[Case]) -> Case | None:
    """The matrix product of the order of the factorizations."""
    first = next((c for c in cases if c.name in FACTORIZATIONS), None)
    return replace(case(PRODUCT, "large"), sizes=(first.sizes[0],) * 3, real=first.real) if first else None


def _host() -> str:
    return f"{detect().machine.description}, {len(os.sched_getaffinity(0))} cores"


if __name__ == "__main__":
    sys.exit(main())
