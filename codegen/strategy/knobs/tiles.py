"""Knobs of `tune` for tiles: the length of a tile along each loop of a `tile` directive, whether full tiles get code of
their own, and new tiles for nests that have none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from codegen.plan.model import Directive, Interleave, LoopRef, Plan, Tile
from codegen.strategy.knobs.knob import Addition, Knob, NumberKnob, around
from codegen.strategy.knobs.nests import planned_nests
from codegen.transform.program import Program

SHAPES = (8, 16, 32, 64, 128, 256)  # of tiles; four times that along the innermost loop


def tile_lengths(plan: Plan, p: Program) -> Iterator[Knob]:
    """The length of a tile along each loop, and whether full tiles get code of their own."""
    side_by_side = {x.loop for x in plan.directives if isinstance(x, Interleave)}
    for k, d in enumerate(plan.directives):
        if not isinstance(d, Tile):
            continue
        for n, (ref, size) in enumerate(d.loops):
            values = (0, *around(size)) if size else (0, 8, 32, 128)
            if ref in side_by_side and size:
                values = (2, 4, 6, 8, 12, 16)
            yield NumberKnob(k, size, values, partial(_resized, n)).knob(f"tile {ref}", 2)
        yield NumberKnob(k, int(d.full), (0, 1), _full).knob(f"full tiles of {d.loops[0][0]}", 6)


def _resized(n: int, d: Directive, size: int) -> tuple[Directive, ...]:
    if not isinstance(d, Tile):
        return (d,)
    return (replace(d, loops=tuple((ref, size if k == n else old) for k, (ref, old) in enumerate(d.loops))),)


def _full(d: Directive, full: int) -> tuple[Directive, ...]:
    return (replace(d, full=bool(full)),) if isinstance(d, Tile) else (d,)


def new_tiles(plan: Plan, p: Program) -> Iterator[Knob]:
    """Tiles of a nest that has none."""
    for nest in planned_nests(plan):
        if nest.cut is None and len(nest.loops) > 1:
            options = tuple((_tile(nest.stmt, nest.loops, size),) for size in SHAPES)
            yield Addition(nest.start, tuple(map(str, SHAPES)), options).knob(f"tiles {nest.stmt}", 2)


def _tile(stmt: str, names: tuple[str, ...], size: int) -> Tile:
    sizes = [*[size] * (len(names) - 1), 4 * size]
    return Tile(tuple((LoopRef(n, stmt), s) for n, s in zip(names, sizes, strict=True)))
