"""Interchange for stride-1 access: loops along the rows of arrays go innermost, where they can be vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from codegen.plan.model import StripMine
from codegen.recognize.access.strides import coefficients, move
from codegen.scop.distance import is_zero
from codegen.scop.model import Scop, Statement
from codegen.scop.tree import Band, Leaf, Loop, Node, enclosing, kids, parts_of, seq, statements
from codegen.strategy.orders.distribution import part
from codegen.transform.block import apply as apply_block
from codegen.transform.block import fresh
from codegen.transform.program import Program, legal, make_program


def rows_innermost(p: Program) -> Program:
    """Parts of the region whose outermost loop runs along the rows of all arrays, while loops inside it jump from row
    to line, with that loop innermost instead."""
    for node in parts_of(p.tree):
        scop, deps = part(p.scop, p.deps, statements(node))
        inner = make_program(scop, deps, node, p.reassociate)
        lines = row_loop(inner)
        if lines is None or not _jumps(inner):
            continue
        new = sunk(p.scop, _below(node), lines)
        trial = p.with_tree(seq([new if x is node else x for x in parts_of(p.tree)]))
        if legal(trial):
            p = trial
    return p


def _jumps(inner: Program) -> bool:
    """Does an innermost loop go from line to line?"""
    for name in statements(inner.tree):
        s, around = inner.scop.statement(name), enclosing(inner.tree, name)
        moves = [move(inner.scop, s, a, around, len(around) - 1) for a in s.accesses]
        if len(around) > 2 and any(not m.unit and not m.still for m in moves):
            return True
    return False


def _below(tree: Node) -> Node:
    """A nest without its outermost loop."""
    assert isinstance(tree, Band)
    return replace(tree, loops=tree.loops[1:]) if len(tree.loops) > 1 else tree.child


def over(scop: Scop, d: StripMine, names: Sequence[str]) -> Loop:
    """The loop over blocks."""
    exprs = {n: value_of(s, s.iterators.index(d.name)) for n in names for s in [scop.statement(n)]}
    return Loop(d.name, exprs, note=f"blocks of {d.size}")


def plain(value: isl.PwAff) -> bool:
    """Does a loop step through one iterator, forwards or backwards?"""
    found = [c for c in coefficients(value, value.dim(isl.dim_type.in_)) or () if c]
    return len(found) == 1 and abs(found[0]) == 1


def value_of(s: Statement, k: int) -> isl.PwAff:
    """The statement's iterator number `k`."""
    local = isl.LocalSpace.from_space(s.domain.get_space())
    return isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, k % len(s.iterators)))


def row_loop(inner: Program) -> Loop | None:
    """The outermost loop, when nothing ties its iterations together, all accesses run along it, and more loops are
    inside: a few of its iterations at a time stay in cache, and innermost they make vectors."""
    tree = inner.tree
    if (
        not isinstance(tree, Band)
        or not tree.loops[0].coincident
        or not plain(tree.loops[0].exprs[statements(tree)[0]])
    ):
        return None
    first = tree.loops[0]
    if not is_zero(inner.must, first.exprs):
        return None
    for name in statements(tree):
        s, around = inner.scop.statement(name), enclosing(tree, name)
        moves = [move(inner.scop, s, a, around, 0) for a in s.accesses]
        if not all(m.unit or m.still for m in moves) or not moves[s.target].unit:
            return None
    return first if any(len(enclosing(tree, n)) > 2 for n in statements(tree)) else None


def in_strips(q: Program, tree: Node, lines: Loop, width: int) -> tuple[Program, StripMine, Node]:
    """Blocks of `width` lines around everything, and the lines themselves innermost."""
    d = StripMine(fresh(q.scop, lines.name + "b"), dict(lines.exprs), width, {})
    q = apply_block(q, d)
    names = statements(tree)
    outer = replace(over(q.scop, d, names), coincident=True)
    return q, d, Band((outer,), sunk(q.scop, _below(tree), lines))


def sunk(scop: Scop, node: Node, lines: Loop) -> Node:
    """The tree, in the names of `scop`, with the loop `lines` innermost around every statement."""
    if isinstance(node, Leaf):
        return Band((_widened(scop, lines, (node.stmt,)),), node)
    if isinstance(node, Band):
        loops = tuple(_widened(scop, lp, statements(node)) for lp in node.loops)
        child = sunk(scop, node.child, lines)
        if isinstance(child, Band) and isinstance(child.child, Leaf) and len(child.loops) == 1:
            return Band((*loops, *child.loops), child.child)
        return Band(loops, child)
    return seq([sunk(scop, k, lines) for k in kids(node)])


def _widened(scop: Scop, lp: Loop, names: Sequence[str]) -> Loop:
    """A loop for statements that may have more iterators than before."""
    exprs = {}
    for n in names:
        space = scop.statement(n).domain.get_space()
        old = lp.exprs[n]
        multi = isl.MultiAff.zero(space.map_from_domain_and_range(old.get_domain_space()))
        for k in range(old.dim(isl.dim_type.in_)):
            local = isl.LocalSpace.from_space(space)
            multi = multi.set_aff(k, isl.Aff.var_on_domain(local, isl.dim_type.set, k))
        exprs[n] = old.pullback_multi_aff(multi)
    return replace(lp, exprs=exprs)
