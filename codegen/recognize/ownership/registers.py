"""Chooses register tiles of stencils and products (`register_tile`): how many rows side by side, and how many vectors
of each, share what one thread owns.

One count decides: the different elements that the iterations of a tile touch. What the loops inside leave in its place
belongs to the tile, and stays in registers while they run; what neighbours share is read once for all of them. The tile
that leaves the fewest reads per point is taken, within the registers of the machine's description.

Rows side by side count where data stay in the first-level cache, and are asked for there only: elsewhere four rows step
through more lines than prefetchers follow. The sum of three points down a column, f64, Neoverse N1: four rows 0.28 ns a
point, one 0.44, in the first cache; 0.85 and 0.54 from the second, 0.68 and 0.58 from memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import islpy as isl

from codegen.recognize.access.strides import coefficients
from codegen.record import record
from codegen.scop.model import Access, Statement

# Lines that rows side by side may step through at once. With more, prefetchers lose track of them: heat-3d has 18,
# and takes 4.7 cycles a point with four rows, 4.2 with one.
STREAMS = 16

Number = Fraction | int
Direction = Mapping[str, Sequence[Number]]  # by how much a step along a loop changes each statement's iterators
Element = tuple[str, tuple[tuple[Number, ...], ...], tuple[Number, ...]]  # array, subscripts' factors and constants


@record
class RegisterBudget:
    """What whoever executes a tile may use: so many registers of `lanes` elements each, and no more vectors in flight,
    rows times vectors of each, than are wanted."""

    registers: int
    lanes: int = 1
    vectors: int = 8


@record
class TileSide:
    """The loops of a tile: `row`, of which up to `rows` iterations go side by side (empty: one), `lane`, along which
    vectors lie, and `through`, which runs inside the tile (empty: nothing does)."""

    lane: Direction
    row: Direction
    rows: int = 1
    through: Direction | None = None


@record
class RegisterRows:
    """Rows and vectors of each; what is read per point, as against `alone`; the registers that it takes, and the arrays
    whose elements stay there while the loop inside runs."""

    rows: int
    vectors: int
    reads: Fraction
    alone: int
    registers: int
    kept: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        """In words, for a remark."""
        stays = f"; {', '.join(self.kept)} stays in registers" if self.kept else ""
        reads = f"{float(self.reads):.2g} of {self.alone} reads per point"
        tile = f"rows side by side: {self.rows}, vectors of each: {self.vectors}"
        return f"{tile}{stays}; {reads}, in {self.registers} registers"


def register_tile(stmts: Sequence[Statement], side: TileSide, budget: RegisterBudget) -> RegisterRows:
    """The best tile. Where nothing fits, a single vector."""
    rows = [n for n in (side.rows, 1) if n == 1 or (side.row and _lines(stmts, side, n) <= STREAMS)]
    return min((_widest(stmts, side, n, budget) for n in rows), key=lambda c: (c.reads, c.registers))


def alone(stmts: Sequence[Statement], side: TileSide, budget: RegisterBudget) -> RegisterRows:
    """One row at a time, whatever rows would share."""
    return _widest(stmts, TileSide(side.lane, {}, 1, side.through), 1, budget)


def unit(stmts: Sequence[Statement], names: Mapping[str, str]) -> Direction:
    """A step along an iterator of each statement."""
    return {s.name: [int(it == names[s.name]) for it in s.iterators] for s in stmts if names.get(s.name)}


def _widest(stmts: Sequence[Statement], side: TileSide, rows: int, budget: RegisterBudget) -> RegisterRows:
    """With as many vectors of each row as there are registers for what they touch."""
    vectors = max(1, budget.vectors // rows)
    while vectors > 1 and _held(stmts, side, rows, vectors, budget.lanes) > budget.registers:
        vectors = vectors // 2 if side.through is None else vectors - 1
    moving = [(s, a) for s in stmts for a in s.reads if not _stays(side, s, a)]
    reads, one = (len(_elements(moving, side, n, k, budget.lanes)) for n, k in ((rows, vectors), (1, 1)))
    kept = dict.fromkeys(a.array for s in stmts for a in s.accesses if _stays(side, s, a) and _moves(side.lane, s, a))
    held = _held(stmts, side, rows, vectors, budget.lanes)
    return RegisterRows(rows, vectors, Fraction(reads, rows * vectors), one, held, tuple(kept))


def _held(stmts: Sequence[Statement], side: TileSide, rows: int, vectors: int, lanes: int) -> int:
    """Registers: of different vectors that are touched, where nothing runs inside; else of those that stay, and one
    for each vector's operand on its way."""
    every = [(s, a) for s in stmts for a in s.accesses]
    if side.through is None:
        return len(_elements(every, side, rows, vectors, lanes))
    stay = [(s, a) for s, a in every if _stays(side, s, a) and _moves(side.lane, s, a)]
    return len(_elements(stay, side, rows, vectors, lanes)) + rows * vectors


