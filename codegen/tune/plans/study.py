"""Measures candidate plans within a budget: built side by side, run one at a time, remembered."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from codegen.children.worker import Died
from codegen.diagnostics import TilewrightError
from codegen.record import record
from codegen.tune.build import Failed, built
from codegen.tune.children import Children, TimedOut
from codegen.tune.plans.bench import Bench
from codegen.tune.plans.space import Point, Space
from codegen.tune.records import MeasurementSetting, PlanRecord, Records
from codegen.tune.timing import Runs, Timing, cores

BUILD_SECONDS = 60.0  # analysis, proofs and the compiler


@record
class TriedPlan:
    """One candidate in the order in which they came. `at` counts seconds since the search began."""

    number: int
    at: float
    what: str
    plan: str
    timing: Timing | None
    why: str = ""
    known: bool = False  # from records, or measured before


class Over(Exception):
    """The budget is used up."""


Progress = Callable[[TriedPlan, "Study"], None]


@dataclass
class Study:
    """One search. Methods call `measure` until it raises Over."""

    bench: Bench
    space: Space
    records: Records
    setting: MeasurementSetting
    method: str
    budget: float
    jobs: int
    progress: Progress
    say: Callable[[str], None]
    cache: dict[str, PlanRecord] = field(default_factory=dict)
    libraries: dict[str, Path] = field(default_factory=dict)
    history: list[TriedPlan] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)  # plans in a few words
    start: float = field(default_factory=time.monotonic)
    effort: Runs = field(default_factory=Runs)
    learned: str = ""  # folder of networks, "" for those of the package
    seed: int = 1
    _count: int = 0

    @property
    def left(self) -> float:
        return self.budget - (time.monotonic() - self.start)

    @property
    def best(self) -> TriedPlan | None:
        """The fastest so far."""
        done = [(s.timing.best, -k, s) for k, s in enumerate(self.history) if s.timing is not None]
        return min(done)[2] if done else None

    def measure(self, points: Sequence[Point]) -> list[float | None]:
        """Seconds for each point, None for a failure; a plan that was measured before is not measured again."""
        return self.measure_plans([(self.space.text(p), self.space.describe(p)) for p in points])

    def measure_plans(self, plans: Sequence[tuple[str, str]]) -> list[float | None]:
        """The same for any plans, each with a few words about it."""
        texts = [text for text, _ in plans]
        for text, what in plans:
            self.names.setdefault(text, what)
        new = [t for t in dict.fromkeys(texts) if t not in self.cache]
        self._recall([t for t in dict.fromkeys(texts) if t in self.cache])
        self._measure(new)
        entries = [self.cache[t] for t in texts]
        return [e.timing.best if e.timing is not None else None for e in entries]

    def _recall(self, texts: Sequence[str]) -> None:
        """What is known already becomes part of this search's history once."""
        seen = {s.plan for s in self.history}
        for text in texts:
            if text not in seen:
                self._note(text, self.cache[text], True)

    def _measure(self, texts: Sequence[str]) -> None:
        """Build several at a time; the first of all is measured whatever the budget. While something runs, only as many
        are built as there are processors beside those of the run; the others stand still."""
        children = Children(self.jobs)
        waiting, ready = list(texts), list[tuple[str, object]]()
        try:
            while waiting or children.busy or ready:
                while waiting and children.free and (self.left > 0 or (not self.history and not children.busy)):
                    self._start(waiting.pop(0), children)
                if ready:
                    children.hold(cores() - self.bench.threads)
                    self._finish(*ready.pop(0))
                    children.release()
                elif self.left <= 0 and self.history:
                    break  # what is still being built is not waited for
                elif children.busy:
                    ready += [(str(key), value) for key, value in children.wait()]
        finally:
            children.stop()
        if self.left <= 0:
            raise Over

    def _start(self, text: str, children: Children) -> None:
        work = partial(built, self.bench.subject, self.bench.compiler, text, f"{self.method}{self._count}")
        self._count += 1
        # The first of all is waited for: without it there is nothing to compare with.
        children.start(text, work, min(BUILD_SECONDS, max(1.0, self.left)) if self.history else BUILD_SECONDS)

    def _finish(self, text: str, result: object) -> None:
        entry = self._run(text, result)
        self.cache[text] = entry
        self.records.add(self.setting, entry)
        self._note(text, entry, False)

    def _run(self, text: str, result: object) -> PlanRecord:
        at = time.monotonic() - self.start
        try:
            if not isinstance(result, Path):
                raise Failed(_reason(result))
            best = self.best
            took = self.bench.time_of(result, self.effort, best.timing.best if best and best.timing else None)
        except Failed as error:
            return PlanRecord(text, why=str(error), method=self.method, at=at)
        self.libraries[text] = result
        return PlanRecord(text, timing=took, method=self.method, at=at)

    def _note(self, text: str, entry: PlanRecord, known: bool) -> None:
        at = time.monotonic() - self.start
        step = TriedPlan(len(self.history) + 1, at, self.names[text], text, entry.timing, entry.why, known)
        self.history.append(step)
        self.progress(step, self)


def _reason(result: object) -> str:
    """Why a candidate could not be built."""
    if isinstance(result, Failed):
        return str(result)
    if isinstance(result, TimedOut):
        return f"takes longer than {BUILD_SECONDS:g} s, or than there was time, to generate and compile"
    if isinstance(result, Died):
        return "its analysis crashes"
    if isinstance(result, TilewrightError):
        return f"refused: {result.message}"
    return f"cannot be generated: {result}"
