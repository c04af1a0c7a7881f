"""The directive `grid`: marks up to three loops, each right inside the one before, whose iterations become the threads
of a device; raises InputError where one carries a dependence or a reduction, or is marked already."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from codegen.plan.model import Grid
from codegen.scop.tree import CONCURRENT, GRID, SEQUENTIAL, FoundLoop, loops
from codegen.transform.find import find, illegal
from codegen.transform.mark import above, across, set_loop
from codegen.transform.program import Program, carried
from codegen.verify.sentences import describe_pair

AXES, THREADS = 3, 1024  # what a grid has at most, and a block


def apply(p: Program, d: Grid) -> Program:
    """Mark loops that are right inside each other; refused when one of them carries a dependence."""
    if len(d.loops) > AXES or prod(n for _, n in d.loops) > THREADS:
        raise illegal(f"a grid has up to {AXES} loops, and a block up to {THREADS} threads", d.loc, "leave loops out")
    marked: list[FoundLoop] = []
    for ref, threads in d.loops:
        now = [_free(p, place, d) for place in find(p.tree, ref, d.loc)]
        if marked and not all(any(_inside(q, place) for q in marked) for place in now):
            raise illegal(f"loop {ref} is not right inside the one before it", d.loc, "reorder the loops first")
        for place in now:
            p = p.with_tree(set_loop(p.tree, place, replace(place.loop, kind=GRID, factor=threads, note="")))
        marked = now
    return p


def _free(p: Program, place: FoundLoop, d: Grid) -> FoundLoop:
    """The loop, if its iterations can run on threads."""
    name = place.loop.name
    if place.loop.kind != SEQUENTIAL or place.band.product is not None:
        raise illegal(f"loop `{name}` is {place.loop.kind or 'part of a product'} already", d.loc, "take another loop")
    others = [q for q in loops(p.tree) if q.loop.kind in CONCURRENT and (above(q, place) or above(place, q))]
    own = {ref.name for ref, _ in d.loops}
    if any(q.loop.kind != GRID or q.loop.name not in own for q in others):
        raise illegal(f"loop `{name}` stands in or around other loops on threads", d.loc, "one grid for each nest")
    found = carried(p, place)
    if found.blocker is not None:
        assert found.pairs is not None
        why = f"is carried by loop `{name}`, so its iterations cannot be threads of one grid"
        raise illegal(describe_pair(p.scop, found.blocker, across(found.pairs, place), why), d.loc, "take another loop")
    if found.reductions:
        raise illegal(f"loop `{name}` gathers a sum", d.loc, "take another loop")
    return place


def _inside(outer: FoundLoop, inner: FoundLoop) -> bool:
    """Is there nothing between the two loops?"""
    if outer.path == inner.path:
        return outer.member + 1 == inner.member
    last = outer.member + 1 == len(outer.band.loops) and inner.member == 0
    return last and inner.path == (*outer.path, 0)
