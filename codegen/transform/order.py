"""Loop interchange, reversal, skewing, unskewing and distribution: the directives `order`, `reverse`, `skew`, `unskew`
and `distribute`."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from codegen.plan.model import Distribute, Order, Reverse, Skew, Unskew
from codegen.scop.tree import Band, FoundLoop, Loop, Node, Seq, kids, loops, put, seq, statements, with_kids
from codegen.transform.find import chains, find, illegal, rebuild
from codegen.transform.program import Program


def order(p: Program, d: Order) -> Program:
    """The listed loops take their places in the nest in the listed order."""
    if len({r.name for r in d.loops}) != len(d.loops):
        raise illegal("a loop is named twice", d.loc)
    tree = p.tree
    for chain in reversed(chains(tree, d.loops, d.loc)):
        places = sorted(chain.index(r.name) for r in d.loops)
        members = list(chain.loops)
        for k, r in zip(places, d.loops, strict=True):
            members[k] = chain.loops[chain.index(r.name)]
        tree = rebuild(tree, chain, [(tuple(members), False)])
    return p.with_tree(tree)


def _change(tree: Node, place: FoundLoop, loop: Loop) -> Node:
    members = list(place.band.loops)
    members[place.member] = loop
    return put(tree, place.path, replace(place.band, loops=tuple(members)))


def reverse(p: Program, d: Reverse) -> Program:
    """Negate the loop's value."""
    tree = p.tree
    for place in find(tree, d.loop, d.loc):
        lp = replace(place.loop, exprs={s: v.neg() for s, v in place.loop.exprs.items()}, note="reversed")
        tree = _change(tree, _again(tree, place), lp)
    return p.with_tree(tree)


def _again(tree: Node, place: FoundLoop) -> FoundLoop:
    """The same position in a tree whose shape has not changed."""
    return next(q for q in loops(tree) if (q.path, q.member) == (place.path, place.member))


def skew(p: Program, d: Skew) -> Program:
    """Add factor * outer to the loop's value."""
    tree = p.tree
    for place in find(tree, d.loop, d.loc):
        around = [q.loop for q in loops(tree) if q.loop.name == d.by.name and _encloses(q, place)]
        if not around:
            raise illegal(f"loop {d.by} does not enclose loop {d.loop}", d.loc)
        by = around[-1].exprs
        exprs = {s: v.add(by[s].scale_val(isl.Val(d.factor))) for s, v in place.loop.exprs.items()}
        lp = replace(place.loop, exprs=exprs, note=f"skewed: {d.loop.name} + {d.factor}*{d.by.name}")
        tree = _change(tree, _again(tree, place), lp)
    return p.with_tree(tree)


def _encloses(outer: FoundLoop, inner: FoundLoop) -> bool:
    if outer.path == inner.path:
        return outer.member < inner.member
    return inner.path[: len(outer.path)] == outer.path


def unskew(p: Program, d: Unskew) -> Program:
    """The loop's value becomes the iterator itself."""
    tree = p.tree
    for place in find(tree, d.loop, d.loc):
        names = statements(place.band)
        if len(names) != 1:
            raise illegal(f"loop {d.loop} runs {' and '.join(names)}", d.loc, "distribute it first")
        s = p.scop.statement(names[0])
        if d.iterator not in s.iterators:
            raise illegal(f"{s.name} has no iterator {d.iterator}", d.loc, f"iterators: {', '.join(s.iterators)}")
        if any(q.loop.name == d.iterator and (_encloses(q, place) or _encloses(place, q)) for q in loops(tree)):
            raise illegal(f"there is a loop {d.iterator} already", d.loc, "leave the directive out")
        space = isl.LocalSpace.from_space(s.domain.get_space())
        value = isl.PwAff.from_aff(isl.Aff.var_on_domain(space, isl.dim_type.set, s.iterators.index(d.iterator)))
        note = place.loop.note if place.loop.kind else "inside the tile"
        lp = replace(place.loop, name=d.iterator, exprs={s.name: value}, note=note)
        tree = _change(tree, _again(tree, place), lp)
    return p.with_tree(tree)


def distribute(p: Program, d: Distribute) -> Program:
    """Push the loop into the parts of the sequence below it."""
    tree = p.tree
    for place in reversed(find(tree, d.loop, d.loc)):
        tree = distribute_at(tree, place, d)
    return p.with_tree(tree)


def distribute_at(tree: Node, place: FoundLoop, d: Distribute) -> Node:
    band = place.band
    if place.member != len(band.loops) - 1 or not isinstance(band.child, Seq):
        raise illegal(f"loop {d.loop} has no sequence of parts directly below it", d.loc)
    parts = []
    for part in kids(band.child):
        names = statements(part)
        lp = replace(place.loop, exprs={s: place.loop.exprs[s] for s in names})
        inner: Node = Band((lp,), part, band.permutable)
        if isinstance(part, Band):
            inner = Band((lp, *part.loops), part.child, False, part.split)
        parts.append(inner)
    node: Node = seq(parts)
    if len(band.loops) > 1:
        node = with_kids(replace(band, loops=band.loops[:-1]), (node,))
    return put(tree, place.path, node)
