"""Scope of names in the text of a mesh product: integers, conditions, and addresses in local memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

from codegen.ast.ctree import Bin, CExpr, Fun, Int, Name, Neg
from codegen.verify.poly import ONE, Poly, poly, var
from codegen.verify.text.facts import Facts
from codegen.verify.text.integers import IntegerCondition, Integers, ways
from codegen.verify.text.lanes import show
from codegen.verify.text.read import Node, Unread


class LocalPlace(NamedTuple):
    """Somewhere in local memory: a region of it, which of two copies, as printed, and how far into it."""

    region: str
    copy: str
    offset: Poly


class MeshIntegers(Integers):
    """Integers of the text. Members of a shape and elements of small arrays have names of their own."""

    def value(self, e: Node) -> Poly:
        if e.kind in ("member", "index"):
            found = self.names.get(_member(e) if e.kind == "member" else self.element(e))
            if not isinstance(found, Poly):
                raise Unread(f"an integer {show(e)}")
            return found
        if e.kind == "binary" and e.text in ("/", "%"):
            n, d = (self.value(k).number for k in e.kids)
            if n is not None and d is not None and n >= 0 and d > 0:
                return poly(n // d if e.text == "/" else n % d)
        return super().value(e)

    def element(self, e: Node) -> str:
        """An element of an array by its number."""
        number = self.value(e.kids[1]).number
        if e.kids[0].kind != "name" or number is None:
            raise Unread(f"an element {show(e)} of which the number is not known")
        return f"{e.kids[0].text}[{number}]"


def _member(e: Node) -> str:
    return f"{e.kids[0].text}{e.text}{e.kids[1].text}" if e.kids[0].kind == "name" else ""


class MeshScope(NamedTuple):
    """What names stand for at a place of the text, and what is known there."""

    facts: Facts
    names: Mapping[str, Any]

    @property
    def ints(self) -> MeshIntegers:
        return MeshIntegers(self.facts, self.names, free=False)

    def value(self, e: Node) -> Poly:
        return self.ints.value(e)

    def cond(self, e: Node) -> IntegerCondition:
        return self.ints.cond(e)

    def let(self, **names: Any) -> MeshScope:
        return self._replace(names={**self.names, **names})

    def named(self, name: str, value: Any) -> MeshScope:
        return self._replace(names={**self.names, name: value})

    def given(self, *known: Poly) -> MeshScope:
        """Where more is known."""
        return self._replace(facts=self.facts.copy().learn(*known))

    def counted(self, name: str, first: Poly, past: Poly) -> MeshScope:
        """Where a name is any number from one on and below another."""
        facts = self.facts.copy()
        facts.samples.iterate(name, f"{name}#", first, past, ONE)
        facts.learn(var(name) - first, past - 1 - var(name))
        return MeshScope(facts, {**self.names, name: var(name)})

    def declared(self, s: Node) -> MeshScope:
        """With a constant, an integer or a condition."""
        kind, sizes, value = s.kids
        if kind.text not in ("const long", "const int") or sizes.kids:
            raise Unread(f"`{s.text}`")
        tests = value.kind == "binary" and value.text in ("&&", "||")
        return self.named(s.text, self.cond(value) if tests else self.value(value))

    def whenever(self, c: IntegerCondition, wanted: Sequence[Poly]) -> bool:
        """Does a condition hold exactly where all these are not negative?"""
        found = ways(c)
        if len(found) != 1:
            return False
        there, here = self.facts.copy().learn(*found[0]), self.facts.copy().learn(*wanted)
        return all(map(there.holds, wanted)) and all(map(here.holds, found[0]))


def conjuncts(e: Node) -> list[Node]:
    both = e.kind == "binary" and e.text == "&&"
    return [*conjuncts(e.kids[0]), *conjuncts(e.kids[1])] if both else [e]


def statements(s: Node) -> list[Node]:
    """The statements of a body, declarations one by one."""
    body = s.kids if s.kind == "block" else (s,)
    return [x for n in body for x in (n.kids if n.kind == "several" else (n,))]


def of_tree(e: CExpr, facts: Facts) -> Poly:
    """An expression of the tree."""
    if isinstance(e, Int):
        return poly(e.value)
    if isinstance(e, Name):
        return var(e.name)
    if isinstance(e, Neg):
        return -of_tree(e.arg, facts)
    if isinstance(e, Fun) and e.name in ("min", "max"):
        either = facts.minimum if e.name == "min" else facts.maximum
        return reduce(either, (of_tree(a, facts) for a in e.args))
    if isinstance(e, Bin) and e.op in ("+", "-", "*"):
        left, right = of_tree(e.left, facts), of_tree(e.right, facts)
        return left + right if e.op == "+" else left - right if e.op == "-" else left * right
    raise Unread("an extent of another kind")


def check_zero(facts: Facts, what: str, found: Poly, wanted: Poly) -> None:
    """Two integers are the same."""
    if not facts.equal(found, wanted):
        raise Unread(f"{what} is {facts.spelled(str(found))} in place of {facts.spelled(str(wanted))}")


def check_least(facts: Facts, what: str, *goals: Poly) -> None:
    """None of these is negative."""
    for g in goals:
        if not facts.holds(g):
            raise Unread(f"{what}: {facts.spelled(str(g))} may be negative")


def bounds(f: Facts, p: Poly, op: str) -> list[Poly]:
    """Values that something is at most, where it is a `min` of them, or at least, where it is a `max`."""
    found, name = [p], next(iter(sorted(p.names)), "")
    d = f.defined.get(name) if p == var(name) else None
    return found if d is None or d.op != op else [*found, *(b for a in d.args for b in bounds(f, a, op))]


def most(f: Facts, p: Poly) -> list[Poly]:
    """Values that a sum is at most: with an operand of a minimum in its place, where that is not taken off."""
    found = [p]
    for n in sorted(p.names):
        d, terms = f.defined.get(n), {m: c for m, c in p.terms.items() if n in m}
        others = [x for m in terms for x in m if x != n]
        once = all(m.count(n) == 1 and c > 0 for m, c in terms.items()) and f.natural.issuperset(others)
        if d is not None and d.op == "min" and once:
            found += [f.put(p, {n: a}) for a in d.args]
    return found
