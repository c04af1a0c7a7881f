"""Checks a nest whose vectorized text runs its iterations in another order than the tree: all dependences between them
have to be kept; raises Unread otherwise."""

from __future__ import annotations

import islpy as isl

from codegen.scop.dependences import Dependences
from codegen.scop.isl_helpers import maps_of
from codegen.scop.model import Scop
from codegen.verify.cores.records import ReorderedNest
from codegen.verify.cores.relations import IN, OUT, equal_first, executes, forward
from codegen.verify.text.read import Unread


def check_order(scop: Scop, deps: Dependences, found: ReorderedNest) -> None:
    """Raises Unread where two iterations of a nest depend on each other and come in another order."""
    leaf, order = found.leaf, found.order
    name = leaf.instance.stmt
    places = {v: k for k, v in enumerate(leaf.at.vars)}
    outside = len(leaf.at.vars) - len(found.loops)
    good: isl.Map | None = None
    for d in deps.all:
        if d.kind == "anti" and _from_copies(scop, found, d.array):
            continue
        for m in maps_of(d.relation):
            if (m.get_tuple_name(IN), m.get_tuple_name(OUT)) != (name, name):
                continue
            runs = executes(scop, leaf)
            pairs = equal_first(runs.apply_range(m).apply_range(runs.reverse()), outside)
            if pairs.is_empty():
                continue
            if good is None:
                outer, inner = ([places[v] for v in part] for part in (order.outer, order.inner))
                free = sorted(places[v] for v in order.free)
                space = pairs.get_space()
                good = forward(space, [], outer).union(forward(space, [*outer, *free], inner))
            if not pairs.is_subset(good):
                raise Unread(f"iterations of {name} that depend on each other by `{d.array}` change their order")


def _from_copies(scop: Scop, found: ReorderedNest, array: str) -> bool:
    """Is all that the nest reads of an array it writes in boxes of their own, but for the elements that it writes?"""
    leaf = found.leaf
    s = scop.statement(leaf.instance.stmt)
    if s.accesses[s.target].array != array:
        return False
    at, places = leaf.instance.accesses, leaf.places
    reads = [k for k, a in enumerate(s.accesses) if a.array == array and not a.write and at[k] != at[s.target]]
    return all(places.get(k, "") != places.get(s.target, "") for k in reads)
