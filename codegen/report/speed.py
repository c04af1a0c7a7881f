"""How fast a region ran, for reports; `bench/measure.py` measures it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from codegen.record import record
from codegen.tune.timing import seconds_text


@record
class Speed:
    """Seconds of the best run of source and result on one thread, and what they had to do. `note` says why there are
    no figures."""

    sizes: Mapping[str, int]
    original: float = 0.0
    result: float = 0.0
    by_statement: Mapping[str, int] = field(default_factory=dict)
    note: str = ""
    uncounted: tuple[str, ...] = ()  # statements whose operations are not in the figures

    @property
    def operations(self) -> int:
        return sum(self.by_statement.values())

    @property
    def headline(self) -> str:
        """The gain alone; empty where there are no figures."""
        if self.note:
            return ""
        times = f"{seconds_text(self.original)} before, {seconds_text(self.result)} after"
        return f"{self.original / self.result:.3g} times as fast on one thread: {times}, at {self.at}"

    @property
    def at(self) -> str:
        return ", ".join(f"{k} = {v}" for k, v in self.sizes.items()) or "its own sizes"

    @property
    def text(self) -> str:
        """For people."""
        if self.note:
            return self.note
        partly = f"; the operations of {', '.join(self.uncounted)} could not be counted" if self.uncounted else ""
        return f"at {self.at} the source took {_run(self.original, self.operations)}, the generated code " \
               f"{_run(self.result, self.operations)}, {self.original / self.result:.3g} times as fast{partly}"


def _run(seconds: float, operations: int) -> str:
    how = f"{seconds:.3g} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"
    return f"{how} ({operations / seconds / 1e9:.3g} billion operations per second)" if operations else how
