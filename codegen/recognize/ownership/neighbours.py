"""Register tiles of stencils: how many rows, and vectors of each, run side by side.

No thread owns what neighbours share, but whoever computes several points at once reads it once for all of them. The
search takes the tile that leaves the fewest reads per point within the registers. It counts where data stay in the
first-level cache, and is asked for tiles there only: elsewhere four rows step through more lines than prefetchers
follow. The sum of three points down a column, f64, Neoverse N1: four rows 0.28 ns a point, one 0.44, in the first
cache; 0.85 and 0.54 from the second, 0.68 and 0.58 from memory.
"""

from __future__ import annotations

from fractions import Fraction

import islpy as isl

from codegen.recognize.strides import coefficients
from codegen.record import record
from codegen.scop.model import Access, Statement

VECTORS = 8  # in flight, rows times vectors side by side: jacobi-2d 1.78 cycles a point with 4, 1.64 with 8
# Lines that rows side by side may step through at once. With more, prefetchers lose track of them: heat-3d has 18,
# and takes 4.7 cycles a point with four rows, 4.2 with one.
STREAMS = 16


@record
class SideBySide:
    """Rows and vectors of each; what is read per point, as against `alone`; and the registers that it takes."""

    rows: int
    vectors: int
    reads: Fraction
    alone: int
    registers: int

    @property
    def reason(self) -> str:
        """In words, for a remark."""
        reads = f"{float(self.reads):.2g} of {self.alone} reads per point"
        tile = f"rows side by side: {self.rows}, vectors of each: {self.vectors}"
        return f"{tile}; {reads}, in {self.registers} registers"


def side_by_side(s: Statement, row: str, rows: int, lanes: int, registers: int) -> SideBySide:
    """The best tile of at most so many rows, which the iterator `row` counts; "" where there is only one."""
    choices = [_tile(s, row, n, lanes, registers) for n in ((rows, 1) if row else (1,)) if _lines(s, row, n) <= STREAMS]
    return min(choices or [_tile(s, row, 1, lanes, registers)], key=lambda c: (c.reads, c.registers))


def _tile(s: Statement, row: str, rows: int, lanes: int, registers: int) -> SideBySide:
    """With as many vectors of each row as there are registers for what they touch."""
    vectors = max(1, VECTORS // rows)
    while vectors > 1 and _held(s, row, rows, vectors, lanes) > registers:
        vectors //= 2
    reads, alone = (len(_elements(s.reads, s, row, n)) for n in (rows, 1))
    return SideBySide(rows, vectors, Fraction(reads, rows), alone, _held(s, row, rows, vectors, lanes))


def _held(s: Statement, row: str, rows: int, vectors: int, lanes: int) -> int:
    """Different vectors that are touched."""
    found = _elements(s.accesses, s, row, rows)
    return len({(array, (*at[:-1], at[-1] + k * lanes)) for array, at in found for k in range(vectors) if at})


def _lines(s: Statement, row: str, rows: int) -> int:
    """Lines of arrays that so many rows side by side step through."""
    return len({(array, at[:-1]) for array, at in _elements(s.accesses, s, row, rows)})


def _elements(
    accesses: tuple[Access, ...], s: Statement, row: str, rows: int
) -> set[tuple[str, tuple[int, ...]]]:
    """What some rows of a statement touch: arrays with the constant parts of their subscripts."""
    out = set()
    n = len(s.iterators)
    k = s.iterators.index(row) if row in s.iterators else -1
    for a in accesses:
        values = [a.index.get_pw_aff(d) for d in range(a.index.dim(isl.dim_type.out))]
        parts = [coefficients(v, n) for v in values]
        steps = [int(c[k]) if c and k >= 0 else 0 for c in parts]
        for r in range(rows):
            out.add((a.array, tuple(_constant(v) + r * step for v, step in zip(values, steps, strict=True))))
    return out


def _constant(value: isl.PwAff) -> int:
    pieces = value.get_pieces()
    return int(pieces[0][1].get_constant_val().get_num_si()) if len(pieces) == 1 else 0
