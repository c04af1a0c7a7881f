"""Statistics of timed runs (`Timing`), limits on their number (`Runs`), times as text, and the processors there are."""

from __future__ import annotations

import os
from collections.abc import Sequence
from statistics import median

from codegen.machine.believable import resolved
from codegen.record import record


def cores() -> int:
    """Processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@record
class Timing:
    """Seconds of one run: the best of many, the median, and how far the middle half lies apart, as part of it."""

    best: float
    median: float
    spread: float
    runs: int


@record
class Runs:
    """At least so many runs and seconds, at most so many runs; disturbed ones are repeated for `patience` seconds."""

    least: int = 3
    most: int = 200
    seconds: float = 0.25
    patience: float = 5.0


class TooShort(Exception):
    """All runs together took too little for the clock."""


def timing(seconds: Sequence[float], tick: float = 0.0) -> Timing:
    """Figures of some runs, by a clock with steps of `tick`. Raises TooShort where it cannot tell them."""
    found = resolved(seconds, tick)
    if found is None:
        raise TooShort("runs are shorter than the clock can tell")
    ordered = sorted(found)
    middle = median(ordered)
    low, high = ordered[len(ordered) // 4], ordered[-1 - len(ordered) // 4]
    return Timing(ordered[0], middle, (high - low) / middle, len(ordered))


def seconds_text(seconds: float) -> str:
    """A time with a unit that suits it."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.4g} {unit}"
    return f"{seconds / 1e-9:.4g} ns"
