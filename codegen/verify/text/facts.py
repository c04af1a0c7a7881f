"""Inequalities between polynomials: what is known about printed integers, and whether it implies something.

Every monomial counts as a variable. A goal is brought down step by step: a known inequality takes one of its monomials
out of it, until a number is left. Known inequalities are multiplied by names that are not negative where a goal has
such products. `min`, `max` and quotients are names, and taken out by what they mean. All of it is exact for integers; a
bound on the number of steps, not on time, says when to give up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from itertools import count
from math import gcd

from codegen.verify.poly import ONE, ZERO, Monomial, Poly, poly, var
from codegen.verify.text.samples import Samples
from codegen.verify.text.search import Defined, extremes, shown, whole_form

SHORT = re.compile(r"~[0-9a-f]{20}")


@cache
def short_name(op: str, args: tuple[Poly, ...]) -> str:
    """The same for the same operation, whoever asks. Nested operations would have names of thousands of characters."""
    if not args:
        return f"{op}()"
    return "~" + blake2b(f"{op}({', '.join(map(str, args))})".encode(), digest_size=10).hexdigest()


class Facts:
    """Known inequalities (each polynomial is at least 0) and the names that they are about."""

    def __init__(self) -> None:
        self.known: dict[Poly, None] = {}
        self.index: dict[tuple[Monomial, bool], tuple[Poly, ...]] = {}  # by monomial and the sign of its coefficient
        self.strongest: dict[frozenset[tuple[Monomial, int]], Poly] = {}  # of those that differ in a number
        self.natural: set[str] = set()  # names that are not negative
        self.defined: dict[str, Defined] = {}
        self.forms: dict[str, Poly] = {}  # what a loop's variable is in terms of its number of iterations
        self.places: dict[tuple[Poly, Poly], tuple[Poly, Poly]] = {}  # quotients and rests that have names
        self.units: dict[str, None] = {}  # positive names that many things are multiples of
        self.samples = Samples(self.defined)
        self.numbers = count()
        self.proven: dict[Poly, bool] = {}

    def copy(self) -> Facts:
        """More can be learnt there without being known here."""
        other = Facts()
        other.known, other.index, other.natural = dict(self.known), dict(self.index), set(self.natural)
        other.strongest, other.samples = dict(self.strongest), self.samples.copy()
        other.defined, other.forms = self.defined, dict(self.forms)
        other.numbers, other.places, other.units = self.numbers, self.places, self.units
        other.proven = {p: True for p, yes in self.proven.items() if yes}
        return other

    def fresh(self, name: str) -> Poly:
        return var(f"{name}.{next(self.numbers)}")

    def learn(self, *facts: Poly) -> Facts:
        for f in facts:
            self.samples.keep(f)
            self._add(f)
            whole = self.expand(f)
            if whole != f:
                self._add(whole)
            for u in self.units:
                q, r = whole.divided(var(u))
                if q != ZERO and r.number is not None and r.number <= 0:
                    self._add(q - (1 if r.number else 0))
        return self

    def _add(self, f: Poly) -> None:
        f = whole_form(f)
        if f.number is not None or f in self.known:
            return
        about = frozenset((m, c) for m, c in f.terms.items() if m)
        weaker = self.strongest.get(about)
        if weaker is not None and weaker.constant <= f.constant:
            return
        self.strongest[about] = f
        self.known.pop(weaker, None) if weaker is not None else None
        self.known[f] = None
        for m, c in f.terms.items():
            if m:
                key = (m, c > 0)
                self.index[key] = (f, *(x for x in self.index.get(key, ()) if x is not weaker))
        if len(f.terms) - (() in f.terms) == 1 and f.constant <= 0:
            ((m, c),) = ((m, c) for m, c in f.terms.items() if m)
            if len(m) == 1 and c > 0:
                self.natural.add(m[0])
        self.proven = {p: True for p, yes in self.proven.items() if yes}

    def assume(self, given: Sequence[Poly]) -> Facts | None:
        """With more that is known; None where that cannot be."""
        other = self.copy()
        for g in given:
            if other.holds(-g - 1):
                return None
            other.learn(g)
            if -g in given:
                other._solve(g)
        return other

    def _solve(self, zero: Poly) -> None:
        """One name of an equation in terms of the others."""
        for m, c in sorted(zero.terms.items(), key=lambda x: (not x[0] or x[0][0] not in self.defined, x)):
            if len(m) == 1 and abs(c) == 1 and m[0] not in self.forms:
                value = self.expand((var(m[0]) * c - zero) * c)
                if m[0] not in value.names:
                    self.forms[m[0]] = value
                    self.learn(*(f for f in list(self.known) if m[0] in f.names))
                    return

    def same(self, x: Poly, y: Poly) -> Facts:
        return self.learn(x - y, y - x)

    # -- operations as names -----------------------------------------------------------------------

    def minimum(self, x: Poly, y: Poly) -> Poly:
        d = (x - y).number
        if d is not None:
            return x if d <= 0 else y
        return self._name("min", *sorted((x, y), key=str))

    def maximum(self, x: Poly, y: Poly) -> Poly:
        d = (x - y).number
        if d is not None:
            return x if d >= 0 else y
        return self._name("max", *sorted((x, y), key=str))

    def quotient(self, n: Poly, d: Poly) -> Poly:
        """n / d as C computes it; something is known about it where n is not negative and d positive."""
        if n == ZERO or d == ONE:
            return n
        if (n, d) in self.places:
            return self.places[n, d][0]
        if len(d.terms) == 1:
            whole = n.over(d)
            if whole is not None:
                return whole
            if d.number is not None and d.number > 0:
                q, r = n.divided(d)
                if self.holds(r) and self.holds(d - 1 - r):
                    return q
        m = self._name("div", n, d)
        if self.holds(n) and self.holds(d - 1):
            self.learn(m, n - m * d, m * d + d - 1 - n)
        return m

    def rest(self, n: Poly, d: Poly) -> Poly:
        return self.places[n, d][1] if (n, d) in self.places else n - d * self.quotient(n, d)

    def balance(self, part: Poly, parts: Poly, panels: Poly, *work: Poly) -> Poly:
        """tw_balance: parts begin in order, the first at 0, every part at one of the panels, and behind the last there
        is none."""
        if part in (ZERO, parts):
            return ZERO if part == ZERO else panels
        m = self._name("balance", part, parts, panels, *work)
        self.learn(m, panels - m)
        if self.holds(parts - 1 - part) and self.holds(panels - 1):
            self.learn(panels - 1 - m)
        before = short_name("balance", (part - 1, parts, panels, *work))
        if before in self.defined:
            self.learn(m - var(before))
        return m

    def bounded(self, p: Poly) -> None:
        """A minimum or maximum that is used as a bound: facts that mention it."""
        for x in sorted(p.names):
            d = self.defined.get(x)
            if d is not None and d.op in ("min", "max") and p.terms.keys() == {(x,)}:
                self.learn(*((a - var(x)) * (1 if d.op == "min" else -1) for a in d.args))

    def opaque(self, text: str, *args: Poly) -> Poly:
        """A value that nothing is known about but that equal texts with equal arguments are equal."""
        return self._name(text, *args)

    def _name(self, op: str, *args: Poly) -> Poly:
        name = short_name(op, args)
        self.defined.setdefault(name, Defined(op, args))
        return var(name)

    def spelled(self, text: str) -> str:
        """A text about polynomials with operations in place of their short names."""

        def operation(m: re.Match[str]) -> str:
            d = self.defined.get(m[0])
            return m[0] if d is None else f"{d.op}({', '.join(self.spelled(str(a)) for a in d.args)})"

        return SHORT.sub(operation, text)

    def put(self, p: Poly, values: Mapping[str, Poly]) -> Poly:
        """With values in place of names, within operations, too."""
        result = ZERO
        for m, c in p.terms.items():
            term = poly(c)
            for x in m:
                term = term * self._put_name(x, values)
            result = result + term
        return result

    def _put_name(self, x: str, values: Mapping[str, Poly]) -> Poly:
        if x in values:
            return values[x]
        d = self.defined.get(x)
        if d is None or not any(self.mentions(a, values) for a in d.args):
            return var(x)
        args = [self.put(a, values) for a in d.args]
        if d.op == "balance":
            return self.balance(*args)
        known = {"min": self.minimum, "max": self.maximum, "div": self.quotient}.get(d.op)
        return known(*args) if known else self.opaque(d.op, *args)

    def mentions(self, p: Poly, names: Iterable[str]) -> bool:
        """Does a name occur, within operations or not?"""
        wanted = set(names)
        for x in p.names:
            d = self.defined.get(x)
            if x in wanted or (d is not None and any(self.mentions(a, wanted) for a in d.args)):
                return True
        return False

    def expand(self, p: Poly) -> Poly:
        """Variables of loops by their numbers of iterations, but for those within operations."""
        while not self.forms.keys().isdisjoint(p.names):
            result = ZERO
            for m, c in p.terms.items():
                term = poly(c)
                for x in m:
                    term = term * self.forms.get(x, var(x))
                result = result + term
            p = result
        return p

    # -- proofs ------------------------------------------------------------------------------------

    def equal(self, x: Poly, y: Poly) -> bool:
        if x == y:
            return True
        d = x - y
        return self.expand(d) == ZERO or (self.holds(d) and self.holds(-d))

    def recorded(self, goal: Poly) -> bool:
        """Was the goal, or a stronger one, learnt as such? That is quicker to say than whether it holds."""
        goal = whole_form(goal)
        found = self.strongest.get(frozenset((m, c) for m, c in goal.terms.items() if m))
        return found is not None and found.constant <= goal.constant

    def holds(self, goal: Poly) -> bool:
        """Is the goal at least 0?"""
        if goal.number is not None:
            return goal.number >= 0
        found = self.proven.get(goal)
        if found is None and self.recorded(goal):
            return True
        if found is None and self.samples.contradict(goal):
            found = self.proven[goal] = False
        if found is None:
            whole = self.expand(goal)
            unit = self._unit(whole) if self.units else None
            if unit is not None:  # a multiple of that is not negative if it is more than minus that
                q = whole.over(unit)
                assert q is not None
                found = (len(q.terms) == 1 and self.holds(q)) or self.holds(goal + unit - 1) or self.holds(q)
            else:
                found = (whole != goal and shown(self, whole, True, 2)) or shown(self, goal, False)
                found = found or (whole != goal and shown(self, whole, True)) or self._by_unit(goal)
            self.proven[goal] = found
        return found

    def _unit(self, whole: Poly) -> Poly | None:
        """A positive number of more than 1 that it is a multiple of."""
        for u in self.units:
            q = whole.over(var(u))
            if q is not None:
                return var(u) * gcd(*q.terms.values())
        return None

    def _by_unit(self, goal: Poly) -> bool:
        """By multiples of units, where what minima and maxima are makes some of it."""
        if not self.units:
            return False
        whole = whole_form(goal)
        return any(all(map(self.holds, either)) for either in (*extremes(self, whole), *self._bounds(whole)))

    def _bounds(self, goal: Poly) -> list[list[Poly]]:
        """What to show instead: a minimum is at most each operand, a maximum at least."""
        found = []
        for m, c in goal.terms.items():
            d = self.defined.get(m[0]) if len(m) == 1 else None
            if d is not None and d.op == ("max" if c > 0 else "min"):
                found += [[goal + (a - var(m[0])) * c] for a in d.args]
        return found
