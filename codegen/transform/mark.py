"""The directives `parallel`, `vector`, `jam`, `interleave`, `unroll` and `scalar_replace`, which mark how a loop runs
(on threads, in vector lanes, iterations side by side, unrolled, elements kept in variables), and `ranks`, which only
checks. Those that run iterations at the same time raise InputError where the loop carries a dependence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import islpy as isl

from codegen.plan.model import Interleave, Jam, LoopRef, Parallel, Ranks, ScalarReplace, Tile, Unroll, Vector
from codegen.recognize.access.invariant_values import alike_reads, moved
from codegen.recognize.access.reuse import reused
from codegen.scop.distance import same_value
from codegen.scop.isl_helpers import sample_pair
from codegen.scop.tree import (
    CONCURRENT,
    GRID,
    INTERLEAVED,
    JAMMED,
    ON_THREADS,
    PARALLEL,
    PARALLEL_VECTOR,
    PIPELINED,
    SEQUENTIAL,
    SHARED,
    STAGE,
    UNROLL,
    VECTOR,
    Band,
    FoundLoop,
    Loop,
    Node,
    enclosing,
    has_band,
    loops,
    put,
    statements,
)
from codegen.transform import tile
from codegen.transform.find import find, illegal
from codegen.transform.program import Program, carried, shared_by_lanes
from codegen.verify.sentences import describe_pair

LANES = frozenset({VECTOR, PARALLEL_VECTOR})


def parallel(p: Program, d: Parallel) -> Program:
    """Mark a loop parallel, and the one right inside where that is shared out with it; refused when one of them carries
    a dependence."""
    p = _mark(p, d, PARALLEL)
    tree = p.tree
    for place in find(tree, d.loop, d.loc) if d.by else ():
        tree = set_loop(tree, place, replace(place.loop, share=d.by))
    p = p.with_tree(tree)
    return p if d.also is None else _shared(p, d, d.also)


def ranks(p: Program, d: Ranks) -> Program:
    """A loop that ranks share carries nothing from one iteration to another; refused when it does. How they do is the
    target's affair, and nothing of the order changes."""
    for place in find(p.tree, d.loop, d.loc):
        found = carried(p, place, elements=True)
        if found.blocker is not None and found.pairs is not None:
            one = sample_pair(found.pairs)
            why = f"is carried by loop `{place.loop.name}`, so ranks cannot share it"
            raise illegal(describe_pair(p.scop, found.blocker, one, why), d.loc, "share another loop")
        if found.reductions:
            why = f"loop `{place.loop.name}` gathers a sum, so ranks cannot share it"
            raise illegal(why, d.loc, "share another loop")
    return p


def _shared(p: Program, d: Parallel, inner: LoopRef) -> Program:
    """The loop right inside, marked too. One clause names the sums of one loop, so there may be none."""
    for place in find(p.tree, d.loop, d.loc):
        below = next_inside(place)
        if below is None or below.name != inner.name or below.kind or place.loop.reductions:
            raise illegal(f"loop {inner} is not a plain loop directly inside loop {d.loop}", d.loc, "leave it out")
    p = _mark(p, replace(d, loop=replace(inner, stmt=inner.stmt or d.loop.stmt)), SHARED)
    if any(q.loop.kind == SHARED and q.loop.reductions for q in loops(p.tree)):
        raise illegal(f"loop {inner} gathers a sum", d.loc, "leave it out")
    return p


def next_inside(place: FoundLoop) -> Loop | None:
    """The loop that is all there is inside another one."""
    if place.member + 1 < len(place.band.loops):
        return place.band.loops[place.member + 1]
    return place.band.child.loops[0] if isinstance(place.band.child, Band) else None


def vector(p: Program, d: Vector) -> Program:
    """Mark a loop for vector lanes; refused when it carries a dependence."""
    p = _mark(p, d, VECTOR)
    if not d.width:
        return p
    tree = p.tree
    for place in find(tree, d.loop, d.loc):
        tree = set_loop(tree, place, replace(place.loop, width=d.width, factor=d.times))
    return p.with_tree(tree)


