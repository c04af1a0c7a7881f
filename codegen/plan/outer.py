"""Vectors along a loop around a sequential one: what each lane takes further stays in a register.

A sum over i for every k, `r[k] += x[i] * x[i + k]`, has its vectors along k. With k innermost every step loads and
stores r; with i innermost and some vectors of k side by side, r stays in registers, and the values of x that neighbours
share are near. Rows of a matrix are read along its lines and no other way, so those stay as they are (`plan/lines.py`,
products).
Neoverse N1, f64: autocorrelation 0.75 cycles a step with k innermost, 0.33 with i.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.machine import Machine
from codegen.plan.model import Directive, LoopRef, Tile, Vector
from codegen.recognize.ctypes import type_of
from codegen.recognize.strides import move
from codegen.scop.expr import Binary, Cast, Lit, Ref, Sym, Unary, walk
from codegen.scop.model import Statement
from codegen.scop.tree import Band, enclosing, has_band, statements
from codegen.scop.types import CType
from codegen.transform.program import Program

STRIP = 128  # lanes that a thread takes at a time
MOST = 8  # vectors side by side
_OPS = ("+", "-", "*", "/")


def around_recurrence(p: Program, band: Band, machine: Machine) -> tuple[Directive, ...]:
    """For a band that ends in a sequential loop around a free one: the free one outside, in vectors. Nothing where
    that has no use."""
    if len(band.loops) < 2 or has_band(band.child) or band.product is not None:
        return ()
    row, lane = band.loops[-2:]
    if row.coincident or not lane.coincident or row.tile or lane.tile or row.kind or lane.kind:
        return ()
    names = statements(band)
    stmts = [p.scop.statement(n) for n in names]
    elem = lane_type(p, stmts, machine)
    if elem is None:
        return ()
    kept = [_kept(p, s, elem) for s in stmts]
    if any(k is None for k in kept):
        return ()
    wanted = int(machine.fma_latency * machine.fma_throughput)
    room = machine.registers // (1 + sum(k for k in kept if k is not None))
    times = max(1, min(MOST, wanted, room))
    outer, inner = LoopRef(lane.name, names[0]), LoopRef(row.name, names[0])
    return Tile(((outer, STRIP), (inner, 0))), Vector(outer, machine.vector_bits // 8, times)


def _kept(p: Program, s: Statement, elem: CType) -> int | None:
    """How many vectors of a statement stay in registers along the last loop but one, if its lanes run along the last
    and everything that moves with both slides along lines; None where that is not so."""
    around = enclosing(p.tree, s.name)
    n = len(around)
    along = [(move(p.scop, s, a, around, n - 1), move(p.scop, s, a, around, n - 2)) for a in s.accesses]
    lane, row = along[s.target]
    if not lane.unit or not row.still or not arithmetic(p, s, elem):
        return None
    for a, (lane, row) in zip(s.accesses, along, strict=True):
        if lane.still:
            continue
        if not lane.unit or row.steps is None or any(row.steps[:-1]) or p.scop.arrays[a.array].elem != elem:
            return None
    return len({(a.array, row.steps) for a, (lane, row) in zip(s.accesses, along, strict=True) if row.still})


def lane_type(p: Program, stmts: Sequence[Statement], machine: Machine) -> CType | None:
    """The floating type that all statements store, where vectors have some of it."""
    elems = {p.scop.arrays[s.accesses[s.target].array].elem for s in stmts}
    if len(elems) != 1:
        return None
    (elem,) = elems
    known = elem.kind == "float" and elem.bits in (32, 64) and "_Complex" not in elem.spelling
    return elem if known and machine.vector_bits >= 2 * elem.bits else None


def arithmetic(p: Program, s: Statement, elem: CType) -> bool:
    """Sums, products and the like in the type of the elements?"""
    kind = type_of(p.scop, s, s.rhs)
    if kind is None or (kind.kind, kind.bits) != (elem.kind, elem.bits) or s.op not in ("=", "+=", "-=", "*=", "/="):
        return False
    for e in walk(s.rhs):
        if isinstance(e, Binary) and e.op in _OPS:
            continue
        if isinstance(e, Unary) and e.op in ("-", "+"):
            continue
        if not isinstance(e, (Lit, Sym, Ref, Cast)):
            return False
    return True
