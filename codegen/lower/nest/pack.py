"""Builds the packing of an operand: copies in the order in which the loops below read them."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from codegen.kir.build import add, load, loop, mul, store
from codegen.kir.nodes import Bind, Buffer, Copy, Expr, Int, Stmt, Sym
from codegen.lower.nest.contraction import strides
from codegen.lower.nest.schedule import NestSchedule

if TYPE_CHECKING:
    from codegen.lower.nest.build import Operand


def packing(
    plan: NestSchedule, tensor: str, at: int, extents: dict[str, int], source: Operand, to: Buffer
) -> list[Stmt]:
    """Copy an operand for the levels from `at` on."""
    return _Packing(plan, tensor).copies(at, extents, (source.buffer, source.at), (to, Int(0)))


Element = tuple[Buffer, Expr]


class _Packing:
    def __init__(self, plan: NestSchedule, tensor: str) -> None:
        self.plan, self.tensor = plan, tensor
        self.strides = strides(plan.problem, tensor)

    def copies(self, at: int, extents: dict[str, int], source: Element, to: Element, depth: int = 0) -> list[Stmt]:
        """Copy what the levels from `at` on read, from an element to another one on."""
        levels = self.plan.levels
        while at < len(levels) and not self.strides[levels[at].var]:
            at += 1
        if at == len(levels):
            return [store(*to, load(*source))]
        level = levels[at]
        full, rest = divmod(extents[level.var], level.step)
        step, move = self.strides[level.var] * level.step, level.move(self.tensor)
        if at == len(levels) - 1:
            return self._row(full, step, source, to)
        found: list[Stmt] = []
        inside = {**extents, level.var: level.step}
        if full == 1:
            found += self.copies(at + 1, inside, source, to, depth)
        elif full:
            counter = Sym(f"p{depth}")
            views = _view("from", depth, source[0]), _view("to", depth, to[0])
            body = (
                Bind(views[0], source[0], add(source[1], mul(counter, step))),
                Bind(views[1], to[0], add(to[1], mul(counter, move))),
                *self.copies(at + 1, inside, (views[0], Int(0)), (views[1], Int(0)), depth + 1),
            )
            found.append(loop(counter, 0, full, body, note=f"pack {self.tensor} along {level.var}"))
        if rest:
            beyond = _moved(source, full * step), _moved(to, full * move)
            found += self.copies(at + 1, {**extents, level.var: rest}, *beyond, depth)
        return found

    def _row(self, count: int, step: int, source: Element, to: Element) -> list[Stmt]:
        """A row of a packed operand, filled up with zeros to full vectors."""
        padded = ceil(count / self.plan.lanes) * self.plan.lanes
        zeros: list[Stmt] = [store(*_moved(to, n), 0) for n in range(count, padded)]
        if step == 1:
            return [Copy(*to, *source, count), *zeros]
        if count <= 2 * self.plan.lanes:
            return [*(store(*_moved(to, n), load(*_moved(source, n * step))) for n in range(count)), *zeros]
        x = Sym("x")
        copy = store(to[0], add(to[1], x), load(source[0], add(source[1], mul(x, step))))
        return [loop(x, 0, count, (copy,)), *zeros]


def _moved(x: Element, by: int) -> Element:
    return x[0], add(x[1], by)


def _view(name: str, depth: int, of: Buffer) -> Buffer:
    return Buffer(f"{name}{depth}", of.elem, "view", const=name == "from")
