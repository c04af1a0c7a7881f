"""Describes a band of loops in numbers for the tile-size model (`KernelNest`): extents, how far each loop moves the
references to an array, and the work of a point."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from math import prod

import islpy as isl

from codegen.recognize.access.strides import coefficients, step_of
from codegen.record import record
from codegen.scop.expr import Binary, Call
from codegen.scop.expr import walk as walk_expr
from codegen.scop.model import Access, Scop, Statement
from codegen.scop.tree import Loop, enclosing
from codegen.strategy.cost.tile_sizes import constant_extent
from codegen.transform.program import Program


@record
class ReferenceGroup:
    """References to an array that one box serves: how far each loop moves it, by dimension."""

    array: str
    bytes: int
    moves: tuple[tuple[int, ...], ...]  # per dimension, per loop
    spread: tuple[int, ...]
    write: bool

    def sides(self, sizes: Sequence[int]) -> list[int]:
        return [fixed + sum([m * sizes[k] for k, m in moved]) for fixed, moved in self._formulas]

    @cached_property
    def _formulas(self) -> tuple[tuple[int, tuple[tuple[int, int], ...]], ...]:
        """Each side as a number, and factors of the sizes that it grows with: most grow with one alone."""
        rows = [tuple((k, abs(m)) for k, m in enumerate(row) if m) for row in self.moves]
        return tuple((1 + s - sum(m for _, m in row), row) for row, s in zip(rows, self.spread, strict=True))

    def moved_by(self, k: int) -> bool:
        return any(row[k] for row in self.moves)


@record
class KernelNest:
    """A band with the loops below it: names, extents where known, references, and work per point."""

    names: tuple[str, ...]
    extents: tuple[int | None, ...]
    bound: int
    groups: tuple[ReferenceGroup, ...]
    work: float  # arithmetic operations per point
    triangular: bool  # does the second bound loop's range depend on the first's?
    variables: int  # bytes of the region's own variables, per point of the bound loops

    @property
    def vectors(self) -> int | None:
        """The number of the loop whose sums are neighbours, where the last loop adds up."""
        written = [g for g in self.groups if g.write]
        if len(written) != 1 or written[0].moved_by(len(self.names) - 1) or not written[0].moves:
            return None
        return max((k for k in range(self.bound) if written[0].moves[-1][k]), default=None)

    @property
    def is_product(self) -> bool:
        """C[0][1] from A[0][2] and B[2][1], with the loops as numbers."""
        if len(self.names) != 3 or self.bound != 2 or self.triangular:
            return False
        writes = [g.moves for g in self.groups if g.write]
        reads = sorted(g.moves for g in self.groups if not g.write)
        return writes == [((1, 0, 0), (0, 1, 0))] and reads == [((0, 0, 1), (0, 1, 0)), ((1, 0, 0), (0, 0, 1))]


def describe(
    p: Program, loops: Sequence[Loop], stmts: tuple[str, ...], width: int
) -> tuple[KernelNest, list[tuple[str, str]]]:
    """The nest, and which (statement, loop) pairs lie below the band."""
    scop = p.scop
    band = [lp.name for lp in loops]
    names = list(band)
    extents = [_extent(scop, lp) for lp in loops]
    below: list[tuple[str, str]] = []
    chains: dict[str, tuple[Loop, ...]] = {}
    for name in stmts:
        around = enclosing(p.tree, name)
        start = next(k for k, lp in enumerate(around) if lp.name in band)
        mine = [lp for lp in around[start:] if lp.name in band]
        inner = [lp for lp in around[start:] if lp.name not in band]
        chains[name] = (*around[:start], *mine, *inner)
        for lp in inner:
            below.append((name, lp.name))
            if lp.name not in names:
                names.append(lp.name)
                extents.append(_extent(scop, lp))
    groups: list[ReferenceGroup] = []
    work = 1.0
    for name in stmts:
        s = scop.statement(name)
        work = max(work, float(sum(isinstance(e, (Binary, Call)) for e in walk_expr(s.rhs))))
        for a in s.accesses:
            if scop.arrays[a.array].inside or not scop.arrays[a.array].rank:
                continue
            groups.append(_group(scop, s, a, chains[name], names))
    return KernelNest(tuple(names), tuple(extents), width, tuple(_merged(groups)), work,
                _triangular(scop, loops, stmts), _variables(scop, stmts)), below


def _triangular(scop: Scop, loops: Sequence[Loop], stmts: tuple[str, ...]) -> bool:
    if len(loops) < 2:
        return False
    for name in stmts:
        domain = scop.statement(name).domain
        pair = isl.Map.from_pw_aff(loops[0].exprs[name]).flat_range_product(isl.Map.from_pw_aff(loops[1].exprs[name]))
        values = pair.intersect_domain(domain).range()
        first = values.project_out(isl.dim_type.set, 1, 1).insert_dims(isl.dim_type.set, 1, 1)
        second = values.project_out(isl.dim_type.set, 0, 1).insert_dims(isl.dim_type.set, 0, 1)
        if not first.intersect(second).is_subset(values):
            return True
    return False


def _extent(scop: Scop, lp: Loop) -> int | None:
    found = [constant_extent(scop, lp, s) for s in lp.exprs]
    return max(e for e in found if e is not None) if all(e is not None for e in found) else None


def _variables(scop: Scop, stmts: tuple[str, ...]) -> int:
    used = {a.array for n in stmts for a in scop.statement(n).accesses if scop.arrays[a.array].inside}
    sizes = {n: [int(e) for e in scop.arrays[n].extents if e.isdigit()] for n in used}
    return sum(scop.arrays[n].elem.bytes * prod(sizes[n]) for n in used)


def _group(scop: Scop, s: Statement, a: Access, chain: Sequence[Loop], names: Sequence[str]) -> ReferenceGroup:
    """How the loops of a chain move one access."""
    rank = a.index.dim(isl.dim_type.out)
    steps = {lp.name: step_of(s, chain, k) for k, lp in enumerate(chain)}
    rows, offsets = [], []
    for d in range(rank):
        value = a.index.get_pw_aff(d)
        c = coefficients(value, len(s.iterators))
        row = []
        for n in names:
            step = steps.get(n)
            if step is None:
                row.append(0)
                continue
            moved = sum((x * y for x, y in zip(c, step, strict=True)), Fraction(0)) if c is not None else Fraction(1)
            row.append(int(abs(moved)) if moved else 0)
        rows.append(tuple(row))
        offsets.append(_constant(value))
    return ReferenceGroup(a.array, scop.arrays[a.array].elem.bytes, tuple(rows), tuple(offsets), a.write)


def _constant(value: isl.PwAff) -> int:
    pieces = value.get_pieces()
    v = pieces[0][1].get_constant_val()
    return v.get_num_si() if v.is_int() else 0


def _merged(groups: Sequence[ReferenceGroup]) -> list[ReferenceGroup]:
    """References that move alike share a box as wide as their offsets differ."""
    found: dict[tuple[object, ...], list[ReferenceGroup]] = {}
    for g in groups:
        found.setdefault((g.array, g.moves), []).append(g)
    out = []
    for same in found.values():
        spread = tuple(max(c) - min(c) for c in zip(*(g.spread for g in same), strict=True))
        first = same[0]
        out.append(ReferenceGroup(first.array, first.bytes, first.moves, spread, any(g.write for g in same)))
    return out
