"""Decides on outer-loop vectorization: vectors along a parallel loop around sequential ones, with each lane's value in
a register. Returns the directives and the register tile (`Through`), None where that has no use.

A sum over i for every k, `r[k] += x[i] * x[i + k]`, has its vectors along k. With k innermost every step loads and
stores r; with i innermost and some vectors of k side by side, r stays in registers, and the values of x that neighbours
share are near. Rows of a matrix are read along its lines and no other way, so those stay as they are
(`strategy/orders/row_loops.py`, products).
Neoverse N1, f64: autocorrelation 0.75 cycles a step with k innermost, 0.33 with i.

The same where several loops are inside already, as those over the taps of a convolution.
int, seconds of gcc's code for the source, with the innermost loops left to it, and with these vectors: conv2d, 1500 x
1500 and 9 x 9, 0.192, 0.112, 0.043; conv2d-dilated 0.0257, 0.0288, 0.0231; fir 0.311, 0.080, 0.074.

And where the free loop is innermost and those around it are a few steps on the same elements, whatever lines these
read: `out[y][x][k] += in[y + r][x + s][k] * w[r][s][k]`, with k outside s. Milliseconds of gcc's code for the source,
by rows and with these vectors, f64, 100 x 100, 3 x 3: 64 channels 3.5, 3.4, 2.2; 23 channels 1.5, 1.3, 1.3; 8 channels
0.75, 0.64, 0.50.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import islpy as isl

from codegen.machine import Machine
from codegen.plan.model import Directive, LoopRef, Order, Tile, Vector
from codegen.recognize import lanes
from codegen.recognize.access.ctypes import type_of
from codegen.recognize.access.domain_shape import most_instances
from codegen.recognize.access.strides import move, step_of
from codegen.recognize.ownership.registers import Direction, RegisterBudget, RegisterRows, TileSide, register_tile
from codegen.record import record
from codegen.scop.expr import Binary, walk
from codegen.scop.model import Access, Statement
from codegen.scop.tree import Band, Loop, enclosing, has_band, loops, statements
from codegen.scop.types import CType
from codegen.strategy.cost.cycles import ACCESSES
from codegen.strategy.cost.tile_sizes import written_out
from codegen.transform.program import Program

STRIP = 128  # lanes that a thread takes at a time
MOST = 8  # vectors side by side
# Steps that go through registers: what vectors read in each is another line, and prefetchers follow a few of them.
# Depthwise convolution on a Neoverse N1, f64, of gcc's speed with 64, 256 and 1000 channels: 3, 5 and 7 steps 1.6, 1.4,
# 1.2; 1.3, 1.0, 1.1; 1.5, 1.0, 1.0; 9 and 11 steps 1.9, 1.5, 0.7 and 1.1, 0.9, 0.6.
FEW_STEPS = 8


@record
class Through:
    """What puts the free loop outside, and the register tile that the sequential one runs through."""

    steps: tuple[Directive, ...]
    vector: Vector
    tile: RegisterRows


def around_recurrence(p: Program, band: Band, machine: Machine) -> Through | None:
    """For a band that ends in a sequential loop around a free one: the free one outside, in vectors. None where that
    has no use."""
    if len(band.loops) < 2 or has_band(band.child) or band.product is not None:
        return None
    row, lane = band.loops[-2:]
    if row.coincident or not lane.coincident or row.tile or lane.tile or row.kind or lane.kind:
        return None
    names = statements(band)
    stmts = [p.scop.statement(n) for n in names]
    elem = lane_type(p, stmts, machine, whole=True)
    if elem is None or not all(_slides(p, s, elem) for s in stmts):
        return None
    wanted = min(MOST, int(machine.fma_latency * machine.fma_throughput))
    side = TileSide(_along(p, stmts, -1), {}, 1, _along(p, stmts, -2))
    tile = register_tile(stmts, side, RegisterBudget(machine.registers, machine.lanes(elem.bytes), max(1, wanted)))
    outer, inner = LoopRef(lane.name, names[0]), LoopRef(row.name, names[0])
    vector = Vector(outer, machine.vector_bits // 8, tile.vectors)
    return Through((Tile(((outer, STRIP), (inner, 0))), vector), vector, tile)


def around_taps(p: Program, band: Band, machine: Machine) -> Through | None:
    """For a nest that ends in sequential loops, in order, right inside a free one that runs along rows: that one in
    vectors. None where that has no use."""
    names = statements(band)
    around = enclosing(p.tree, names[0])
    rows = next((k for k, lp in enumerate(reversed(around)) if lp.coincident), 0)
    if not rows or len(names) > 1:
        return None
    s, lane = p.scop.statement(names[0]), around[-1 - rows]
    place = next(q for q in loops(p.tree) if q.loop is lane)
    elem = lane_type(p, [s], machine, whole=True)
    if elem is None or statements(place.band) != names or lane.kind or any(lp.tile for lp in around[-1 - rows :]):
        return None
    if not _window(p, s, elem, rows):
        # Compilers write a single loop out by themselves, and make vectors along the one around it.
        alone = rows == 1 and written_out(p.scop, around[-1], names)
        n = len(around)
        return None if alone else _few(p, s, n - 1 - rows, tuple(range(n - rows, n)), machine)
    wanted = min(MOST, int(machine.fma_latency * machine.fma_throughput))
    side = TileSide(_along(p, [s], -1 - rows), {}, 1, _along(p, [s], -1))
    tile = register_tile([s], side, RegisterBudget(machine.registers, machine.lanes(elem.bytes), max(1, wanted)))
    vector = Vector(LoopRef(lane.name, names[0]), machine.vector_bits // 8, tile.vectors)
    return Through((vector,), vector, tile)


def through_few_steps(p: Program, band: Band, machine: Machine) -> Through | None:
    """For a free loop innermost in sequential ones that are steps on each of its elements: the free one outside the
    last few of those, in vectors. None where that has no use."""
    names = statements(band)
    if len(names) > 1 or has_band(band.child):
        return None
    s, around = p.scop.statement(names[0]), enclosing(p.tree, names[0])
    first = lane = len(around) - 1
    while first and move(p.scop, s, s.accesses[s.target], around, first - 1).still:
        first -= 1
    return _few(p, s, lane, tuple(range(first, lane)), machine)


def _few(p: Program, s: Statement, lane: int, steps: tuple[int, ...], machine: Machine) -> Through | None:
    """The loop at place `lane` in vectors, which go through the last of the loops at the places `steps` in registers:
    as many of those as are a few steps. None where there are none, or other statements or marks in the way."""
    around, elem = enclosing(p.tree, s.name), lane_type(p, [s], machine, whole=True)
    mine = [around[k] for k in (lane, *steps)]
    alone = all(statements(q.band) == (s.name,) for q in loops(p.tree) if any(q.loop is lp for lp in mine))
    if elem is None or not alone or any(lp.tile or lp.kind for lp in mine) or not arithmetic(p, s, elem):
        return None
    inside = next((steps[k:] for k in range(len(steps)) if 1 < _count(s, around, steps[k:]) <= FEW_STEPS), ())
    moving = _moving(p, s, elem, lane, inside)
    if not inside or not moving:
        return None
    # As many as the units have under way, where a step of one takes an operation, or the loads of what moves.
    wanted = ceil(machine.fma_latency / max(1 / machine.fma_throughput, moving / ACCESSES))
    budget = RegisterBudget(machine.registers, machine.lanes(elem.bytes), max(1, min(MOST, wanted)))
    side = TileSide(_along(p, [s], lane - len(around)), {}, 1, _along(p, [s], inside[-1] - len(around)))
    tile = register_tile([s], side, budget)
    outside = steps[: len(steps) - len(inside)]
    order = Order(tuple(LoopRef(around[k].name, s.name) for k in (*outside, lane, *inside)))
    vector = Vector(LoopRef(around[lane].name, s.name), machine.vector_bits // 8, tile.vectors)
    return Through((order, vector), vector, tile)


def _count(s: Statement, around: Sequence[Loop], which: Sequence[int]) -> int:
    """Iterations of loops while all others stand still, at most; 0 where nobody knows."""
    changes = [step_of(s, around, k) for k in which]
    inside = {d for c in changes for d, x in enumerate(c or ()) if x}
    most = most_instances(s, [d for d in range(len(s.iterators)) if d not in inside])
    return 0 if None in changes or most is None else most


def _moving(p: Program, s: Statement, elem: CType, lane: int, steps: Sequence[int]) -> int:
    """How many accesses move with the loops at the places `steps`, where vectors lie along the loop `lane` and the
    target stays; else 0. Also where others of the target's array move: it has to be in memory for those."""
    around, moving = enclosing(p.tree, s.name), 0
    for number, a in enumerate(s.accesses):
        along = move(p.scop, s, a, around, lane)
        stays = all(move(p.scop, s, a, around, k).still for k in steps)
        if along.unit and not lies_in_rows(p, a, elem):
            return 0
        if not stays and a.array == s.accesses[s.target].array:
            return 0
        if not (along.unit and stays if number == s.target else along.unit or along.still):
            return 0
        moving += not stays
    return moving


