"""Coverage proofs for printed products: from the box that one iteration or thread computes (`Effect`), derives the box
of a whole loop, a team of threads, a sequence, or all cases of a branch. Raises Unread where pieces leave gaps or
overlap, or where one overwrites what another has computed.

The one lemma behind it: pieces [lo(v), hi(v)) for v = A, A + S, ... below B are the whole of [lo(A), lo(B)), each point
once and in ascending order, where hi(v) is lo(v + S), or lo(B) in the last of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from codegen.verify.poly import ONE, ZERO, Poly, var
from codegen.verify.text.facts import Facts
from codegen.verify.text.read import Unread


class Span(NamedTuple):
    lo: Poly
    hi: Poly


class Effect(NamedTuple):
    """A box of points that get what they should, and around it one that may be overwritten with something else.

    `kind` is what holds the points, `base` where its blocks begin. `wiped` is overwritten only `when` all these are not
    negative.
    """

    kind: str
    spans: Mapping[str, Span]
    base: tuple[Poly, ...] = ()
    wiped: Mapping[str, Span] | None = None
    when: tuple[Poly, ...] = ()


class CountedLoop(NamedTuple):
    """`for (name = first; name < past; name += step)`."""

    name: str
    first: Poly
    past: Poly
    step: Poly


def over_loop(e: Effect, lp: CountedLoop, facts: Facts, shared: bool = False) -> Effect | None:
    """The effect of all iterations; None where they have no common blocks, or all do the same. With `shared`, threads
    share the loop."""
    v = lp.name
    if any(facts.mentions(b, (v,)) for b in e.base):
        return None
    moving = [c for c, s in e.spans.items() if facts.mentions(s.lo, (v,)) or facts.mentions(s.hi, (v,))]
    if not e.spans:
        return e._replace(wiped={c: _swept(s, lp, facts) for c, s in (e.wiped or {}).items()})
    if not moving:
        return None
    if len(moving) != 1:
        raise Unread(f"a loop moves {len(moving)} coordinates of what it covers")
    (c,) = moving
    lo, hi = e.spans[c]
    if not facts.mentions(lo, (v,)) and facts.holds(lp.first + lp.step - lp.past):
        return _only(e, c, lp, facts)
    further, end = facts.put(lo, {v: var(v) + lp.step}), facts.put(lo, {v: lp.past})
    inner = facts.copy().learn(lp.past - 1 - var(v) - lp.step)
    if not inner.equal(hi, further):
        raise Unread(f"an iteration ends at {hi}, the next one begins at {further}")
    if not facts.copy().learn(var(v) + lp.step - lp.past).equal(hi, end):
        raise Unread(f"the last iteration ends at {hi} in place of {end}")
    if not facts.holds(hi - lo):
        raise Unread(f"an iteration ends at {hi}, before it begins")
    first = facts.put(lo, {v: lp.first})
    wiped = None
    if e.wiped is not None:
        around = e.wiped[c]
        if not facts.holds(around.lo - lo):
            raise Unread("an iteration overwrites what an earlier one has made")
        if shared and not inner.copy().learn(*e.when).holds(further - around.hi):
            raise Unread("an iteration overwrites what another thread makes")
        if any(facts.mentions(s.lo, (v,)) for d, s in e.wiped.items() if d != c):
            raise Unread("iterations overwrite different parts")
        wiped = {**e.wiped, c: Span(first, first)}
    return e._replace(spans={**e.spans, c: Span(first, end)}, wiped=wiped, when=())


def _only(e: Effect, c: str, lp: CountedLoop, facts: Facts) -> Effect:
    """Of a loop with one iteration, where it begins with what does not depend on it. It is as long as the loop, so that
    nothing is left of it where the loop does not run at all."""
    lo, hi = e.spans[c]
    whole = lp.past - lp.first
    if not facts.equal(hi - lo, whole):
        raise Unread(f"the only iteration ends at {hi} in place of {lo + whole}")
    if e.wiped is not None and any(facts.mentions(s.lo, (lp.name,)) for s in e.wiped.values()):
        raise Unread("the only iteration overwrites something else")
    wiped = None if e.wiped is None else {**e.wiped, c: Span(lo, lo)}
    return e._replace(spans={**e.spans, c: Span(lo, lo + whole)}, wiped=wiped, when=())


def _swept(s: Span, lp: CountedLoop, facts: Facts) -> Span:
    """All of what iterations overwrite."""
    if not facts.mentions(s.lo, (lp.name,)) and not facts.mentions(s.hi, (lp.name,)):
        return s
    rest = facts.put(s.lo, {lp.name: ZERO})
    if s.lo - rest != var(lp.name):
        raise Unread("a loop overwrites something out of order")
    return Span(facts.put(s.lo, {lp.name: lp.first}), facts.put(s.hi, {lp.name: lp.past - 1}))


def over_team(e: Effect, thread: str, threads: Poly, facts: Facts) -> Effect:
    """The effect of all threads, which differ in `thread` = 0, 1, ..."""
    spans = dict(e.spans)
    for c, (lo, hi) in e.spans.items():
        if not facts.mentions(lo, (thread,)) and not facts.mentions(hi, (thread,)):
            continue
        inner = facts.copy().learn(threads - 2 - var(thread))
        further = inner.put(lo, {thread: var(thread) + ONE})
        _shares(hi, thread, threads, inner)
        _shares(lo, thread, threads, facts)
        if not inner.equal(hi, further):
            raise Unread(f"a thread's part ends at {hi}, the next one's begins at {further}")
        if not facts.holds(hi - lo):
            raise Unread(f"a thread's part ends at {hi}, before it begins")
        spans[c] = Span(facts.put(lo, {thread: ZERO}), facts.put(hi, {thread: threads - 1}))
    return e._replace(spans=spans)


def _shares(p: Poly, thread: str, threads: Poly, facts: Facts) -> None:
    """Of quotients pieces * thread / threads it helps to know that they are less than all pieces, if that is so; and of
    tw_balance."""
    for x in sorted(p.names):
        op, args = facts.defined.get(x, ("", ()))
        for a in args:
            _shares(a, thread, threads, facts)
        if op == "div" and args[1] == threads:
            less = args[0].part(thread) - 1 - var(x)
            if facts.holds(less):
                facts.learn(less)
        if op == "balance" and facts.holds(threads - 1 - args[0]):
            facts.learn(args[2] - 1 - var(x))


def in_sequence(one: Effect, two: Effect, facts: Facts) -> Effect:
    """What both have done, one after the other."""
    if one.base != two.base:
        return two
    if two.wiped is not None and one.spans and not _apart(two.wiped, one.spans, facts):
        raise Unread("what was made is overwritten")
    wiped = _around(one.wiped, two.wiped, facts)
    when = one.when if two.wiped is None else two.when if one.wiped is None else ()
    if not one.spans or not two.spans:
        return two._replace(spans=one.spans or two.spans, wiped=wiped, when=when)
    differ = [c for c, s in one.spans.items() if s.hi == two.spans[c].lo or not _alike(s, two.spans[c], facts)]
    if len(differ) > 1:
        raise Unread("two parts do not make one box")
    spans = dict(one.spans)
    for c in differ:
        x, y = one.spans[c], two.spans[c]
        if not facts.equal(x.hi, y.lo) or not facts.holds(x.hi - x.lo) or not facts.holds(y.hi - y.lo):
            raise Unread(f"one part ends at {x.hi}, the next begins at {y.lo}")
        spans[c] = Span(x.lo, y.hi)
    return two._replace(spans=spans, wiped=wiped, when=when)


def _alike(x: Span, y: Span, facts: Facts) -> bool:
    return facts.equal(x.lo, y.lo) and facts.equal(x.hi, y.hi)


def _apart(wiped: Mapping[str, Span], spans: Mapping[str, Span], facts: Facts) -> bool:
    return any(c in wiped and facts.holds(wiped[c].lo - s.hi) for c, s in spans.items())


def _around(x: Mapping[str, Span] | None, y: Mapping[str, Span] | None, facts: Facts) -> Mapping[str, Span] | None:
    if x is None or y is None:
        return y if x is None else x
    out = {}
    for c in x:
        a, b = x[c], y[c]
        first, second = (a, b) if facts.holds(b.lo - a.lo) else (b, a)
        if not facts.holds(second.lo - first.lo):
            raise Unread("two parts overwrite something")
        out[c] = first if facts.holds(first.hi - second.hi) else Span(first.lo, first.lo)
    return out


def empty(e: Effect, facts: Facts) -> bool:
    """Is there no point in it?"""
    return any(facts.holds(s.lo - s.hi) for s in e.spans.values())


class Case(NamedTuple):
    """What is done where certain things hold, `given`, which `facts` know."""

    facts: Facts
    effect: Effect | None
    given: tuple[Poly, ...] = ()


def agree(cases: Sequence[Case]) -> Effect | None:
    """One box that is right in every case; None where there is none."""
    wiping = [c for c in cases if c.effect is not None and c.effect.wiped is not None]
    wipes = {repr(c.effect.wiped): c for c in wiping if c.effect is not None}
    if len(wipes) > 1:
        raise Unread("what is overwritten differs from case to case")
    for rep in (c.effect for c in cases if c.effect is not None):
        if all(_right(rep, c.effect, c.facts) for c in cases):
            if not wiping or wiping[0].effect is None:
                return rep
            once = wiping[0].effect
            when = (*once.when, *wiping[0].given) if len(wiping) == 1 else ()
            return rep._replace(wiped=once.wiped, when=when)
    return None


def _right(rep: Effect, e: Effect | None, facts: Facts) -> bool:
    if e is rep:
        return True
    alike = e is not None and rep.base == e.base and rep.spans.keys() == e.spans.keys()
    if alike and e is not None and all(_alike(rep.spans[c], e.spans[c], facts) for c in rep.spans):
        return True
    return (e is None or empty(e, facts)) and empty(rep, facts)
