"""Coordinate descent over plans: one knob after the other, until a whole round changes nothing. The study that is
passed records what was measured."""

from __future__ import annotations

from codegen.tune.plans.space import Point
from codegen.tune.plans.study import Study

BETTER = 0.995  # of the time before: less is noise
SHARE = 0.25  # of the budget, for the bases
CHOICES = 8  # of one knob, nearest to where it stands


def starts(study: Study) -> list[tuple[float, Point]]:
    """The bases as they are, fastest first: as many as a part of the budget allows."""
    points = [study.space.start(k) for k in range(len(study.space.bases))]
    found: list[tuple[float, Point]] = []
    for at in range(0, len(points), study.jobs):
        if found and study.left < (1 - SHARE) * study.budget:
            break
        some = points[at : at + study.jobs]
        found += [(t, p) for t, p in zip(study.measure(some), some, strict=True) if t is not None]
    return sorted(found, key=lambda x: x[0])


def greedy(study: Study) -> None:
    ranked = starts(study)
    if not ranked:
        return
    best, point = ranked[0]
    moved = True
    while moved:
        moved = False
        for knob in range(len(point.choices)):
            around = list(study.space.along(point, knob))[:CHOICES]
            for seconds, other in zip(study.measure(around), around, strict=True):
                if seconds is not None and seconds < BETTER * best:
                    best, point, moved = seconds, other, True
