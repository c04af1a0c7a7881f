"""Every program of the corpus on the emulator: six grids of cores, four sets of sizes, results equal bit by bit.

python -m benchmarks.sunway_corpus [--only gemm,lu] [--grids 64,8x8] [--thin] [--jobs 2] [--out FOLDER]
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from benchmarks.sunway_programs import GRIDS, Outcome, Subject, contraction_files, run_subject, subjects
from codegen.sunway.host import build_library


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="programs, comma-separated")
    parser.add_argument("--grids", default="", help="grids, comma-separated, as 16 or 2x8")
    parser.add_argument("--thin", action="store_true", help="one grid for each program, in turn, and two sets of sizes")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", default="build/sunway-corpus", help="folder for generated files and programs")
    given = parser.parse_args(words)
    out = Path(given.out)
    out.mkdir(parents=True, exist_ok=True)
    library = build_library(out)
    found = [*contraction_files(out), *subjects()]  # what takes longest comes first
    if given.only:
        found = [s for s in found if s.name in given.only.split(",")]
    grids = tuple(g.replace("x", ",") for g in given.grids.split(",")) if given.grids else GRIDS
    # Two parts for each program: few enough that its original runs about once, enough to share them out.
    work = []
    for k, s in enumerate(found):
        mine = (grids[-1 - k % len(grids)],) if given.thin else grids
        work += [(s.thinned() if given.thin else s, part, out, library) for part in (mine[::2], mine[1::2]) if part]
    outcomes: list[Outcome] = []
    with ProcessPoolExecutor(given.jobs) as pool:
        for some in as_completed([pool.submit(_job, *w) for w in work]):
            for one in some.result():
                outcomes.append(one)
                print(one, flush=True)
    return summary(outcomes)


def _job(s: Subject, grids: Sequence[str], out: Path, library: Path) -> list[Outcome]:
    return [run_subject(s, g, out, library) for g in grids]


def summary(outcomes: Sequence[Outcome]) -> int:
    """Counts by what happened; 1 if anything differed or failed."""
    counts = Counter(o.kind for o in outcomes)
    runs = sum(o.runs for o in outcomes)
    programs = {o.name for o in outcomes}
    print(f"\n{len(programs)} programs, {len(outcomes)} on their grids: {counts['equal']} ran with equal results "
          f"({runs} runs), {counts['master']} stay on the management core, {counts['failed']} failed")  # fmt: skip
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
