"""Builds the kernel of a contraction in exactly its given loop order as KernelIR: loops from outside in, full
iterations and then the remainder, with the packing and prefetches that the schedule asks for; the tile of C in
registers around the loops over sums; and inside them one block of straight code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from codegen.isa.model import Isa
from codegen.kir.build import add, loop, mul
from codegen.kir.nodes import (
    SEQ,
    VOID,
    Advance,
    Alloc,
    Bind,
    Block,
    Buffer,
    Exec,
    Expr,
    Fill,
    For,
    Function,
    Int,
    Parallel,
    Prefetch,
    Stmt,
    Sym,
    scalar,
)
from codegen.lower.nest.contraction import TENSORS, elements, show
from codegen.lower.nest.kernel import KEPT, NestKernel, Options
from codegen.lower.nest.loops import Loop, show_nest
from codegen.lower.nest.pack import packing
from codegen.lower.nest.registers import asked_ahead
from codegen.lower.nest.schedule import NestLevel, NestSchedule
from codegen.lower.nest.tile import RegisterTile

# Iterations of the innermost sum between asking for a line and using it. f32 on a Neoverse N1, with and without asking:
# j8 i32 k160 i6 j16 34.3 and 32.2 GFLOPS, i42+4[B] j16 k256 i6 j16 36.5 and 35.8; where packed panels are near, asking
# costs 1 %: j16 i42+4[B] k256 i6 j16 36.2 and 36.4.
AHEAD = 8
CACHE_LINE = 64


class Operand(NamedTuple):
    """Where the part of an array begins that is left to do: a buffer and an element of it."""

    buffer: Buffer
    at: Expr = Int(0)

    def moved(self, by: int) -> Operand:
        """Some elements further."""
        return Operand(self.buffer, add(self.at, by))


Operands = Mapping[str, Operand]


def nest_function(
    name: str, compute: tuple[Loop, ...], plan: NestSchedule, isa: Isa, options: Options, static: bool = False
) -> Function:
    """The function `void name(const T *a, const T *b, T *c)`."""
    return _Builder(isa, plan, options).function(name, compute, static)


def kernel_function(isa: Isa, kernel: NestKernel) -> Function:
    """The static function of a kernel."""
    return nest_function(kernel.name, kernel.nest.compute, kernel.schedule, isa, KEPT, static=True)


class _Builder:
    """Goes down the levels with what is left of each variable, and where the operands begin."""

    def __init__(self, isa: Isa, plan: NestSchedule, options: Options) -> None:
        self.isa, self.plan, self.options = isa, plan, options
        self.elem = scalar(plan.problem.elem)
        sums = {level.var for level in plan.levels[: plan.hold]} - set(plan.problem.c)
        self.fresh = options.fresh and not sums
        self.clears = options.fresh and bool(sums)
        self.packs = {t: Buffer(f"pack_{t.lower()}", self.elem, "stack", (n,)) for t, n in plan.buffers}

    def function(self, name: str, compute: tuple[Loop, ...], static: bool) -> Function:
        tensors = {t: Buffer(t.lower(), self.elem, "param", const=t != "C") for t in TENSORS}
        allocs = [Alloc(b, CACHE_LINE) for b in self.packs.values()]
        clear = [Fill(tensors["C"], Int(0), elements(self.plan.problem, "C"))] if self.clears else []
        start = {t: Operand(b) for t, b in tensors.items()}
        body = (*allocs, *clear, *self._outer(0, dict(self.plan.problem.sizes), start))
        note = (show(self.plan.problem), f"in the order {show_nest(compute)}")
        linkage = "static" if static else "extern"
        return Function(
            Sym(name, VOID, "user"), tuple(tensors.values()), body, linkage, self.isa.target, ("TW_LITERAL",), note
        )

    def _outer(self, at: int, extents: dict[str, int], operands: Operands) -> list[Stmt]:
        """Loops around the tile: the full iterations, then what is left."""
        found: list[Stmt] = []
        here = dict(operands)
        if at < len(self.plan.levels):
            for t in self.plan.levels[at].pack:
                found += packing(self.plan, t, at, extents, here[t], self.packs[t])
                here[t] = Operand(self.packs[t])
        if at == self.plan.hold:
            return [*found, self._tile(extents, here)]
        level = self.plan.levels[at]
        full, rest = divmod(extents[level.var], level.step)
        inside = {**extents, level.var: level.step}
        if full == 1:
            found += self._outer(at + 1, inside, here)
        elif full:
            counter = Sym(f"{level.var}_{at}")
            moved, binds = self._moved(level, at, here, counter)
            body = (*binds, *self._outer(at + 1, inside, moved))
            threads = at == 0 and self.plan.threads
            exec: Exec = Parallel(self._private()) if threads else SEQ
            found.append(_loop(level, counter, full, body, exec))
        if rest:
            beyond = {t: here[t].moved(full * level.move(t)) for t in TENSORS}
            found += self._outer(at + 1, {**extents, level.var: rest}, beyond)
        return found

    def _private(self) -> tuple[Buffer, ...]:
        """Buffers that are filled inside the outermost loop: each thread has its own."""
        return tuple(self.packs[t] for level in self.plan.levels[1:] for t in level.pack)

    def _moved(self, level: NestLevel, at: int, operands: Operands, counter: Sym) -> tuple[Operands, list[Stmt]]:
        """The operands inside a loop, as views of their own."""
        moved, binds = dict(operands), list[Stmt]()
        for t in TENSORS:
            if level.move(t):
                view = self._view(t, at)
                outer = operands[t]
                binds.append(Bind(view, outer.buffer, add(outer.at, mul(counter, level.move(t)))))
                moved[t] = Operand(view)
        return moved, binds

    def _view(self, tensor: str, at: int) -> Buffer:
        return Buffer(f"p{tensor.lower()}{at}", self.elem, "view", const=tensor != "C")

    def _tile(self, extents: dict[str, int], operands: Operands) -> Block:
        made = RegisterTile(self.isa, self.plan, extents, self.fresh, self.options.reassociate)
        inside = self._sums(self.plan.hold, extents, operands, made)
        c = operands["C"]
        return Block((*made.loads(c.buffer, c.at), *inside, *made.stores(c.buffer, c.at)))

    def _sums(self, at: int, extents: dict[str, int], operands: Operands, tile: RegisterTile) -> list[Stmt]:
        """Loops around the block, over sums only: views go along with them."""
        if at == self.plan.unroll:
            a, b = operands["A"], operands["B"]
            return tile.block(extents, {"A": (a.buffer, a.at), "B": (b.buffer, b.at)})
        level = self.plan.levels[at]
        full, rest = divmod(extents[level.var], level.step)
        inside, found = {**extents, level.var: level.step}, list[Stmt]()
        left = dict(operands)
        if full == 1:
            found += self._sums(at + 1, inside, operands, tile)
            left = {t: operands[t].moved(level.move(t)) for t in TENSORS}
        elif full:
            moving = [t for t in "AB" if level.move(t)]
            left.update({t: Operand(self._view(t, at)) for t in moving})
            found += [Bind(left[t].buffer, operands[t].buffer, operands[t].at, moves=True) for t in moving]
            ahead = [x for t in moving if at + 1 == self.plan.unroll for x in self._ahead(t, level, extents, left[t])]
            steps = [Advance(left[t].buffer, Int(level.move(t))) for t in moving]
            body = (*self._sums(at + 1, inside, left, tile), *ahead, *steps)
            found.append(_loop(level, Sym(f"{level.var}_{at}"), full, body))
        if rest:
            found += self._sums(at + 1, {**extents, level.var: rest}, left, tile)
        return [Block(tuple(found))] if full > 1 else found

    def _ahead(self, tensor: str, level: NestLevel, extents: Mapping[str, int], x: Operand) -> list[Stmt]:
        """Ask for what an operand is some iterations later."""
        first = AHEAD * level.move(tensor)
        return [Prefetch(x.buffer, Int(first + n)) for n in asked_ahead(self.plan, tensor, level, extents)]


def _loop(level: NestLevel, counter: Sym, count: int, body: tuple[Stmt, ...], exec: Exec = SEQ) -> For:
    return loop(counter, 0, count, body, exec=exec, note=f"{level.var}, {level.step} at a time")
