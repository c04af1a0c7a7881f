"""Finds loops over time on the host that are stencils (`stencil_loops`), and lays out how blocks of threads take tiles
of one through several iterations in one launch (`step_tile`). NoTiles says why not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import islpy as isl

from codegen.ast.ctree import Block, CExpr, CNode, Declare, For, If, Int
from codegen.ast.isl_expressions import box_set, value_expr
from codegen.gpu.body import plain_type
from codegen.gpu.steps.model import (
    BARRIER,
    LOAD,
    SWEEP,
    BlockShape,
    CarriedArray,
    LoadedArray,
    StepEvent,
    StepTile,
    is_thin,
    lost,
)
from codegen.gpu.tiles.find import NoTiles
from codegen.gpu.transfers import elements_of
from codegen.scop.dependences import param_space
from codegen.scop.model import Access, Scop, Statement
from codegen.scop.tree import GRID
from codegen.strategy.loops.stencil import Stencil, find_stencil
from codegen.transform.program import Program
from codegen.verify.readback import TreePoint


def stencil_loops(p: Program, code: CNode) -> Iterator[Stencil]:
    """Loops of the host over sweeps of a stencil that nothing is around."""
    start = isl.Set.universe(param_space(p.scop).set_from_params()).intersect_params(p.scop.context)
    for node, at in _outermost(code, TreePoint(start, (), (), (), ())):
        found = find_stencil(p.scop, p.deps, node, at)
        if found is not None:
            yield found


def _outermost(node: CNode, at: TreePoint) -> Iterator[tuple[For, TreePoint]]:
    if isinstance(node, For) and node.loop.kind != GRID and node.op in ("<", "<="):
        yield node, at
    elif isinstance(node, Block):
        for child in node.children:
            yield from _outermost(child, at)
    elif isinstance(node, Declare):
        yield from _outermost(node.body, at)
    elif isinstance(node, If) and node.orelse is None:
        yield from _outermost(node.then, replace(at, domain=at.domain.intersect(at.condition(node.cond))))


def step_tile(p: Program, s: Stencil, shape: BlockShape) -> StepTile:
    """The stencil with tiles of this shape. Raises NoTiles."""
    scop = p.scop
    if any(scop.arrays[a].elem.kind != "float" for a in s.written):
        raise NoTiles("what the overlap computes in vain might divide by zero")
    if len({plain_type(scop.arrays[a].elem) for a in s.written}) != 1:
        raise NoTiles("arrays have elements of several types")
    if any(all(is_thin(x) for x in s.sweeps if x.target == a) for a in s.written):
        raise NoTiles("an array is written along lines alone")
    fresh = _fresh(s)
    carried = _carried(p, s, fresh)
    loaded = tuple(_loaded(p, s, a, a in fresh) for a in s.written)
    loop = tuple(e for k in range(len(s.sweeps)) for e in (StepEvent(SWEEP, k), StepEvent(BARRIER)))
    sizes = {a: scop.arrays[a].elem.bytes for a in s.written}
    begin = (StepEvent(LOAD), StepEvent(BARRIER))
    return reshaped(StepTile(s, shape, (), carried, loaded, sizes, loop, begin), shape)


def reshaped(p: StepTile, shape: BlockShape) -> StepTile:
    """The same with tiles of another shape."""
    reach = lost(p.stencil, shape.steps)
    margins = tuple(max(max(reach[c.name][k]) for c in p.carried) for k in range(p.stencil.axes))
    return replace(p, shape=shape, margins=margins)


def _fresh(s: Stencil) -> tuple[str, ...]:
    """Arrays that one sweep over the grid writes in every iteration before anything reads them."""
    writers = [x.target for x in s.sweeps]
    return tuple(a for a in s.fresh if writers.count(a) == 1)


def _carried(p: Program, s: Stencil, fresh: Sequence[str]) -> tuple[CarriedArray, ...]:
    """The arrays whose values the next iteration needs, each with one that has room for its second copy, if any has."""
    out, free = [], list(fresh)
    for a in s.written:
        if a in fresh:
            continue
        other = next((b for b in free if _has_room(p.scop, a, b)), "")
        free = [b for b in free if b != other]
        out.append(CarriedArray(a, other))
    if not out:
        raise NoTiles("no iteration needs what the one before it computes")
    return tuple(out)


def _has_room(scop: Scop, a: str, b: str) -> bool:
    """Does every iteration write all elements of `b` that it writes of `a`?"""
    x, y = scop.arrays[a], scop.arrays[b]
    if plain_type(x.elem) != plain_type(y.elem) or x.extents != y.extents:
        return False
    return bool(written(scop, a).reset_tuple_id().is_subset(written(scop, b).reset_tuple_id()))


def written(scop: Scop, name: str) -> isl.Set:
    """The elements of an array that the region writes."""
    return _union(scop, name, (_image(scop, s, a) for s, a in scop.accesses_to(name) if a.write))


def _image(scop: Scop, s: Statement, a: Access) -> isl.Set:
    return a.relation.intersect_domain(s.domain).range().intersect_params(scop.context)


def _union(scop: Scop, name: str, parts: Iterable[isl.Set]) -> isl.Set:
    out = isl.Set.empty(scop.accesses_to(name)[0][1].relation.range().get_space())
    for one in parts:
        out = out.union(one)
    return out.coalesce()


def _needed(scop: Scop, s: Stencil, name: str) -> isl.Set:
    """The elements of an array that an iteration reads before it writes them."""
    empty = _union(scop, name, ())
    need = done = empty
    for x in s.sweeps:
        stmt = scop.statement(x.stmt)
        mine = [a for a in stmt.accesses if a.array == name]
        reads = [a for a in mine if not a.write or (stmt.op != "=" and a is stmt.accesses[stmt.target])]
        need = need.union(_union(scop, name, (_image(scop, stmt, a) for a in reads)).subtract(done))
        done = done.union(_union(scop, name, (_image(scop, stmt, a) for a in mine if a.write)))
    return need.coalesce()


def _all_sweep(scop: Scop, s: Stencil) -> isl.Set:
    """Parameters with which no sweep is empty: with others, the launcher starts no tiles."""
    out = scop.context
    for x in s.sweeps:
        out = out.intersect(scop.statement(x.stmt).domain.params())
    return out


def _inner(scop: Scop, s: Stencil, name: str) -> isl.Set:
    """Points that every sweep over the grid computes, as elements of an array."""
    out = isl.Set.universe(_union(scop, name, ()).get_space())
    for x in s.sweeps:
        if not is_thin(x):
            stmt = scop.statement(x.stmt)
            out = out.intersect(_image(scop, stmt, stmt.accesses[stmt.target]).set_tuple_name(out.get_tuple_name()))
    return out.intersect_params(_all_sweep(scop, s))


def _loaded(p: Program, s: Stencil, name: str, fresh: bool) -> LoadedArray:
    """The box around what an iteration needs of an array; whatever else is in it, the device has from the beginning.
    Raises NoTiles."""
    scop = p.scop
    need = _needed(scop, s, name).intersect_params(_all_sweep(scop, s))
    box = box_set(need) if not need.is_empty() else need
    have = elements_of(scop, p.deps, name).come
    brought = box.subtract(written(scop, name)) if fresh else box
    if not brought.is_subset(need.union(box_set(have) if not have.is_empty() else have)):
        raise NoTiles(f"elements of `{name}` would be read that nobody wrote yet")
    if not fresh and not _inner(scop, s, name).is_subset(box):
        raise NoTiles(f"an iteration needs only some elements of `{name}`")
    lows: list[CExpr] = []
    highs: list[CExpr] = []
    context = isl.Set.universe(scop.context.get_space())
    for k in range(box.dim(isl.dim_type.set) if not box.is_empty() else 0):
        low, high = box.dim_min(k).coalesce(), box.dim_max(k).coalesce()
        if low.n_piece() != 1 or high.n_piece() != 1:
            raise NoTiles(f"which elements of `{name}` are read falls into several cases")
        lows.append(value_expr(low, context))
        highs.append(value_expr(high.add_constant_val(isl.Val(1)), context))
    none = (Int(0),) * s.axes
    return LoadedArray(name, tuple(lows) or none, tuple(highs) or none, fresh)
