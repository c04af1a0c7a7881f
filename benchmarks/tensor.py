"""Tensor kernels against OpenBLAS and against what the processor can do: `make bench-tensor`.

Everything is generated and compiled first. Then one driver process per group and type calls both sides in turn and
keeps the best of many samples; the results of both are compared in the same run, and a difference fails the benchmark.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.tensor_build import ROOT, Failed, Options, Workshop
from benchmarks.tensor_contractions import Contractions
from benchmarks.tensor_groups import Gemm, Group, Integers, Semirings, Vectors
from benchmarks.tensor_kernels import Kernels
from benchmarks.tensor_plot import plot
from benchmarks.tensor_report import Row, Verdict, as_data, summary, table, verdicts
from codegen.machine.detect import detect

GROUPS: tuple[type[Group], ...] = (Gemm, Vectors, Semirings, Integers, Contractions, Kernels)
NO_BLAS = """\
OpenBLAS with its header cblas.h is needed for the groups {groups}.
On Debian and Ubuntu: apt install libopenblas-dev
Without it: python -m benchmarks.tensor --only {others}"""


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    names = ",".join(g.name for g in GROUPS)
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tensor", description=__doc__)
    parser.add_argument("--only", default=names, metavar="GROUPS", help=f"some of {names}")
    parser.add_argument("--threads", default="1,all", metavar="LIST", help="numbers of threads, or all (default 1,all)")
    parser.add_argument("--quick", action="store_true", help="fewer sizes, best of three")
    parser.add_argument(
        "--full", action="store_true", help="contractions at full size, every size at every thread count"
    )
    parser.add_argument(
        "--busy", action="store_true", help="for a machine with other work: more samples, one thread in processor time"
    )
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "bench", help="folder for results")
    given = parser.parse_args(words)
    given.only = given.only.split(",")
    for name in given.only:
        if name not in names.split(","):
            parser.error(f"no group {name}: there are {names}")
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
    groups = [g() for g in GROUPS if g.name in given.only]
    shop = Workshop(given.out / "tensor", Options(given.threads, given.quick, given.full, given.busy))
    shop.out.mkdir(parents=True, exist_ok=True)
    lacking = [g.name for g in groups if g.needs_blas]
    if lacking and not shop.has_blas():
        others = ",".join(g.name for g in GROUPS if not g.needs_blas)
        print(NO_BLAS.format(groups=", ".join(lacking), others=others), file=sys.stderr)
        return 2
    load = os.getloadavg()[0]
    if load > 0.5:
        print(f"other programs run here (load {load:.1f}): figures of several threads mean little, for one see --busy")
    start = time.perf_counter()
    for group in groups:
        group.prepare(shop.out, shop.options)
    shop.build((x for g in groups for x in g.generated), (x for g in groups for x in g.programs))
    print(f"built in {time.perf_counter() - start:.0f} s: {shop.version()}; {_host()}", flush=True)
    rows: list[Row] = []
    found: list[Verdict] = []
    failures: list[str] = []
    for group in groups:
        print(f"\n== {group.name}: {(group.__doc__ or '').partition(chr(10))[0]}", flush=True)
        try:
            new = group.measure(shop)
        except Failed as failure:
            failures.append(f"{group.name}: {failure}")
            print(f"FAILED: {failure}", flush=True)
            continue
        judged = verdicts(new, group.goal)
        print(table(new, judged, group.ours, group.theirs), flush=True)
        rows += new
        found += judged
    wrong = [r for r in rows if r.wrong]
    print(f"\n== summary, after {time.perf_counter() - start:.0f} s\n{summary(found, wrong, failures)}")
    _write(given, shop, load, rows, found, failures)
    return 1 if wrong or failures else 0


def _write(
    given: argparse.Namespace, shop: Workshop, load: float, rows: list[Row], found: list[Verdict], failures: list[str]
) -> None:
    data = {
        "host": _host(),
        "compiler": shop.version(),
        "load": load,
        "threads": given.threads,
        "quick": given.quick,
        "full": given.full,
        "busy": given.busy,
        "failures": failures,
        **as_data(rows, found),
    }
    path = given.out / "tensor.json"
    path.write_text(json.dumps(data, indent=1) + "\n")
    print(f"results: {_shown(path)}")
    print(plot(rows, given.out, {g.name: g.goal for g in GROUPS}))


def _host() -> str:
    return f"{detect().machine.description}, {len(os.sched_getaffinity(0))} cores"


def _shown(path: Path) -> str:
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


if __name__ == "__main__":
    sys.exit(main())
