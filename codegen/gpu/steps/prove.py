"""Proofs about tiles of a stencil that go through several time steps: what a block writes is what the plain loops write
there. `wrong_steps` returns a sentence about the first that fails, empty where none does.

A cell of a tile stands for one point of the grid. Each sweep computes all cells of points that the plain sweep writes,
from the same expression. By induction over sweeps, a cell is right unless it is nearer to the end of the tile than
values travel; cells that belong to the block are far enough from it. All others are computed in vain, from whatever
is there, and nobody reads them.
"""

from __future__ import annotations

from math import prod

from codegen.gpu.steps.cells import wrong_blocks, wrong_rows, wrong_shape
from codegen.gpu.steps.context import Tile
from codegen.gpu.steps.model import BARRIER, LOAD, PLACE, SWEEP, StepTile, is_thin, reads_of
from codegen.gpu.tiles.model import parsed
from codegen.gpu.tiles.prove import bijection, box, relation, space_of


def wrong_steps(p: StepTile, most: int, threads: int) -> str:
    """A sentence about the first proof that fails, on a device with so much shared memory and so many threads for a
    block; empty where all go through."""
    return (
        _wrong_sizes(p, most, threads)
        or wrong_rows(p.shape, p.constants)
        or _wrong_places(p)
        or wrong_blocks(p.shape, p.margins, p.constants, 0)
        or wrong_arrays(p)
        or _wrong_values(p)
        or wrong_meetings(p)
    )


def _wrong_sizes(p: StepTile, most: int, threads: int) -> str:
    shape = p.shape
    if shape.steps < 1 or len(shape.sides) != p.stencil.axes:
        return f"a tile of this stencil has {p.stencil.axes} sides"
    room = f"a tile takes {p.room} bytes of shared memory, of which a block has {most}" if p.room > most else ""
    return wrong_shape(shape, p.margins, threads) or room


def _wrong_places(p: StepTile) -> str:
    """Every cell has a place of its own."""
    sides = p.shape.sides
    names = tuple(f"p{k}" for k in range(len(sides)))
    places = relation(space_of(names, sides), (parsed(PLACE[len(names)], p.constants),))
    return "" if bijection(places, box(prod(sides))) else "two cells have one place in shared memory, or one has none"


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
