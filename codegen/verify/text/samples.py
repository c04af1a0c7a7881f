"""Sample values for the names in a proof: what is false for them need not be proven.

They only save work. Nothing is taken to be true because of them. Values are kept by name, one list for all samples:
most questions are about one polynomial in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import add, ge, mul, sub
from random import Random

from codegen.verify.poly import Poly

Values = list[int]  # one for each sample; never changed
ENOUGH, FEW, TRIES = 160, 24, 1000
# Many are multiples of what register tiles have rows and columns, so that edges of all kinds occur.
_SIZES = (
    *(1, 2, 3, 5, 7, 8, 16, 24, 32, 33, 48, 64, 80, 90, 96, 112, 128, 144, 150, 160, 176),
    *(200, 208, 240, 331, 336, 500, 512, 777, 1000, 2500),
)


class Rows:
    """Samples of which nothing but new names is ever added: all that is known of them, and whose selection they are."""

    def __init__(self, size: int, source: Rows | None = None, picked: Sequence[int] = ()) -> None:
        self.size, self.source, self.picked = size, source, picked
        self.names: dict[str, Values] = {}
        self.polys: dict[Poly, Values] = {}

    def find(self, name: str) -> Values | None:
        found = self.names.get(name)
        if found is None and self.source is not None:
            above = self.source.find(name)
            if above is not None:
                found = self.names[name] = [above[k] for k in self.picked]
        return found


class Samples:
    """Several assignments of numbers to names. Names that stand for operations get the operation's value."""

    def __init__(self, defined: Mapping[str, tuple[str, Sequence[Poly]]]) -> None:
        self.defined = defined
        self.random = Random(1)
        self.rows = Rows(0)

    def copy(self) -> Samples:
        other = Samples.__new__(Samples)
        other.defined, other.random, other.rows = self.defined, self.random, self.rows
        return other

    def draw(self, conditions: Sequence[Poly], enough: int = ENOUGH) -> None:
        """New ones, in which conditions hold."""
        self.rows = Rows(TRIES)
        for p in conditions:
            self.keep(p)
        if self.rows.size > enough:
            self._select(range(enough))

    def contradict(self, goal: Poly) -> bool:
        """Is the goal negative in one of them?"""
        return min(self.values(goal), default=0) < 0

    def values(self, p: Poly) -> Values:
        """What it is in each of them."""
        found = self.rows.polys.get(p)
        if found is None:
            found = self.rows.polys[p] = self._evaluated(p)
        return found

    def less(self, values: Values, scale: int, fact: Poly, times: int) -> bool:
        """Would values, so many times each, less a fact so many times, still not be negative anywhere?"""
        if scale == 1 == times:  # nearly always
            return all(map(ge, values, self.values(fact)))
        return all(v * scale + scale - 1 >= x * times for v, x in zip(values, self.values(fact), strict=True))

    def keep(self, fact: Poly) -> None:
        """Only those in which a fact is one."""
        values = self.values(fact)
        if min(values, default=0) < 0:
            self._select([k for k, x in enumerate(values) if x >= 0])

    def give(self, name: str, value: Callable[..., int], *of: Poly) -> None:
        """A number for a new name in each."""
        columns = [self.values(p) for p in of]
        self._select(range(self.rows.size))  # others may give the name another meaning
        self.rows.names[name] = list(map(value, *columns))

    def iterate(self, name: str, counter: str, first: Poly, past: Poly, step: Poly) -> None:
        """Iterations of a loop: several for each where there are few."""
        found: list[tuple[int, int, int]] = []
        each = min(8, max(1, ENOUGH // max(1, self.rows.size)))
        for k, (a, b, by) in enumerate(zip(*map(self.values, (first, past, step)), strict=True)):
            if a < b and by > 0:
                most = (b - a - 1) // by
                picked = {0, most} | {self._below(most + 1) for _ in range(each)}
                some = sorted(picked) if each > 1 else [self.random.choice(sorted(picked))]
                found += [(k, n, a + by * n) for n in some]
        if len(found) > ENOUGH:
            found = self.random.sample(found, ENOUGH)
        self._select([k for k, _, _ in found])
        self.rows.names[counter] = [n for _, n, _ in found]
        self.rows.names[name] = [x for _, _, x in found]

    def _select(self, picked: Sequence[int]) -> None:
        self.rows = Rows(len(picked), self.rows, picked)

    def _below(self, n: int) -> int:
        return int(self.random.random() * n)

    def _evaluated(self, p: Poly) -> Values:
        total: Values | None = None
        for m, c in p.terms.items():
            if not m:
                continue
            product = self._name(m[0])
            for x in m[1:]:
                product = list(map(mul, product, self._name(x)))
            if total is None:
                start = p.constant
                total = [c * a + start for a in product] if start or c != 1 else product
            elif abs(c) == 1:
                total = list(map(add if c > 0 else sub, total, product))
            else:
                total = [t + c * a for t, a in zip(total, product, strict=True)]
        return [p.constant] * self.rows.size if total is None else total

    def _name(self, x: str) -> Values:
        found = self.rows.find(x)
        if found is None:
            op, args = self.defined.get(x, ("", ()))
            found = self.rows.names[x] = self._computed(op, [self.values(a) for a in args])
        return found

    def _computed(self, op: str, args: list[Values]) -> Values:
        if op in ("min", "max"):
            return list(map(min if op == "min" else max, *args))
        if op == "is":
            return args[0]
        if op == "div":
            return list(map(_quotient, *args))
        if op == "balance":
            return list(map(_balance, *args[:3]))
        if op == "tw_task":
            return list(map(_task, *args))
        if op == "tw_share":
            return list(map(_share, *args))
        if op == "?":
            return [a if self.random.random() < 0.5 else b for a, b in zip(*args[:2], strict=True)]
        return self.random.choices(_SIZES if op else (*_SIZES, -3, 0), k=self.rows.size)


def _quotient(n: int, d: int) -> int:
    return 0 if not d else n // d if (n >= 0) == (d > 0) else -(-n // d)


def _share(n: int, most: int, unit: int) -> int:
    if min(n, most, unit) <= 0:
        return 1
    shares = (n + most - 1) // most
    return ((n + shares - 1) // shares + unit - 1) // unit


def _balance(part: int, parts: int, panels: int) -> int:
    return panels if part >= parts else max(0, min(panels - 1, part * panels // max(1, parts)))


def _task(tasks: int, others: int, n: int, most: int) -> int:
    return max(1, min(most, n * others // tasks)) if tasks > 1 else most
