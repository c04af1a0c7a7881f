"""A long run of random programs, in batches: python -m tests.property.fuzz FIRST COUNT [-j N] [--state FILE].

Every batch is a process of its own with a limit on its processor time. What is done is written to the state file, one
line of JSON for each batch, so that a run that was stopped goes on where it was: start it again with the same words.
`--failures` prints what a state file holds. `--smallest SEED WORD` makes the program of a seed smaller while some
failure with this word in its text remains.
"""
from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from codegen.source_file import load_all
from tests.property.generate import LONG, SHORT, Effort, Failure
from tests.property.harness import Report, compilers, program_of, run_batch, smallest
from tests.property.model import Features


@dataclass(frozen=True)
class Job:
    """Which programs, and how they are made and compared."""

    first: int
    count: int
    batch: int
    effort: Effort
    features: Features
    seconds: int  # of processor time for a batch

    def batches(self) -> Iterator[range]:
        last = self.first + self.count
        for low in range(self.first, last, self.batch):
            yield range(low, min(low + self.batch, last))


def main(words: Sequence[str]) -> int:
    """Run the batches that are not done yet; the table of all of them at the end."""
    args = _arguments(words)
    features = Features.without([w for w in args.without.split(",") if w])
    effort = replace(SHORT if args.short else LONG, sealed=not args.no_seal, warnings=not args.no_warnings)
    if args.smallest:
        return _shrink(int(args.smallest[0]), args.smallest[1], effort, features)
    job = Job(args.first, args.count, args.batch, effort, features, args.seconds)
    state = Path(args.state or f"build/fuzz/{args.first}.jsonl")
    state.parent.mkdir(parents=True, exist_ok=True)
    done = _read(state)
    wanted = [b for b in job.batches() if (b.start, b.stop) not in done]
    if not args.failures:
        number = len(list(job.batches()))
        print(f"compilers: {', '.join(compilers())}; {len(wanted)} of {number} batches to do; {state}", flush=True)
        load_all()
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # and the batches end, too
        start = time.monotonic()
        for low, high, line in _all(job, wanted, args.j):
            with state.open("a") as out:
                out.write(json.dumps(line) + "\n")
            done[low, high] = line
            for f in line["failures"]:
                print(f"=== {Failure(**f)}", flush=True)
            bad = sum(len(x["failures"]) for x in done.values())
            seconds = time.monotonic() - start
            print(f"--- {low}..{high - 1}: {bad} failures in {len(done)} batches, {seconds:.0f} s", flush=True)
    return _table(done, args.failures)


def _arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.property.fuzz", description=__doc__)
    parser.add_argument("first", type=int, nargs="?", default=1_000_000, help="the first seed")
    parser.add_argument("count", type=int, nargs="?", default=1000)
    parser.add_argument("-j", type=int, default=os.cpu_count() or 1, help="processes at a time")
    parser.add_argument("--batch", type=int, default=25, help="programs in a process")
    parser.add_argument("--seconds", type=int, default=600, help="processor time of a batch")
    parser.add_argument("--state", help="what is done; build/fuzz/FIRST.jsonl")
    parser.add_argument("--short", action="store_true", help="fewer ways to generate each program")
    parser.add_argument("--without", default="", help="features to leave out, as unions,threads")
    parser.add_argument("--no-seal", action="store_true", help="no runs on read-only arrays")
    parser.add_argument("--no-warnings", action="store_true", help="warnings of compilers do not count")
    parser.add_argument("--failures", action="store_true", help="print the failures of the state file, run nothing")
    parser.add_argument("--smallest", nargs=2, metavar=("SEED", "WORD"))
    return parser.parse_args(words)


def _shrink(seed: int, word: str, effort: Effort, features: Features) -> int:
    with tempfile.TemporaryDirectory() as folder:
        print(smallest(program_of(seed, features), word, Path(folder), effort).text())
    return 0


# -- processes -------------------------------------------------------------------------------------


def _all(job: Job, batches: Sequence[range], most: int) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """The results of batches as they come, `most` at a time."""
    left = list(reversed(batches))
    running: dict[int, tuple[range, Path, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        try:
            while left or running:
                while left and len(running) < most:
                    batch = left.pop()
                    out = Path(folder) / f"{batch.start}.json"
                    running[_fork(job, batch, out)] = batch, out, time.monotonic()
                pid, status, used = os.wait4(-1, 0)
                if pid in running:
                    batch, out, start = running.pop(pid)
                    yield batch.start, batch.stop, _result(batch, out, status, used, time.monotonic() - start)
        finally:
            for pid in running:
                os.killpg(pid, signal.SIGKILL)


def _fork(job: Job, batch: range, out: Path) -> int:
    """A child, in a process group of its own, that runs a batch and writes what it showed."""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_CPU, (job.seconds, job.seconds + 5))
        report = run_batch(batch, out.parent / str(batch.start), job.effort, features=job.features)
        made = {"failures": [asdict(f) for f in report.failures], "counts": dict(report.counts)}
        out.write_text(json.dumps(made))
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _result(batch: range, out: Path, status: int, used: resource.struct_rusage, wall: float) -> dict[str, Any]:
    """The line of the state file; a batch that died is a failure."""
    made: dict[str, Any] = json.loads(out.read_text()) if out.exists() else {"failures": [], "counts": {}}
    if status or not out.exists():
        what = f"the batch of {len(batch)} ended with status {status}"
        made["failures"].append(asdict(Failure(batch.start, "batch", what, "")))
    return {"first": batch.start, "stop": batch.stop, "cpu": used.ru_utime + used.ru_stime, "wall": wall, **made}


# -- what was seen ---------------------------------------------------------------------------------


def _read(state: Path) -> dict[tuple[int, int], dict[str, Any]]:
    lines = state.read_text().splitlines() if state.exists() else []
    found = [json.loads(line) for line in lines if line.endswith("}")]  # the last may be cut
    return {(f["first"], f["stop"]): f for f in found}


def _table(done: dict[tuple[int, int], dict[str, Any]], shown: bool) -> int:
    """Counts over all batches, then the failures; 1 if there are any."""
    total = Report()
    for _, line in sorted(done.items()):
        total.counts.update(line["counts"])
        total.failures += [Failure(**f) for f in line["failures"]]
    for failure in total.failures if shown else ():
        print(f"=== {failure}")
    for what, number in sorted(total.counts.items()):
        print(f"{number:8} {what}")
    programs, cpu = total.counts["programs"], sum(line["cpu"] for line in done.values())
    if cpu:
        print(f"{programs / cpu:8.2f} programs for each second of processor time ({cpu:.0f} s)")
    kinds = Counter(f.what.split("\n")[0][:90] for f in total.failures)
    for what, number in kinds.most_common():
        seeds = sorted({f.seed for f in total.failures if f.what.startswith(what)})
        print(f"{number:8} FAILED {what}  seeds {', '.join(map(str, seeds[:8]))}{' ...' if len(seeds) > 8 else ''}")
    print(f"{programs:8} programs in {len(done)} batches, {len(total.failures)} failures")
    return 1 if total.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
