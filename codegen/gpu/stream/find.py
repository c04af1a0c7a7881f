"""Lays out how blocks of threads march tiles of a stencil along the first axis (`stream_tile`). NoTiles says why
not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from codegen.gpu.steps.find import step_tile
from codegen.gpu.steps.model import BARRIER, LOAD, SWEEP, BlockShape, CarriedArray, StepEvent, is_thin, lost
from codegen.gpu.stream.model import COPY, KEEP, WAIT, StreamTile, Version, values_read
from codegen.gpu.tiles.find import NoTiles
from codegen.scop.model import Scop
from codegen.strategy.loops.stencil import Stencil
from codegen.transform.program import Program

AHEAD = 2  # planes are brought so far ahead
AXES = 3  # of grids: one is marched along, and threads are laid out over two


def stream_tile(p: Program, s: Stencil, shape: BlockShape) -> StreamTile:
    """The stencil with tiles of this shape. Raises NoTiles."""
    if s.axes != AXES:
        raise NoTiles(f"grids have {AXES} axes where tiles are marched along one")
    if any(is_thin(x) for x in s.sweeps):
        raise NoTiles("a sweep stands still along an axis")
    if any(len({(x.lows, x.highs) for x in s.sweeps if x.target == a}) > 1 for a in s.written):
        raise NoTiles("sweeps write different parts of an array")
    whole = step_tile(p, s, BlockShape(shape.steps, (1,) * s.axes, 1))
    found = versions(p.scop, s, whole.carried, shape.steps)
    copies, loads = ([StepEvent(kind, k) for k, v in enumerate(found) if v.sweep < 0] for kind in (COPY, LOAD))
    sweeps = [StepEvent(SWEEP, k) for k, v in enumerate(found) if v.sweep >= 0]
    loop = (*copies, *loads, *sweeps, StepEvent(KEEP), StepEvent(WAIT), StepEvent(BARRIER))
    reach = lost(s, shape.steps)
    sides = [max(max(reach[c.name][k]) for c in whole.carried) for k in range(1, s.axes)]
    made = StreamTile(s, shape, (0, *sides), whole.carried, whole.loaded, whole.bytes, loop, found)
    before = max(0, *(v.start - v.lag for k, v in enumerate(found) if made.is_last(k)))
    return replace(made, margins=(before, *sides))


def versions(scop: Scop, s: Stencil, carried: Sequence[CarriedArray], steps: int) -> tuple[Version, ...]:
    """What is brought and computed. Each sweep follows those that it reads as closely as it can: a plane is there as
    soon as it was computed for a thread's own cells, and for others' one step later."""
    out = [Version(c.name, -1, 0, shared=1 + AHEAD, ahead=AHEAD) for c in carried]
    now = {c.name: k for k, c in enumerate(carried)}
    for iteration in range(steps):
        for number, x in enumerate(s.sweeps):
            reads = [(now[name], shift) for _, name, shift in values_read(scop, s, x)]
            lag = max((0, *(out[v].lag + shift[0] + any(shift[1:]) for v, shift in reads)))
            start = 0
            for v, shift in reads:
                age = lag - shift[0] - out[v].lag
                start = max(start, out[v].start + age)
                kept = out[v].kept if shift[2] else max(out[v].kept, age)
                shared = max(out[v].shared, age + 1 + out[v].ahead) if any(shift[1:]) else out[v].shared
                out[v] = replace(out[v], kept=kept, shared=shared)
            now[x.target] = len(out)
            out.append(Version(x.target, number, iteration, lag, start))
    phases = max((1, *(n for v in out for n in (v.kept, v.shared))))
    return tuple(replace(v, kept=_part(v.kept, phases), shared=_part(v.shared, phases)) for v in out)


def _part(needed: int, phases: int) -> int:
    """So many planes, or the next number of them that divides the phases: these are loops that are unrolled."""
    return next(n for n in range(needed, phases + 1) if not n or phases % n == 0)
