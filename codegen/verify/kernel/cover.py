"""Proof of coverage: the updates of a nest run each point of the contraction once, and the steps of each sum in order.

A point is one value for each variable of the contraction. A straight piece of code covers a box of them; a loop moves
what its body covers along one variable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import NamedTuple, Union

from codegen.lower.nest.contraction import TENSORS, Contraction, strides
from codegen.verify.poly import Poly, Unread

Triple = tuple[int, int, int]
_APART = 64  # boxes that a loop may leave with gaps between them


class Update(NamedTuple):
    """An element of C gets the product of one of A and one of B: their offsets, linear in the counters around."""

    a: Poly
    b: Poly
    c: Poly


class Turns(NamedTuple):
    """A loop: its counter runs from 0 up to before `turns`; threads may share it."""

    counter: str
    turns: int
    body: tuple[Step, ...]
    shared: bool = False


Step = Union[Update, Turns]


class IterationBox(NamedTuple):
    """The values from `low` up to before `high` of each variable."""

    low: tuple[int, ...]
    high: tuple[int, ...]

    def disjoint(self, other: IterationBox, among: Sequence[int]) -> bool:
        return any(self.high[k] <= other.low[k] or other.high[k] <= self.low[k] for k in among)

    def moved(self, k: int, by: int, longer: int = 0) -> IterationBox:
        low, high = list(self.low), list(self.high)
        low[k], high[k] = low[k] + by, high[k] + by + longer
        return IterationBox(tuple(low), tuple(high))


class Cover:
    """The points of one contraction."""

    def __init__(self, problem: Contraction) -> None:
        self.names = problem.names
        self.sizes = [n for _, n in problem.sizes]
        all_strides = [strides(problem, t) for t in TENSORS]
        self.moves: list[Triple] = [(all_strides[0][v], all_strides[1][v], all_strides[2][v]) for v in self.names]
        self.kept = [k for k, v in enumerate(self.names) if v in problem.c]
        self.summed = [k for k, v in enumerate(self.names) if v not in problem.c]
        self._solved: dict[Triple, tuple[int, ...]] = {}
        left = 0
        for k in sorted(self.kept, key=lambda k: self.moves[k][2]):
            if self.moves[k][2] <= left:
                raise Unread("elements of C lie one on the other")
            left += self.moves[k][2] * (self.sizes[k] - 1)

    def check(self, steps: Sequence[Step]) -> None:
        """Raises Unread unless the steps are those of the contraction."""
        boxes = self._boxes(steps, {})
        inside = all(low >= 0 and high <= n for b in boxes for low, high, n in zip(*b, self.sizes, strict=True))
        volume = sum(prod(high - low for low, high in zip(*b, strict=True)) for b in boxes)
        if not inside or volume != prod(self.sizes):
            raise Unread(f"it covers {volume} points in place of {prod(self.sizes)}, or others")

    def _boxes(self, steps: Sequence[Step], around: Mapping[str, Triple]) -> list[IterationBox]:
        """What the steps cover where all counters around are 0. `around` says how far each moves the offsets."""
        found: list[IterationBox] = []
        run: list[Update] = []
        for s in (*steps, None):
            if isinstance(s, Update):
                run.append(s)
                continue
            new = self._straight(run, around) if run else []
            run = []
            for boxes in (new, self._loop(s, around) if s is not None else []):
                self._behind(found, boxes)
                found = _merged([*found, *boxes])
        return found

    def _behind(self, before: Sequence[IterationBox], after: Sequence[IterationBox]) -> None:
        """Nothing is done twice, and sums go on where they are."""
        for x in before:
            for y in after:
                if not x.disjoint(y, self.kept) and not self._ahead(x, y):
                    raise Unread("a sum takes a step twice, or steps in another order")

    def _ahead(self, x: IterationBox, y: IterationBox) -> bool:
        """Do all steps of one box come before those of the other, in the source's order?"""
        for k in self.summed:
            if x.high[k] <= y.low[k]:
                return True
            if (x.low[k], x.high[k]) != (y.low[k], y.high[k]) or x.high[k] - x.low[k] != 1:
                return False
        return False

    def _straight(self, run: Sequence[Update], around: Mapping[str, Triple]) -> list[IterationBox]:
        last: dict[tuple[int, ...], tuple[int, ...]] = {}
        points = []
        for u in run:
            point = self._point(u, around)
            element, step = tuple(point[k] for k in self.kept), tuple(point[k] for k in self.summed)
            if element in last and last[element] >= step:
                raise Unread("a sum takes a step twice, or steps in another order")
            last[element] = step
            points.append(point)
        low, high = tuple(map(min, zip(*points, strict=True))), tuple(max(x) + 1 for x in zip(*points, strict=True))
        if prod(b - a for a, b in zip(low, high, strict=True)) == len(points):
            return [IterationBox(low, high)]
        return _merged([IterationBox(p, tuple(x + 1 for x in p)) for p in points])

    def _loop(self, s: Turns, around: Mapping[str, Triple]) -> list[IterationBox]:
        first = next((u for u in _updates(s.body)), None)
        if first is None:
            return []
        move = _coefficients(first, s.counter)
        k, by = self._along(move, s.counter)
        boxes = self._boxes(s.body, {**around, s.counter: move})
        if max(b.high[k] for b in boxes) - min(b.low[k] for b in boxes) > by:
            raise Unread(f"turns of the loop over {s.counter} meet")
        if s.shared and k not in self.kept:
            raise Unread("threads share the steps of a sum")
        if k in self.summed and any(
            not x.disjoint(y, self.kept) and not self._ahead(x, y.moved(k, by)) for x in boxes for y in boxes
        ):
            raise Unread("a sum takes its steps in another order")
        if all(b.high[k] - b.low[k] == by for b in boxes):
            return [b.moved(k, 0, by * (s.turns - 1)) for b in boxes]
        if s.turns > _APART:
            raise Unread(f"the loop over {s.counter} leaves something out")
        return _merged([b.moved(k, by * n) for n in range(s.turns) for b in boxes])

    def _along(self, move: Triple, counter: str) -> tuple[int, int]:
        """The variable that a counter moves, and how far; the one it is called after, if that may be."""
        fits = []
        for k, each in enumerate(self.moves):
            by = max(move) // max(each)
            if by > 0 and tuple(by * x for x in each) == move:
                fits.append((k, by))
        if not fits:
            raise Unread(f"the loop over {counter} moves along no variable")
        return next((f for f in fits if counter.startswith(f"{self.names[f[0]]}_")), fits[0])

    def _point(self, u: Update, around: Mapping[str, Triple]) -> tuple[int, ...]:
        for counter, move in around.items():
            if _coefficients(u, counter) != move:
                raise Unread(f"operands and sums move differently with {counter}")
        if any(set(x.terms) - {()} - {(c,) for c in around} for x in u):
            raise Unread("an operand of another turn")
        at = (u.a.constant, u.b.constant, u.c.constant)
        if at not in self._solved:
            self._solved[at] = self._solve(at)
        return self._solved[at]

    def _solve(self, at: Triple) -> tuple[int, ...]:
        """The point whose elements lie at these offsets."""
        left, point = list(at), [0] * len(self.names)
        for k in sorted(self.kept, key=lambda k: -self.moves[k][2]):
            point[k] = left[2] // self.moves[k][2]
            left = [x - point[k] * m for x, m in zip(left, self.moves[k], strict=True)]
        order = sorted(self.summed, key=lambda k: -max(self.moves[k]))
        found = self._steps(left[0], left[1], order)
        if left[2] or found is None or any(not 0 <= x < n for x, n in zip(point, self.sizes, strict=True)):
            raise Unread(f"elements {at} are of no point")
        for k, x in zip(order, found, strict=True):
            point[k] = x
        return tuple(point)

    def _steps(self, a: int, b: int, order: Sequence[int]) -> tuple[int, ...] | None:
        """Values of the summed variables with these offsets of A and B."""
        if a < 0 or b < 0:
            return None
        if not order:
            return () if a == b == 0 else None
        k, rest = order[0], order[1:]
        most = [sum(self.moves[r][t] * (self.sizes[r] - 1) for r in rest) for t in (0, 1)]
        each = self.moves[k][:2]
        low = max(-(-(x - m) // s) for x, m, s in zip((a, b), most, each, strict=True) if s)
        high = min(self.sizes[k] - 1, *(x // s for x, s in zip((a, b), each, strict=True) if s))
        for x in range(max(low, 0), high + 1):
            found = self._steps(a - x * each[0], b - x * each[1], rest)
            if found is not None:
                return (x, *found)
        return None


def _coefficients(u: Update, counter: str) -> Triple:
    return u.a.terms.get((counter,), 0), u.b.terms.get((counter,), 0), u.c.terms.get((counter,), 0)


def _updates(steps: Sequence[Step]) -> list[Update]:
    """The first update of some steps, if there is one."""
    for s in steps:
        found = [s] if isinstance(s, Update) else _updates(s.body)
        if found:
            return found
    return []


def _merged(boxes: Sequence[IterationBox]) -> list[IterationBox]:
    """The same points in fewer boxes. The boxes have none in common."""
    found, count = list(boxes), -1
    while len(found) != count:
        count = len(found)
        for k in range(len(found[0].low) if found else 0):
            groups: dict[tuple[tuple[int, ...], tuple[int, ...]], list[IterationBox]] = {}
            for b in found:
                groups.setdefault((_but(b.low, k), _but(b.high, k)), []).append(b)
            found = [b for g in groups.values() for b in _joined(sorted(g), k)]
    return found


def _but(x: tuple[int, ...], k: int) -> tuple[int, ...]:
    return (*x[:k], *x[k + 1 :])


def _joined(row: Sequence[IterationBox], k: int) -> list[IterationBox]:
    """Boxes that lie in one row, those that touch as one."""
    found: list[IterationBox] = []
    for b in row:
        if found and found[-1].high[k] == b.low[k]:
            found[-1] = IterationBox(found[-1].low, b.high)
        else:
            found.append(b)
    return found
