"""The space of candidate plans of a region: a point is a base plan with a choice for each of its knobs. Gives the plan
of a point, its neighbours, and random points."""

from __future__ import annotations

import random
from collections.abc import Iterator

from codegen.plan.model import Plan
from codegen.record import record
from codegen.strategy.knobs.knob import Knob, KnobMaker, Slots
from codegen.strategy.planner import knob_makers
from codegen.tune.plans.bases import Base, bases_of
from codegen.tune.plans.repair import repaired
from codegen.tune.region import Subject


@record
class Point:
    """A base and a choice for each of its knobs."""

    base: int
    choices: tuple[int, ...]


@record
class Space:
    """All candidates for a region. The first base is the tool's own plan."""

    digest: str
    bases: tuple[Base, ...]
    knobs: tuple[tuple[Knob, ...], ...]

    @property
    def size(self) -> int:
        """How many points there are; most of them may not be legal."""
        total = 0
        for knobs in self.knobs:
            count = 1
            for knob in knobs:
                count *= len(knob.choices)
            total += count
        return total

    def start(self, base: int = 0) -> Point:
        """A base as it is."""
        return Point(base, tuple(knob.start for knob in self.knobs[base]))

    def plan(self, point: Point) -> Plan:
        base = self.bases[point.base]
        slots: Slots = [(d,) for d in base.plan.directives]
        for knob, choice in zip(self.knobs[point.base], point.choices, strict=True):
            if choice != knob.start:
                knob.edit(slots, choice)
        edited = [d for slot in slots for d in slot]
        return Plan(base.plan.region, repaired(base.plan.directives, edited, base.free))

    def text(self, point: Point) -> str:
        """The plan as it stands in a file."""
        return self.bases[point.base].text(self.plan(point), self.digest)

    def with_choice(self, point: Point, knob: int, choice: int) -> Point:
        return Point(point.base, (*point.choices[:knob], choice, *point.choices[knob + 1 :]))

    def along(self, point: Point, knob: int) -> Iterator[Point]:
        """The other choices of one knob, nearest first."""
        now = point.choices[knob]
        for choice in sorted(range(len(self.knobs[point.base][knob].choices)), key=lambda c: abs(c - now)):
            if choice != now:
                yield self.with_choice(point, knob, choice)

    def near(self, point: Point, rng: random.Random) -> Point:
        """The point with one knob turned, or two: as a rule by one step, else to any choice."""
        for _ in range(1 + (rng.random() < 0.3)):
            if not point.choices:
                return point
            k = rng.randrange(len(point.choices))
            count, now = len(self.knobs[point.base][k].choices), point.choices[k]
            step = now + rng.choice((-1, 1))
            choice = step if rng.random() < 0.6 and 0 <= step < count else rng.randrange(count)
            point = self.with_choice(point, k, choice)
        return point

    def anywhere(self, rng: random.Random) -> Point:
        """A base, most often the first, with about a third of its knobs turned."""
        base = 0 if rng.random() < 0.5 else rng.randrange(len(self.bases))
        knobs = self.knobs[base]
        choices = (rng.randrange(len(k.choices)) if rng.random() < 0.3 else k.start for k in knobs)
        return Point(base, tuple(choices))

    def describe(self, point: Point) -> str:
        """The point in words: what differs from its base."""
        base = self.bases[point.base].name
        turned = [
            f"{knob.name}: {knob.choices[choice]}"
            for knob, choice in zip(self.knobs[point.base], point.choices, strict=True)
            if choice != knob.start
        ]
        return "; ".join([base, *turned])


def knobs_of(base: Base, threads: int, makers: tuple[KnobMaker, ...]) -> tuple[Knob, ...]:
    """All knobs of a base, those that matter most first; for one thread none that is about threads."""
    found = [knob for maker in makers for knob in maker(base.plan, base.program)]
    return tuple(sorted((k for k in found if threads > 1 or not k.threads), key=lambda k: k.rank))


def space_of(subject: Subject, threads: int, seconds: float = 60.0) -> Space:
    """All candidates for a region on so many threads, around as many bases as are made in the time."""
    bases = bases_of(subject, threads, seconds)
    # The table of techniques says which knobs there are, or the device.
    makers = knob_makers() if subject.tuning is None else subject.tuning.knobs
    return Space(subject.model.digest, bases, tuple(knobs_of(b, threads, makers) for b in bases))
