"""Index-set splitting: loops are taken apart where tests in them change, so that most iterations have none.

An innermost loop with tests of its own variable (`if (x > 0)`, a[x + 1 == n ? 0 : x + 1]) becomes one loop for each
interval between the values at which tests change. Tests of loops around it are made once, ahead of a copy of the loop
that has none. Which values are usual only steers where a copy is made: each copy stands behind the test that it relies
on, and the proofs read the result like any other tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import islpy as isl

from codegen.ast.ctree import (
    Bin,
    Block,
    CExpr,
    CNode,
    Cond,
    Declare,
    For,
    Fun,
    Held,
    If,
    Instance,
    Int,
    block,
    expr_kids,
    expr_names,
    node_kids,
    substitute,
    walk,
    with_kids,
)
from codegen.ast.decide import COMPARISONS, Known, comparisons, decided, signs
from codegen.ast.facts import PointFacts, sums
from codegen.ast.linear import Linear, linear, value
from codegen.record import record
from codegen.scop.tree import PARALLEL, PARALLEL_VECTOR, SEQUENTIAL, VECTOR

CUTS = 4  # places at most at which a loop is taken apart
SHORT = 16  # iterations of a loop that compilers write out
TYPICAL = 1000  # value of a parameter about which nothing is known
_KINDS = (SEQUENTIAL, VECTOR, PARALLEL, PARALLEL_VECTOR)


@record
class _Place:
    """What is known around a node: the sets of values, and a typical value of each loop."""

    facts: PointFacts
    at: Mapping[str, int]

    def usual(self, e: CExpr) -> int:
        return value(e, self.at, TYPICAL)

    def inside(self, f: For) -> _Place:
        middle = (self.usual(f.lower) + self.usual(f.upper)) // 2
        return _Place(self.facts.inside(f), {**self.at, f.var: middle})

    def under(self, tests: Sequence[Linear]) -> _Place:
        return _Place(self.facts.also(*tests), self.at)

    def needed(self, tests: Sequence[Linear]) -> list[Linear]:
        """Those that have to be asked."""
        out: list[Linear] = []
        for k, t in enumerate(tests):
            others = self.facts.also(*out, *tests[k + 1 :])
            if not others.holds(t):
                out.append(t)
        return out


def peeled(node: CNode, context: isl.Set) -> CNode:
    """The tree with its innermost loops taken apart; parameters are as in `context`."""
    return _peeled(node, _Place(PointFacts(context), {}))


def has_tests(node: CNode) -> bool:
    """Is there an innermost loop with tests of its own variable, other than as what runs for unusual sizes?"""
    if isinstance(node, If):
        return has_tests(node.then) or (node.orelse is not None and not _loops(node.then) and has_tests(node.orelse))
    if isinstance(node, For) and not _loops(node.body):
        return any(node.var in expr_names(c) for c in _conditions(node.body))
    return any(map(has_tests, node_kids(node)))


def _loops(node: CNode) -> bool:
    return any(isinstance(n, For) for n in walk(node))


def _peeled(node: CNode, here: _Place) -> CNode:
    if isinstance(node, For):
        return _loop(node, here)
    if isinstance(node, Block):
        return block([_peeled(c, here) for c in node.children])
    if isinstance(node, If):
        orelse = None if node.orelse is None else _peeled(node.orelse, here)
        return If(node.cond, _peeled(node.then, here.under(_conjuncts(node.cond))), orelse)
    return replace(node, body=_peeled(node.body, here)) if isinstance(node, Declare) else node


def _conjuncts(e: CExpr) -> list[Linear]:
    """Sums that are >= 0 where a condition holds; there may be more to it."""
    if isinstance(e, Bin) and e.op == "&&":
        return [*_conjuncts(e.left), *_conjuncts(e.right)]
    return list(signs(e) or ()) if isinstance(e, Bin) and e.op in COMPARISONS else []


def _loop(f: For, here: _Place) -> CNode:
    if f.loop.kind not in _KINDS:  # how it runs depends on what is right inside it
        return f
    short = _short(f)
    outside = {} if short else _tests_of_others(f, here)
    usual = decided(f, outside.get) if outside else None
    if usual is not None:
        tests = here.needed([s if holds else s.scaled(-1).shifted(-1) for s, holds in outside.items()])
        if tests:
            return If(_all(tests), _peeled(usual, here.under(tests)), f)
        return _peeled(usual, here)
    if _loops(f.body):
        return replace(f, body=_peeled(f.body, here.inside(f)))
    return _apart(f, here) if f.step == 1 and not f.loop.width and not short else f


def _short(f: For) -> bool:
    """Has the loop a few iterations at most, whatever parameters are? Compilers write them out, with the tests made
    once: lattice_life, whose neighbours are three by three, takes 7 times as long with such loops taken apart."""
    lows, highs = sums(f.lower, "max"), sums(_past(f), "min")
    lengths = (high.plus(low, -1) for low in lows for high in highs)
    return any(not d.terms and d.constant <= SHORT for d in lengths)


def _tests_of_others(f: For, here: _Place) -> dict[Linear, bool]:
    """Comparisons ahead of statements in innermost loops that neither this loop nor one in it changes, but one around
    it does: does each usually hold?"""
    own = {n.var for n in walk(f) if isinstance(n, For)}
    found: dict[Linear, bool] = {}
    for c in (c for inner in _innermost(f) for n in walk(inner.body) if isinstance(n, If) for c in comparisons(n.cond)):
        for s in signs(c) or ():
            names = {n for n, _ in s.terms}
            if names & here.at.keys() and not names & own:
                found[s] = here.usual(s.expression()) >= 0
    return found


def _innermost(f: For) -> Iterator[For]:
    for n in walk(f):
        if isinstance(n, For) and not any(isinstance(m, For) for m in walk(n.body)):
            yield n


def _apart(f: For, here: _Place) -> CNode:
    """An innermost loop as one for each interval in which no test changes."""
    found = {b for c in _tests(f.body) for s in signs(c) or () if (b := _begin(s, f.var)) is not None}
    low, high = linear(f.lower), linear(_past(f))
    some = [high.plus(low, -1).shifted(-1)] if low is not None and high is not None else []  # iterations at all
    around, here = here, here.under(some)
    early = {b for b in found if _holds(here, low, b)}
    inside = [b for b in found - early if not _holds(here, b, high)]
    if not found or len(inside) > CUTS:
        return f
    cuts = sorted(inside, key=lambda b: (here.usual(b.expression()), b.terms, b.constant))
    tests = around.needed([*some, *(b.plus(a, -1) for a, b in pairwise(cuts))])
    here = here.under(tests)
    if here.facts.where.is_empty():
        return f
    bodies = [
        decided(f.body, _between(f.var, frozenset({*early, *cuts[:k]}), found)) for k in range(len(cuts) + 1)
    ]
    middle = (here.usual(f.lower) + here.usual(f.upper)) // 2
    usual = bodies[sum(here.usual(b.expression()) <= middle for b in cuts)]
    if usual is not None and any(f.var in expr_names(c) for c in _conditions(usual)):
        return f  # tests of another kind are left: compilers would do no better. mask-pattern 0.8
    parts = [
        _part(f, cuts[k - 1] if k else None, cuts[k] if k < len(cuts) else None, body, here)
        for k, body in enumerate(bodies)
        if body is not None
    ]
    if not tests:
        return block(parts)
    others = any(not around.under([*some, t.scaled(-1).shifted(-1)]).facts.where.is_empty() for t in tests)
    return If(_all(tests), block(parts), f if others else None)


def _holds(here: _Place, a: Linear | None, b: Linear | None) -> bool:
    """Is b <= a in any case? (False where an expression is no sum.)"""
    return a is not None and b is not None and here.facts.holds(a.plus(b, -1))


def _tests(node: CNode) -> Iterator[Bin]:
    """Comparisons that decide what is done or read."""
    for c in _conditions(node):
        yield from comparisons(c)


def _conditions(node: CNode) -> Iterator[CExpr]:
    if isinstance(node, If):
        yield node.cond
    if isinstance(node, Instance):
        for e in (*node.iterators, *(e for a in node.accesses for e in a), *node.values):
            yield from (choice.cond for choice in _choices(e))
    for k in node_kids(node):
        yield from _conditions(k)


def _choices(e: CExpr) -> Iterator[Cond]:
    if isinstance(e, Cond):
        yield e
    for k in expr_kids(e):
        yield from _choices(k)


def _begin(s: Linear, var: str) -> Linear | None:
    """The value of the loop's variable from which on `s >= 0` has another result than before."""
    rest = s.plus(Linear(((var, 1),), 0), -s.factor(var))
    if s.factor(var) == 1:
        return rest.scaled(-1)
    return rest.shifted(1) if s.factor(var) == -1 else None


