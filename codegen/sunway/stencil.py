"""Time steps on a grid: tiles that stay in local memory for many steps.

A tile is fetched with a margin as wide as data travel in that many steps; each step is computed on a part of the margin
that shrinks accordingly, so cores need not talk to each other before the block of steps is over. Results go to a second
copy of the arrays, since neighbours still read the first.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import islpy as isl

from codegen.ast.ctree import CExpr, CNode, For, Instance, Name, walk
from codegen.record import record
from codegen.scop.model import Access, Scop, Statement
from codegen.sunway.cost import arithmetic
from codegen.sunway.footprint import value_text
from codegen.sunway.machine import COMMAND, CoreGroup

# Grids are taken to have about this many points along each axis, by their number of axes.
TYPICAL = {1: 4000, 2: 1300, 3: 120}


@record
class Sweep:
    """One statement: where it writes (without its time), and how far away it reads each array."""

    stmt: str
    target: str
    lows: tuple[CExpr, ...]
    highs: tuple[CExpr, ...]  # past the last
    reach: tuple[tuple[str, int], ...]


@record
class Stencil:
    """A loop over time whose body is sweeps over grids of one shape, one after the other."""

    loop: For
    axes: int
    sweeps: tuple[Sweep, ...]
    written: tuple[str, ...]
    read: tuple[str, ...]  # never written
    fresh: tuple[str, ...]  # written in every step before anything reads them
    margins: tuple[int, ...]  # of each sweep in the last step of a block
    growth: int  # of all margins, from a step to the one before it
    halo: int  # of what is fetched for a block of one step


def find_stencil(scop: Scop, node: CNode) -> Stencil | None:
    """The stencil that a loop of the C tree is, or None."""
    if not isinstance(node, For) or node.step != 1:
        return None
    sweeps: list[Sweep] = []
    for n in (x for x in walk(node.body) if isinstance(x, Instance)):
        s = scop.statement(n.stmt)
        if n.iterators[0] != Name(node.var) or any(x.stmt == s.name for x in sweeps):
            return None
        one = _sweep(scop, s)
        if one is None:
            return None
        sweeps.append(one)
    axes = {len(x.lows) for x in sweeps}
    if len(sweeps) < 1 or len(axes) != 1 or axes == {0} or max(axes) > 3:
        return None
    written = tuple(sorted({x.target for x in sweeps}))
    read = tuple(sorted({a for x in sweeps for a, _ in x.reach} - set(written)))
    if any(not e for a in (*written, *read) for e in scop.arrays[a].extents) or len({
        scop.arrays[a].extents for a in (*written, *read)}) != 1:  # fmt: skip
        return None
    margins, growth, halo = _margins(sweeps, written)
    if growth <= 0:
        return None
    return Stencil(node, axes.pop(), tuple(sweeps), written, read, _fresh(sweeps, written), margins, growth, halo)


def _sweep(scop: Scop, s: Statement) -> Sweep | None:
    """The statement as a sweep, if its domain is a box that does not depend on time and its accesses are shifts."""
    n = len(s.iterators)
    if s.values or n < 2 or any(scop.arrays[a.array].rank != n - 1 for a in s.accesses):
        return None
    shifts = [_shift(scop, a, n) for a in s.accesses]
    if any(x is None for x in shifts) or any(shifts[s.target] or ()):
        return None
    space = s.domain.project_out(isl.dim_type.set, 0, 1)
    lows, highs = [], []
    box = isl.Set.universe(s.domain.get_space())
    for k in range(n):
        line = s.domain.project_out(isl.dim_type.set, k + 1, n - k - 1).project_out(isl.dim_type.set, 0, k)
        line = line.reset_tuple_id() if line.has_tuple_id() else line
        wide = line.insert_dims(isl.dim_type.set, 1, n - k - 1).insert_dims(isl.dim_type.set, 0, k)
        box = box.intersect(wide.set_tuple_name(s.domain.get_tuple_name()))
    if not box.is_subset(s.domain):
        return None
    for k in range(n - 1):
        low, high = space.dim_min(k), space.dim_max(k)
        if low.n_piece() != 1 or high.n_piece() != 1:
            return None
        context = isl.Set.universe(scop.context.get_space())
        lows.append(value_text(low, context))
        highs.append(value_text(high.add_constant_val(isl.Val(1)), context))
    reach: dict[str, int] = {}
    for a, shift in zip(s.accesses, shifts, strict=True):
        if not a.write:
            assert shift is not None
            reach[a.array] = max(reach.get(a.array, 0), *(abs(x) for x in shift))
    return Sweep(s.name, s.accesses[s.target].array, tuple(lows), tuple(highs), tuple(sorted(reach.items())))


def _shift(scop: Scop, a: Access, n: int) -> tuple[int, ...] | None:
    """Constants c with index = iterators after the first + c."""
    if any(x.kind != "sub" for x in a.path) or scop.arrays[a.array].inside:
        return None
    out = []
    for d in range(n - 1):
        value = a.index.get_pw_aff(d)
        if value.n_piece() != 1:
            return None
        aff = value.get_pieces()[0][1]
        if aff.dim(isl.dim_type.div) or aff.involves_dims(isl.dim_type.param, 0, aff.dim(isl.dim_type.param)):
            return None
        for k in range(n):
            if not aff.get_coefficient_val(isl.dim_type.in_, k).eq(isl.Val(int(k == d + 1))):
                return None
        out.append(aff.get_constant_val().get_num_si())
    return tuple(out)


def _margins(sweeps: Sequence[Sweep], written: Sequence[str]) -> tuple[tuple[int, ...], int, int]:
    """Margins of the sweeps in the last step, their growth per step, and the halo of a block of one step."""
    need = dict.fromkeys({a for x in sweeps for a, _ in x.reach} | set(written), 0)

    def step() -> tuple[int, ...]:
        out = []
        for x in reversed(sweeps):
            m = need[x.target]
            out.append(m)
            for a, far in x.reach:
                need[a] = max(need[a], m + far)
        return tuple(reversed(out))

    last = step()
    halo = max(need.values())
    before, earlier = step(), step()
    grown = {b - a for a, b in zip(last, before, strict=True)} | {b - a for a, b in zip(before, earlier, strict=True)}
    return (last, max(grown), halo) if len(grown) == 1 else (last, max(*grown, halo), halo)


def _fresh(sweeps: Sequence[Sweep], written: Sequence[str]) -> tuple[str, ...]:
    out = []
    for a in written:
        first = next(k for k, x in enumerate(sweeps) if x.target == a)
        if not any(a == b for x in sweeps[: first + 1] for b, _ in x.reach):
            out.append(a)
    return tuple(out)


@record
class Shape:
    """Sides of a tile, and the steps of a block."""

    sides: tuple[int, ...]
    steps: int

    def halo(self, s: Stencil) -> int:
        return s.halo + s.growth * (self.steps - 1)


def choose(scop: Scop, s: Stencil, group: CoreGroup, cores: int) -> Shape | None:
    """The shape with the least time per point and step that fits into local memory."""
    arrays = (*s.written, *s.read)
    elem = scop.arrays[arrays[0]].elem.bytes
    room = group.ldm_bytes - group.reserve - 1024
    lanes = group.lanes(elem)
    work = sum(max(arithmetic(scop.statement(x.stmt)), 2 * len(scop.statement(x.stmt).accesses)) for x in s.sweeps)
    best: tuple[float, Shape] | None = None
    sides = {1: (64, 128, 256, 512, 1024), 2: (12, 16, 20, 24, 28, 32, 40, 48, 64, 96, 128), 3: (4, 6, 8, 12, 16, 24)}
    for tile in itertools.product(sides[s.axes], repeat=s.axes):
        for steps in (1, 2, 3, 4, 6, 8, 12, 16, 32, 64):
            shape = Shape(tile, steps)
            halo = shape.halo(s)
            box = [t + 2 * halo for t in tile]
            size, inside = elem, 1
            for b, t in zip(box, tile, strict=True):
                size, inside = size * b, inside * t
            if size * len(arrays) > room:
                break
            block = box[-1] * elem
            fetched = size * (len(arrays) - len(s.fresh)) + inside * elem * len(s.written)
            commands = box[0] if s.axes == 3 else 1
            transfer = cores * (fetched / group.rate(block) + COMMAND * commands * len(arrays))
            compute = work * steps * (size / elem + inside) / 2 / lanes
            tiles = 1
            for t in tile:
                tiles *= -(-TYPICAL[s.axes] // t)
            idle = -(-tiles // cores) * cores / tiles
            cost = (max(transfer, compute * idle) + 0.3 * min(transfer, compute) + 600) / (inside * steps)
            if best is None or cost < best[0]:
                best = cost, shape
    return None if best is None else best[1]
