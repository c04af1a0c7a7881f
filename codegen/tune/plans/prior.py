"""Ranks candidate plans before they are measured: an estimate from the machine's description, corrected by
measurements.

Both speak of the logarithm of a slowdown. The description knows caches, registers and cores; what it does not know is
learned as the effect of each choice by itself, which is crude, but all that a few dozen measurements can carry.
"""

from __future__ import annotations

from collections import defaultdict
from math import log2

from codegen.machine import Machine
from codegen.plan.model import Jam, Multiply, Parallel, Pipeline, Plan, Tile, Vector
from codegen.scop.product import Blocking
from codegen.scop.tree import enclosing
from codegen.strategy.cost.tile_sizes import footprint
from codegen.strategy.knobs.products import NEVER
from codegen.tune.plans.bases import Base
from codegen.tune.plans.space import Point, Space

NEARLY = 0.5  # measurements that the first guess of an effect counts for


def estimate(base: Base, plan: Plan, machine: Machine, threads: int) -> float:
    """How many times too slow, as a power of two, as far as the description tells."""
    cost = 0.0
    parallel = any(isinstance(d, (Parallel, Pipeline)) for d in plan.directives)
    for d in plan.directives:
        if isinstance(d, Multiply) and isinstance(d.how, Blocking):
            cost += _product(d.how, machine)
            parallel = parallel or d.how.threads < NEVER
        elif isinstance(d, Tile):
            cost += _tile(base, d, machine)
        elif isinstance(d, Jam):
            cost += 0.3 if d.factor > machine.registers // 4 else 0.0
    if not any(isinstance(d, (Vector, Multiply)) for d in plan.directives):
        cost += 0.5
    return cost + (log2(threads) if threads > 1 and not parallel else 0.0)


def _product(how: Blocking, machine: Machine) -> float:
    """Register tiles without room or without reuse, and blocks that do not fit their caches."""
    lanes = max(1, how.bits // 64)
    live = how.mr * how.nv + how.nv + -(-how.mr // lanes)
    loads = (how.nv + how.mr / (1 if how.isa == "avx2" else lanes)) / (how.mr * how.nv)
    cost = 1.0 if live > machine.registers else 0.0
    cost += 2 * max(0.0, loads - 0.5) + 0.2 * max(0.0, log2(24 / (how.mr * how.nv)))
    for level, bytes_ in ((1, how.kc * how.nv * lanes * 8), (2, how.mc * how.kc * 8)):
        cache = machine.cache(level)
        if cache is not None:
            cost += 0.5 * max(0.0, log2(bytes_ / cache.bytes))
    return cost + 16 / how.kc + 8 / max(1, how.mc)


def _tile(base: Base, d: Tile, machine: Machine) -> float:
    """A tile that does not fit the second cache, or is so small that its borders cost more than it saves."""
    scop, stmt = base.program.scop, d.loops[0][0].stmt
    around = {lp.name: lp for lp in enclosing(base.program.tree, stmt)} if stmt else {}
    band = [around[ref.name] for ref, size in d.loops if ref.name in around and size]
    sizes = [size for ref, size in d.loops if ref.name in around and size]
    if not band:
        return 0.0
    cache = machine.cache(2)
    bytes_ = footprint(scop, [scop.statement(stmt)], band, sizes)
    large = 0.5 * max(0.0, log2(max(1, bytes_) / cache.bytes)) if cache is not None else 0.0
    return large + 16 / max(1, sizes[-1]) + sum(2 / max(1, s) for s in sizes[:-1])


class Surrogate:
    """Estimates for points of a space, better with every measurement."""

    def __init__(self, space: Space, machine: Machine, threads: int) -> None:
        self.space, self.machine, self.threads = space, machine, threads
        self._effects: dict[tuple[int, int, int], float] = defaultdict(float)
        self._bases: dict[int, float] = {}
        self._seen: list[tuple[Point, float]] = []

    def learn(self, point: Point, seconds: float | None) -> None:
        """A measured time, or None for a failure, which counts like eight times the worst."""
        worst = max((v for _, v in self._seen), default=0.0)
        self._seen.append((point, log2(seconds) if seconds else worst + 3.0))
        self._fit()

    def _prior(self, point: Point) -> float:
        base = self.space.bases[point.base]
        return estimate(base, self.space.plan(point), self.machine, self.threads)

    def _fit(self) -> None:
        """A few rounds of backfitting: each effect is the mean of what the others leave, shrunk towards nothing."""
        for p, y in self._seen:
            known = self._bases.get(p.base)
            if p == self.space.start(p.base) or known is None:
                self._bases[p.base] = y
        for _ in range(3):
            left: dict[tuple[int, int, int], list[float]] = defaultdict(list)
            for p, y in self._seen:
                rest = y - self._value(p)
                for key in self._keys(p):
                    left[key].append(rest + self._effects[key])
            for key, values in left.items():
                self._effects[key] = sum(values) / (len(values) + NEARLY)

    def _keys(self, p: Point) -> list[tuple[int, int, int]]:
        knobs = self.space.knobs[p.base]
        return [(p.base, k, c) for k, c in enumerate(p.choices) if c != knobs[k].start]

    def _value(self, p: Point) -> float:
        start = self._bases.get(p.base, max(self._bases.values(), default=0.0))
        return start + sum(self._effects[key] for key in self._keys(p))

    def value(self, point: Point) -> float:
        """The estimate: small is good. What was measured of a choice counts more than what the description says."""
        known = sum(key in self._effects for key in self._keys(point))
        total = max(1, len(self._keys(point)))
        gap = self._prior(point) - self._prior(self.space.start(point.base))
        return self._value(point) + gap * (1 - known / total)
