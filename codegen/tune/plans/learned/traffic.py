"""Estimates what a statement costs in its loop nest: how often loops run, lines that each cache fetches, cycles of
instructions.

A cache holds what one turn of some loop touches, of the outermost such loop; each time that loop is started, all that
its turns touch is brought in again.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, prod

from codegen.machine import Machine
from codegen.record import record
from codegen.tune.plans.learned.facts import AccessFacts, StatementFacts
from codegen.tune.plans.learned.nests import NestLoop

FILLED = 0.8  # of a cache, before what is used next pushes out what is used again
ACCESSES = 2.0  # loads and stores that start in a cycle
ENTRY = 12.0  # cycles to get into and out of an innermost loop
COUNTING = 0.5  # cycles to count a loop and test for its end


@record
class Turn:
    """A loop of a nest: how often it runs, how many values of each iterator are left inside the loops outside it, and
    the iterator that moves with it (None for a tile loop)."""

    loop: NestLoop
    trips: float
    widths: tuple[int, ...]
    moves: int | None


@record
class NestCost:
    """Cycles of instructions, and lines fetched into each cache, for all instances of a statement."""

    turns: tuple[Turn, ...]
    compute: float
    lines: tuple[float, ...]
    steps: tuple[str, ...]  # of the accesses along the innermost loop
    lanes: float
    waits: bool


def turns_of(s: StatementFacts, around: Sequence[NestLoop]) -> tuple[Turn, ...]:
    left = list(s.extents)
    out = []
    for loop in around:
        row = loop.rows[s.name]
        span = 1 + sum(c * (w - 1) for c, w in zip(row, left, strict=True))
        widths = tuple(left)
        if loop.tile:
            out.append(Turn(loop, ceil(span / loop.tile), widths, None))
            left = [min(w, loop.tile) if c else w for c, w in zip(row, left, strict=True)]
            continue
        mine = [k for k, c in enumerate(row) if c]
        open_ = [k for k in mine if left[k] > 1] or mine
        moves = open_[-1] if open_ else None
        trips = float(left[moves]) if len(open_) == 1 and moves is not None else span
        out.append(Turn(loop, trips, widths, moves))
        if moves is not None:
            left[moves] = 1
    return tuple(out)


def lines_of(s: StatementFacts, widths: Sequence[int], line: int) -> float:
    """Lines that an instance's accesses touch while iterators take so many values: the box of each array."""
    found: dict[str, float] = {}
    for a in s.boxes:
        found[a.array] = max(found.get(a.array, 0.0), _lines(a, widths, line))
    return sum(found.values())


def _lines(a: AccessFacts, widths: Sequence[int], line: int) -> float:
    cells = [64.0 if r is None else 1 + sum(c * (w - 1) for c, w in zip(r, widths, strict=True)) for r in a.rows]
    return prod(cells[:-1]) * ceil(cells[-1] * a.bytes / line)


def cost_of(s: StatementFacts, around: Sequence[NestLoop], machine: Machine) -> NestCost:
    turns = turns_of(s, around)
    inside = [*(t.widths for t in turns), (1,) * len(s.extents)]
    touched = [lines_of(s, widths, machine.line_bytes) for widths in inside]
    lines = tuple(_fetched(turns, touched, FILLED * c.bytes / c.line) for c in machine.caches)
    last = next((t for t in reversed(turns) if t.moves is not None), None)
    steps = tuple(a.step(last.moves) if last and last.moves is not None else "still" for a in s.accesses)
    lanes, waits = _lanes(s, around, steps, machine)
    moving = sum(step != "still" for step in steps)
    each = max(s.operations / machine.fma_throughput, moving / ACCESSES) / lanes
    jam = prod(lp.jam for lp in around)
    side = max((lp.side for lp in around), default=1)
    if waits:
        each = max(each, machine.fma_latency / (jam * side))
    each += COUNTING / (lanes * max(jam, side))
    entries = prod(t.trips for t in turns[:-1]) if turns else 1.0
    return NestCost(turns, s.instances * each + entries * ENTRY, lines, steps, lanes, waits)


def _lanes(
    s: StatementFacts, around: Sequence[NestLoop], steps: Sequence[str], machine: Machine
) -> tuple[float, bool]:
    """Values in a vector, and whether each instance waits for the one before."""
    bytes_ = s.accesses[s.target].bytes if s.accesses else 8
    written = next((lp for lp in around if lp.width > 1), None)
    if written is not None:
        return max(1.0, written.width / bytes_), False
    waits = bool(steps) and steps[s.target] == "still"
    free = "far" not in steps and not waits
    return (float(machine.lanes(bytes_)) if free else 1.0), waits


def _fetched(turns: Sequence[Turn], touched: Sequence[float], room: float) -> float:
    """Lines that come into a cache of so many, all in all; what fits as a whole comes once."""
    depth = next((d for d, n in enumerate(touched) if n <= room), len(turns))
    if not depth:
        return touched[0]
    return prod(t.trips for t in turns[: depth - 1]) * touched[depth - 1]