def _between(var: str, below: frozenset[Linear], all_cuts: set[Linear]) -> Known:
    """What is known where the variable is at or behind those of `below`, and before the other cuts."""

    def known(s: Linear) -> bool | None:
        begin = _begin(s, var)
        if begin is None or begin not in all_cuts:
            return None
        return (begin in below) == (s.factor(var) == 1)

    return known


def _part(f: For, first: Linear | None, past: Linear | None, body: CNode, here: _Place) -> CNode:
    """The loop from `first` to before `past`, as far as those are iterations of its own."""
    low, high = linear(f.lower), linear(_past(f))
    start = low if first is None or _holds(here, low, first) else first
    end = high if past is None or _holds(here, past, high) else past
    if start is not None and end is not None and end.plus(start, -1) == Linear((), 1):
        ends = [(start, low), (high, end)]
        if all(a is not None and b is not None for a, b in ends):
            tests = here.needed([a.plus(b, -1) for a, b in ends if a is not None and b is not None])
            once = _at(body, {f.var: start.expression()})
            return If(_all(tests), once) if tests else once
    lower = f.lower if first is None else _later("max", first, low, f.lower, here)
    upper, op = (f.upper, f.op) if past is None else (_later("min", past, high, _past(f), here), "<")
    return replace(f, lower=lower, op=op, upper=upper, body=body)


