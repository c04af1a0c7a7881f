"""Random loop headers whose values stay within known ranges."""
from __future__ import annotations

from dataclasses import dataclass
from random import Random

from tests.property import affine as af
from tests.property.affine import INT, IntType, Value

MOST_TRIPS = 20_000  # instances of one statement at the largest size


@dataclass(frozen=True)
class Scope:
    """What a statement can see: loop variables, variables of the region, the loops' trip count so far."""

    iters: tuple[Value, ...] = ()
    locals: tuple[tuple[str, IntType], ...] = ()
    arrays: tuple[tuple[str, IntType, int], ...] = ()
    trips: int = 1


class Retry(Exception):
    """A choice turned out to be useless; choose again."""


class Loops:
    """Writes headers. `params` are the sizes, `least` and `largest` what they can be."""

    def __init__(self, rng: Random, itype: IntType, params: list[Value], least: int, largest: int) -> None:
        self.rng, self.itype, self.params, self.least, self.largest = rng, itype, params, least, largest
        self.ptype = params[0].ctype
        self.counters = rng.random() < 0.4  # loop variables declared before the region
        self.used_counters: dict[str, IntType] = {}

    def header(self, scope: Scope, depth: int) -> tuple[str, Value, int]:
        """What stands between the parentheses, the loop variable, and how often the loop runs at most."""
        while True:
            try:
                return self._header(scope, depth)
            except Retry:
                continue

    def _header(self, scope: Scope, depth: int) -> tuple[str, Value, int]:
        rng = self.rng
        name = "ijkl"[depth]
        ctype = self.itype if rng.random() < 0.8 else INT
        if self.counters:
            ctype = self.used_counters.setdefault(name, ctype)
        step = rng.choice((1, 1, 1, 1, 1, 2, 3))
        down = rng.random() < 0.25
        early = down and step == 1 and (ctype.signed or not self.counters) and rng.random() < 0.25
        if early:
            first, cond, lo, hi = self._before(scope, name, ctype)
        elif rng.random() < 0.08:
            first, cond, lo, hi = self._until(scope, name, step, down)
        else:
            first, cond, lo, hi = self._from_to(scope, name, ctype, down)
        low, high = ctype.range()
        if lo > hi or (lo - step if down and not early else lo) < low or hi + (0 if down else step) > high:
            raise Retry
        count = (hi - lo) // step + 1
        if count * scope.trips > MOST_TRIPS or hi > 110 or lo < -60:
            raise Retry
        sign = "-" if down else "+"
        forms = [f"{name} {sign}= {step}", f"{name} = {name} {sign} {step}"]
        forms += [f"{name}{sign}{sign}"] * (4 if step == 1 else 0)
        if early:
            forms = [""]
        head = f"{'' if self.counters else ctype.text + ' '}{name} = {first}; {cond}; {rng.choice(forms)}".rstrip()
        return head, Value(name, lo, hi, ctype), count

    def _from_to(self, scope: Scope, name: str, ctype: IntType, down: bool) -> tuple[str, str, int, int]:
        """Header parts and the values taken, for <, <=, > and >=."""
        rng = self.rng
        low, high = self._low(scope), self._high(scope)
        first, limit = (high, low) if down else (low, high)
        op = rng.choice((">", ">=") if down else ("<", "<="))
        it = Value(name, min(low.lo, 0), max(high.hi, 0), ctype)
        wide = af.common(ctype, limit.ctype)
        if first.wraps or limit.wraps or (not ctype.signed and first.lo < 0) or (not wide.signed and limit.lo < 0):
            raise Retry
        if not wide.signed and ctype.signed and first.lo < 0:
            raise Retry
        lo = low.lo + (1 if op == ">" else 0)
        hi = high.hi - (1 if op == "<" else 0)
        cond = f"{name} {op} {limit.text}"
        if rng.random() < 0.2:
            cond = f"{limit.text} {op.translate(str.maketrans('<>', '><'))} {name}"
        if rng.random() < 0.05:
            cond += f" && {it.text} {op} {rng.randint(2, 9)}"
        return first.text, cond, lo, hi

    def _before(self, scope: Scope, name: str, ctype: IntType) -> tuple[str, str, int, int]:
        """Header parts of a loop that counts down in its condition."""
        first, limit = self._high(scope), self._low(scope)
        wide = af.common(ctype, limit.ctype)
        if first.wraps or limit.wraps or (not (ctype.signed and wide.signed) and min(first.lo, limit.lo) < 0):
            raise Retry
        if max(abs(first.lo), abs(first.hi)) >= ctype.range()[1]:
            raise Retry
        return first.text, f"{name}-- > {limit.text}", limit.lo, first.hi - 1

    def _low(self, scope: Scope) -> Value:
        roll = self.rng.random()
        if roll < 0.55 or not scope.iters:
            return af.constant(self.rng.choice((0, 0, 0, 0, 1, 1, 2, 3)))
        v = af.plus(self.rng.choice(scope.iters), self.rng.choice((0, 0, 1, -1, 2)))
        if roll > 0.9:
            v = af.extreme(self.rng, "max", v, af.constant(self.rng.randint(0, 4)))
        return v if roll < 0.95 else af.affine(self.rng, scope.iters, self.params)

    def _high(self, scope: Scope) -> Value:
        rng, roll = self.rng, self.rng.random()
        v = af.plus(rng.choice(self.params), rng.choice((0, 0, 0, 0, -1, 1, -2, 2)))
        if roll < 0.6:
            return v
        if roll < 0.68:
            return af.constant(rng.randint(1, 9))
        if scope.iters and roll < 0.85:
            return af.plus(rng.choice(scope.iters), rng.choice((0, 0, 1, 2, 4)))
        if roll < 0.92:
            return af.extreme(rng, "min", v, af.linear(rng, scope.iters, self.params, 1))
        return af.divide(v, 2) if roll < 0.96 else af.affine(rng, scope.iters, self.params)

    def _until(self, scope: Scope, name: str, step: int, down: bool) -> tuple[str, str, int, int]:
        """Header parts for !=, with a limit the loop hits exactly."""
        first = self._low(scope)
        room = self.rng.choice((af.constant(4), af.Value(self.params[0].text, 0, self.largest, self.ptype)))
        if self.least < 0:
            room = af.constant(self.rng.randint(0, 9))
        gap = af.scale(step, room)
        limit = af.sub(first, gap) if down else af.add(first, gap)
        if first.wraps or limit.wraps or first.lo < 0 or limit.lo < 0:
            raise Retry
        lo, hi = (limit.lo + step, first.hi) if down else (first.lo, limit.hi - step)
        return first.text, f"{name} != {limit.text}", lo, hi