def jam(p: Program, d: Jam) -> Program:
    """Mark a loop to run several iterations side by side; refused when it carries a dependence."""
    for place in find(p.tree, d.loop, d.loc):
        if place.loop.kind in CONCURRENT:
            raise illegal(f"loop `{place.loop.name}` is {place.loop.kind} already", d.loc, "jam another loop")
        if place.member == len(place.band.loops) - 1 and not has_band(place.band.child):
            raise illegal(f"there is no loop inside loop `{place.loop.name}`", d.loc, "unroll it instead")
    p = _mark(p, d, JAMMED)
    tree = p.tree
    for place in find(tree, d.loop, d.loc):
        if place.loop.reductions:
            raise illegal(f"loop `{place.loop.name}` gathers a sum", d.loc, "jam another loop")
        note = ", ".join(x for x in (place.loop.note, f"{d.factor} at a time") if x)
        tree = set_loop(tree, place, replace(place.loop, factor=d.factor, note=note))
    return p.with_tree(tree)


def interleave(p: Program, d: Interleave) -> Program:
    """Mark an innermost loop inside small tiles to run its iterations side by side."""
    sizes = {}
    for place in find(p.tree, d.loop, d.loc):
        if place.member != len(place.band.loops) - 1 or has_band(place.band.child):
            raise illegal(f"loop `{place.loop.name}` is not innermost", d.loc, "order it inside the others first")
        around = [q.loop.tile for q in loops(p.tree) if q.loop.of == place.loop.name and above(q, place)]
        if not around or not 1 < around[-1] <= 16:
            raise illegal(f"loop `{place.loop.name}` is not inside small tiles", d.loc, "tile it by 16 or less first")
        sizes[place.path] = around[-1]
    p = _mark(p, d, INTERLEAVED)
    tree = p.tree
    for place in find(tree, d.loop, d.loc):
        if place.loop.reductions:
            raise illegal(f"loop `{place.loop.name}` gathers a sum", d.loc, "use `vector`")
        lp = replace(place.loop, factor=sizes[place.path], note="side by side", alike=tuple(_alike(p, place)))
        tree = set_loop(tree, place, lp)
    return p.with_tree(tree)


def _alike(p: Program, place: FoundLoop) -> Iterator[tuple[str, int]]:
    """The reads that find one value in all iterations of a loop while the others stand still."""
    for name in statements(place.band):
        domain = p.scop.statement(name).domain
        pairs = isl.Map.from_domain_and_range(domain, domain)
        for lp in enclosing(p.tree, name):
            if lp.name != place.loop.name and not lp.tile:
                pairs = pairs.intersect(lp.exprs[name].eq_map(lp.exprs[name]))
        k = moved(pairs)
        if k is not None:
            yield from ((name, n) for n in alike_reads(p.scop, p.deps, name, k))


def _mark(p: Program, d: Parallel | Vector | Jam | Interleave, kind: str) -> Program:
    tree = p.tree
    for place in find(tree, d.loop, d.loc):
        if place.loop.kind in (JAMMED, INTERLEAVED, PIPELINED, STAGE, SHARED, GRID):
            raise illegal(f"loop `{place.loop.name}` is {place.loop.kind} already", d.loc, "mark another loop")
        _threads_outside(tree, place, kind, d)
        found = carried(p, place, isinstance(d, Vector) and d.width > 0)
        if found.blocker is not None:
            assert found.pairs is not None
            one = across(found.pairs, place)
            raise illegal(
                describe_pair(
                    p.scop, found.blocker, one, f"is carried by loop `{place.loop.name}`, so it cannot be {kind}"
                ),
                d.loc,
                "mark another loop, or change the order of loops first",
            )
        shared = shared_by_lanes(p, place) if kind != PARALLEL or place.loop.kind in CONCURRENT else ""
        if shared:
            raise illegal(
                f"the iterations of loop `{place.loop.name}` would share `{shared}`, of which a thread has one",
                d.loc,
                "mark another loop",
            )
        if place.loop.kind in CONCURRENT and place.loop.kind != kind:
            lp = replace(place.loop, kind=PARALLEL_VECTOR)
            tree = set_loop(tree, place, lp)
            continue
        # An element of an array is touched where it is gathered, and there alone.
        twice = _shared_fold(p, place, {a for _, a in found.reductions if not p.scop.arrays[a].rank})
        if twice:
            raise illegal(
                f"every iteration of loop `{twice[0]}` would add to `{twice[1]}`",
                d.loc,
                "mark only one of the two loops",
            )
        lp = replace(place.loop, kind=kind, reductions=found.reductions, fixed=fixed(p, place))
        tree = set_loop(tree, place, lp)
    return p.with_tree(tree)


