"""Builds the tile of C in registers, and the straight code of one block: loads of operands, and the multiply-adds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

from codegen.isa.model import Isa
from codegen.isa.text import BARRIER, fuse, takes
from codegen.kir.build import add, load, store
from codegen.kir.nodes import (
    Alloc,
    Assign,
    Block,
    Buffer,
    Decl,
    Expr,
    Hint,
    Int,
    Let,
    Load,
    Op,
    Stmt,
    Sym,
    Var,
    Vector,
    scalar,
)
from codegen.kir.nodes import Lane as LaneOp
from codegen.lower.nest.contraction import TENSORS
from codegen.lower.nest.registers import copies, residence
from codegen.lower.nest.schedule import NestLevel, NestSchedule
from codegen.scop.lanes import Lane

STEP = Lane("add", (Lane("acc"), Lane("mul", (Lane("a"), Lane("b")))))
KEEP_ORDER = Hint(BARRIER.rstrip("();"))

Places = Mapping[str, tuple[Buffer, Expr]]


class VectorPoint(NamedTuple):
    """One vector multiply-add: offsets of A, B and C, how many lanes count, and the step of the sum it belongs to."""

    at: tuple[int, int, int]
    lanes: int
    step: tuple[int, ...]

    def offset(self, tensor: str) -> int:
        """How far the tensor's element is from the block's first."""
        return self.at[TENSORS.index(tensor)]


def points(plan: NestSchedule, extents: Mapping[str, int]) -> list[VectorPoint]:
    """The points of the block in the order of the loops."""
    return list(_points(plan, plan.levels[plan.unroll :], dict(extents), (0, 0, 0), ()))


def _points(
    plan: NestSchedule,
    levels: tuple[NestLevel, ...],
    extents: dict[str, int],
    at: tuple[int, int, int],
    step: tuple[int, ...],
) -> Iterator[VectorPoint]:
    level, summed = levels[0], levels[0].var not in plan.problem.c
    if len(levels) == 1:
        for first in range(0, extents[level.var], plan.lanes):
            lanes = min(plan.lanes, extents[level.var] - first)
            yield VectorPoint(_moved(at, level, first), lanes, (*step, first) if summed else step)
        return
    full, rest = divmod(extents[level.var], level.step)
    for n in range(full + bool(rest)):
        inside = {**extents, level.var: level.step if n < full else rest}
        yield from _points(plan, levels[1:], inside, _moved(at, level, n), (*step, n) if summed else step)


def _moved(at: tuple[int, int, int], level: NestLevel, n: int) -> tuple[int, int, int]:
    a, b, c = (x + n * m for x, m in zip(at, level.moves, strict=True))
    return a, b, c


class RegisterTile:
    """The accumulators of a tile over such extents. `fresh`: it starts from zero, not from C. `split`: sums may be kept
    in parts."""

    def __init__(self, isa: Isa, plan: NestSchedule, extents: Mapping[str, int], fresh: bool, split: bool) -> None:
        self.isa, self.plan, self.fresh = isa, plan, fresh
        self.vec = isa.vec(plan.problem.elem)
        self.type = Vector(scalar(plan.problem.elem), plan.lanes)
        self.along = {t: plan.levels[-1].move(t) for t in TENSORS}
        self.summed = plan.vector not in plan.problem.c
        self.scalars = takes(self.vec, STEP, "_n")
        found = points(plan, extents)
        self.copies = copies(isa, plan, extents, len({p.step for p in found})) if split else 1
        self.points = {p.offset("C"): p for p in found}
        self.sums = {at: self._accumulators(n) for n, at in enumerate(self.points)}

    def _accumulators(self, n: int) -> tuple[Sym, ...]:
        return tuple(Sym(f"c{n}" + (f"x{m}" if m else ""), self.type) for m in range(self.copies))

    # -- the tile ------------------------------------------------------------------------------------------

    def loads(self, c: Buffer, at: Expr) -> list[Stmt]:
        """The accumulators with their first values."""
        zero = LaneOp("dup", (Int(0),), self.type)
        found: list[Stmt] = []
        for offset, p in self.points.items():
            old = zero if self.fresh or self.summed else self._vector((c, add(at, offset)), self.along["C"], p.lanes)
            found += [Decl(s, zero if n else old) for n, s in enumerate(self.sums[offset])]
        return found

    def stores(self, c: Buffer, at: Expr) -> list[Stmt]:
        """The sums, to where they belong."""
        return [x for offset, p in self.points.items() for x in self._store(self.sums[offset], p, c, add(at, offset))]

    def _store(self, sums: tuple[Sym, ...], p: VectorPoint, c: Buffer, at: Expr) -> list[Stmt]:
        joined, stride, lanes = self._joined(sums), self.along["C"], self.plan.lanes
        if not self.summed and stride == 1 and p.lanes == lanes:
            return [*joined, store(c, at, sums[0], lanes)]
        part = Buffer("part", self.type.elem, "stack", (lanes,))
        inside: list[Stmt] = [Alloc(part), store(part, 0, sums[0], lanes)]
        if self.summed:
            total = _tree([load(part, n) for n in range(lanes)])
            inside.append(store(c, at, total if self.fresh else Op("+", (load(c, at), total))))
        else:
            inside += [store(c, add(at, n * stride), load(part, n)) for n in range(p.lanes)]
        return [*joined, Block(tuple(inside))]

    def _joined(self, sums: tuple[Sym, ...]) -> list[Stmt]:
        """Add the parts of a sum into the first, neighbours first."""
        found: list[Stmt] = []
        left = list(sums)
        while len(left) > 1:
            for x, y in zip(left[::2], left[1::2], strict=False):
                found.append(Assign(x, LaneOp("add", (Var(x), Var(y)), self.type)))
            left = left[::2]
        return found

    # -- the block -----------------------------------------------------------------------------------------

    def block(self, extents: Mapping[str, int], operands: Places) -> list[Stmt]:
        """The multiply-adds of one block, step by step of the sum."""
        found: list[Stmt] = []
        steps = groupby(points(self.plan, extents), key=lambda p: p.step)
        for count, (_, group) in enumerate(steps):
            found.append(Block(tuple(self._step(list(group), operands, count % self.copies))))
        return found

    def _step(self, group: list[VectorPoint], operands: Places, copy: int) -> list[Stmt]:
        """One step of the sum for the whole tile."""
        count = {t: len({p.offset(t) for p in group}) for t in "AB"}
        outer, held, ahead = residence(self.plan, count, self.isa.registers - len(self.sums) * self.copies)
        ordered = [list(g) for _, g in groupby(_by(group, outer), key=lambda p: p.offset(outer))]
        values = _Values(self, operands)
        for t, p in [(held, p) for p in ordered[0]] + [(outer, g[0]) for g in ordered[:ahead]]:
            values.need(t, p)
        for n, points_of in enumerate(ordered):
            if len(ordered) > 1:
                values.found.append(KEEP_ORDER)
            if ahead and n + ahead < len(ordered):
                values.need(outer, ordered[n + ahead][0])
            for p in points_of:
                values.need("A", p)
                values.need("B", p)
                values.found.append(self._update(p, copy, values))
        return values.found

    def operand(self, tensor: str, p: VectorPoint, place: tuple[Buffer, Expr]) -> Expr:
        """A value of an operand as it is loaded: a vector along it, or one element for all lanes."""
        if self.along[tensor]:
            return self._vector(place, self.along[tensor], p.lanes, self._padded(tensor))
        if self.cut(p):
            return self._vector(place, 0, p.lanes)
        element = load(*place)
        return element if self.scalars else LaneOp("dup", (element,), self.type)

    def cut(self, p: VectorPoint) -> bool:
        """Whether lanes past the end would be summed up: nothing but zeros may be there, not even of a broadcast."""
        return self.summed and p.lanes < self.plan.lanes

    def _padded(self, tensor: str) -> bool:
        return any(tensor in level.pack for level in self.plan.levels)

    def _vector(self, place: tuple[Buffer, Expr], stride: int, lanes: int, padded: bool = False) -> Expr:
        """A vector from elements that are `stride` apart, zeros where there are fewer than a vector has."""
        buffer, at = place
        if stride == 1 and (padded or lanes == self.plan.lanes):
            return Load(buffer, (at,), self.plan.lanes)
        return LaneOp("set", tuple(load(buffer, add(at, n * stride)) for n in range(lanes)), self.type)

    def _update(self, p: VectorPoint, copy: int, values: _Values) -> Assign:
        acc = self.sums[p.offset("C")][copy]
        fixed = next((t for t in "AB" if not self.along[t]), None)
        left, right = (fixed, "B" if fixed == "A" else "A") if fixed else ("A", "B")
        a, b = Var(values.of(left, p)), Var(values.of(right, p))
        alone = bool(fixed and self.scalars and not self.cut(p))
        return Assign(acc, self._lanes(STEP, {"acc": Var(acc), "a": a, "b": b}, alone))

    def _lanes(self, e: Lane, leaves: Mapping[str, Var], alone: bool) -> Expr:
        """A step of the sum; with `alone`, the left operand is a scalar that the instruction spreads itself."""
        if not e.args:
            return leaves[e.op]
        op, args = fuse(self.vec, e)
        last = args[-2:]
        if alone and any(x.op == "a" for x in last):
            rest = [x for x in args if x.op != "a"]
            return LaneOp(f"{op}_n", (*(self._lanes(x, leaves, alone) for x in rest), leaves["a"]), self.type)
        return LaneOp(op, tuple(self._lanes(x, leaves, alone) for x in args), self.type)


class _Values:
    """The values of operands that a step has loaded, with its statements so far."""

    def __init__(self, tile: RegisterTile, operands: Places) -> None:
        self.tile, self.operands = tile, operands
        self.found: list[Stmt] = []
        self._known: dict[tuple[str, int], Sym] = {}

    def of(self, tensor: str, p: VectorPoint) -> Sym:
        """The value that a point uses."""
        return self._known[tensor, p.offset(tensor)]

    def need(self, tensor: str, p: VectorPoint) -> None:
        """Load a value, unless it is there."""
        offset = p.offset(tensor)
        if (tensor, offset) in self._known:
            return
        buffer, at = self.operands[tensor]
        value = self.tile.operand(tensor, p, (buffer, add(at, offset)))
        type = self.tile.type.elem if isinstance(value, Load) and not value.lanes else self.tile.type
        sym = self._known[tensor, offset] = Sym(f"v{tensor.lower()}{offset}", type)
        self.found.append(Let(sym, value))


def _by(group: list[VectorPoint], tensor: str) -> list[VectorPoint]:
    """Points by an operand, in the order of its first uses."""
    order = {x: n for n, x in enumerate(dict.fromkeys(p.offset(tensor) for p in group))}
    return sorted(group, key=lambda p: order[p.offset(tensor)])


def _tree(parts: list[Load]) -> Expr:
    """A sum by halves."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return Op("+", (_tree(parts[:half]), _tree(parts[half:])))
