"""Decides on vectors for nests that load along the innermost loop and store along the one around it: what is read is
transposed in registers. Returns the `vector` directive for the outer of the two loops, or None.

Compilers take one of the two element by element. What is read is transposed in registers instead
(`lower/transpose.py`), and whole lines are stored. Neoverse N1, f64, permute-021, of the speed of gcc's code for the
plain loops, by tiles of 32 x 128 and by transposed blocks in them: 700 x 700 1.01 and 1.10, 1000 x 1000 1.43 and 1.80,
2048 x 2048 1.55 and 2.12, 4000 x 4000 2.25 and 2.85.
"""

from __future__ import annotations

from codegen.machine import Machine
from codegen.plan.model import LoopRef, Vector
from codegen.recognize.access.strides import AccessStride, move
from codegen.scop.model import Statement
from codegen.scop.tree import Band, enclosing, statements
from codegen.scop.types import CType
from codegen.strategy.loops.outer_vectors import arithmetic, has_vectors, lies_in_rows
from codegen.transform.program import Program

BYTES = 16  # wider vectors take more steps to transpose on processors that have them


def across_rows(p: Program, band: Band, machine: Machine) -> Vector | None:
    """Vectors that fill a line, along the loop around the innermost one, where something is transposed for it."""
    names = statements(band)
    stmts = [p.scop.statement(n) for n in names]
    elems = {p.scop.arrays[s.accesses[s.target].array].elem for s in stmts}
    around = enclosing(p.tree, names[0])
    if len(elems) != 1 or len(around) < 2 or len(band.loops) < 2 or machine.vector_bits < 8 * BYTES:
        return None
    (elem,), lane, row = elems, *around[-2:]
    if not has_vectors(elem, stmts) or any(lp.tile or lp.kind or not lp.coincident for lp in (lane, row)):
        return None
    written = {s.accesses[s.target].array for s in stmts}
    reads = [_transposed_reads(p, s, elem, written) for s in stmts]
    if None in reads or not any(reads):
        return None
    # As many as fill a line, where half of the registers hold the rows of a block.
    times = min(machine.line_bytes // BYTES, machine.registers * elem.bytes // (2 * BYTES))
    return Vector(LoopRef(lane.name, names[0]), BYTES, max(1, times))


def _transposed_reads(p: Program, s: Statement, elem: CType, written: set[str]) -> int | None:
    """How many reads of a statement have to be transposed; None where it has no vectors."""
    around, count = enclosing(p.tree, s.name), 0
    if not arithmetic(p, s, elem):
        return None
    for number, a in enumerate(s.accesses):
        array, read = p.scop.arrays[a.array], number != s.target
        lane, row = (move(p.scop, s, a, around, len(around) - k) for k in (2, 1))
        if read and lane.still:
            continue
        if array.inside or not lies_in_rows(p, a, elem):
            return None
        if not _forwards(lane):
            if not read or a.array in written or not _forwards(row):
                return None
            count += 1
    return count


def _forwards(m: AccessStride) -> bool:
    return m.unit and m.steps is not None and m.steps[-1] == 1
