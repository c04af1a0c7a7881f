"""Search led by the learned model: of everything near the plans that look best, measured or not, what looks best of all
is measured next; and in each round one of the bases, of which the model may be wrong."""

from __future__ import annotations

from codegen.tune.plans.search.beam import surrogate_of
from codegen.tune.plans.space import Point
from codegen.tune.plans.study import Study

WIDENED = 3  # points whose single turns join the candidates, in a round


def guided(study: Study) -> None:
    """Begins with the bases and all single turns of the default plan; ends where nothing new is left."""
    guide, space = surrogate_of(study), study.space
    own, bases = space.start(), {space.start(k) for k in range(len(space.bases))}
    measured: dict[Point, float | None] = {}
    points, widened = {own}, set[Point]()

    def ranked(some: set[Point]) -> list[Point]:
        """What was not measured is what it looks like; the default plan comes first, to be compared with."""
        return sorted(some, key=lambda p: (p != own, guide.value(p), p.base, p.choices))

    while True:
        runs = {p for p in points if measured.get(p, 0.0) is not None}
        for point in ranked(runs - widened)[:WIDENED]:
            widened.add(point)
            points |= {q for k in range(len(point.choices)) for q in space.along(point, k)}
        points |= bases
        other = ranked(bases - measured.keys() - {own})[:1]
        best = [p for p in ranked(points - measured.keys()) if p not in other]
        chosen = [*best[: max(2, study.jobs) - len(other)], *other]
        if not chosen:
            return
        for point, seconds in zip(chosen, study.measure(chosen), strict=True):
            guide.learn(point, seconds)
            measured[point] = seconds
