"""Products whose depth ends where rows or columns say, as with triangular matrices (`triangle_plan`): the depth is cut
into blocks. Rows, or columns, that have all of a block are a product of it, one launch for each block; the others,
a few of them, are left to threads that go through their own part of the block. None where that gives no product."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from codegen.diagnostics import InputError
from codegen.gpu.plan.device import Device
from codegen.gpu.plan.order import as_axes, device_order
from codegen.gpu.plan.panels import BLOCK, PanelPlan
from codegen.gpu.plan.strategy import is_flat, planned
from codegen.plan.model import StripMine
from codegen.recognize.access.boxes import cuts
from codegen.recognize.products.contraction import NoContraction, contraction
from codegen.scop.model import Scop, Statement
from codegen.scop.product import Contraction
from codegen.scop.tree import Band, Leaf, Loop, Node, enclosing, parts_of, seq, statements
from codegen.strategy.orders.row_loops import over, value_of
from codegen.transform.block import apply as apply_block
from codegen.transform.block import fresh
from codegen.transform.program import Program

SIZE = 2 * BLOCK  # depths of a block: launches are few, and what is no product is little


def triangle_plan(source: Program, processor: Device) -> PanelPlan | None:
    """A plan with the depth of such products in blocks."""
    found = {s.name: what for s in source.scop.statements if (what := _triangle(source, s)) is not None}
    if not found:
        return None
    parts = list(parts_of(device_order(source, frozenset(found))))
    q, blocks, products = source, list[StripMine](), set[str]()
    for k, node in enumerate(parts):
        what = found.get(statements(node)[0])
        if what is None or len(statements(node)) > 1 or not isinstance(node, Band) or not node.loops[0].coincident:
            continue
        d = _blocks(q.scop, what)
        try:
            q = apply_block(q, d)
        except InputError:
            continue
        pieces = [s for s in q.scop.statements if d.name in s.iterators]
        flat = [x for s in pieces if (x := _whole(q.scop, s, d, what)) is not None]
        if not flat:
            return None
        parts[k] = Band((over(q.scop, d, [s.name for s in pieces]),), seq([_nest(q.scop, s, what) for s in pieces]))
        blocks.append(d)
        products |= {x.stmt for x in flat}
    if not products:
        return None
    try:
        made = planned(q, seq(parts), processor)
    except (InputError, isl.Error):
        return None
    plan = replace(made.plan, directives=(*blocks, *made.plan.directives))
    return PanelPlan(replace(made, plan=plan), frozenset(products))


def _triangle(p: Program, s: Statement) -> Contraction | None:
    """A product of three loops whose depth changes with rows or columns, and runs upwards."""
    if len(s.iterators) != 3:
        return None
    try:
        found = contraction(p.scop, s, ())
    except NoContraction:
        return None
    if not found.columns or len(found.depth) != 1 or is_flat(p.scop, found):
        return None
    depth = next(lp for k, lp in enumerate(enclosing(p.tree, s.name)) if k == found.depth[0])
    return found if depth.exprs[s.name].is_equal(value_of(s, found.depth[0])) and _ends(p.scop, found) else None


def _ends(scop: Scop, what: Contraction) -> list[int]:
    """The iterators that say where the depth ends."""
    s = scop.statement(what.stmt)
    found = cuts(s.domain.intersect_params(scop.context), (), what.depth) or ()
    deep = [a for a in found if a.involves_dims(isl.dim_type.in_, what.depth[0], 1)]
    return [d for d in (*what.rows, *what.columns) if any(a.involves_dims(isl.dim_type.in_, d, 1) for a in deep)]


def _blocks(scop: Scop, what: Contraction) -> StripMine:
    s = scop.statement(what.stmt)
    name = fresh(scop, f"{s.iterators[what.depth[0]]}b")
    apart = tuple(value_of(s, d) for d in _ends(scop, what))
    return StripMine(name, {s.name: value_of(s, what.depth[0])}, SIZE, {s.name: apart})


def _whole(scop: Scop, s: Statement, d: StripMine, what: Contraction) -> Contraction | None:
    """The product that a piece is, if all of its rows and columns have the same depths of a block."""
    try:
        found = contraction(scop, s, [s.iterators.index(d.name)])
    except NoContraction:
        return None
    same = (found.rows, found.columns, found.depth) == (what.rows, what.columns, what.depth)
    return found if same and is_flat(scop, found) else None


def _nest(scop: Scop, s: Statement, what: Contraction) -> Node:
    """Threads over rows and columns, with the depth inside."""

    def loop(d: int, free: bool) -> Loop:
        return Loop(s.iterators[d], {s.name: value_of(s, d)}, coincident=free)

    threads: Sequence[Loop] = as_axes(scop, [loop(d, True) for d in (*what.rows, *what.columns)], [s.name])
    return Band(tuple(threads), Band((loop(what.depth[0], False),), Leaf(s.name)), True)
