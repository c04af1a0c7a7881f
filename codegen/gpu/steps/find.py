"""Finds loops over time on the host that are stencils (`stencil_loops`), and lays out how blocks of threads take tiles
of one through several iterations in one launch (`step_tile`). NoTiles says why not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import islpy as isl

from codegen.ast.ctree import Block, CExpr, CNode, Declare, For
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
from codegen.scop.model import Scop
from codegen.scop.tree import GRID
from codegen.strategy.loops.stencil import Stencil, find_stencil
from codegen.transform.program import Program
from codegen.verify.readback import TreePoint


def stencil_loops(p: Program, code: CNode) -> Iterator[Stencil]:
    """Loops of the host over sweeps of a stencil that nothing is around."""
    start = isl.Set.universe(param_space(p.scop).set_from_params()).intersect_params(p.scop.context)
    for node in _outermost(code):
        found = find_stencil(p.scop, p.deps, node, TreePoint(start, (), (), (), ()))
        if found is not None:
            yield found


def _outermost(node: CNode) -> Iterator[For]:
    if isinstance(node, For) and node.loop.kind != GRID and node.op in ("<", "<="):
        yield node
    elif isinstance(node, Block):
        for child in node.children:
            yield from _outermost(child)
    elif isinstance(node, Declare):
        yield from _outermost(node.body)


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
    loaded = tuple(_loaded(p, a, a in fresh) for a in s.written)
    loop = tuple(e for k in range(len(s.sweeps)) for e in (StepEvent(SWEEP, k), StepEvent(BARRIER)))
    sizes = {a: scop.arrays[a].elem.bytes for a in s.written}
    begin = (StepEvent(LOAD), StepEvent(BARRIER))
    return reshaped(StepTile(s, shape, (), carried, loaded, sizes, begin, loop), shape)


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
    """The arrays whose values the next iteration needs, each with one that has room for its second copy."""
    out, free = [], list(fresh)
    for a in s.written:
        if a in fresh:
            continue
        other = next((b for b in free if _has_room(p.scop, a, b)), None)
        if other is None:
            raise NoTiles(f"`{a}` would need a second copy, and no array that is written anew has room for it")
        free.remove(other)
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
    return _images(scop, name, True)


def _images(scop: Scop, name: str, write: bool) -> isl.Set:
    found = [a.relation.intersect_domain(s.domain).range() for s, a in scop.accesses_to(name) if a.write == write]
    space = scop.accesses_to(name)[0][1].relation.range().get_space()
    out = isl.Set.empty(space)
    for one in found:
        out = out.union(one)
    return out.intersect_params(scop.context).coalesce()


def _loaded(p: Program, name: str, fresh: bool) -> LoadedArray:
    """The box of what is read of an array, all of which the device has when the region begins. Raises NoTiles."""
    scop = p.scop
    touched = _images(scop, name, False)
    if touched.is_empty():
        touched = _images(scop, name, True)
    box, have = box_set(touched), elements_of(scop, p.deps, name).come
    needed = box.subtract(written(scop, name)) if fresh else box.union(written(scop, name))
    have = box_set(have) if not have.is_empty() else have
    if not needed.is_subset(have):
        raise NoTiles(f"elements of `{name}` would be read that nobody wrote yet")
    lows: list[CExpr] = []
    highs: list[CExpr] = []
    for k in range(box.dim(isl.dim_type.set)):
        low, high = box.dim_min(k).coalesce(), box.dim_max(k).coalesce()
        if low.n_piece() != 1 or high.n_piece() != 1:
            raise NoTiles(f"which elements of `{name}` are read falls into several cases")
        context = isl.Set.universe(scop.context.get_space())
        lows.append(value_expr(low, context))
        highs.append(value_expr(high.add_constant_val(isl.Val(1)), context))
    return LoadedArray(name, tuple(lows), tuple(highs), fresh)
