"""Finds statements (`alike`) and reads (`alike_reads`) whose values do not depend on an iterator, through recurrences,
too: `p[i][j] = 1 / (2 - p[i][j - 1])`, every row begun alike.

Two instances of a statement give the same value when each thing that they read is the same: the very same value, or
two values of one statement of which the same is true. What is assumed of those is asked of them in turn, until nothing
new is asked; since all values come from earlier ones, no mistake could hide in a circle.
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from codegen.scop.dependences import Dependences
from codegen.scop.expr import Call, DataLoop, Gather, walk
from codegen.scop.isl_helpers import maps_of
from codegen.scop.memo import remember
from codegen.scop.model import Access, Scop, Statement

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out
Key = tuple[str, int]  # a statement and one of its iterators


def alike_reads(scop: Scop, deps: Dependences, name: str, k: int) -> tuple[int, ...]:
    """The reads of a statement, by number, that find the same value whatever its iterator number `k` is."""
    s = scop.statement(name)
    return tuple(n for n, a in enumerate(s.accesses) if not a.write and _holds(scop, deps, _read(scop, deps, s, a, k)))


def alike(scop: Scop, deps: Dependences, name: str, k: int) -> bool:
    """Does a statement compute the same value whatever its iterator number `k` is?"""
    return _holds(scop, deps, frozenset({(name, k)}))


def moved(pairs: isl.Map) -> int | None:
    """The one iterator in which pairs of a statement's instances differ; None where there is no such one."""
    differ = _differing(pairs)
    return differ[0] if len(differ) == 1 else None


def _holds(scop: Scop, deps: Dependences, wanted: frozenset[Key] | None) -> bool:
    """Are these statements alike along these iterators, and all that this asks for?"""
    done: set[Key] = set()
    while wanted:
        done |= wanted
        more: set[Key] = set()
        for name, k in sorted(wanted):
            needed = _value(scop, deps, name, k)
            if needed is None:
                return False
            more |= needed
        wanted = frozenset(more - done)
    return wanted is not None


@remember(32)
def _value(scop: Scop, deps: Dependences, name: str, k: int) -> frozenset[Key] | None:
    """What has to be alike for the value of a statement to be; None where that is not enough."""
    s = scop.statement(name)
    changes = any(v.involves_dims(_IN, k, 1) for v in s.values)
    if s.op != "=" or changes or any(isinstance(e, (Call, DataLoop, Gather)) for e in walk(s.rhs)):
        return None
    out: frozenset[Key] = frozenset()
    for a in s.reads:
        needed = _read(scop, deps, s, a, k)
        if needed is None:
            return None
        out |= needed
    return out


def _read(scop: Scop, deps: Dependences, s: Statement, a: Access, k: int) -> frozenset[Key] | None:
    """What has to be alike for the value of a read to be."""
    moves = any(a.index.get_pw_aff(d).involves_dims(_IN, k, 1) for d in range(a.index.dim(_OUT)))
    if a.array not in deps.flows:
        return None if moves or a.partial else frozenset()
    if a.partial or a.array in deps.folds:
        return None
    domain = s.domain.intersect_params(scop.context)
    pairs = isl.Map.from_domain_and_range(domain, domain)
    for d in range(len(s.iterators)):
        if d != k:
            pairs = pairs.equate(_IN, d, _OUT, d)
    found = list(_writers(scop, deps, s, a))
    unfed = domain
    for m in found:
        unfed = unfed.subtract(m.range())
    if not unfed.is_empty():
        without = pairs.intersect_domain(unfed)
        same = a.relation.apply_range(a.relation.reverse())
        if not without.is_subset(without.intersect_range(unfed)) or (moves and not without.is_subset(same)):
            return None
    return _apart(pairs, found)


def _writers(scop: Scop, deps: Dependences, s: Statement, a: Access) -> Iterator[isl.Map]:
    """From the instances that write what an access reads to the instances that read it."""
    for m in maps_of(deps.flows[a.array]):
        if m.get_tuple_name(_OUT) == s.name:
            t = scop.statement(str(m.get_tuple_name(_IN)))
            touched = t.accesses[t.target].relation.apply_range(a.relation.reverse())
            m = m.intersect(touched)
            if not m.is_empty():
                yield m


def _apart(pairs: isl.Map, writers: list[isl.Map]) -> frozenset[Key] | None:
    """In which iterators the writers for two instances differ: at most one, of one statement."""
    out: set[Key] = set()
    for one in writers:
        some = one.apply_range(pairs)
        for other in writers:
            both = some.apply_range(other.reverse())
            if both.is_empty():
                continue
            name = str(both.get_tuple_name(_IN))
            if name != both.get_tuple_name(_OUT):
                return None
            differ = _differing(both)
            if len(differ) > 1:
                return None
            out.update((name, d) for d in differ)
    return frozenset(out)


def _differing(pairs: isl.Map) -> list[int]:
    return [d for d in range(pairs.dim(_IN)) if not pairs.is_subset(pairs.equate(_IN, d, _OUT, d))]
