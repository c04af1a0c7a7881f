"""How long generation takes, start-up included: `make bench`.

Runs the command itself, as a build would, best of several runs per kernel. The reference is the table of a
published generator for the thirteen linear-algebra kernels of PolyBench (seconds, its own machine). With `--numbers`
instead: kernels with numbers in place of their sizes against those with variables, in processor time of the command and
all its children.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.fixed import with_numbers

KERNELS = Path(__file__).resolve().parent.parent / "examples" / "kernels"
PUBLISHED = {
    "gemm": 0.73,
    "gemver": 0.72,
    "gesummv": 0.48,
    "symm": 0.51,
    "syrk": 0.60,
    "syr2k": 0.75,
    "trmm": 0.53,
    "2mm": 0.95,
    "3mm": 1.40,
    "atax": 0.49,
    "bicg": 0.47,
    "doitgen": 0.52,
    "mvt": 0.40,
}
MEAN_TARGET, MAX_TARGET = 0.6, 3.0


def seconds(kernel: Path, runs: int) -> float:
    """Best wall time of generating one kernel."""
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "codegen", "gen", str(kernel), "-o", "-"], capture_output=True, check=False
        )
        best = min(best, time.perf_counter() - start)
        if done.returncode:
            raise SystemExit(f"{kernel.name}: {done.stderr.decode()}")
    return best


def processor_seconds(kernel: Path, folder: Path) -> float:
    """Processor time of generating one kernel, with headers from that folder."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = [sys.executable, "-m", "codegen", "gen", str(kernel), "-I", str(folder), "-o", "-"]
    subprocess.run(words, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare_numbers(runs: int) -> None:
    """Large sizes as numbers against variables, in turns."""
    ratios: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for kernel in sorted(KERNELS.glob("*.c")):
            text = with_numbers(kernel.read_text(encoding="utf-8"), True)
            if text is None:
                continue
            fixed = Path(folder) / kernel.name
            fixed.write_text(text, encoding="utf-8")
            taken = [[processor_seconds(k, KERNELS) for k in (kernel, fixed)] for _ in range(runs)]
            best = [min(t) for t in zip(*taken, strict=True)]
            ratios[kernel.stem] = best[1] / best[0]
            print(
                f"{kernel.stem:22} variables {best[0]:6.2f}s  numbers {best[1]:6.2f}s  {ratios[kernel.stem]:5.2f}",
                flush=True,
            )
    print(f"slower by more than a tenth: {', '.join(n for n, r in ratios.items() if r > 1.1) or 'none'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--numbers", action="store_true", help="compare sizes that are numbers with variables")
    arguments = parser.parse_args()
    runs = arguments.runs
    if arguments.numbers:
        compare_numbers(runs)
        return
    times = {k.stem: seconds(k, runs if k.stem in PUBLISHED else 1) for k in sorted(KERNELS.glob("*.c"))}
    print(f"{'kernel':22} {'here':>7} {'published':>10}")
    for name, published in PUBLISHED.items():
        print(f"{name:22} {times[name]:6.2f}s {published:9.2f}s")
    mean = sum(times[n] for n in PUBLISHED) / len(PUBLISHED)
    theirs = sum(PUBLISHED.values()) / len(PUBLISHED)
    print(f"{'mean of the thirteen':22} {mean:6.2f}s {theirs:9.2f}s  (target {MEAN_TARGET} s)")
    slowest = sorted(times, key=lambda n: -times[n])[:5]
    worst = ", ".join(f"{n} {times[n]:.2f}s" for n in slowest)
    print(f"slowest of {len(times)}: {worst}  (target {MAX_TARGET} s)")


if __name__ == "__main__":
    main()