def _threads_outside(tree: Node, place: FoundLoop, kind: str, d: Parallel | Vector | Jam | Interleave) -> None:
    """OpenMP has no threads inside of vectors."""
    for q in loops(tree):
        outer, inner = (q, place) if above(q, place) else (place, q)
        if not above(outer, inner):
            continue
        marks = {True: kind, False: q.loop.kind}
        if marks[outer is place] in LANES and marks[inner is place] in ON_THREADS:
            raise illegal(
                f"loop `{inner.loop.name}` would run on threads inside the vector loop `{outer.loop.name}`",
                d.loc,
                "mark the outer loop parallel and the inner one vector",
            )


def _shared_fold(p: Program, place: FoundLoop, folded: set[str]) -> tuple[str, str] | None:
    """A concurrent loop around (or inside) this one that has no part in folding a variable that is not its own.

    The clause writes the variable back in every iteration of the loop around it, even where nothing was added.
    """
    for q in loops(p.tree):
        theirs = {a for _, a in q.loop.reductions if not p.scop.arrays[a].rank}
        if q.loop.kind not in CONCURRENT or (q.path, q.member) == (place.path, place.member):
            continue
        if above(q, place):
            alone = sorted(a for a in folded - theirs if not p.scop.arrays[a].inside)
        elif above(place, q):
            alone = sorted(a for a in theirs - folded if not p.scop.arrays[a].inside)
        else:
            continue
        if alone:
            return (q.loop.name if above(q, place) else place.loop.name), alone[0]
    return None


def across(pairs: isl.UnionMap, place: FoundLoop) -> isl.UnionMap:
    """One pair of iterations that the loop really separates."""
    apart = pairs.subtract(same_value(pairs, place.loop.exprs))
    return sample_pair(apart)


def set_loop(tree: Node, place: FoundLoop, lp: object) -> Node:
    """The tree with another loop at that place."""
    now = next(q for q in loops(tree) if (q.path, q.member) == (place.path, place.member))
    members = list(now.band.loops)
    members[place.member] = lp  # type: ignore[call-overload]
    return put(tree, place.path, replace(now.band, loops=tuple(members)))


def fixed(p: Program, place: FoundLoop) -> dict[str, frozenset[int]]:
    """Iterators whose value loops around this one have already chosen."""
    out: dict[str, frozenset[int]] = {}
    around = [q for q in loops(p.tree) if q.loop.tile == 0 and above(q, place)]
    for stmt in place.loop.exprs:
        n = p.scop.statement(stmt).domain.dim(isl.dim_type.set)
        out[stmt] = frozenset(
            k for k in range(n) for q in around if q.loop.exprs[stmt].involves_dims(isl.dim_type.in_, k, 1)
        )
    return out


def above(q: FoundLoop, place: FoundLoop) -> bool:
    """Does the one loop lie around the other?"""
    if q.path == place.path:
        return q.member < place.member
    return len(q.path) < len(place.path) and place.path[: len(q.path)] == q.path


def scalar_replace(p: Program, d: ScalarReplace) -> Program:
    """Mark an innermost loop to keep in variables what its iterations use again. What that is, and whether memory holds
    the same, is found and proven on the generated loop."""
    tree = p.tree
    for place in find(tree, d.loop, d.loc):
        if place.member != len(place.band.loops) - 1 or has_band(place.band.child):
            raise illegal(f"loop `{place.loop.name}` is not innermost", d.loc, "carry values along an innermost loop")
        if place.loop.kind != SEQUENTIAL or place.band.product is not None:
            kind = place.loop.kind or "part of a product"
            raise illegal(f"loop `{place.loop.name}` is {kind} already", d.loc, "leave the directive out")
        if not reused(p.scop, place.band, enclosing(tree, statements(place.band)[0])):
            raise illegal(f"no element is used again by the next iterations of loop `{place.loop.name}`", d.loc)
        tree = set_loop(tree, place, replace(place.loop, carry=True))
    return p.with_tree(tree)


def unroll(p: Program, d: Unroll) -> Program:
    """Cut the loop into blocks of `factor` and write each block out."""
    p = tile.apply(p, Tile(((d.loop, d.factor),), True, d.loc))
    tree = p.tree
    for place in find(tree, LoopRef(d.loop.name, d.loop.stmt), d.loc):
        tree = set_loop(tree, place, replace(place.loop, kind=UNROLL, note="written out"))
    return p.with_tree(tree)