def _past(f: For) -> CExpr:
    """The first value behind the loop."""
    if f.op == "<":
        return f.upper
    high = linear(f.upper)
    return Bin("+", f.upper, Int(1)) if high is None else high.shifted(1).expression()


def _later(fun: str, cut: Linear, end: Linear | None, written: CExpr, here: _Place) -> CExpr:
    """The later (`max`) or earlier (`min`) of a cut and an end of the loop."""
    a, b = (cut, end) if fun == "max" else (end, cut)
    if _holds(here, a, b):
        return cut.expression()
    if _holds(here, b, a):
        return written
    args = written.args if isinstance(written, Fun) and written.name == fun else (written,)
    return Fun(fun, (*args, cut.expression()))


def _at(node: CNode, env: dict[str, CExpr]) -> CNode:
    """The body of a loop at one value of its variable."""
    inner = with_kids(node, lambda x: _at(x, env))
    if isinstance(inner, If):
        return replace(inner, cond=substitute(inner.cond, env))
    if isinstance(inner, Declare):
        slots = tuple(Held(h.array, h.sizes, tuple(_put(e, env) for e in h.starts)) for h in inner.slots)
        return Declare(slots, inner.body)
    if isinstance(inner, Block):
        return inner
    assert isinstance(node, Instance)
    return Instance(
        node.stmt,
        tuple(_put(e, env) for e in node.iterators),
        tuple(tuple(_put(e, env) for e in a) for a in node.accesses),
        tuple(_put(e, env) for e in node.values),
    )


def _put(e: CExpr, env: dict[str, CExpr]) -> CExpr:
    done = substitute(e, env)
    s = linear(done)
    return done if s is None else s.expression()


def _all(sums: list[Linear]) -> CExpr:
    """All of the sums are >= 0."""
    tests = [_positive(s) for s in sums]
    total = tests[0]
    for t in tests[1:]:
        total = Bin("&&", total, t)
    return total


def _positive(s: Linear) -> CExpr:
    """s >= 0, with what is subtracted on the other side."""
    left = Linear(tuple(t for t in s.terms if t[1] > 0), max(s.constant, 0))
    right = left.plus(s, -1)
    return Bin(">=", left.expression(), right.expression())
