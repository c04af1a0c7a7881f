"""Prints an unrolled block of a contraction's nest: the multiply-adds of its points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

from codegen.isa.model import Isa, Vec
from codegen.isa.text import BARRIER, ScalarOperand, bare, call, expression, takes
from codegen.lower.nest.contraction import TENSORS
from codegen.lower.nest.registers import residence
from codegen.lower.nest.schedule import NestLevel, NestSchedule
from codegen.record import record
from codegen.scop.lanes import Lane

STEP = Lane("add", (Lane("acc"), Lane("mul", (Lane("a"), Lane("b")))))


@record
class VectorPoint:
    """One vector multiply-add: offsets of A, B and C, how many lanes count, and the step of the sum it belongs to."""

    at: tuple[int, int, int]
    lanes: int
    step: tuple[int, ...]

    def offset(self, tensor: str) -> int:
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
    level = levels[0]
    if len(levels) == 1:
        for first in range(0, extents[level.var], plan.lanes):
            lanes = min(plan.lanes, extents[level.var] - first)
            yield VectorPoint(
                _moved(at, level, first), lanes, (*step, first) if level.var not in plan.problem.c else step
            )
        return
    full, rest = divmod(extents[level.var], level.step)
    for n in range(full + bool(rest)):
        inside = {**extents, level.var: level.step if n < full else rest}
        deeper = (*step, n) if level.var not in plan.problem.c else step
        yield from _points(plan, levels[1:], inside, _moved(at, level, n), deeper)


def _moved(at: tuple[int, int, int], level: NestLevel, n: int) -> tuple[int, int, int]:
    a, b, c = (x + n * m for x, m in zip(at, level.moves, strict=True))
    return a, b, c


class BlockWriter:
    """Lines of one block. `pointers` are the C names of where A, B and C begin, `names` the accumulators of each vector
    of C, several where a sum is kept in parts."""

    def __init__(self, isa: Isa, plan: NestSchedule, names: Mapping[int, tuple[str, ...]], copies: int) -> None:
        self.isa, self.plan, self.names, self.copies = isa, plan, names, copies
        self.elem = plan.problem.elem
        self.vec: Vec = isa.vec(self.elem)
        self.along = {t: plan.levels[-1].move(t) for t in TENSORS}
        self.scalars = takes(self.vec, STEP, "_n")

    def lines(self, extents: Mapping[str, int], pointers: Mapping[str, str]) -> list[str]:
        found: list[str] = []
        for count, (_, group) in enumerate(groupby(points(self.plan, extents), key=lambda p: p.step)):
            found += ["{", *(f"  {x}" for x in self._step(list(group), pointers, count % self.copies)), "}"]
        return found

    def _step(self, group: list[VectorPoint], pointers: Mapping[str, str], copy: int) -> list[str]:
        """One step of the sum for the whole tile."""
        count = {t: len({p.offset(t) for p in group}) for t in "AB"}
        there = residence(self.plan, count, self.isa.registers - len(self.names) * self.copies)
        outer, held, ahead = there.outer, there.held, there.ahead
        ordered = [list(g) for _, g in groupby(_by(group, outer), key=lambda p: p.offset(outer))]
        lines: list[str] = []
        known: set[str] = set()
        for t, p in [(held, p) for p in ordered[0]] + [(outer, g[0]) for g in ordered[:ahead]]:
            lines += self._load(t, p, pointers, known)
        for n, points_of in enumerate(ordered):
            if len(ordered) > 1:
                lines.append(BARRIER)
            if ahead and n + ahead < len(ordered):
                lines += self._load(outer, ordered[n + ahead][0], pointers, known)
            for p in points_of:
                lines += [x for t in "AB" for x in self._load(t, p, pointers, known)]
                lines.append(self._update(p, copy))
        return lines

    def _name(self, tensor: str, p: VectorPoint) -> str:
        return f"v{tensor.lower()}{p.offset(tensor)}"

    def _load(self, tensor: str, p: VectorPoint, pointers: Mapping[str, str], known: set[str]) -> list[str]:
        name, at = self._name(tensor, p), place(pointers[tensor], p.offset(tensor))
        if name in known:
            return []
        known.add(name)
        if self.along[tensor]:
            value = self.load(at, self.along[tensor], p.lanes, self._padded(tensor))
            return [f"const {self.vec.vector} {name} = {value};"]
        if self._cut(p):
            value = self.load(at, 0, p.lanes)
            return [f"const {self.vec.vector} {name} = {value};"]
        if self.scalars:
            return [f"const {self.vec.scalar} {name} = *({at});"]
        return [f"const {self.vec.vector} {name} = {bare(call(self.isa, self.elem, 'dup', [f'*({at})']))};"]

    def _cut(self, p: VectorPoint) -> bool:
        """Whether lanes past the end would be summed up: nothing but zeros may be there, not even of a broadcast."""
        return self.plan.vector not in self.plan.problem.c and p.lanes < self.plan.lanes

    def _padded(self, tensor: str) -> bool:
        return any(tensor in level.pack for level in self.plan.levels)

    def load(self, at: str, stride: int, lanes: int, padded: bool = False) -> str:
        """A vector from elements that are `stride` apart, zeros where there are fewer than a vector has."""
        if stride == 1 and (padded or lanes == self.plan.lanes):
            return bare(call(self.isa, self.elem, "load", [at]))
        values = ", ".join(f"*({place(at, n * stride)})" for n in range(lanes))
        scalar = self.vec.scalar
        # In parentheses: for some compilers a load is a macro, and commas would end its argument.
        array = f"(const {scalar} *)((const {scalar}[{self.plan.lanes}]){{ {values} }})"
        return bare(call(self.isa, self.elem, "load", [array]))

    def _update(self, p: VectorPoint, copy: int) -> str:
        acc = self.names[p.offset("C")][copy]
        fixed = next((t for t in "AB" if not self.along[t]), None)
        left, right = (fixed, "B" if fixed == "A" else "A") if fixed else ("A", "B")

        def leaf(x: Lane) -> str:
            return acc if x.op == "acc" else self._name(left if x.op == "a" else right, p)

        plain = ScalarOperand("_n", (self._name(left, p),))
        operand = (lambda _: plain) if fixed and self.scalars and not self._cut(p) else None
        return f"{acc} = {bare(expression(self.isa, self.elem, STEP, leaf, operand))};"


def _by(group: list[VectorPoint], tensor: str) -> list[VectorPoint]:
    """Points by an operand, in the order of its first uses."""
    order = {x: n for n, x in enumerate(dict.fromkeys(p.offset(tensor) for p in group))}
    return sorted(group, key=lambda p: order[p.offset(tensor)])


def place(pointer: str, offset: int) -> str:
    """C text of an address some elements further; the text of an address may be given."""
    head, _, number = pointer.partition(" + ")
    total = int(number or 0) + offset
    return f"{head} + {total}" if total else head
