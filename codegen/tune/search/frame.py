"""What searches over loop trees share: `Trial` (budget, cache of values, best so far), `Space` of actions, and `run`.
Searches over plans have `tune/plans/study.py`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

from codegen.record import record
from codegen.tune.actions import ACTION_SETS, LANES, LIMIT, Action, allowed
from codegen.tune.tree import Loop, Tree

Value = Callable[[Sequence[Tree]], "list[float | None]"]
CHUNK = 240  # trees valued at once, of which a tenth may differ in order; the budget is looked at in between


@record
class Space:
    """Which actions there are, and when they are allowed."""

    version: str = "v1"
    lanes: int = LANES
    limit: int = LIMIT

    @property
    def actions(self) -> tuple[Action, ...]:
        return ACTION_SETS[self.version]

    def after(self, tree: Tree, action: Action) -> Tree | None:
        """The tree after an action, None where it is not allowed."""
        return allowed(tree, action, self.lanes, self.limit)

    def children(self, tree: Tree) -> list[tuple[str, Tree]]:
        """The trees one action away, with its name."""
        made = ((a.name, self.after(tree, a)) for a in self.actions)
        return [(name, t) for name, t in made if t is not None]


@record
class Budget:
    """Seconds on the wall, actions in a row, and trees valued; 0 trees: no limit."""

    seconds: float = 60.0
    steps: int = 10
    trees: int = 0


@record
class Improvement:
    """A new best: when, after how many trees, and what."""

    at: float
    trees: int
    tree: Tree
    value: float


@record
class Found:
    """`value` is None where not even the start could be valued. `complete`: the search came to its own end, not to that
    of its budget."""

    best: Tree
    value: float | None
    history: tuple[Improvement, ...]
    seconds: float
    trees: int
    complete: bool
    interrupted: bool = False


Progress = Callable[[Improvement], None]
Search = Callable[["Trial"], None]


class Over(Exception):
    """The budget is spent."""


class Trial:
    """One search in progress. No computing nest is valued twice; a cursor that moves costs nothing."""

    def __init__(
        self, start: Tree, value: Value, budget: Budget, space: Space, progress: Progress | None = None
    ) -> None:
        self.start, self.space, self.budget = start, space, budget
        self._value, self._progress = value, progress
        self._known: dict[tuple[Loop, ...], float | None] = {}
        self._begun = time.monotonic()
        self._history: list[Improvement] = []

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._begun

    @property
    def trees(self) -> int:
        """How many computing nests were valued."""
        return len(self._known)

    def check(self) -> None:
        """Raise Over where the budget is spent; for loops that value nothing new."""
        if self.seconds > self.budget.seconds or 0 < self.budget.trees <= len(self._known):
            raise Over

    def values(self, trees: Iterable[Tree]) -> list[float]:
        """The value of each; failures are worse than anything."""
        wanted = list(trees)
        new = list({t.compute: t for t in wanted if t.compute not in self._known}.values())
        for first in range(0, len(new), CHUNK):
            self.check()
            room = self.budget.trees - len(self._known) if self.budget.trees else CHUNK
            self._learn(new[first : first + min(CHUNK, room)])
        if any(t.compute not in self._known for t in wanted):
            raise Over
        return [_number(self._known[t.compute]) for t in wanted]

    def value(self, tree: Tree) -> float:
        return self.values([tree])[0]

    def _learn(self, trees: list[Tree]) -> None:
        for tree, value in zip(trees, self._value(trees), strict=True):
            self._known[tree.compute] = value
            if value is not None and (not self._history or value > self._history[-1].value):
                self._history.append(Improvement(self.seconds, len(self._known), tree, value))
                if self._progress is not None:
                    self._progress(self._history[-1])

    def found(self, complete: bool, interrupted: bool) -> Found:
        history = tuple(self._history)
        best, value = (history[-1].tree, history[-1].value) if history else (self.start, None)
        return Found(best, value, history, self.seconds, len(self._known), complete, interrupted)


def _number(value: float | None) -> float:
    return float("-inf") if value is None else value


def run(
    search: Search, start: Tree, value: Value, budget: Budget, progress: Progress | None = None,
    space: Space | None = None,
) -> Found:  # fmt: skip
    """Do a search. When the time is over, or with Ctrl-C, what is best so far is what was found."""
    trial = Trial(start, value, budget, space or Space(), progress)
    try:
        trial.value(start)
        search(trial)
    except Over:
        return trial.found(False, False)
    except KeyboardInterrupt:
        return trial.found(False, True)
    return trial.found(True, False)