def _lines(stmts: Sequence[Statement], side: TileSide, rows: int) -> int:
    """Lines of arrays that so many rows side by side step through."""
    found = _elements([(s, a) for s in stmts for a in s.accesses], side, rows, 1, 1)
    return len({(array, factors, at[:-1]) for array, factors, at in found})


def _stays(side: TileSide, s: Statement, a: Access) -> bool:
    """Does the loop inside leave the element in its place?"""
    return side.through is not None and not _moves(side.through, s, a)


def _moves(along: Direction, s: Statement, a: Access) -> bool:
    steps = _steps(along, s, a)
    return steps is None or any(steps)


def _steps(along: Direction, s: Statement, a: Access) -> tuple[Number, ...] | None:
    """How an access moves, for each subscript; None where that is no fixed step."""
    change = along.get(s.name)
    rows = [x.factors for x in _subscripts(s, a)]
    if change is None:
        return (0,) * len(rows)
    if any(r is None for r in rows):
        return None
    return tuple(_plain(sum(x * y for x, y in zip(r or (), change, strict=True) if x and y)) for r in rows)


def _elements(
    accesses: Sequence[tuple[Statement, Access]], side: TileSide, rows: int, vectors: int, lanes: int
) -> set[Element]:
    """What the iterations of a tile touch, vectors as a whole: told apart by the constants of their subscripts."""
    out = set()
    for s, a in accesses:
        subscripts = _subscripts(s, a)
        factors = tuple(x.factors or () for x in subscripts)
        row, lane = (_steps(d, s, a) or (0,) * len(subscripts) for d in (side.row, side.lane))
        for r in range(rows):
            for k in range(vectors):
                at = [v.constant + r * x + k * lanes * y for v, x, y in zip(subscripts, row, lane, strict=True)]
                out.add((a.array, factors, tuple(at)))
    return out


@record
class _Subscript:
    """What one is: factors of the statement's iterators, None where there is no such formula, and a constant."""

    factors: tuple[Number, ...] | None
    constant: int


def _subscripts(s: Statement, a: Access) -> tuple[_Subscript, ...]:
    """All subscripts of an access. Every tile asks; the answer stays with the access, which never changes."""
    count = len(s.iterators)
    known: tuple[int, tuple[_Subscript, ...]] | None = a.__dict__.get("_factors")
    if known is None or known[0] != count:
        values = [a.index.get_pw_aff(d) for d in range(a.index.dim(isl.dim_type.out))]
        known = count, tuple(_Subscript(_factors(v, count), _constant(v)) for v in values)
        a.__dict__["_factors"] = known
    return known[1]


def _factors(value: isl.PwAff, count: int) -> tuple[Number, ...] | None:
    found = coefficients(value, count)
    return None if found is None else tuple(map(_plain, found))


def _plain(x: Number) -> Number:
    """An integer where it is one: arithmetic with fractions takes ten times as long."""
    return int(x) if x.denominator == 1 else x


def _constant(value: isl.PwAff) -> int:
    pieces = value.get_pieces()
    return int(pieces[0][1].get_constant_val().get_num_si()) if len(pieces) == 1 else 0
