"""Interchange for reductions down the columns of an array: a loop along the rows goes innermost instead.

best[i][j] = max over k of best[i][k] + best[k + 1][j] goes down a column for every element. Where dependences allow it,
each k can do its step for a whole line of j: that is a loop for vectors, and steps into one element keep their order
unless they may be swapped. What else is done for the element of j comes ahead of all that in loops of its own, where
dependences allow it; what waits for results of earlier elements, and is waited for by later ones, is done when k
arrives at j.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations, product

from codegen.diagnostics import Diagnostic, Severity
from codegen.machine import Machine
from codegen.plan.model import Directive, LoopRef, Pipeline, Tile
from codegen.recognize.access.strides import move
from codegen.recognize.reductions import find_reductions, free_pairs
from codegen.record import record
from codegen.scop.dependences import compute_dependences
from codegen.scop.distance import same_value
from codegen.scop.tree import (
    Band,
    Leaf,
    Loop,
    Node,
    Path,
    Seq,
    at,
    enclosing,
    kids,
    parts_of,
    put,
    seq,
    statements,
    walk,
)
from codegen.strategy.cost.cycles import cycles, short
from codegen.strategy.cost.lengths import SIZE
from codegen.strategy.orders.distribution import only, strongly_connected
from codegen.strategy.orders.reshape import with_flags
from codegen.transform.program import Program, legal, make_program
from codegen.transform.tile import tiles_of

GAIN = 1.25  # the model has to promise this much
MOST = 3  # loops of which all orders are tried
# Elements of a line after which the next thread may follow. matrix-chain, n = 1100, int64_t, Neoverse N1: 0.40 s on one
# thread and 0.24 s on two in blocks of 256, 0.37 s and 0.29 s in blocks of 512, 0.35 s and 0.38 s in blocks of 1024.
BEHIND = 256


@record
class RowReductions:
    """An order with reductions along rows, its predicted cycles and those of the cheapest order without, whether it
    `pays`, the reasons for it, and ways to run its nests on threads."""

    program: Program
    cycles: float
    other: float
    pays: bool
    remarks: tuple[Diagnostic, ...]
    threads: tuple[tuple[Directive, ...], ...] = ()


def row_order(orders: Sequence[Program], machine: Machine) -> RowReductions | None:
    """The best of these orders with reductions along rows. It pays where that is cheaper than all of them as they are:
    on one thread and on all, with loops on threads that could be; both count."""
    turned = [q for p in orders for q in [reductions_along_rows(p)] if q is not None]
    if not turned:
        return None
    best = min(turned, key=lambda q: _both(q, machine))
    least = min(orders, key=lambda p: _both(p, machine))
    now, other = cycles(best, machine), cycles(least, machine)
    if GAIN * _both(best, machine) > _both(least, machine):
        return RowReductions(best, now, other, False, ())
    text = (
        "each step of the reductions is done for a whole row, so that loops run along rows: about "
        f"{short(now)} cycles with parameters of {SIZE}, {short(cycles(orders[0], machine))} in the source's order"
    )
    told = Diagnostic(Severity.REMARK, "row-reductions", text, best.scop.loc, kind="passed")
    return RowReductions(best, now, other, True, (told,), tuple(_one_behind_the_other(best)))


def _one_behind_the_other(p: Program) -> Iterator[tuple[Directive, ...]]:
    """Reductions in nests of their own: blocks of lines, in which rows follow each other."""
    for node in parts_of(p.tree):
        names = statements(node)
        around = enclosing(p.tree, names[0])
        if len(names) == 1 and len(around) == MOST and around[-1].coincident and not around[0].coincident:
            row, deep, line = (LoopRef(lp.name, names[0]) for lp in around)
            tile = tiles_of(p.scop, around, [line.name])[line.name]
            yield Tile(((deep, 0), (line, BEHIND))), Pipeline(row, LoopRef(tile, names[0]))


def would_be(source: Program, machine: Machine) -> tuple[Diagnostic, ...]:
    """What keeps such reductions of floating-point numbers from being turned, where that is only their order."""
    kept = [r for r in find_reductions(source.scop) if not r.exact and r.op in ("max", "min")]
    if source.reassociate or not any(_has_rows(source, r.stmt) for r in kept):
        return ()
    deps = compute_dependences(source.scop, source.tree, free_pairs(source.scop, True))
    found = row_order((make_program(source.scop, deps, source.tree, True),), machine)
    if found is None or not found.pays:
        return ()
    text = (
        f"`{kept[-1].array}` is compared in the source's order, which not-a-number and zeros of both signs make "
        "visible; in any order (--reassociate) loops could run along its lines"
    )
    loc = source.scop.statement(kept[-1].stmt).loc
    return (Diagnostic(Severity.REMARK, "reduction-order", text, loc, kind="missed"),)


def _both(p: Program, machine: Machine) -> float:
    return cycles(p, machine) * cycles(p, machine, machine.cores, free=True)


def reductions_along_rows(p: Program) -> Program | None:
    """The region with such folds turned; None where there are none, or their operands have to be there first."""
    found = False
    for path, node in list(walk(p.tree)):
        trials = (p.with_tree(put(p.tree, path, new)) for new in _candidates(p, path, node))
        new = next((q for q in trials if legal(q)), None)
        p, found = (p if new is None else new), found or new is not None
    return with_flags(p) if found else None


def _candidates(p: Program, path: Path, node: Node) -> Iterator[Node]:
    """Orders to try in place of a part of the tree, the likeliest first."""
    if not isinstance(node, Band):
        return
    names = statements(node)
    if len(names) > 1:
        for unit in kids(node.child) if isinstance(node.child, Seq) else ():
            if isinstance(unit, Band) and len(unit.loops) == 1 and isinstance(unit.child, Leaf):
                around = enclosing(p.tree, unit.child.stmt)
                if _along_rows(p, unit.child.stmt, len(around) - 2):
                    yield from _together(p, node, unit.child, around)
    elif not path or len(statements(at(p.tree, path[:-1]))) > 1:
        yield from _alone(p, node, names[0])


def _has_rows(p: Program, name: str) -> bool:
    """Could a loop around the statement run along rows, were its order free?"""
    return any(_along_rows(p, name, k) for k in range(len(enclosing(p.tree, name)) - 1))


def _along_rows(p: Program, name: str, which: int) -> bool:
    """Does loop number `which` run along rows for all that the statement touches, while the last one reduces, going
    from line to line?"""
    s, around = p.scop.statement(name), enclosing(p.tree, name)
    along = [move(p.scop, s, a, around, which) for a in s.accesses]
    deep = [move(p.scop, s, a, around, len(around) - 1) for a in s.accesses]
    lines = along[s.target].unit and all(m.unit or m.still for m in along)
    return lines and deep[s.target].still and not all(m.unit or m.still for m in deep)


def _alone(p: Program, node: Band, name: str) -> Iterator[Node]:
    """A reduction in loops of its own: any order of the loops that has one along rows innermost."""
    around = enclosing(p.tree, name)
    own: list[Loop] = []
    inner: Node = node
    while isinstance(inner, Band):
        own.extend(inner.loops)
        inner = inner.child
    if not isinstance(inner, Leaf) or not 2 <= len(own) <= MOST:
        return
    first = len(around) - len(own)
    for k, lines in enumerate(own[:-1]):
        if not _along_rows(p, name, first + k):
            continue
        rest = [lp for lp in own if lp is not lines]
        for ways in product((False, True), repeat=len(rest)):
            turned = [_backwards(lp) if back else lp for lp, back in zip(rest, ways, strict=True)]
            for outer, *others in permutations(turned):
                yield Band((outer,), Band((*others, lines), inner))


def _backwards(lp: Loop) -> Loop:
    return replace(lp, exprs={n: e.neg() for n, e in lp.exprs.items()})


def _together(p: Program, band: Band, fold: Leaf, around: Sequence[Loop]) -> Iterator[Node]:
    """A reduction in a loop over lines with other statements, which is the last loop of the band."""
    lines, deep = around[-2:]
    ties = p.must
    for lp in around[:-2]:
        ties = same_value(ties, lp.exprs)
    groups = strongly_connected(p.scop, ties, statements(band))
    whole = Band((lines,), band.child)
    for loop in (deep, _backwards(deep)):
        parts: list[Node] = []
        rest: list[str] = []
        for group in (*groups, ()):
            if group and fold.stmt not in group:
                rest.extend(group)
                continue
            if rest:
                parts.append(only(whole, tuple(rest)))
                rest = []
            if group:
                parts.append(_arriving(whole, fold, group, loop))
        body = seq(parts)
        yield replace(band, loops=band.loops[:-1], child=body) if len(band.loops) > 1 else body


def _arriving(whole: Band, fold: Leaf, group: tuple[str, ...], deep: Loop) -> Node:
    """The reduction with its loop around that over lines, and what else is done for an element when it arrives
    there."""
    (lines,) = whole.loops
    others = tuple(n for n in group if n != fold.stmt)
    inner = Band((replace(lines, exprs={fold.stmt: lines.exprs[fold.stmt]}),), fold)
    loop = Loop(deep.name, {**deep.exprs, **{n: lines.exprs[n] for n in others}})
    return Band((loop,), seq([only(whole.child, others), inner]) if others else inner)
