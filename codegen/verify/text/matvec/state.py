"""What a matrix-vector kernel has to compute (`Spec`), the state of its symbolic execution, and `Progress`, which
recognizes a value as one more step of the result."""

from __future__ import annotations

from typing import NamedTuple, Union

from codegen.scop.lanes import Lane
from codegen.verify.poly import ZERO, Poly, poly, var
from codegen.verify.text.facts import Facts
from codegen.verify.text.lanes import of_lane
from codegen.verify.text.matvec.terms import (
    ArrayElement,
    LaneChoice,
    LaneOperation,
    LaneValue,
    Share,
    TakenSteps,
    Terms,
)

N, K, SEVERAL = var("n"), var("k"), var("several")
Vector = tuple[int, ...]


class SelectedElement(NamedTuple):
    """Element `at` of an array; element `other` of it where `given` is negative."""

    of: str
    at: Poly
    given: Poly | None = None
    other: Poly = ZERO


class LocalValues(NamedTuple):
    """A local array: its elements by their numbers."""

    size: int
    cells: dict[int, int]
    rest: int  # what the others hold


class Front(NamedTuple):
    """Elements of the result before `at` took the steps up to before `after`, the others those before `before`."""

    at: Poly
    before: Poly
    after: Poly | None = None


class Needed(NamedTuple):
    """What the steps before `past` of an element were joined into, in any order."""

    parts: frozenset[Union[Poly, str]]
    past: Poly


Known = Union[Poly, SelectedElement]


class MatvecState:
    """One way through the function."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.names: dict[str, Known] = {}
        self.vectors: dict[str, Vector] = {}
        self.locals: dict[str, LocalValues] = {}
        self.front = Front(ZERO, ZERO)
        self.needed: dict[Poly, Needed] = {}

    def copy(self) -> MatvecState:
        s = MatvecState(self.facts)
        s.names, s.vectors = dict(self.names), dict(self.vectors)
        s.front, s.needed = self.front, dict(self.needed)
        s.locals = {n: x._replace(cells=dict(x.cells)) for n, x in self.locals.items()}
        return s

    def given(self, *facts: Poly) -> MatvecState:
        """Where more is known."""
        s = self.copy()
        s.facts = self.facts.copy().learn(*facts)
        return s


class Spec(NamedTuple):
    """What a kernel has to do: for each step of each element, `step`. A matrix is read in lines along the result
    (`lanes`) or along the steps. `join` joins what steps in any order have made of `neutral`, "" where order counts.
    Vectors, constants and the result of a second product in the kernel are `foreign`: what is read from them is
    unknown here, and what is done to them is shown where they are the kernel's own."""

    elem: str
    step: Lane
    lanes: bool
    matrices: tuple[str, ...]
    pitches: tuple[str, ...]
    operands: tuple[str, ...]
    consts: tuple[str, ...]
    join: str
    neutral: str
    foreign: frozenset[str] = frozenset()

    def place(self, matrix: int, at: Poly) -> tuple[Poly, Poly]:
        """Row and step of an element of a matrix."""
        pitch = var(self.pitches[matrix])
        line = at.part(self.pitches[matrix])
        along = at - line * pitch
        return (along, line) if self.lanes else (line, along)

    def at(self, matrix: int, row: Poly, step: Poly) -> Poly:
        line, along = (step, row) if self.lanes else (row, step)
        return line * var(self.pitches[matrix]) + along


class Progress:
    """Recognizes steps: what a variable holds after a step in terms of what it held before."""

    def __init__(self, spec: Spec, terms: Terms) -> None:
        self.spec, self.terms = spec, terms

    def settled(self, old: int, new: int) -> int:
        """A new value, as one more step on the old one where it is that."""
        t = self.terms
        was, now = t.terms[old], t.terms[new]
        if isinstance(was, TakenSteps) and isinstance(now, LaneChoice):
            return t.put(LaneChoice(now.given, self.settled(old, now.yes), now.no))
        if isinstance(was, TakenSteps):
            taken = self._taken(old, was.row, was.past)
            return t.put(TakenSteps(was.row, was.past + 1)) if taken == new else new
        if isinstance(was, LaneChoice) and isinstance(now, LaneChoice) and was.given == now.given:
            return t.put(LaneChoice(now.given, self.settled(was.yes, now.yes), now.no))
        return self._shared(old, new) if self.spec.join and isinstance(now, LaneOperation) else new

    def _taken(self, old: int, row: Poly, step: Poly) -> int:
        """The old value after a step."""
        spec, put = self.spec, self.terms.put

        def leaf(x: Lane) -> int:
            if x.op == "number":
                return put(LaneValue("number", str(x.index)))
            if x.op == "acc":
                return old
            if x.op == "a":
                return put(ArrayElement(spec.matrices[x.index], spec.at(x.index, row, step)))
            if x.op == "b":
                return put(ArrayElement(spec.operands[x.index], step))
            return put(LaneValue("const", spec.consts[x.index]))

        return of_lane(spec.step, spec.elem, leaf, self.terms.operation)

    def _shared(self, old: int, new: int) -> int:
        """Steps in any order: one more, or what others have made joined with it."""
        t, now = self.terms, self.terms.terms[new]
        share = self.share(old)
        assert isinstance(now, LaneOperation)
        if share is not None:
            place = self._place(new)
            if place is not None:
                row, step = place
                if share.row in (None, row) and step not in share.parts and self._taken(old, row, step) == new:
                    return t.put(Share(row, share.parts | {step}, share.whole))
        return self.joined(now.op, now.args, new)

    def joined(self, op: str, args: tuple[int, ...], new: int) -> int:
        if op != self.spec.join or len(args) != 2:
            return new
        x, y = (self.share(a) for a in args)
        if x is None or y is None or (x.parts & y.parts) or (x.whole and y.whole):
            return new
        if x.row != y.row and x.row is not None and y.row is not None:
            return new
        row = y.row if x.row is None else x.row
        return self.terms.put(Share(row, x.parts | y.parts, x.whole or y.whole))

    def share(self, number: int) -> Share | None:
        """A value as one that steps in any order have made."""
        x = self.terms.terms[number]
        if isinstance(x, Share):
            return x
        if isinstance(x, TakenSteps) and x.past == ZERO:
            return Share(x.row, frozenset(), True)
        return Share(None, frozenset()) if x == LaneValue("number", self.spec.neutral) else None

    def _place(self, number: int) -> tuple[Poly, Poly] | None:
        """Row and step of the matrix's element in a value."""
        x = self.terms.terms[number]
        if isinstance(x, ArrayElement) and x.of == self.spec.matrices[0]:
            return self.spec.place(0, x.at)
        if isinstance(x, LaneOperation):
            return next((p for p in map(self._place, x.args) if p is not None), None)
        return None


def within(facts: Facts, at: Poly, width: int, past: Poly) -> bool:
    """Are elements from `at` on, so many, there?"""
    return facts.holds(at) and facts.holds(past - at - poly(width))
