"""Decides where an innermost loop is written as vectors, four at a time: where every iteration of the sequential loop
around it goes over the same rows again. Returns the `vector` directive, or None.

Such lines stay in a cache, so that the loop is bound by what has to be issued; compilers write one vector at a time,
with all that counts the loop. Neoverse N1, f64, durbin with its sums in vectors: 2.37 ms with the other two loops
left to the compiler, 1.95 with four vectors at a time. What comes from memory gains nothing by it.
"""

from __future__ import annotations

from codegen.machine import Machine
from codegen.plan.model import LoopRef, Vector
from codegen.recognize.access.strides import move
from codegen.scop.model import Statement
from codegen.scop.tree import CONCURRENT, Band, enclosing, statements
from codegen.scop.types import CType
from codegen.strategy.loops.outer_vectors import arithmetic, lane_type, lies_in_rows
from codegen.transform.program import Program

TIMES = 4


def reused_rows(p: Program, band: Band, machine: Machine) -> Vector | None:
    """The innermost loop of a band as vectors, where every iteration of the loop around goes over the same lines."""
    names = statements(band)
    stmts = [p.scop.statement(n) for n in names]
    elem = lane_type(p, stmts, machine)
    if elem is None or not all(arithmetic(p, s, elem) and _same_lines(p, s) for s in stmts):
        return None
    return Vector(LoopRef(band.loops[-1].name, names[0]), machine.vector_bits // 8, TIMES)


def root_vectors(p: Program, band: Band, machine: Machine) -> int:
    """Bytes of vectors in which an innermost loop with square roots can be written; 0 where it cannot."""
    stmts = [p.scop.statement(n) for n in statements(band)]
    elem = lane_type(p, stmts, machine)
    if elem is None or not all(arithmetic(p, s, elem) and _in_rows(p, s, elem) for s in stmts):
        return 0
    return machine.vector_bits // 8


def _in_rows(p: Program, s: Statement, elem: CType) -> bool:
    """Do all accesses run along rows of the loop, or stay where they are?"""
    around = enclosing(p.tree, s.name)
    for a in s.accesses:
        along = move(p.scop, s, a, around, len(around) - 1)
        if p.scop.arrays[a.array].inside or not ((along.unit and lies_in_rows(p, a, elem)) or along.still):
            return False
    return move(p.scop, s, s.accesses[s.target], around, len(around) - 1).unit


def _same_lines(p: Program, s: Statement) -> bool:
    """Do all accesses run along rows that the sequential loop around does not leave?"""
    around = enclosing(p.tree, s.name)
    n = len(around)
    if n < 2 or around[-2].kind in CONCURRENT or around[-2].tile or around[-1].tile:
        return False
    target = s.accesses[s.target]
    for a in s.accesses:
        along, again = move(p.scop, s, a, around, n - 1), move(p.scop, s, a, around, n - 2)
        if not along.unit and not (along.still and a is not target):
            return False
        if again.steps is None or any(again.steps[:-1]):
            return False
        if along.unit and not lies_in_rows(p, a, p.scop.arrays[target.array].elem):
            return False
    return True
