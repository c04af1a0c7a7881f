"""Predicted cycles of an iteration of an innermost loop as a plan has it carried out, with vectors, tiles and threads.

`cycles.py` compares orders before anything is decided about their loops. Here the marks of the loops are read, so that
techniques for the same nest can be compared: what has to be issued, what is waited for along a chain of values, and
what has to be fetched, of which the largest counts; shared among threads where a loop around can be.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2

from codegen.machine import Machine
from codegen.record import record
from codegen.scop.tree import ON_THREADS, FoundLoop, Loop, loops
from codegen.strategy.cost.cycles import (
    ACCESSES,
    astray,
    chain_cycles,
    chained,
    in_lanes,
    operations,
    target,
    unit_rate,
)
from codegen.strategy.cost.groups import GroupInRegion, groups, in_region
from codegen.strategy.cost.innermost import perfect
from codegen.strategy.cost.traffic import fetched, keys, next_element
from codegen.transform.mark import LANES
from codegen.transform.program import Program

COUNTING = 2.0  # instructions that count a loop and test for its end
WIDE = 4.0  # instructions that start in a cycle


@record
class _Lanes:
    """Values in a vector, vectors side by side, and whether they are along the innermost loop."""

    count: int = 1
    side: int = 1
    innermost: bool = True


def iteration_cycles(p: Program, names: Sequence[str], machine: Machine) -> float | None:
    """For an iteration of the innermost loop around the first of these statements; None where other loops stand beside
    it, which would have to count, too."""
    g = next((g for g in groups(p.tree, (), ()) if names[0] in g.names), None)
    if g is None or not g.closed or not g.around:
        return None
    place = next(q for q in loops(p.tree) if q.path == g.path and q.member == len(q.band.loops) - 1)
    c = in_region(p, machine, g)
    each = _iteration(c, place)
    shared = any(lp.kind in ON_THREADS or (lp.coincident and lp is not g.around[-1]) for lp in g.around)
    return each / machine.cores if shared else each


def _iteration(c: GroupInRegion, place: FoundLoop) -> float:
    stmts, found = c.stmts, keys(c, len(c.lengths))
    waits = chained(c.p, place) & {target(c.p, s).name for s in stmts}
    lanes = _lanes(c, place, bool(waits))
    moving = sum(1 for k in found if any(k[1][-1]))
    each = max(sum(operations(s, c.machine) for s in stmts) / unit_rate(c.p, stmts, c.machine), moving / ACCESSES)
    each += _transpose_steps(c, lanes) + COUNTING / (WIDE * (lanes.side if lanes.innermost else 1))
    late = [s for s in stmts if target(c.p, s).name in waits]
    wait = max((chain_cycles(c.p, s, (), c.machine, found) for s in late), default=0.0) / lanes.side
    return max(each / lanes.count, wait / lanes.count, fetched(c, found, {})) + astray(stmts)


def _lanes(c: GroupInRegion, place: FoundLoop, waits: bool) -> _Lanes:
    """The lanes that an iteration is one of. Compilers write one vector at a time."""
    bytes_ = max(target(c.p, s).elem.bytes for s in c.stmts)
    written = next((lp for lp in c.group.around if lp.width), None)
    if written is not None:
        innermost = written.name == c.group.around[-1].name
        return _Lanes(max(1, written.width // bytes_), max(1, written.factor), innermost)
    last: Loop = c.group.around[-1]
    free = last.kind in LANES or (perfect(place.band) and not waits)
    if free and in_lanes(c.stmts, keys(c, len(c.lengths)), c.machine):
        return _Lanes(c.machine.lanes(bytes_))
    return _Lanes()


def _transpose_steps(c: GroupInRegion, lanes: _Lanes) -> float:
    """Steps that transpose what is read along the innermost loop, where vectors are along the one around it."""
    if lanes.innermost or len(c.lengths) < 2:
        return 0.0
    found = keys(c, len(c.lengths))
    across = [k for k in found if next_element(k[1][-1]) and not next_element(k[1][-2]) and any(k[1][-2])]
    return len(across) * log2(lanes.count) / ACCESSES
