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
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.machine import Machine
from codegen.plan.model import Directive, LoopRef, Tile, Vector
from codegen.recognize import lanes
from codegen.recognize.access.ctypes import type_of
from codegen.recognize.access.strides import move, step_of
from codegen.recognize.ownership.registers import Direction, RegisterBudget, RegisterRows, TileSide, register_tile
from codegen.record import record
from codegen.scop.expr import Binary, walk
from codegen.scop.model import Statement
from codegen.scop.tree import Band, enclosing, has_band, loops, statements
from codegen.scop.types import CType
from codegen.transform.program import Program

STRIP = 128  # lanes that a thread takes at a time
MOST = 8  # vectors side by side


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
        return None
    wanted = min(MOST, int(machine.fma_latency * machine.fma_throughput))
    side = TileSide(_along(p, [s], -1 - rows), {}, 1, _along(p, [s], -1))
    tile = register_tile([s], side, RegisterBudget(machine.registers, machine.lanes(elem.bytes), max(1, wanted)))
    vector = Vector(LoopRef(lane.name, names[0]), machine.vector_bits // 8, tile.vectors)
    return Through((vector,), vector, tile)


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
        if not lane.unit or p.scop.arrays[a.array].elem != elem:
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
        if not lane.unit or row.steps is None or any(row.steps[:-1]) or p.scop.arrays[a.array].elem != elem:
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


def arithmetic(p: Program, s: Statement, elem: CType) -> bool:
    """Sums, products and the like in the type of the elements?"""
    kind = type_of(p.scop, s, s.rhs)
    return kind is not None and (kind.kind, kind.bits) == (elem.kind, elem.bits) and lanes.plainly(p.scop, s, elem)
