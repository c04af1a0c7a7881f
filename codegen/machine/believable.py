"""What figures can be believed: predictions (`most_gain`), and times of runs (`disturbed`, `least_seconds`). Figures
that cannot are measured again (`settled`); where that does not help, there is none, and `BUSY` says why."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from codegen.machine.model import Machine
from codegen.record import record

T = TypeVar("T")
# What other orders of loops and other places of data bring on one thread at most, besides vectors: all elements of a
# line for one of them.
ORDER = 16
APART = 4.0  # the median of runs as a multiple of the best, from which on something else was running
# Operations on 64 bits that no core starts in a second, a multiply-add counted as two: two units of 512 bits at 6 GHz.
MOST_OPERATIONS = 192e9
SLACK = 2.0  # of a measured peak: what does more than that was not measured right
TRIES = 3
TICKS = 20  # of a clock that a time takes at least: 5 % of it are guessed
BUSY = "the machine is too busy to measure"


@record
class Work:
    """What a run has to do whatever the compiler makes of it: `updates` of elements that each need the value before,
    on elements of so many bytes."""

    updates: int
    element_bytes: int


def most_gain(machine: Machine, threads: int, element_bytes: int) -> float:
    """How many times as fast as the source on one thread a result can be with so many threads."""
    return float(threads * machine.lanes(element_bytes) * ORDER)


def disturbed(best: float, median: float) -> bool:
    """Whether runs of the same work took times too far from each other to mean anything."""
    return median > APART * best


def least_seconds(work: Work, threads: int, operations: float = MOST_OPERATIONS) -> float:
    """The time in which so many cores can do this at the very least, if each does so many `operations` on 64 bits in a
    second. An update takes the place of a multiply-add."""
    return 2 * work.updates * work.element_bytes / (8 * operations * threads)


def settled(measure: Callable[[], T], good: Callable[[T], bool], tries: int = TRIES) -> T | None:
    """The first of a few measurements that can be believed; None where none of them can."""
    for _ in range(tries):
        found = measure()
        if good(found):
            return found
    return None


def resolved(seconds: Sequence[float], tick: float) -> list[float] | None:
    """Times of single runs that a clock with such a tick can tell: those that were measured; the mean, where runs take
    a few ticks and all of them many; None where all together take too few. Where some took no time, the least that one
    took is a tick."""
    if min(seconds) <= 0:
        tick = max(tick, min((s for s in seconds if s > 0), default=1.0))
    if min(seconds) >= TICKS * tick:
        return list(seconds)
    if sum(seconds) < TICKS * tick:
        return None
    return [sum(seconds) / len(seconds)] * len(seconds)

