"""Loop distribution by levels (Allen-Kennedy) within one iteration of a given outer loop: returns a tree in which
statements share a loop only within a strongly connected component of the dependences; None where their loops have other
names.

The order is the source's. Strips of a loop that carries nothing for a whole component go outermost: they are threads
that own what they touch, and what a strip touches stays in the first cache.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import islpy as isl

from codegen.recognize.ownership.extract import BlockedNest, frame
from codegen.recognize.ownership.search import thread_loops
from codegen.scop.distance import is_zero, same_value
from codegen.scop.tree import Band, Leaf, Loop, Node, enclosing, seq
from codegen.strategy.orders.distribution import strongly_connected
from codegen.transform.program import Program
from codegen.transform.tile import fresh_name, tile_loop

Own = Mapping[str, tuple[Loop, ...]]  # the loops that a statement still has to run through

# Lines in a strip. Each line by itself, all steps before the next line, is slower: what one step stores the next one
# loads before it has left the store buffer (floyd-warshall, f64, n = 1024, Neoverse N1: 0.54 s; in strips 0.49 s).
STRIP = 64


def by_levels(p: Program, names: tuple[str, ...], outer: Loop) -> Node | None:
    """The statements inside one iteration of `outer`; None where they do not share loops by name."""
    own = {n: tuple(lp for lp in enclosing(p.tree, n) if _varies(p, lp, n, outer)) for n in names}
    ties = same_value(_among(p, names), outer.exprs)
    first = _free(p, ties, own)
    if first is None:
        return _level(p, ties, names, own)
    along = {n: next(lp for lp in own[n] if lp.name == first) for n in names}
    whole = replace(along[names[0]], exprs={n: lp.exprs[n] for n, lp in along.items()})
    taken = {lp.name for n in names for lp in enclosing(p.tree, n)}
    strips = replace(tile_loop(p.scop, whole, fresh_name(f"{first}t", taken), STRIP), coincident=True)
    inner = _level(p, ties, names, own)
    return None if inner is None else Band((strips,), inner)


def _level(p: Program, ties: isl.UnionMap, names: tuple[str, ...], own: Own) -> Node | None:
    parts: list[Node] = []
    for component in strongly_connected(p.scop, ties, names):
        if len(component) == 1:
            lone = tuple(replace(lp, exprs={component[0]: lp.exprs[component[0]]}) for lp in own[component[0]])
            parts.append(Band(lone, Leaf(component[0])) if lone else Leaf(component[0]))
            continue
        if not all(own[n] for n in component) or len({own[n][0].name for n in component}) > 1:
            return None
        shared = replace(own[component[0]][0], exprs={n: own[n][0].exprs[n] for n in component})
        inside = _level(p, same_value(ties, shared.exprs), component, {n: own[n][1:] for n in component})
        if inside is None:
            return None
        parts.append(Band((shared,), inside))
    return seq(parts)


def _among(p: Program, names: tuple[str, ...]) -> isl.UnionMap:
    here = isl.UnionSet.empty(p.must.get_space())
    for n in names:
        here = here.union(isl.UnionSet.from_set(isl.Set.universe(p.scop.statement(n).domain.get_space())))
    return p.must.intersect_domain(here).intersect_range(here)


def _varies(p: Program, lp: Loop, name: str, outer: Loop) -> bool:
    """Does the statement run through several values of the loop within one iteration of `outer`?"""
    given = isl.Map.from_pw_aff(outer.exprs[name]).intersect_domain(p.scop.statement(name).domain)
    values = given.reverse().apply_range(isl.Map.from_pw_aff(lp.exprs[name]))
    return not values.is_single_valued()


def _free(p: Program, ties: isl.UnionMap, own: Own) -> str | None:
    """A loop that all statements have and that carries no dependence between them; of several, the one whose threads
    own most."""
    names = tuple(sorted(own, key=lambda n: int(n[1:])))
    free = []
    for lp in own[names[0]]:
        found = {n: next((x for x in own[n] if x.name == lp.name), None) for n in names}
        exprs = {n: x.exprs[n] for n, x in found.items() if x is not None}
        if len(exprs) == len(names) and is_zero(ties, exprs):
            free.append(Loop(lp.name, exprs))
    if len(free) < 2:
        return free[0].name if free else None
    return thread_loops(frame(p.scop, BlockedNest(names, (), tuple(free))), {}, 1)[0].name
