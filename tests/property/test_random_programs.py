"""Random affine programs through every transformation: no crash, no failed proof, not one bit of difference.

TILEWRIGHT_FUZZ=N runs N programs instead of the short set, TILEWRIGHT_SEED=S starts at another seed.
"""
from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from tests.property.generate import LONG, SHORT
from tests.property.harness import run_batch

EFFORT = LONG if "TILEWRIGHT_FUZZ" in os.environ else SHORT
COUNT = int(os.environ.get("TILEWRIGHT_FUZZ", "150"))
FIRST = int(os.environ.get("TILEWRIGHT_SEED", "1000"))
BATCH = 25
STARTS = range(FIRST, FIRST + COUNT, BATCH)


def _refused(counts: Counter[str], word: str) -> int:
    return sum(n for what, n in counts.items() if what.startswith("default: refused") and word in what)


@pytest.mark.parametrize("start", STARTS)
def test_random_programs(start: int, tmp_path: Path) -> None:
    seeds = range(start, min(start + BATCH, FIRST + COUNT))
    report = run_batch(seeds, tmp_path, EFFORT, again=start == FIRST)
    shown = "\n\n".join(map(str, report.failures[:3]))
    assert not report.failures, f"{len(report.failures)} failures; the first are\n{shown}"
    counts = report.counts
    # The generator writes what the tool is made for: most is transformed, little is out of time, and
    # random plans are not all turned down.
    assert counts["default: done"] >= 0.6 * len(seeds), counts
    assert _refused(counts, "timeout") <= 0.2 * len(seeds), counts
    assert counts["plan: done"] >= 0.1 * (counts["plan: done"] + counts["plan: illegal-plan"]), counts
