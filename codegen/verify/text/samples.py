"""Numbers for the names in a proof: what is false for them need not be proven.

They only save work. Nothing is taken to be true because of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Union

from codegen.verify.text.poly import Poly

Sample = dict[Union[str, Poly], int]
Operations = Mapping[str, tuple[str, Sequence[Poly]]]
ENOUGH, FEW, TRIES = 160, 24, 3000
# Many are multiples of what register tiles have rows and columns, so that edges of all kinds occur.
_SIZES = (
    *(1, 2, 3, 5, 7, 8, 16, 24, 32, 33, 48, 64, 80, 90, 96, 112, 128, 144, 150, 160, 176),
    *(200, 208, 240, 331, 336, 500, 512, 777, 1000, 2500),
)


class Samples:
    """Several assignments of numbers to names. Names that stand for operations get the operation's value."""

    def __init__(self, defined: Mapping[str, tuple[str, Sequence[Poly]]]) -> None:
        self.defined = defined
        self.random = Random(1)
        self.all: list[Sample] = []

    def copy(self) -> Samples:
        other = Samples.__new__(Samples)
        other.defined, other.random, other.all = self.defined, self.random, list(self.all)
        return other

    def draw(self, conditions: Sequence[Poly], enough: int = ENOUGH) -> None:
        """New ones, in which conditions hold."""
        found: list[Sample] = []
        for _ in range(TRIES):
            s: Sample = {}
            if all(self.value(p, s) >= 0 for p in conditions):
                found.append(s)
            if len(found) == enough:
                break
        self.all = found

    def contradict(self, goal: Poly) -> bool:
        """Is the goal negative in one of them? That one is asked first the next time."""
        for k, s in enumerate(self.all):
            if self.value(goal, s) < 0:
                if k:
                    self.all.insert(0, self.all.pop(k))
                return True
        return False

    def values(self, p: Poly) -> list[int]:
        """What it is in the first of them."""
        return [self.value(p, s) for s in self.all[:FEW]]

    def less(self, values: Sequence[int], scale: int, fact: Poly, times: int) -> bool:
        """Would values, so many times each, less a fact so many times, still not be negative anywhere?"""
        for v, s in zip(values, self.all, strict=False):
            x = s.get(fact)
            if x is None:
                x = s[fact] = self.value(fact, s)
            if v * scale + scale - 1 < x * times:
                return False
        return True

    def keep(self, fact: Poly) -> None:
        """Only those in which a fact is one."""
        self.all = [s for s in self.all if self.value(fact, s) >= 0]

    def give(self, name: str, value: Callable[[Sample], int | None]) -> None:
        """A number for a new name in each; those without one are dropped."""
        found = []
        for s in self.all:
            x = value(s)
            if x is not None:
                found.append({**s, name: x})
        self.all = found

    def iterate(self, name: str, counter: str, first: Poly, past: Poly, step: Poly) -> None:
        """Iterations of a loop: several for each where there are few."""
        found: list[Sample] = []
        each = min(8, max(1, ENOUGH // max(1, len(self.all))))
        for s in self.all:
            a, b, by = (self.value(p, s) for p in (first, past, step))
            if a < b and by > 0:
                most = (b - a - 1) // by
                picked = {0, most} | {self.random.randint(0, most) for _ in range(each)}
                some = sorted(picked) if each > 1 else [self.random.choice(sorted(picked))]
                found += [{**s, counter: n, name: a + by * n} for n in some]
        self.random.shuffle(found)
        self.all = found[:ENOUGH]

    def value(self, p: Poly, s: Sample) -> int:
        total = 0
        for m, c in p.terms.items():
            for x in m:
                known = s.get(x)
                c *= self._name(x, s) if known is None else known
            total += c
        return total

    def _name(self, x: str, s: Sample) -> int:
        op, args = self.defined.get(x, ("", ()))
        values = [self.value(a, s) for a in args]
        s[x] = found = self._computed(op, values)
        return found

    def _computed(self, op: str, args: list[int]) -> int:
        if op in ("min", "max"):
            return min(args) if op == "min" else max(args)
        if op == "is":
            return args[0]
        if op == "div":
            n, d = args
            return 0 if not d else n // d if (n >= 0) == (d > 0) else -(-n // d)
        if op == "tw_share" and min(args) > 0:
            n, most, unit = args
            shares = (n + most - 1) // most
            return ((n + shares - 1) // shares + unit - 1) // unit
        if op == "?":
            return self.random.choice(args[:2])
        return self.random.choice(_SIZES if op else (*_SIZES, -3, 0))
