"""Every program of the corpus on the emulator: six grids of cores, four sets of sizes, results equal bit by bit.

python -m benchmarks.sunway_corpus [--only gemm,lu] [--grids 64,8x8] [--thin] [--jobs 2] [--again] [--out FOLDER]

What was found is kept in FOLDER/outcomes.json, so that a run that was stopped goes on where it was; it counts as long
as generator, emulator and program are the same.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from benchmarks.sunway_outcomes import Kept, tool_digest
from benchmarks.sunway_programs import GRIDS, Outcome, Subject, contraction_files, run_subject, subjects
from codegen.sunway.emulation.host import build_library


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="programs, comma-separated")
    parser.add_argument("--grids", default="", help="grids, comma-separated, as 16 or 2x8")
    parser.add_argument("--thin", action="store_true", help="one grid for each program, in turn, and two sets of sizes")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--again", action="store_true", help="forget what earlier runs have found")
    parser.add_argument("--out", default="build/sunway-corpus", help="folder for generated files and programs")
    given = parser.parse_args(words)
    out = Path(given.out)
    out.mkdir(parents=True, exist_ok=True)
    library = build_library(out)
    found = [*contraction_files(out), *subjects()]  # what takes longest comes first
    if given.only:
        found = [s for s in found if s.name in given.only.split(",")]
    grids = tuple(g.replace("x", ",") for g in given.grids.split(",")) if given.grids else GRIDS
    work = []
    for k, s in enumerate(found):
        mine = (grids[-1 - k % len(grids)],) if given.thin else grids
        work.append((s.thinned() if given.thin else s, mine))
    kept = Kept(out / "outcomes.json", tool_digest(), given.again)
    outcomes = [o for s, mine in work for g in mine if (o := kept.get(s, g)) is not None]
    for o in outcomes:
        print(f"{o} (from an earlier run)")
    # Two parts for each program: few enough that its original runs about once, enough to share them out.
    left = [(s, [g for g in mine if kept.get(s, g) is None]) for s, mine in work]
    jobs = [(s, part, out, library) for s, mine in left for part in (mine[::2], mine[1::2]) if part]
    with ProcessPoolExecutor(given.jobs) as pool:
        waiting = {pool.submit(_job, *j): j[0] for j in jobs}
        for some in as_completed(waiting):
            for one in some.result():
                outcomes.append(one)
                kept.put(waiting[some], one)
                print(one, flush=True)
    return verdict(outcomes)


def _job(s: Subject, grids: Sequence[str], out: Path, library: Path) -> list[Outcome]:
    return [run_subject(s, g, out, library) for g in grids]


def verdict(outcomes: Sequence[Outcome]) -> int:
    """Counts of what was done and what came of it, by program where it is not what was asked; 1 if anything failed."""
    kinds = Counter(o.kind for o in outcomes)
    programs = sorted({o.name for o in outcomes})
    grids = sorted({o.grid for o in outcomes}, key=GRIDS.index)
    print(f"\n{len(programs)} programs on {len(grids)} grids ({', '.join(grids)}): {len(outcomes)} pairs")
    generated = [o for o in outcomes if o.kind != "master" and o.stage != "generate"]
    built = [o for o in generated if o.stage != "build"]
    print(f"  {kinds['master']} stay on the management core; {len(generated)} generated, {len(built)} built without a "
          f"warning, {kinds['equal']} ran with all results equal ({sum(o.runs for o in outcomes)} runs)")  # fmt: skip
    for name in programs:
        mine = [o for o in outcomes if o.name == name]
        for kind, title in (("master", "stays on the management core"), ("failed", "FAILED")):
            some = [o for o in mine if o.kind == kind]
            for why in sorted({o.why for o in some}):
                where = [o.grid for o in some if o.why == why]
                print(f"  {name} {title} on {'all grids' if len(where) == len(grids) else ', '.join(where)}: {why}")
    print("verdict: " + (f"{kinds['failed']} pairs failed" if kinds["failed"] else "everything that runs on the cores "
          "gives the results of its original, bit by bit"))  # fmt: skip
    return 1 if kinds["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
