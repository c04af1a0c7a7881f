"""Struct members behind pointers as parameters: `p->n` is read ahead of the loops only where the source surely
dereferences `p`.

Where no loop runs, or only data lead to it, a pointer may lead nowhere. The fast version of a region stands behind a
test that the source follows the pointers; elsewhere the region runs as written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import islpy as isl

from codegen.record import record
from codegen.scop.model import Param, Scop
from codegen.scop.unconditional import chains, followed, leads


@record
class Reading:
    """The source evaluates a C text with members behind pointers: for all parameters in `where` if that is `sure`, else
    for some of them at most."""

    text: str
    where: isl.Set
    sure: bool


@record
class PointerTests:
    """Tests, each to be made when those before it hold, behind which all parameters may be read; and the texts of those
    that no such test is good for."""

    tests: tuple[isl.Set, ...] = ()
    late: frozenset[str] = frozenset()


def marked(params: Sequence[Param], readings: Sequence[Reading]) -> tuple[Param, ...]:
    """The parameters, with a word on members behind pointers that the model never looks at."""
    seen = {text for r in readings for text in chains(r.text)}
    return tuple(replace(p, asked="->" not in p.text or p.text in seen) for p in params)


def read_ahead(scop: Scop, readings: Sequence[Reading], possible: isl.Set) -> PointerTests:
    """When the parameters of a region that are members behind pointers may be read ahead of it. `possible` is what
    is known of parameters without a test."""
    params = [p for p in scop.params if "->" in p.text and p.asked]
    if not params:
        return PointerTests()
    where = _followed(scop, readings, {lead for p in params for lead in leads(p.text)})
    unsure = {lead: w for lead, w in where.items() if not possible.is_subset(w)}
    mine = {lead: [p for p in params if lead in leads(p.text)] for lead in unsure}
    late = _late(scop, readings, possible, unsure) & {p.text for p in params}
    late |= _asked_before(scop, [p for found in mine.values() for p in found])
    tests: list[isl.Set] = []
    known, left = possible, [lead for lead in unsure if not late & {p.text for p in mine[lead]}]
    while left:
        unread = {p.name for lead in left for p in mine[lead]}
        first = next((x for x in left if not involves(unsure[x].gist(known), unread)), None)
        if first is None:  # whether they are read depends on them
            late |= {p.text for x in left for p in mine[x]}
            break
        test = unsure[first].gist(known)
        tests += [] if isl.Set.universe(test.get_space()).is_subset(test) else [test]
        known = known.intersect(unsure[first])
        left.remove(first)
    return PointerTests(tuple(tests), late)


def _followed(scop: Scop, readings: Sequence[Reading], wanted: set[str]) -> dict[str, isl.Set]:
    """For which parameters the source follows each of these pointers for sure, shorter ones first."""
    found = [(lead, r.where) for r in readings if r.sure for lead in leads(r.text)]
    out = {lead: isl.Set.empty(scop.context.get_space()) for lead in sorted(wanted, key=lambda x: (len(x), x))}
    for lead, where in (*found, *followed(scop)):
        if lead in out and not where.is_subset(out[lead]):
            out[lead] = out[lead].union(where).coalesce()
    return out


def _late(scop: Scop, readings: Sequence[Reading], possible: isl.Set, unsure: Mapping[str, isl.Set]) -> frozenset[str]:
    """Members that are asked for, or beside which loops run, where the pointer need not lead anywhere."""
    loops = [s.domain.params().intersect(possible) for s in scop.statements if s.iterators]
    beside = {lead for lead, where in unsure.items() if not all(x.is_subset(where) for x in loops)}
    return frozenset(
        text
        for r in readings
        for text in chains(r.text)
        for lead in leads(text)
        if lead in beside or (lead in unsure and not r.where.intersect(possible).is_subset(unsure[lead]))
    )


def _asked_before(scop: Scop, params: Sequence[Param]) -> frozenset[str]:
    """Those of `params` that decide whether other parameters are evaluated, which comes before all tests."""
    everywhere = isl.Set.universe(scop.context.get_space())
    unsure = [c.where for c in scop.computed if not everywhere.is_subset(c.where)]
    conditions = [where.intersect(scop.guard.valid) for where in unsure]
    return frozenset(p.text for p in params if any(involves(c, {p.name}) for c in conditions))


def involves(s: isl.Set, names: set[str]) -> bool:
    """Does a set of parameters say anything about these?"""
    found = (s.find_dim_by_name(isl.dim_type.param, n) for n in sorted(names))
    return any(k >= 0 and s.involves_dims(isl.dim_type.param, k, 1) for k in found)
