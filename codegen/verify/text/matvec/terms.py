"""Hash-consed values of single lanes: equal values have equal numbers.

A value is an element of memory, a literal, an operation on other values, or one of the forms in which results come
about: `TakenSteps`, an element of the result after some of its steps in order; `Share`, what steps in any
order have made, to be joined with other such; `LaneChoice`, one value or another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Union

from codegen.verify.poly import Poly
from codegen.verify.text.facts import Facts
from codegen.verify.text.lanes import COMMUTE, plain_name


class ArrayElement(NamedTuple):
    """Element `at` of an array."""

    of: str
    at: Poly


class LaneValue(NamedTuple):
    """A literal (`number`), a constant that every lane has (`const`), or a lane that nothing is known about."""

    kind: str
    text: str


UNKNOWN = LaneValue("unknown", "")


class LaneOperation(NamedTuple):
    op: str
    args: tuple[int, ...]


class TakenSteps(NamedTuple):
    """Element `row` of the result after its steps 0, 1, ... up to before `past`."""

    row: Poly
    past: Poly


class Share(NamedTuple):
    """What some of the steps of element `row` make of the neutral value, or (`whole`) of the element itself. `parts`
    are the numbers of steps, and names for what registers held before or got in a loop."""

    row: Poly | None  # not known before the first step
    parts: frozenset[Union[Poly, str]]
    whole: bool = False


class LaneChoice(NamedTuple):
    """One value where `given` is not negative, another where it is."""

    given: Poly
    yes: int
    no: int


Term = Union[ArrayElement, LaneValue, LaneOperation, TakenSteps, Share, LaneChoice]


class Terms:
    """The table."""

    def __init__(self) -> None:
        self.terms: list[Term] = []
        self.numbers: dict[tuple[str, Term], int] = {}

    def put(self, t: Term) -> int:
        key = (type(t).__name__, t)
        found = self.numbers.get(key)
        if found is None:
            found = self.numbers[key] = len(self.terms)
            self.terms.append(t)
        return found

    def operation(self, op: str, args: Sequence[int]) -> int:
        """In normal form, as `lanes.operation`. Of choices the operation is chosen."""
        op = plain_name(op)
        if op in ("fma", "fms"):
            return self.operation("add" if op == "fma" else "sub", (args[0], self.operation("mul", args[1:])))
        for x in args:
            c = self.terms[x]
            if isinstance(c, LaneChoice):
                yes, no = ([self.part(a, c.given, way) for a in args] for way in (True, False))
                return self.put(LaneChoice(c.given, self.operation(op, yes), self.operation(op, no)))
        return self.put(LaneOperation(op, tuple(sorted(args) if op in COMMUTE else args)))

    def part(self, number: int, given: Poly, holds: bool) -> int:
        """A value where a condition is known, and with it those that are weaker, or stronger where it does not hold."""
        t = self.terms[number]
        if not isinstance(t, LaneChoice):
            return number
        apart = (t.given - given).number
        if apart is not None and (apart >= 0 if holds else apart <= 0):
            return self.part(t.yes if holds else t.no, given, holds)
        return self._choice(t, *(self.part(x, given, holds) for x in (t.yes, t.no)))

    def known(self, number: int, facts: Facts) -> int:
        """A value with the choices made that are decided by what was learnt."""
        t = self.terms[number]
        if not isinstance(t, LaneChoice):
            return number
        if facts.recorded(t.given):
            return self.known(t.yes, facts)
        if facts.recorded(-t.given - 1):
            return self.known(t.no, facts)
        return self._choice(t, *(self.known(x, facts) for x in (t.yes, t.no)))

    def _choice(self, t: LaneChoice, yes: int, no: int) -> int:
        return self.put(LaneChoice(t.given, yes, no))
