"""Translates printed integer expressions into polynomials, and conditions into inequalities between them; what is
learnt on the way goes to `facts.py`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from codegen.verify.poly import ZERO, Poly, poly, var
from codegen.verify.text.facts import Facts
from codegen.verify.text.lanes import show
from codegen.verify.text.read import Node, Unread, nodes

_WIDE = frozenset(("long", "ptrdiff_t"))  # types of all integers here: they lose nothing
_NATURAL = frozenset(("unsigned long long", "size_t"))
_NARROW = frozenset(("int", "unsigned", "unsigned int"))
_MOST = 2**31 - 1
# Block sizes for the caches that a program finds: positive, and runs of columns are whole slivers. How many arguments
# there are, and which one is a flag; all others have to be positive, since something is divided by them.
_FITTED = {"tw_fit_depth": (5, 4), "tw_fit_rows": (5, 3), "tw_fit_run": (5, 3), "tw_fit_columns": (3, -1)}
_REALS = ("double", "float")
_COMPARED = ("<", ">", "<=", ">=", "==", "!=")


class IntegerCondition(NamedTuple):
    """`ge`: a polynomial is at least 0; `and`, `or` of others; `unknown` where nothing can be said."""

    op: str
    args: tuple[IntegerCondition, ...] = ()
    value: Poly = ZERO


UNKNOWN, TRUE, FALSE = IntegerCondition("unknown"), IntegerCondition("and"), IntegerCondition("or")


def ge(p: Poly) -> IntegerCondition:
    return IntegerCondition("ge", (), p)


def both(*args: IntegerCondition) -> IntegerCondition:
    return args[0] if len(args) == 1 else IntegerCondition("and", args)


def negated(c: IntegerCondition) -> IntegerCondition:
    if c.op == "ge":
        return ge(-c.value - 1)
    if c.op == "unknown":
        return c
    return IntegerCondition("or" if c.op == "and" else "and", tuple(map(negated, c.args)))


def is_known(c: IntegerCondition) -> bool:
    """Can everything that it asks for be said in polynomials?"""
    return c.op != "unknown" and all(map(is_known, c.args))


def ways(c: IntegerCondition) -> list[list[Poly]]:
    """The condition as alternatives, each a list of facts."""
    if c.op == "ge":
        return [[c.value]]
    if c.op == "unknown":
        return [[]]
    if c.op == "or":
        return [w for a in c.args for w in ways(a)]
    found: list[list[Poly]] = [[]]
    for a in c.args:
        found = [[*x, *y] for x in found for y in ways(a)]
    return found


def decided(c: IntegerCondition, facts: Facts) -> bool | None:
    """Whether it holds, where that is known."""
    if c.op == "unknown":
        return None
    if c.op == "ge":
        against = -c.value - 1
        if facts.recorded(against):
            return False
        return True if facts.holds(c.value) else False if facts.holds(against) else None
    parts = [decided(a, facts) for a in c.args]
    if c.op == "and":
        return False if False in parts else None if None in parts else True
    return True if True in parts else None if None in parts else False


def numbers_of(meant: object) -> Iterator[Poly]:
    """The numbers that the meaning of a name is made of: its own, or those that a condition compares."""
    if isinstance(meant, Poly):
        yield meant
    elif isinstance(meant, IntegerCondition):
        yield meant.value
        for part in meant.args:
            yield from numbers_of(part)


class Integers:
    """Reads expressions with the names of an environment: polynomials, and conditions in variables."""

    def __init__(self, facts: Facts, names: Mapping[str, Any], free: bool = True) -> None:
        self.facts, self.names, self.free = facts, names, free

    def value(self, e: Node) -> Poly:
        f = self.facts
        if e.kind == "number":
            text = e.text.rstrip("uUlL")
            if not text.isdigit():
                raise Unread(f"`{e.text}` is no integer")
            return poly(int(text))
        if e.kind == "name":
            return self._name(e.text)
        if e.kind == "cast" and e.text in _WIDE | _NATURAL | _NARROW:
            return self._cast(e.text, self.value(e.kids[0]))
        if e.kind == "unary" and e.text in "+-":
            x = self.value(e.kids[0])
            return -x if e.text == "-" else x
        if e.kind == "binary" and e.text in ("+", "-", "*", "/", "%"):
            return self._binary(e)
        if e.kind == "binary" and e.text in _COMPARED:
            return self._flag(e)
        if e.kind == "choose":
            return self._chosen(e)
        if e.kind == "sizeof" and e.text:
            size = var(f"sizeof {e.text}")
            f.learn(size - 1)
            return size
        if e.kind == "call":
            return self._call(e.text, [self.value(x) for x in e.kids])
        if e.kind == "index" and e.kids[0].kind == "name" and e.kids[0].text not in self.names:
            return f.opaque(f"{e.kids[0].text}[]", self.value(e.kids[1]))
        raise Unread(f"an integer {show(e)}")

    def _cast(self, kind: str, x: Poly) -> Poly:
        """A number in another type: itself where that can hold it, else one that only the same cast makes."""
        fits = kind in _WIDE or (kind in _NATURAL and self.facts.holds(x))
        if fits or (self.facts.holds(x) and x.number is not None and x.number <= _MOST):
            return x
        return self.facts.opaque(f"({kind})", x)

    def _name(self, name: str) -> Poly:
        found = self.names.get(name)
        if found is None and self.free:
            return var(name)
        if not isinstance(found, Poly):
            raise Unread(f"`{name}` is no integer")
        return found

    def _binary(self, e: Node) -> Poly:
        x, y = (self.value(k) for k in e.kids)
        if e.text == "+":
            return x + y
        if e.text == "-":
            return x - y
        if e.text == "*":
            return x * y
        if not self.facts.holds(y - 1):
            raise Unread(f"a division by {y}, which may be 0 or less")
        return self.facts.quotient(x, y) if e.text == "/" else self.facts.rest(x, y)

    def _flag(self, e: Node) -> Poly:
        """A comparison as a number."""
        known = decided(self.cond(e), self.facts)
        if known is not None:
            return poly(int(known))
        flag = self.facts.opaque(show(e), *(self.value(k) for k in e.kids))
        self.facts.learn(flag, 1 - flag)
        return flag

    def _chosen(self, e: Node) -> Poly:
        cond, x, y = e.kids
        known = decided(self.cond(cond), self.facts)
        if known is not None:
            return self.value(x if known else y)
        one, other = self.value(x), self.value(y)
        asked = [v for n in nodes(cond) if n.kind == "name" for v in numbers_of(self.names.get(n.text))]
        found = self.facts.opaque("?", one, other, var(show(cond)), *asked)
        if self.facts.holds(one - 1) and self.facts.holds(other - 1):
            self.facts.learn(found - 1)
        if self.facts.recorded(other - one):
            self.facts.learn(found - one)
        return found

    def _call(self, name: str, args: list[Poly]) -> Poly:
        f = self.facts
        if name == "tw_min":
            return f.minimum(*args)
        if name == "tw_max":
            return f.maximum(*args)
        if name == "TW_SIZE":
            size = f.opaque(name, *args)
            if f.holds(args[0] - 1):
                f.learn(size - 1)
            return size
        if name in _FITTED:
            count, flag = _FITTED[name]
            if len(args) != count:
                raise Unread(f"{name} with {len(args)} arguments")
            for k, x in enumerate(args):
                if k != flag:
                    self._positive(name, x)
            size = f.opaque(name, *args)
            f.learn(size - (args[1] if name == "tw_fit_run" else 1))
            return size
        if name == "tw_panels":
            self._positive(name, args[1])
            return f.quotient(args[0] + args[1] - 1, args[1])
        if name == "tw_share":
            return self._share(*args)
        if name == "tw_tasks":
            self._positive(name, args[0])
            tasks = f.opaque(name, *args)
            f.learn(tasks - 1)
            return tasks
        if name == "tw_task":
            self._positive(name, args[0])
            self._positive(name, args[-1])
            some = f.opaque(name, *args)
            f.learn(some - 1, args[-1] - some)
            return some
        if name in ("tw_deal_rows", "tw_deal_columns"):
            for x in args[:3]:
                self._positive(name, x)
            panels = f.opaque(name, *args)
            f.learn(panels - 1)
            return panels
        if name == "tw_balance":
            for x in args[1:3]:
                self._positive(name, x)
            if not (f.holds(args[0]) and f.holds(args[1] - args[0])):
                raise Unread(f"part {args[0]} of {args[1]}")
            return f.balance(*args)
        if name == "tw_max_threads":
            team = f.opaque(name)
            f.learn(team - 1)
            return team
        if name in ("svcntb", "svcnth", "svcntw", "svcntd") or "_lanes_" in name:
            lanes = f.opaque(name)
            f.learn(lanes - 1)
            return lanes
        raise Unread(f"a call of {name}")

    def _share(self, n: Poly, most: Poly, unit: Poly) -> Poly:
        """`n` in equal shares of about `most`, each a positive multiple of `unit`; not more than `most` where units
        are 1."""
        for x in (n, most, unit):
            self._positive("tw_share", x)
        f = self.facts
        units = f.opaque("tw_share", n, most, unit)
        f.learn(units - 1)
        if unit.number == 1:
            f.learn(most - units)
        return units * unit

    def _positive(self, name: str, x: Poly) -> None:
        if not self.facts.holds(x - 1):
            raise Unread(f"{name} of {x}, which may be 0 or less")

    # -- conditions --------------------------------------------------------------------------------

    def cond(self, e: Node) -> IntegerCondition:
        if e.kind == "unary" and e.text == "!":
            return negated(self.cond(e.kids[0]))
        if e.kind == "binary" and e.text in ("&&", "||"):
            return IntegerCondition("and" if e.text == "&&" else "or", tuple(self.cond(k) for k in e.kids))
        if e.kind == "choose":
            test, yes, no = (self.cond(k) for k in e.kids)
            return IntegerCondition("or", (both(test, yes), both(negated(test), no)))
        if e.kind == "name" and isinstance(self.names.get(e.text), IntegerCondition):
            found: IntegerCondition = self.names[e.text]
            return found
        if e.kind == "binary" and e.text in _COMPARED:
            if any(_floats(k) for k in e.kids):
                for k in e.kids:
                    self._real(k)
                return UNKNOWN
            x, y = (self.value(k) for k in e.kids)
            return _compared(e.text, x, y)
        return _compared("!=", self.value(e), ZERO)

    def _real(self, e: Node) -> None:
        """A number that is not exact: all that has to be known of it is that it is computed, and nothing else done."""
        if (e.kind == "cast" and e.text in _REALS) or (e.kind == "binary" and e.text in ("+", "-", "*") and _floats(e)):
            for k in e.kids:
                self._real(k)
        else:
            self.value(e)


def is_test(e: Node) -> bool:
    """Is it 0 or 1, so that any type can hold it?"""
    if e.kind == "choose":
        return all(map(is_test, e.kids[1:]))
    if e.kind == "call":
        return e.text in ("tw_crowded", "tw_even")
    return e[:2] == ("unary", "!") or (e.kind == "binary" and e.text in (*_COMPARED, "&&", "||"))


def _compared(op: str, x: Poly, y: Poly) -> IntegerCondition:
    if op in ("<", ">"):
        return ge(y - x - 1) if op == "<" else ge(x - y - 1)
    if op in ("<=", ">="):
        return ge(y - x) if op == "<=" else ge(x - y)
    same = both(ge(x - y), ge(y - x))
    return same if op == "==" else negated(same)


def _floats(e: Node) -> bool:
    return (e.kind == "cast" and e.text in _REALS) or any(_floats(k) for k in e.kids)
