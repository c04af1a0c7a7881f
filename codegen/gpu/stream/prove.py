"""Proofs about tiles of a stencil that are marched along an axis: what a block writes is what the plain loops write
there. `wrong_stream` returns a sentence about the first that fails, empty where none does.

A block's march has steps. In step i, a version with lag l has the plane that is l planes behind the one that is read
from memory; so a sweep that reads a plane d away of a version with lag m finds what was computed `age = l - d - m`
steps before. By induction over steps and sweeps, a value is right if everything that it comes from was right, and was
still there: planes are kept in rings, of which a step overwrites the oldest, and what is on its way to shared memory
takes its place ahead. Along the other axes, cells are right as in tiles that stay in their place
(`codegen.gpu.steps.prove`). Blocks along the march have as many planes each as the launcher says, one after the
other. Elements that no sweep writes are in the array's own memory, where no launch writes.
"""

from __future__ import annotations

from math import prod

from codegen.gpu.steps.cells import wrong_blocks, wrong_rows, wrong_shape
from codegen.gpu.steps.model import BARRIER, LOAD, SWEEP
from codegen.gpu.steps.prove import wrong_arrays
from codegen.gpu.stream.model import COPY, KEEP, PLACE, WAIT, StreamTile, values_read
from codegen.gpu.tiles.model import parsed
from codegen.gpu.tiles.prove import bijection, box, relation, space_of
from codegen.scop.model import Scop

MOST_ROWS = 32  # of a thread: bits of a word


def wrong_stream(scop: Scop, p: StreamTile, most: int, threads: int) -> str:
    """A sentence about the first proof that fails, on a device with so much shared memory and so many threads for a
    block; empty where all go through."""
    return (
        _wrong_sizes(p, most, threads)
        or wrong_rows(p.shape, p.constants)
        or _wrong_places(p)
        or wrong_blocks(p.shape, p.margins[1:], p.constants, 1)
        or wrong_arrays(p)
        or _wrong_order(p)
        or _wrong_planes(scop, p)
        or _wrong_margins(scop, p)
    )


def _wrong_sizes(p: StreamTile, most: int, threads: int) -> str:
    shape = p.shape
    if shape.steps < 1 or len(shape.sides) != p.stencil.axes - 1:
        return f"a plane of this stencil's tiles has {p.stencil.axes - 1} sides"
    if wrong := wrong_shape(shape, p.margins[1:], threads):
        return wrong
    if shape.rows > MOST_ROWS:
        return "threads have no equal parts of a tile"
    if p.room > most:
        return f"planes take {p.room} bytes of shared memory, of which a block has {most}"
    if any(p.phases % n for v in p.versions for n in (v.kept, v.shared) if n):
        return "planes are not where they were at first when all phases are over"
    return ""


def _wrong_places(p: StreamTile) -> str:
    """Every cell has a place of its own in each plane."""
    for planes in {v.shared for v in p.versions if v.shared}:
        extents = (planes, *p.shape.sides)
        places = relation(space_of(("plane", "p1", "p2"), extents), (parsed(PLACE, p.constants),))
        if not bijection(places, box(prod(extents))):
            return "two cells have one place in shared memory, or one has none"
    return ""


def _wrong_order(p: StreamTile) -> str:
    """The sweeps of all iterations, each once and in order; a step overwrites what is kept after all sweeps have read
    it, and all threads meet at its end. A plane is brought at least a step before the one that reads it, and waited for
    by whoever brought it, before all meet."""
    brought = len(p.carried)
    wanted = [(c.name, -1, 0) for c in p.carried]
    wanted += [(x.target, k, n) for n in range(p.shape.steps) for k, x in enumerate(p.stencil.sweeps)]
    if [(v.array, v.sweep, v.iteration) for v in p.versions] != wanted:
        return "sweeps are left out, or in another order"
    if any(v.lag or v.start or v.ahead != p.ahead for v in p.versions[:brought]) or p.ahead < 1:
        return "planes are read before they were brought"
    if any(v.ahead for v in p.versions[brought:]) or any(v.shared <= v.ahead for v in p.versions[:brought]):
        return "a plane is brought to a place that is not its own"
    numbers = range(len(p.versions))
    events = [*((COPY, k) for k in range(brought)), *((LOAD if k < brought else SWEEP, k) for k in numbers)]
    events += [(KEEP, -1), (WAIT, -1), (BARRIER, -1)]
    return "" if [(e.kind, e.sweep) for e in p.loop] == events else "threads do not meet after each step, or too early"


def _wrong_planes(scop: Scop, p: StreamTile) -> str:
    """Whatever a sweep reads was computed, by the last sweep ahead of it that writes the array, and was not overwritten
    yet. Of others' cells, threads have met since; and they will before the plane's place is taken again."""
    for number, v in enumerate(p.versions[len(p.carried) :], len(p.carried)):
        x = p.stencil.sweeps[v.sweep]
        for _, name, shift in values_read(scop, p.stencil, x):
            if name == x.target and any(shift):
                return f"{x.stmt} reads cells of `{name}` that it writes"
            seen = p.latest(name, number)
            if seen < 0:
                return f"`{name}` is read before it is written"
            of = p.versions[seen]
            age = v.lag - shift[0] - of.lag
            if age < 0 or (any(shift[1:]) and age < 1):
                return f"{x.stmt} reads a plane of `{name}` that is not there yet"
            if (any(shift[1:]) and age + of.ahead >= of.shared) or (not shift[2] and age > of.kept):
                return f"{x.stmt} reads a plane of `{name}` that is no longer there"
            if v.start < of.start + age:
                return f"{x.stmt} begins before what it reads of `{name}`"
    return ""


def _wrong_margins(scop: Scop, p: StreamTile) -> str:
    """What a block writes has come from right values alone. `right` says how many cells at either end of an axis need
    not be right; along the march, a version is right from the plane of its first step on."""
    right: list[list[tuple[int, int]]] = []
    for number, v in enumerate(p.versions):
        now = [(0, 0)] * (p.stencil.axes - 1)
        for _, name, shift in values_read(scop, p.stencil, p.stencil.sweeps[v.sweep]) if v.sweep >= 0 else ():
            there = right[p.latest(name, number)]
            now = [
                (max(low, ends[0] - min(0, d)), max(high, ends[1] + max(0, d)))
                for (low, high), ends, d in zip(now, there, shift[1:], strict=True)
            ]
        right.append(now)
        if not p.is_last(number):
            continue
        if any(max(ends) > m for ends, m in zip(now, p.margins[1:], strict=True)) or v.start - v.lag > p.margins[0]:
            return f"cells of `{v.array}` that a block writes come from cells that it does not have"
    return ""
