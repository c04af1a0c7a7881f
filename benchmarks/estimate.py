"""The cost model's estimates against measurements over the corpus: `make bench-estimate`.

For every kernel the seconds that the model expects of its source, as compilers would run it at one thread of this
machine, beside those of `gcc -O3`; and what the model expects of the generated text, beside its speed. The best of
several runs counts, of both programs in turn. It can be run in pieces (`--only`, `--part`, `--steps`): what earlier
ones have found under the same conditions is kept in the file of results.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.estimate_model import estimate
from benchmarks.estimate_report import Row, spread, summary, table
from benchmarks.kernels_build import Shop, in_a_word
from benchmarks.kernels_cases import SIZES, Case, case, corpus, thirty
from benchmarks.kernels_measure import unlike
from benchmarks.tensor_build import ROOT, Failed
from codegen.machine import Machine
from codegen.machine.detect import detect

STEPS = ("build", "measure", "estimate")
SIDES = ("gcc", "ours")
LEAST, MOST, SECONDS = 3, 15, 0.25  # runs of both programs, and how long they may go on


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.estimate", description=__doc__)
    parser.add_argument("--only", default="", metavar="KERNELS", help="these kernels of the corpus, by name")
    parser.add_argument("--part", default="1/1", metavar="K/N", help="part K of N of the kernels")
    parser.add_argument("--size", choices=SIZES, default="medium", help="of every kernel (default medium)")
    parser.add_argument("--busy", action="store_true", help="for a machine with other work: processor time")
    parser.add_argument(
        "--steps", default=",".join(STEPS), metavar="LIST", help=f"of {', '.join(STEPS)} (default all, in this order)"
    )
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "bench", help="folder for results")
    given = parser.parse_args(words)
    known = [*thirty(), *corpus()]
    given.only = given.only.split(",") if given.only else known
    for name in given.only:
        if name not in known:
            parser.error(f"no kernel {name} with sizes in examples/kernels")
    given.steps = given.steps.split(",")
    if not set(given.steps) <= set(STEPS):
        parser.error(f"--steps takes the words {', '.join(STEPS)}, separated by commas")
    part, _, parts = given.part.partition("/")
    if not (part.isdigit() and parts.isdigit() and 1 <= int(part) <= int(parts)):
        parser.error("--part takes two numbers, as in 2/5")
    given.only = given.only[int(part) - 1 :: int(parts)]
    return given


def main(words: Sequence[str] | None = None) -> int:
    given = arguments(words)
    shop, machine = Shop(given.out / "estimate", given.busy, peers=True), detect().machine
    shop.out.mkdir(parents=True, exist_ok=True)
    cases = [case(kernel, given.size) for kernel in given.only]
    about = {"host": machine.description, "compiler": shop.version(), "size": given.size, "busy": given.busy}
    path = given.out / f"estimate-{given.size}.json"
    rows = _known(path, about)
    if "build" in given.steps:
        shop.build(cases, False)
    if "measure" in given.steps:
        rows |= _measured(shop, cases)
    if "estimate" in given.steps:
        rows |= {c.name: _estimated(c, machine, rows[c.name]) for c in cases if c.name in rows}
    found = [r for r in rows.values() if r.estimated]
    print(f"{about['host']}, {about['compiler']}, size {given.size}, one thread\n{table(found)}\n\n{summary(found)}")
    ratios = {"ratio": asdict(spread([r.ratio for r in found]))} if found else {}
    path.write_text(json.dumps({**about, **ratios, "rows": [asdict(r) for r in rows.values()]}, indent=1) + "\n")
    print(f"results: {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}")
    return _failures(shop)


def _measured(shop: Shop, cases: Sequence[Case]) -> dict[str, Row]:
    out = {}
    for c in cases:
        try:
            out[c.name] = _row(shop, c)
        except Failed as failure:
            shop.failed.setdefault(f"ours-{c.name}", str(failure))
    return out


def _row(shop: Shop, c: Case) -> Row:
    """Both programs in turn, the best run of each; nothing is estimated yet."""
    best = dict.fromkeys(SIDES, float("inf"))
    results: dict[str, str] = {}
    start, turn = time.perf_counter(), 0
    while turn < LEAST or (turn < MOST and time.perf_counter() - start < 2 * SECONDS):
        for side in SIDES if turn % 2 else SIDES[::-1]:
            seconds, results[side] = shop.run(side, c, 1)
            best[side] = min(best[side], seconds)
        turn += 1
    told = unlike(results["ours"], results["gcc"], c)
    if told:
        raise Failed(told)
    plan = in_a_word((shop.out / f"ours-{c.name}.plan").read_text())
    return Row(c.name, plan, 0.0, best["gcc"], best["ours"], None)


def _estimated(c: Case, machine: Machine, row: Row) -> Row:
    found = estimate(c, machine)
    return Row(row.kernel, row.plan, found.seconds, row.measured, row.ours, found.gain)


def _known(path: Path, about: dict[str, Any]) -> dict[str, Row]:
    """Rows of an earlier run under the same conditions."""
    data = json.loads(path.read_text()) if path.is_file() else {}
    if any(data.get(k) != v for k, v in about.items()):
        return {}
    return {r["kernel"]: Row(**r) for r in data["rows"]}


def _failures(shop: Shop) -> int:
    for name, why in shop.failed.items():
        print(f"{name}: {why}", file=sys.stderr)
    return 1 if shop.failed else 0


if __name__ == "__main__":
    sys.exit(main())