def _window(p: Program, s: Statement, elem: CType, rows: int) -> bool:
    """Do the lanes of a statement run along the loop around the innermost `rows`, which leave its target where it is,
    and does all else that is different in each lane slide along rows in one of them? Then neighbours share most of
    it, whatever the others do."""
    around = enclosing(p.tree, s.name)
    n = len(around)
    if not arithmetic(p, s, elem):
        return False
    for number, a in enumerate(s.accesses):
        lane = move(p.scop, s, a, around, n - 1 - rows)
        inside = [move(p.scop, s, a, around, n - k).steps for k in range(1, rows + 1)]
        if lane.still and number != s.target:
            continue
        if not lane.unit or not lies_in_rows(p, a, elem):
            return False
        slides = any(x is not None and any(x) and not any(x[:-1]) for x in inside)
        stays = all(x is not None and not any(x) for x in inside)
        if not (stays if number == s.target else slides or stays):
            return False
    return True


def _along(p: Program, stmts: Sequence[Statement], which: int) -> Direction:
    """A step of one of the loops around the statements, counted from the innermost."""
    out = {}
    for s in stmts:
        around = enclosing(p.tree, s.name)
        change = step_of(s, around, len(around) + which)
        if change is not None:
            out[s.name] = change
    return out


def _slides(p: Program, s: Statement, elem: CType) -> bool:
    """Do the lanes of a statement run along the last loop, and everything that moves with the last but one, too, slide
    along rows?"""
    around = enclosing(p.tree, s.name)
    n = len(around)
    along = [(move(p.scop, s, a, around, n - 1), move(p.scop, s, a, around, n - 2)) for a in s.accesses]
    lane, row = along[s.target]
    if not lane.unit or not row.still or not arithmetic(p, s, elem):
        return False
    for a, (lane, row) in zip(s.accesses, along, strict=True):
        if lane.still:
            continue
        if not lane.unit or row.steps is None or any(row.steps[:-1]) or not lies_in_rows(p, a, elem):
            return False
    return True


