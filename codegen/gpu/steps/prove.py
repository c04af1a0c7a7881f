"""Proofs about tiles of a stencil that go through several time steps: what a block writes is what the plain loops write
there. `wrong_steps` returns a sentence about the first that fails, empty where none does.

A cell of a tile stands for one point of the grid. Each sweep computes all cells of points that the plain sweep writes,
from the same expression. By induction over sweeps, a cell is right unless it is nearer to the end of the tile than
values travel; cells that belong to the block are far enough from it. All others are computed in vain, from whatever
is there, and nobody reads them.
"""

from __future__ import annotations

from math import prod

import islpy as isl

from codegen.gpu.steps.context import Tile
from codegen.gpu.steps.model import BARRIER, LOAD, PLACE, ROW, SWEEP, StepTile, first, is_thin, reads_of
from codegen.gpu.tiles.model import parsed
from codegen.gpu.tiles.prove import bijection, box, relation, space_of
from codegen.verify.readback import TreePoint


def wrong_steps(p: StepTile, most: int, threads: int) -> str:
    """A sentence about the first proof that fails, on a device with so much shared memory and so many threads for a
    block; empty where all go through."""
    return (
        _wrong_sizes(p, most, threads)
        or _wrong_cells(p)
        or _wrong_blocks(p)
        or wrong_arrays(p)
        or _wrong_values(p)
        or wrong_meetings(p)
    )


def _wrong_sizes(p: StepTile, most: int, threads: int) -> str:
    shape = p.shape
    if shape.steps < 1 or len(shape.sides) != p.stencil.axes:
        return f"a tile of this stencil has {p.stencil.axes} sides"
    if shape.chunks < 1 or shape.chunks * prod(shape.sides[1:]) != shape.threads or shape.threads > threads:
        return "a block has threads for whole lines of a tile, and no more than the device can have"
    if shape.rows * shape.chunks != shape.sides[0]:
        return "threads have no equal parts of a tile"
    if any(n <= 2 * m for n, m in zip(shape.sides, p.margins, strict=True)):
        return "tiles are all overlap: values travel further in so many iterations"
    if p.room > most:
        return f"a tile takes {p.room} bytes of shared memory, of which a block has {most}"
    return ""


def _wrong_cells(p: StepTile) -> str:
    """Every cell is one row of one thread, and has a place of its own."""
    shape, values = p.shape, p.constants
    rows = relation(space_of(("chunk", "r"), (shape.chunks, shape.rows)), (parsed(ROW, values),))
    if not bijection(rows, box(shape.sides[0])):
        return "a row of a tile belongs to no thread, or to two"
    names = tuple(f"p{k}" for k in range(len(shape.sides)))
    places = relation(space_of(names, shape.sides), (parsed(PLACE[len(names)], values),))
    if not bijection(places, box(prod(shape.sides))):
        return "two cells have one place in shared memory, or one has none"
    return ""


def _wrong_blocks(p: StepTile) -> str:
    """Every point belongs to one cell of one block, of those that are not in its margins."""
    for k, (side, margin) in enumerate(zip(p.shape.sides, p.margins, strict=True)):
        domain = isl.Set(f"{{ [block, p] : 0 <= block and {margin} <= p < {side - margin} }}")
        at = TreePoint(domain, ("block", "p"), (), (), ())
        if not bijection(relation(at, (parsed(f"{first(k)} + p", p.constants),)), isl.Set("{ [x] : 0 <= x }")):
            return "a point is written by no block, or by two"
    return ""


def wrong_arrays(p: Tile) -> str:
    """Launches read no memory that they write: values go to the memory of an array that the next iteration writes anew,
    and that no sweep reads before that."""
    s, names = p.stencil, {x.name: x for x in p.loaded}
    others = [c.other for c in p.carried if c.other]
    fresh = [a for a in s.written if names[a].fresh]
    if sorted([*(c.name for c in p.carried), *fresh]) != sorted(s.written) or len(set(others)) != len(others):
        return "values of an array are not handed on"
    if not set(others) <= set(fresh):
        return "values go to an array whose own ones are needed"
    for a in fresh:
        writers = [k for k, x in enumerate(s.sweeps) if x.target == a]
        if len(writers) != 1 or is_thin(s.sweeps[writers[0]]):
            return f"`{a}` is not written anew as a whole"
        if any(a in s.sweeps[k].arrays and k != writers[0] for k in range(writers[0])):
            return f"`{a}` is read before it is written"
        own = s.sweeps[writers[0]]
        if own.arrays.count(a) != 1:
            return f"`{a}` is read before it is written"
    return ""


def _wrong_values(p: StepTile) -> str:
    """What cells of a block's own hold in the end has come from right values alone. `right` says how many cells at
    either end of an axis need not be right."""
    s = p.stencil
    right = {a: [(0, 0)] * s.axes for a in s.written}
    for _ in range(p.shape.steps):
        for e in p.loop:
            if e.kind != SWEEP:
                continue
            x = s.sweeps[e.sweep]
            now = right[x.target]
            for name, shift in reads_of(s, x):
                now = [
                    (max(low, there[0] - min(0, d)), max(high, there[1] + max(0, d)))
                    for (low, high), there, d in zip(now, right[name], shift, strict=True)
                ]
            right[x.target] = now
    for c in p.carried:
        if any(max(ends) > m for ends, m in zip(right[c.name], p.margins, strict=True)):
            return f"cells of `{c.name}` that a block writes come from cells that it does not have"
    done = [e.sweep for e in p.loop if e.kind == SWEEP]
    return "" if done == list(range(len(s.sweeps))) else "sweeps are left out, or in another order"


def wrong_meetings(p: StepTile) -> str:
    """Between two threads that touch one cell, one of which writes it, all threads meet. A thread writes its own cells
    alone, those of the sweep's target; it reads others' where a shift is not zero."""
    if [e.kind for e in p.before] != [LOAD, BARRIER]:
        return "cells are read before they were brought"
    s = p.stencil
    open_: list[tuple[bool, str]] = []  # what was done since all met: written, or read from another thread's cells
    for e in (*p.loop, *p.loop):
        if e.kind == BARRIER:
            open_ = []
            continue
        x = s.sweeps[e.sweep]
        far = {name for name, shift in reads_of(s, x) if any(shift)}
        if x.target in far:
            return f"{x.stmt} reads cells of `{x.target}` that others write in the same sweep"
        if any(wrote and a in far for wrote, a in open_) or (False, x.target) in open_:
            return f"threads do not meet around {x.stmt}"
        open_ += [(True, x.target), *((False, a) for a in far)]
    return ""
