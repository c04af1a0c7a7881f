"""Run batches from the shell: python -m tests.property.fuzz FIRST COUNT [BATCH [SHORT]].

Seeds from 900000 on are programs around products. TILEWRIGHT_MACHINE=NAME generates for another processor, which must
be able to run here. A failing seed is made smaller with harness.smallest(program_of(SEED), "part of the message",
folder).
"""
from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from tests.property.generate import LONG, SHORT
from tests.property.harness import Report, run_batch


def main(first: int, count: int, batch: int = 25, short: int = 0) -> int:
    """Print every failure as it is found, and the counts at the end."""
    total, start = Report(), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for low in range(first, first + count, batch):
            report = run_batch(range(low, min(low + batch, first + count)), Path(folder), SHORT if short else LONG)
            for failure in report.failures:
                print(f"=== {failure}", flush=True)
            total.add(report)
            print(f"--- {low}: {len(total.failures)} failures, {time.monotonic() - start:.0f} s", flush=True)
    for what, number in sorted(total.counts.items()):
        print(f"{number:6} {what}")
    return 1 if total.failures else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
