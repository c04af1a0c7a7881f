"""Proof search: that a polynomial is not negative, from the known inequalities."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from heapq import heappop, heappush
from itertools import count
from math import gcd
from typing import NamedTuple, Protocol

from codegen.scop.effort import spend
from codegen.verify.poly import Monomial, Poly, var
from codegen.verify.text.samples import Samples

FEW, STEPS = 60, 200  # that are tried for a proof, at most
EACH = 80  # operations that a step counts as: 20 us on fast cores
DEEP = 12  # of them one after another


class Defined(NamedTuple):
    """A name that stands for an operation."""

    op: str
    args: tuple[Poly, ...]


class KnownFacts(Protocol):
    """What a search asks: inequalities by monomial and sign, names that are not negative, names of operations."""

    index: dict[tuple[Monomial, bool], tuple[Poly, ...]]
    natural: set[str]
    defined: dict[str, Defined]
    samples: Samples

    def expand(self, p: Poly) -> Poly:
        """Variables of loops by their numbers of iterations."""


def shown(facts: KnownFacts, goal: Poly, expand: bool, deep: int = 4) -> bool:
    """By known inequalities alone; or by what minima and maxima in it are; or by both in turn."""
    if _Search(facts, FEW, expand, 0).shows(goal):
        return True
    if deep:
        whole = whole_form(facts.expand(goal) if expand else goal)
        for either in extremes(facts, whole):
            if all(shown(facts, g, expand, deep - 1) for g in either):
                return True
    return deep > 1 and _Search(facts, STEPS if deep == 4 else FEW, expand, 1).shows(goal)


def extremes(facts: KnownFacts, goal: Poly) -> list[list[Poly]]:
    """What to show instead of a goal, all of it, by what an operation in it means: both operands of a minimum must be
    large, or of a maximum small."""
    found = []
    for m, c in goal.terms.items():
        d = facts.defined.get(m[0]) if len(m) == 1 else None
        if d is not None and d.op == ("min" if c > 0 else "max"):
            found.append([goal + (a - var(m[0])) * c for a in d.args])
        elif d is not None and d.op == "div":
            found += [[g] for g in _divided(facts, goal, m[0], c)]
    return [either for either in found if not any(map(facts.samples.contradict, either))]


def _divided(facts: KnownFacts, goal: Poly, x: str, c: int) -> list[Poly]:
    """n / d >= t if n >= t * d; n / d <= t if n < (t + 1) * d."""
    if abs(c) != 1 or x not in facts.natural:
        return []
    n, by = facts.defined[x].args
    rest = goal - var(x) * c
    g = n + rest * by if c > 0 else rest * by + by - 1 - n
    return [g] if x not in g.names else []


class _Search:
    """One proof: from the goal back to a number, the shortest of what could be shown instead first."""

    def __init__(self, facts: KnownFacts, steps: int, expand: bool, split: int) -> None:
        self.facts, self.left, self.expand, self.split = facts, steps, expand, split
        self.seen: set[Poly] = set()

    def shows(self, goal: Poly) -> bool:
        heap: list[tuple[int, int, int, Poly, frozenset[Poly]]] = []
        number = count()
        heappush(heap, (0, next(number), DEEP, goal, frozenset()))
        while heap and self.left > 0:
            _, _, depth, some, used = heappop(heap)
            one = self._form(some)
            if self._plain(one):
                return True
            self.left -= 1
            spend(EACH)
            if not depth or one in self.seen or one.number is not None:
                continue
            self.seen.add(one)
            if self.split:
                for either in extremes(self.facts, one):
                    if all(_Search(self.facts, FEW, self.expand, self.split - 1).shows(g) for g in either):
                        return True
            for f, g in self._steps(one, used):
                heappush(heap, (2 * len(g.terms) - depth, next(number), depth - 1, g, used | {f}))
        return False

    def _form(self, goal: Poly) -> Poly:
        return whole_form(self.facts.expand(goal) if self.expand else goal)

    def _plain(self, goal: Poly) -> bool:
        """Is nothing in it negative?"""
        natural = self.facts.natural
        return goal.constant >= 0 and all(c > 0 and all(x in natural for x in m) for m, c in goal.terms.items() if m)

    def _steps(self, goal: Poly, used: frozenset[Poly]) -> Iterator[tuple[Poly, Poly]]:
        """What is left to show after taking one monomial out, by the fact that does it."""
        values = self.facts.samples.values(goal)
        for m, c in goal.terms.items():
            if not m:
                continue
            for f in self._facts(m, c):
                a = f.terms[m]
                g = gcd(a, c)
                scale, times = abs(a // g), abs(c // g)
                # An integer is at least 0 if n times it is above -n.
                if f not in used and self.facts.samples.less(values, scale, f, times):
                    left = goal.less(scale, f, times)
                    yield f, left if scale == 1 else left + (scale - 1)
            if len(m) == 1 and m[0] in self.facts.defined:
                for f, left in self._meanings(goal, m[0], c):
                    if f not in used and not self.facts.samples.contradict(left):
                        yield f, left

    def _facts(self, m: Monomial, c: int) -> Iterator[Poly]:
        """Facts that take a monomial out: known ones, or their products with names that are not negative."""
        facts = self.facts
        if c > 0 and all(x in facts.natural for x in m):
            yield Poly({m: 1})
        yield from facts.index.get((m, c > 0), ())
        if len(m) > 1:
            for k, x in enumerate(m):
                rest = m[:k] + m[k + 1 :]
                if (k == 0 or m[k - 1] != x) and all(y in facts.natural for y in rest):
                    for f in facts.index.get(((x,), c > 0), ()):
                        yield _times(f, rest)

    def _meanings(self, goal: Poly, x: str, c: int) -> list[tuple[Poly, Poly]]:
        """A minimum is at most each operand, a maximum at least; a quotient is what its operands say."""
        d, me = self.facts.defined[x], var(x)
        if d.op == ("max" if c > 0 else "min"):
            return [(a - me, goal + (a - me) * c) for a in d.args]
        return [(me * c, g) for g in _divided(self.facts, goal, x, c)] if d.op == "div" else []


@lru_cache(1 << 14)  # searches for several goals ask for the same ones
def _times(fact: Poly, by: Monomial) -> Poly:
    return fact * Poly({by: 1})


def whole_form(p: Poly) -> Poly:
    """An inequality between integers with the common factor taken out."""
    factor = 0
    for m, c in p.terms.items():
        if m:
            factor = gcd(factor, c)
    if factor < 2:
        return p
    terms = {m: c // factor for m, c in p.terms.items() if m}
    if p.constant // factor:
        terms[()] = p.constant // factor
    return Poly(terms)
