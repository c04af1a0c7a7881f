"""Ranks candidate plans before they are measured: what was learned from other regions, corrected by measurements.

Both speak of the logarithm of a time. What the learned model does not know of a region is learned as the effect of each
choice by itself, which is crude, but all that a few dozen measurements can carry.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from math import log2

from codegen.plan.model import Plan
from codegen.tune.plans.space import Point, Space

NEARLY = 0.5  # measurements that the first guess of an effect counts for


class Surrogate:
    """Estimates for points of a space, better with every measurement. `slowdown` is what is expected of a plan without
    one, as a power of two."""

    def __init__(self, space: Space, slowdown: Callable[[Plan], float]) -> None:
        self.space, self.slowdown = space, slowdown
        self._priors: dict[Point, float] = {}
        self._effects: dict[tuple[int, int, int], float] = defaultdict(float)
        self._bases: dict[int, float] = {}
        self._seen: dict[Point, float] = {}

    def learn(self, point: Point, seconds: float | None) -> None:
        """A measured time, or None for a failure, which counts like eight times the worst."""
        worst = max(self._seen.values(), default=0.0)
        self._seen[point] = log2(seconds) if seconds else worst + 3.0
        self._fit()

    def prior(self, point: Point) -> float:
        """What is expected without a measurement."""
        if point not in self._priors:
            self._priors[point] = self.slowdown(self.space.plan(point))
        return self._priors[point]

    def _fit(self) -> None:
        """A few rounds of backfitting: each effect is the mean of what the others leave, shrunk towards nothing."""
        for p, y in self._seen.items():
            known = self._bases.get(p.base)
            if p == self.space.start(p.base) or known is None:
                self._bases[p.base] = y
        for _ in range(3):
            left: dict[tuple[int, int, int], list[float]] = defaultdict(list)
            for p, y in self._seen.items():
                rest = y - self._value(p)
                for key in self._keys(p):
                    left[key].append(rest + self._effects[key])
            for key, values in left.items():
                self._effects[key] = sum(values) / (len(values) + NEARLY)

    def _keys(self, p: Point) -> list[tuple[int, int, int]]:
        knobs = self.space.knobs[p.base]
        return [(p.base, k, c) for k, c in enumerate(p.choices) if c != knobs[k].start]

    def _value(self, p: Point) -> float:
        """By measurements alone; of a base that was not measured, as it is expected beside one that was."""
        start = self._bases.get(p.base)
        if start is None:
            known = next(iter(self._bases), None)
            gap = self.prior(self.space.start(p.base))
            start = gap if known is None else self._bases[known] + gap - self.prior(self.space.start(known))
        return start + sum(self._effects[key] for key in self._keys(p) if key in self._effects)

    def value(self, point: Point) -> float:
        """The estimate: small is good. What was measured of a choice counts more than what is expected."""
        known = sum(key in self._effects for key in self._keys(point))
        total = max(1, len(self._keys(point)))
        gap = self.prior(point) - self.prior(self.space.start(point.base))
        return self._value(point) + gap * (1 - known / total)
