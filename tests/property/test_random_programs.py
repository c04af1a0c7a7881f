"""Random affine programs through every transformation: no crash, no failed proof, not one bit of difference.

These are a few; `make fuzz` runs many.
"""
from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.property.generate import SHORT
from tests.property.harness import PRODUCTS, run_batch

FIRST, COUNT = 1018, 24
BATCH = 12
MANY = COUNT // 3  # programs around products
STARTS = range(FIRST, FIRST + COUNT, BATCH)


def _refused(counts: Counter[str], word: str) -> int:
    return sum(n for what, n in counts.items() if what.startswith("default: refused") and word in what)


@pytest.mark.parametrize("start", STARTS)
def test_random_programs(start: int, tmp_path: Path) -> None:
    seeds = range(start, min(start + BATCH, FIRST + COUNT))
    report = run_batch(seeds, tmp_path, SHORT, start == FIRST)
    shown = "\n\n".join(map(str, report.failures[:3]))
    assert not report.failures, f"{len(report.failures)} failures; the first are\n{shown}"
    counts = report.counts
    # The generator writes what the tool is made for: most is transformed, and random plans are not all turned down.
    # What is out of time depends on what else the machine does, so it is only left out of the count.
    late = _refused(counts, "timeout")
    assert counts["default: done"] >= 0.6 * (len(seeds) - late) and late <= 0.5 * len(seeds), counts
    assert counts["plan: done"] >= 0.1 * (counts["plan: done"] + counts["plan: illegal-plan"]), counts


@pytest.mark.parametrize("start", range(PRODUCTS, PRODUCTS + MANY, BATCH))
def test_random_products(start: int, tmp_path: Path) -> None:
    seeds = range(start, min(start + BATCH, PRODUCTS + MANY))
    report = run_batch(seeds, tmp_path, SHORT)
    shown = "\n\n".join(map(str, report.failures[:3]))
    assert not report.failures, f"{len(report.failures)} failures; the first are\n{shown}"
    assert report.counts["default: product"] >= 0.25 * report.counts["default: done"], report.counts