def lane_type(p: Program, stmts: Sequence[Statement], machine: Machine, whole: bool = False) -> CType | None:
    """The type that all statements store, where vectors have some of it: a floating one, or a `whole` number, which
    compilers make good vectors of where it lies along an innermost loop."""
    elems = {p.scop.arrays[s.accesses[s.target].array].elem for s in stmts}
    if len(elems) != 1:
        return None
    (elem,) = elems
    known = has_vectors(elem, stmts) and (elem.kind == "float" or (whole and not _long_products(elem, stmts)))
    return elem if known and machine.vector_bits >= 2 * elem.bits else None


def has_vectors(elem: CType, stmts: Sequence[Statement]) -> bool:
    """Floating types do, and integers without quotients."""
    return lanes.has_vectors(elem) and (elem.kind == "float" or not _uses(stmts, "/"))


def _long_products(elem: CType, stmts: Sequence[Statement]) -> bool:
    """Of 64 bits, which most processors have no vectors for."""
    return elem.bits == 64 and elem.kind == "int" and _uses(stmts, "*")


def _uses(stmts: Sequence[Statement], op: str) -> bool:
    return any(s.op == op + "=" or any(isinstance(e, Binary) and e.op == op for e in walk(s.rhs)) for s in stmts)


def lies_in_rows(p: Program, a: Access, elem: CType) -> bool:
    """Are neighbours along the last subscript next to each other in memory, of this type? Members of structs are not:
    a loop put outside for vectors of them would have none. Positions moved by velocities, 20000 structs of four f64, 4
    steps, Neoverse N1: 0.55 of gcc's speed."""
    array = p.scop.arrays[a.array]
    return array.elem == elem and lanes.in_row(a, a.index.dim(isl.dim_type.out))


def arithmetic(p: Program, s: Statement, elem: CType) -> bool:
    """Sums, products and the like in the type of the elements?"""
    kind = type_of(p.scop, s, s.rhs)
    return kind is not None and (kind.kind, kind.bits) == (elem.kind, elem.bits) and lanes.plainly(p.scop, s, elem)
