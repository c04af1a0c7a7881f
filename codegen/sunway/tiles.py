"""Tile sizes from a model of local memory and DMA, instead of one constant.

For every candidate the boxes of all references are estimated from how far each loop moves them; those that fit are
compared by the time one point takes: transfers at the rate of their blocks, shared by all cores, against arithmetic.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod

import islpy as isl

from codegen.plan.tiles import constant_extent
from codegen.recognize.strides import coefficients, step_of
from codegen.record import record
from codegen.scop.expr import Binary, Call
from codegen.scop.expr import walk as walk_expr
from codegen.scop.model import Access, Scop, Statement
from codegen.scop.tree import Loop, enclosing
from codegen.sunway.machine import COMMAND, CoreGroup
from codegen.sunway.threads import Grid
from codegen.transform.program import Program

SIZES = (4, 8, 16, 32, 48, 64, 96, 128, 192, 256, 512)
FEW = (1, 2, 4, 8, 16, 32, 64, 128)  # for nests of more than three loops
# Extents that parameters are taken to have: a size is judged by what it leaves idle over all of them.
EXTENTS = (800, 1000, 1100, 1200, 2000, 2600)
SHORT = 16  # loops that never run longer than this stay whole


@record
class Group:
    """References to an array that one box serves: how far each loop moves it, by dimension."""

    array: str
    bytes: int
    moves: tuple[tuple[int, ...], ...]  # per dimension, per loop
    spread: tuple[int, ...]
    write: bool

    def sides(self, sizes: Sequence[int]) -> list[int]:
        return [
            1 + s + sum(abs(m) * (t - 1) for m, t in zip(row, sizes, strict=True))
            for row, s in zip(self.moves, self.spread, strict=True)
        ]

    def moved_by(self, k: int) -> bool:
        return any(row[k] for row in self.moves)


@record
class Nest:
    """A band with the loops below it: names, extents where known, references, and work per point."""

    names: tuple[str, ...]
    extents: tuple[int | None, ...]
    bound: int
    groups: tuple[Group, ...]
    work: float  # arithmetic operations per point
    triangular: bool  # does the second bound loop's range depend on the first's?
    variables: int  # bytes of the region's own variables, per point of the bound loops


    @property
    def is_product(self) -> bool:
        """C[0][1] from A[0][2] and B[2][1], with the loops as numbers."""
        if len(self.names) != 3 or self.bound != 2 or self.triangular:
            return False
        writes = [g.moves for g in self.groups if g.write]
        reads = sorted(g.moves for g in self.groups if not g.write)
        return writes == [((1, 0, 0), (0, 1, 0))] and reads == [((0, 0, 1), (0, 1, 0)), ((1, 0, 0), (0, 0, 1))]


@dataclass
class TileModel:
    """Chooses sizes; remembers those of loops below a band for when they are asked for."""

    group: CoreGroup
    grid: Grid
    mesh: bool = False
    share: float = 1.0  # of local memory that may be used
    chosen: dict[tuple[str, str], int] = field(default_factory=dict)

    def __call__(self, p: Program, loops: Sequence[Loop], stmts: tuple[str, ...], width: int) -> Mapping[str, int]:
        if not width:
            return {lp.name: self.chosen.get((stmts[0], lp.name), 32) for lp in loops}
        nest, below = describe(p, loops, stmts, width)
        sizes = self.best(nest)
        result = dict(zip(nest.names, sizes, strict=True))
        for stmt, name in below:
            self.chosen[stmt, name] = result.get(name, 32)
        return {lp.name: result[lp.name] for lp in loops}

    def diagonal(self, p: Program, loops: Sequence[Loop], stmts: tuple[str, ...]) -> tuple[int, ...]:
        """The largest tiles that fit. Boxes are read and written; small steps of time keep many tiles on a diagonal."""
        nest, below = describe(p, loops, stmts, 0)
        if below or any(e is not None for e in nest.extents):
            return ()
        shapes = itertools.product(*([(4, 8)] if len(loops) > 2 else []), *([(16, 32, 64)] * (len(loops) - 1)))
        fitting = [s for s in shapes if self.bytes(nest, s) <= self._room and s[1] % s[0] == 0]
        return max(fitting, key=prod, default=())

    @property
    def _room(self) -> int:
        return int(self.share * (self.group.ldm_bytes - self.group.reserve - 1024))

    def best(self, nest: Nest) -> tuple[int, ...]:
        """The sizes with the least time per point among those that fit."""
        full = (self.grid.rows, self.grid.columns) == (8, 8)
        if self.mesh and full and nest.is_product:
            return self._shared(nest)
        choices = [self._choices(nest, k) for k in range(len(nest.names))]
        found = self._climb(nest, choices) if len(nest.names) > 3 else self._all(nest, choices)
        whole = [e is not None and e <= SHORT for e in nest.extents]
        return tuple(0 if w else s for s, w in zip(found, whole, strict=True))

    def _all(self, nest: Nest, choices: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        """The best of all combinations; the smallest where none fits."""
        fitting = [s for s in itertools.product(*choices) if self.bytes(nest, s) <= self._room]
        return min(fitting, key=lambda s: self.cost(nest, s), default=tuple(min(c) for c in choices))

    def _climb(self, nest: Nest, choices: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        """From the smallest sizes on, the one larger size that helps most, as long as any helps."""
        at = [min(2, len(c) - 1) for c in choices]  # a single step away from ones shows no gain yet
        if self.bytes(nest, tuple(c[k] for c, k in zip(choices, at, strict=True))) > self._room:
            at = [0] * len(choices)

        def sizes(places: Sequence[int]) -> tuple[int, ...]:
            return tuple(c[k] for c, k in zip(choices, places, strict=True))

        now = self.cost(nest, sizes(at))
        while True:
            steps = [[*at[:k], at[k] + 1, *at[k + 1 :]] for k in range(len(at)) if at[k] + 1 < len(choices[k])]
            steps = [s for s in steps if self.bytes(nest, sizes(s)) <= self._room]
            better = min(steps, key=lambda s: self.cost(nest, sizes(s)), default=None)
            if better is None or self.cost(nest, sizes(better)) >= now:
                return sizes(at)
            at, now = better, self.cost(nest, sizes(better))

    def _shared(self, nest: Nest) -> tuple[int, ...]:
        """Sizes for panels that the mesh shares: eight slices of depth for every fetch."""
        found: tuple[float, tuple[int, ...]] | None = None
        lanes, width = self.group.vector_bits // 64, self.group.vector_bits // 16
        for rows, columns, depth in itertools.product(range(16, 129, 8), range(width, 257, width), (8, 16, 24, 32, 64)):
            room = 8 * (rows * columns + 2 * depth * (rows + columns))
            room += 8 * 2 * depth * (rows + columns) if self.group.crts else 0
            if room > self._room:
                continue
            busy = 1.0
            for k, size in ((0, rows), (1, columns)):
                extents = EXTENTS if nest.extents[k] is None else (nest.extents[k] or 1,)
                # Larger problems weigh more: that is where the time goes.
                busy *= sum(e * e / (-(-e // (8 * size)) * 8 * size) for e in extents) / sum(extents)
            compute = 8 * rows * columns * depth / lanes * (1 + 90 / (128 * depth)) / busy
            fetch = 512 * depth * (rows / self.group.rate(depth * 8) + columns / self.group.rate(columns * 8))
            steps = max(1.0, (nest.extents[2] or 2400) / (8 * depth))
            around = 1024 * rows * columns / self.group.rate(columns * 8)  # the target, both ways
            cost = (max(compute, fetch) + 600 + (fetch + around / busy) / steps) / (rows * columns * depth)
            if found is None or cost < found[0]:
                found = cost, (rows, columns, depth)
        assert found is not None
        return found[1]

    def _choices(self, nest: Nest, k: int) -> tuple[int, ...]:
        extent = nest.extents[k]
        if extent is not None and extent <= SHORT:
            return (max(1, extent),)
        sizes = SIZES if len(nest.names) <= 3 else FEW
        if extent is not None:
            sizes = tuple(sorted({*sizes, extent}))
        return tuple(s for s in sizes if extent is None or s < 2 * extent) or (sizes[0],)

    def bytes(self, nest: Nest, sizes: Sequence[int]) -> int:
        """Local memory of all boxes; what is only read is there twice."""
        total = nest.variables
        for k in range(nest.bound):
            total *= sizes[k]
        for g in nest.groups:
            n = g.bytes * (1 if g.write else 2)
            for side in g.sides(sizes):
                n *= side
            total += n
        return total

    def cost(self, nest: Nest, sizes: Sequence[int]) -> float:
        """Cycles per point of one core, with all cores at work."""
        cores = self.grid.count
        points = 1
        for s in sizes:
            points *= s
        lanes = self.group.vector_bits // 64
        compute = nest.work * points / lanes + 30
        transfer = serial = 0.0
        for g in nest.groups:
            sides = g.sides(sizes)
            n, block = g.bytes, sides[-1] * g.bytes
            for side in sides:
                n *= side
            commands = 1
            for side in sides[:-2]:
                commands *= side
            share = 1.0
            for k in range(len(sizes) - 1, nest.bound - 1, -1):
                if g.moved_by(k):
                    break
                share /= max(1.0, (nest.extents[k] or 1000) / sizes[k])
            time = share * (n * cores / self.group.rate(block) + COMMAND * cores * commands)
            if g.write:
                serial += 2 * time + share * self.group.startup
            else:
                transfer += time
        busy = self.balance(nest, sizes)
        # A few cores alone do not keep the memory controller busy.
        return (max(compute / busy, transfer / min(1.0, 2 * busy)) + serial) / points

    def balance(self, nest: Nest, sizes: Sequence[int]) -> float:
        """The part of the cores' time that is not idle, over typical extents."""
        shape = (self.grid.count,) if nest.bound < 2 else (self.grid.rows, self.grid.columns)
        if nest.bound > 1 and len(sizes) > 2:
            return self._dealt(nest, sizes)
        total = 1.0
        for k, n in enumerate(shape):
            extent = nest.extents[k]
            extents = EXTENTS if extent is None else (extent,)
            part = 0.0
            for e in extents:
                tiles = -(-e // sizes[k])
                part += e / (-(-tiles // n) * n * sizes[k])
            total *= part / len(extents)
        return total


    def _dealt(self, nest: Nest, sizes: Sequence[int]) -> float:
        """As `balance`, for tiles that go to the cores in turn."""
        total = 0.0
        for e in EXTENTS:
            a, b = (nest.extents[k] or e for k in (0, 1))
            tiles = -(-a // sizes[0]) * -(-b // sizes[1])
            area = a * b
            if nest.triangular:
                tiles, area = tiles // 2 + 1, area // 2
            total += area / (-(-tiles // self.grid.count) * self.grid.count * sizes[0] * sizes[1])
        return total / len(EXTENTS)


def describe(
    p: Program, loops: Sequence[Loop], stmts: tuple[str, ...], width: int
) -> tuple[Nest, list[tuple[str, str]]]:
    """The nest, and which (statement, loop) pairs lie below the band."""
    scop = p.scop
    names = [lp.name for lp in loops]
    extents = [_extent(scop, lp) for lp in loops]
    below: list[tuple[str, str]] = []
    chains: dict[str, tuple[Loop, ...]] = {}
    for name in stmts:
        around = enclosing(p.tree, name)
        start = next(k for k, lp in enumerate(around) if lp.name == loops[0].name or lp.name in names)
        mine = [lp for lp in around[start:] if lp.name in names]
        inner = [lp for lp in around[start:] if lp.name not in names]
        chains[name] = (*around[:start], *mine, *inner)
        for lp in inner:
            below.append((name, lp.name))
            if lp.name not in names:
                names.append(lp.name)
                extents.append(_extent(scop, lp))
    groups: list[Group] = []
    work = 1.0
    for name in stmts:
        s = scop.statement(name)
        work = max(work, float(sum(isinstance(e, (Binary, Call)) for e in walk_expr(s.rhs))))
        for a in s.accesses:
            if scop.arrays[a.array].inside or not scop.arrays[a.array].rank:
                continue
            groups.append(_group(scop, s, a, chains[name], names))
    return Nest(tuple(names), tuple(extents), width, tuple(_merged(groups)), work,
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
    return sum(scop.arrays[n].elem.bytes for n in used)


def _group(scop: Scop, s: Statement, a: Access, chain: Sequence[Loop], names: Sequence[str]) -> Group:
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
    return Group(a.array, scop.arrays[a.array].elem.bytes, tuple(rows), tuple(offsets), a.write)


def _constant(value: isl.PwAff) -> int:
    pieces = value.get_pieces()
    v = pieces[0][1].get_constant_val()
    return v.get_num_si() if v.is_int() else 0


def _merged(groups: Sequence[Group]) -> list[Group]:
    """References that move alike share a box as wide as their offsets differ."""
    found: dict[tuple[object, ...], list[Group]] = {}
    for g in groups:
        found.setdefault((g.array, g.moves), []).append(g)
    out = []
    for same in found.values():
        spread = tuple(max(c) - min(c) for c in zip(*(g.spread for g in same), strict=True))
        first = same[0]
        out.append(Group(first.array, first.bytes, first.moves, spread, any(g.write for g in same)))
    return out
