"""Baseline searches over plans: the default alone, random points, all points."""

from __future__ import annotations

import random
from itertools import islice, product

from codegen.tune.plans.space import Point
from codegen.tune.plans.study import Study

WIDTH = 8  # points handed over at a time


def only_default(study: Study) -> None:
    """The tool's own plan, measured."""
    study.measure([study.space.start()])


def sample(study: Study) -> None:
    """Points at random, the same ones for every seed."""
    rng = random.Random(study.seed)
    only_default(study)
    dry = 0
    while dry < 50:  # a small space is soon exhausted
        before = len(study.history)
        study.measure([study.space.anywhere(rng) for _ in range(WIDTH)])
        dry = 0 if len(study.history) > before else dry + 1


def exhaustive(study: Study) -> None:
    """Every point, base by base."""
    only_default(study)
    for base, knobs in enumerate(study.space.knobs):
        points = (Point(base, c) for c in product(*(range(len(k.choices)) for k in knobs)))
        while batch := list(islice(points, WIDTH)):
            study.measure(batch)
