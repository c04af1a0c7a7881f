"""Two-dimensional slices of an iteration space for pictures: which tile each cell belongs to, and when it runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import islpy as isl

from codegen.record import record
from codegen.report.sample import Sample, blocks, point_at, product_of, span
from codegen.scop.isl_helpers import val
from codegen.scop.model import Statement
from codegen.scop.tree import ON_THREADS, PIPELINED, STAGE, Loop, Node, enclosing

MOST_CUTS = 3  # of one statement
MOST_CELLS = 30  # along a side
Values = tuple[int, ...]


@record
class Cell:
    """Cell at `row`, `column`. `tile` is equal in one tile; tiles of an equal `step` and other `lane`s, which threads
    share out (None: nothing), can run at the same time; `time` orders the cells."""

    row: int
    column: int
    tile: Values
    step: Values
    lane: int | None
    time: Values


@record
class SliceGrid:
    """Rows are values of iterator `down`, columns of `across`; a cell stands for `steps` iterations of each."""

    down: int
    across: int
    start: tuple[int, int]
    steps: tuple[int, int]
    shape: tuple[int, int]
    fixed: tuple[tuple[int, int], ...]  # other iterators and their values
    cells: tuple[Cell, ...]


def cuts(tree: Node, s: Statement, at: Sample) -> tuple[SliceGrid, ...]:
    """Cuts along pairs of iterators; a single iterator is shown as one row."""
    n = len(s.iterators)
    pairs = [(-1, 0)] if n == 1 else sorted(combinations(range(n), 2), key=lambda p: _interest(p, at.sizes))
    found = [c for c in (_cut(tree, s, at, *pair) for pair in pairs[: MOST_CUTS + 1]) if c is not None]
    flat = [c for c in found if min(c.shape) > 1]  # the others show no more than a line
    return tuple((flat or found[:1])[:MOST_CUTS])


def _interest(pair: tuple[int, int], sizes: Sequence[int]) -> tuple[int, tuple[int, int]]:
    """Pairs that are cut into tiles come first."""
    return -sum(bool(sizes[d]) for d in pair), pair


def _cut(tree: Node, s: Statement, at: Sample, down: int, across: int) -> SliceGrid | None:
    domain, others = at.domain, []
    for d in range(len(s.iterators)):
        if d not in (down, across):
            low, high = span(domain, d)
            domain = domain.fix_val(isl.dim_type.set, d, val((low + high) // 2))
            others.append((d, (low + high) // 2))
            if domain.is_empty():
                return None
    sides = [_side(domain, d, at.sizes) for d in (down, across)]
    inside = domain.indicator_function()
    keys = _keys(tree, s)
    point = point_at(at.domain, at.params)
    for d, value in others:
        point = point.set_coordinate_val(isl.dim_type.set, d, val(value))
    cells = []
    for row in range(sides[0][2]):
        if down >= 0:
            point = point.set_coordinate_val(isl.dim_type.set, down, val(sides[0][0] + row * sides[0][1]))
        for column in range(sides[1][2]):
            here = point.set_coordinate_val(isl.dim_type.set, across, val(sides[1][0] + column * sides[1][1]))
            if inside.eval(here).is_one():
                cells.append(Cell(row, column, *keys(here)))
    starts, steps, shape = zip(*sides, strict=True)
    return SliceGrid(down, across, starts, steps, shape, tuple(others), tuple(cells)) if cells else None


def _side(domain: isl.Set, d: int, sizes: Sequence[int]) -> tuple[int, int, int]:
    """First value, step and number of cells."""
    if d < 0:
        return 0, 1, 1
    low, high = span(domain, d)
    step = max(1, sizes[d] // 8) if sizes[d] > 16 else 1
    return low, step, min(MOST_CELLS, (high - low) // step + 1)


def _keys(tree: Node, s: Statement) -> Callable[[isl.Point], tuple[Values, Values, int | None, Values]]:
    """From a point to its tile, the step it runs in, its share of the parallel loop, and its time."""
    loops = enclosing(tree, s.name)
    threaded = next((k for k, lp in enumerate(loops) if lp.kind in ON_THREADS), None)
    last = _outer_tiles(loops, threaded)
    stage = next((k for k, lp in enumerate(loops) if lp.kind == STAGE), None)
    piped = threaded is not None and stage is not None and loops[threaded].kind == PIPELINED
    extra = blocks(product_of(tree, s.name))

    def value(lp: Loop, p: isl.Point) -> int:
        return int(lp.exprs[s.name].eval(p).to_str())

    def find(p: isl.Point) -> tuple[Values, Values, int | None, Values]:
        values = tuple(value(lp, p) for lp in loops)
        inner = tuple(int(p.get_coordinate_val(isl.dim_type.set, d).to_str()) // n for d, n in extra.items())
        tile = (*values[: last + 1], *inner)
        if threaded is None:
            return tile, tile, None, (*tile, *values)
        if piped and stage is not None:
            # Each row of tiles is at least one stage behind the row before it.
            row, at = (values[k] // max(1, loops[k].tile) for k in (threaded, stage))
            return tile, (*values[:threaded], row + at), values[threaded], (*tile, *values)
        return tile, values[:threaded], values[threaded], (*tile, *values)

    return find


def _outer_tiles(loops: Sequence[Loop], threaded: int | None) -> int:
    """The last of the loops over tiles that stand together, or the one on threads; tiles in tiles are not drawn."""
    last = -1 if threaded is None else threaded
    for k, lp in enumerate(loops):
        if lp.tile:
            last = max(last, k)
        elif k > last >= 0 and any(x.tile for x in loops[:k]):
            break
    return last


def ranks(values: Sequence[Values]) -> dict[Values, int]:
    """Position of each value among all of them, from 1."""
    return {v: k for k, v in enumerate(sorted(set(values)), 1)}
