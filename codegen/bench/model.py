"""Records of a benchmark: `MeasuredRegion` for each region, with a `Race` (times of source and result) for each number
of threads, and `Ceilings`, the measured peak of the host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from codegen.machine.believable import Work
from codegen.record import record
from codegen.tune.timing import Timing


def threads_text(threads: int) -> str:
    return "one thread" if threads == 1 else f"{threads} threads"


@record
class Race:
    """Source and result, run in turns; the result with so many threads."""

    threads: int
    original: Timing
    result: Timing

    @property
    def on(self) -> str:
        """The threads, for people."""
        return threads_text(self.threads)

    @property
    def gain(self) -> float:
        return self.original.best / self.result.best


@record
class MeasuredRegion:
    """One region. `bytes` are those of its arrays, each counted once, and twice where it is changed; `operations` are
    by statement, and `uncounted` names those whose runs could not be counted. `note` says why there are no figures, or
    some are missing. Where functions have versions, `version` is the one that was measured."""

    index: int
    line: int
    title: str
    sizes: Mapping[str, int] = field(default_factory=dict)
    races: tuple[Race, ...] = ()
    bytes: int = 0
    element_bytes: int = 8
    by_statement: Mapping[str, int] = field(default_factory=dict)
    uncounted: tuple[str, ...] = ()
    version: str = ""
    work: Work = Work(0, 8)  # that no compiler leaves out
    note: str = ""
    advice: str = ""  # what would let the tool do more
    failed: bool = False  # it could not be measured

    @property
    def operations(self) -> int:
        return sum(self.by_statement.values())

    @property
    def at(self) -> str:
        """The sizes, for people."""
        return ", ".join(f"{k} = {v}" for k, v in self.sizes.items()) or "its own sizes"


@record
class Ceilings:
    """What this host can do at most, measured: bytes per second that reach one thread and all together, 64-bit
    operations per second of one core (a multiply-add counts as two), and the bytes that its last cache holds."""

    one: float
    all: float
    operations: float
    cache: int

    def stream(self, threads: int) -> float:
        """Bytes per second for so many threads."""
        return min(self.one * threads, self.all)

    def compute(self, threads: int, element_bytes: int) -> float:
        """Operations per second on elements of this size."""
        return self.operations * threads * 8 / element_bytes

    def highest(self, other: Ceilings) -> Ceilings:
        """What was reached in one of two measurements."""
        return Ceilings(max(self.one, other.one), max(self.all, other.all), max(self.operations, other.operations),
                        self.cache)
