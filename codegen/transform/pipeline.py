"""The directive `pipeline`: marks a loop whose iterations run on threads, each some stages behind the one before it
(doacross), and the loop right inside it, whose iterations are the stages. Raises InputError where an iteration depends
on a later stage of an earlier one."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from codegen.plan.model import Pipeline
from codegen.scop.dependences import Dependence, param_space
from codegen.scop.distance import seen
from codegen.scop.isl_helpers import sample_pair, union_of
from codegen.scop.tree import ON_THREADS, PIPELINED, STAGE, Band, FoundLoop, Loop, Node, loops, put
from codegen.transform.find import find, illegal
from codegen.transform.mark import above, fixed, set_loop
from codegen.transform.program import Program, pending
from codegen.verify.sentences import describe_pair


def apply(p: Program, d: Pipeline) -> Program:
    """Mark a loop and the one inside it; refused when an iteration needs what an earlier one does at a later stage."""
    tree = p.tree
    for place in find(tree, d.loop, d.loc):
        inner = _inner(place)
        if inner is None or inner.name != d.along.name:
            raise illegal(
                f"loop {d.along} is not directly inside loop {d.loop}", d.loc, "bring the two together with `order`"
            )
        if place.loop.kind or inner.kind:
            which = place.loop if place.loop.kind else inner
            raise illegal(f"loop `{which.name}` is {which.kind} already", d.loc, "mark another loop")
        if any(q.loop.kind in ON_THREADS and (above(q, place) or above(place, q)) for q in loops(p.tree)):
            raise illegal(f"a loop around or inside `{place.loop.name}` runs on threads already", d.loc)
        _check(p, d, place, inner)
        notes = (_note(place.loop, "on threads, one behind the other"), _note(inner, "stages"))
        outer = replace(place.loop, kind=PIPELINED, fixed=fixed(p, place), note=notes[0])
        tree = _mark_inner(set_loop(tree, place, outer), place, replace(inner, kind=STAGE, note=notes[1]))
    return p.with_tree(tree)


def _check(p: Program, d: Pipeline, place: FoundLoop, inner: Loop) -> None:
    for dep in (*p.deps.all, *(Dependence("output", a, r) for a, r in sorted(p.deps.folds.items()))):
        early = _too_early(p, pending(p, dep, place), place.loop, inner)
        if not early.is_empty():
            end = (
                f"goes from one iteration of loop `{place.loop.name}` to another that is not behind it along "
                f"`{inner.name}`, so they cannot be a pipeline"
            )
            raise illegal(
                describe_pair(p.scop, dep, sample_pair(early), end), d.loc, "skew the inner loop by the outer one first"
            )


def _too_early(p: Program, pairs: isl.UnionMap, outer: Loop, inner: Loop) -> isl.UnionMap:
    """Pairs in different iterations of `outer` that no wait keeps in order."""
    bad = []
    for m, a, b in seen(pairs, outer.exprs):
        names = (str(m.get_tuple_name(t)) for t in (isl.dim_type.in_, isl.dim_type.out))
        x, y = (inner.exprs[n] for n in names)
        bad.append(m.intersect(a.gt_map(b)).union(m.intersect(a.lt_map(b)).intersect(x.gt_map(y))))
    return union_of(bad, param_space(p.scop))


def _inner(place: FoundLoop) -> Loop | None:
    """The loop directly inside."""
    if place.member + 1 < len(place.band.loops):
        return place.band.loops[place.member + 1]
    child = place.band.child
    return child.loops[0] if isinstance(child, Band) else None


def _mark_inner(tree: Node, place: FoundLoop, lp: Loop) -> Node:
    now = next(q for q in loops(tree) if (q.path, q.member) == (place.path, place.member))
    if place.member + 1 < len(now.band.loops):
        return set_loop(tree, replace(now, member=place.member + 1), lp)
    child = now.band.child
    assert isinstance(child, Band)
    return put(tree, (*place.path, 0), replace(child, loops=(lp, *child.loops[1:])))


def _note(lp: Loop, words: str) -> str:
    return ", ".join(x for x in (lp.note, words) if x)
