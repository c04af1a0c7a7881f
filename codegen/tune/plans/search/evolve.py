"""Evolutionary search over plans: children of good points are ranked by an estimate, and the most promising are
measured."""

from __future__ import annotations

import random

from codegen.tune.plans.search.beam import surrogate_of
from codegen.tune.plans.search.greedy import starts
from codegen.tune.plans.space import Point
from codegen.tune.plans.study import Study

PARENTS = 6
CHILDREN = 60  # made for each that is measured in a round
WIDTH = 4  # measured in a round; one of them is a stranger
ROUNDS = 25  # without a better one before it ends


def evolve(study: Study) -> None:
    rng, guide = random.Random(study.seed), surrogate_of(study)
    known = starts(study)
    for seconds, point in known:
        guide.learn(point, seconds)
    seen = {p for _, p in known}
    idle = 0
    while idle < ROUNDS:
        children = {_child([p for _, p in known[:PARENTS]], study, rng) for _ in range(CHILDREN)} - seen
        ranked = sorted(children, key=lambda p: (guide.value(p), p.base, p.choices))[: WIDTH - 1]
        chosen = [*ranked, study.space.anywhere(rng)]
        before = known[0][0] if known else float("inf")
        for point, took in zip(chosen, study.measure(chosen), strict=True):
            guide.learn(point, took)
            if point not in seen and took is not None:
                known.append((took, point))
            seen.add(point)
        known.sort(key=lambda x: x[0])
        idle = 0 if known and known[0][0] < before else idle + 1


def _child(parents: list[Point], study: Study, rng: random.Random) -> Point:
    """A parent turned a little; now and then one with the choices of two."""
    if not parents:
        return study.space.anywhere(rng)
    one = parents[min(rng.randrange(len(parents)), rng.randrange(len(parents)))]
    mates = [p for p in parents if p.base == one.base and p != one]
    if mates and rng.random() < 0.3:
        other = rng.choice(mates)
        mixed = tuple(rng.choice(pair) for pair in zip(one.choices, other.choices, strict=True))
        return Point(one.base, mixed)
    return study.space.near(one, rng)
