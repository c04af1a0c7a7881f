"""Ways to share a parallel loop among threads, best first: collapsed with the loop inside it where it is short, small
chunks in turn where iterations differ in work, else equal parts. `strategy/sharing.py` tries them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

import islpy as isl

from codegen.machine import Machine
from codegen.plan.model import LoopRef, Parallel
from codegen.recognize.access.domain_shape import leaves_out
from codegen.recognize.access.strides import move
from codegen.scop.model import Statement
from codegen.scop.tree import FoundLoop, Loop, enclosing, has_band, statements
from codegen.strategy.cost.groups import stepped
from codegen.strategy.cost.tile_sizes import constant_extent
from codegen.strategy.loops.thread_loops import Shared, equal_parts, shared_out
from codegen.transform.mark import next_inside
from codegen.transform.program import Program

# The part of their time in which threads have to be at work.
BUSY = 0.85
# Rows that a thread takes at a time: few, so that all get some of the long ones; neighbours often share what they read.
ROWS = 4


def ways(p: Program, place: FoundLoop, machine: Machine) -> Iterator[Shared]:
    """How a loop, or another of its band, may run on threads, the best first; the last is always equal parts of it."""
    name = place.loop.name
    pair = _together(p, place, machine)
    if pair is not None and pair.also is not None:
        yield Shared(name, (pair,), f"loops {name} and {pair.also.name} run in parallel together, as {name} is short")
    chosen = shared_out(p, place, machine)
    turns = _in_turn(p, place, machine) if chosen.loop == name else None
    if turns is not None:
        text = f"loop {name} runs in parallel, {turns.by} at a time in turn, as iterations differ in length"
        yield Shared(name, (turns,), text)
    yield chosen
    if chosen.loop != name:
        yield equal_parts(place)


def _together(p: Program, place: FoundLoop, machine: Machine) -> Parallel | None:
    """The loop with the one right inside, where there are so few iterations that threads would wait for the last ones.
    Not with an innermost one, which is for vectors."""
    names, below = statements(place.band), next_inside(place)
    if below is None or below.kind or not _idle(p, place.loop, names, machine.cores):
        return None
    if below is place.band.loops[-1] and not has_band(place.band.child):
        return None
    return Parallel(LoopRef(place.loop.name, names[0]), LoopRef(below.name, names[0]))


def _in_turn(p: Program, place: FoundLoop, machine: Machine) -> Parallel | None:
    """A few iterations at a time, where they take longer and longer, or less and less."""
    if not _uneven(p, place):
        return None
    return Parallel(LoopRef(place.loop.name, statements(place.band)[0]), by=_part(p, place, machine))


def _idle(p: Program, lp: Loop, names: Sequence[str], threads: int) -> bool:
    known = [constant_extent(p.scop, lp, n) for n in names]
    turns = max((ceil(n / max(1, lp.tile)) for n in known if n is not None), default=0)
    return None not in known and 0 < turns < BUSY * ceil(turns / threads) * threads


def _uneven(p: Program, place: FoundLoop) -> bool:
    """Do the deepest statements run more and more often, or less and less, from one iteration to the next? Not so where
    that holds at the ends alone, as in a band along the diagonal."""
    stmts = [p.scop.statement(n) for n in statements(place.band)]
    deepest = max(len(s.iterators) for s in stmts)
    return all(_varies(p, s, place) for s in stmts if len(s.iterators) == deepest)


def _varies(p: Program, s: Statement, place: FoundLoop) -> bool:
    around = enclosing(p.tree, s.name)
    points = {lp.name: lp for lp in around if not lp.tile}
    mine = points.get(place.loop.of or place.loop.name)
    own = None if mine is None else stepped(mine, s.name)
    outside = [stepped(points[n], s.name) for n in place.names if n in points]
    if own is None or None in outside:
        return False
    fixed = [k for k in outside if k is not None]
    inner = [d for d in range(len(s.iterators)) if d != own and d not in fixed]
    return any(_decides(s, d, own, fixed) for d in inner)


def _decides(s: Statement, d: int, own: int, fixed: Sequence[int]) -> bool:
    """Does iterator `own` decide how many values iterator `d` takes, wherever it is?"""
    if leaves_out(s):
        return False
    values, first = isl.Set.from_basic_set(s.domain.simple_hull()), s.domain.dim(isl.dim_type.param)
    for k in reversed(range(len(s.iterators))):
        if k in fixed:
            values = values.move_dims(isl.dim_type.param, values.dim(isl.dim_type.param), isl.dim_type.set, k, 1)
        elif k not in (d, own):
            values = values.project_out(isl.dim_type.set, k, 1)
    values = values.move_dims(isl.dim_type.param, first, isl.dim_type.set, int(own > d), 1)
    if not values.dim_is_bounded(isl.dim_type.set, 0):
        return False
    length = values.dim_max(0).sub(values.dim_min(0)).coalesce()
    return all(aff.involves_dims(isl.dim_type.param, first, 1) for _, aff in length.get_pieces())


def _part(p: Program, place: FoundLoop, machine: Machine) -> int:
    """Iterations that a thread takes at a time: one tile; whole lines where the loop runs along one that is written."""
    if place.loop.tile:
        return 1
    part = ROWS
    for name in statements(place.band):
        s, around = p.scop.statement(name), enclosing(p.tree, name)
        which = next(k for k, lp in enumerate(around) if lp.name == place.loop.name)
        target = s.accesses[s.target]
        if move(p.scop, s, target, around, which).unit:
            part = max(part, machine.line_bytes // p.scop.arrays[target.array].elem.bytes)
    return part
