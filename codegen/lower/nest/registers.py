"""Decides for a contraction's nest which operand stays in registers and how far ahead the other is loaded
(`residence`), how many partial sums there are (`copies`), and which cache lines are prefetched (`asked_ahead`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from codegen.isa.model import Isa, bits_of
from codegen.isa.text import LINE_BYTES
from codegen.lower.nest.schedule import INDEPENDENT, NestLevel, NestSchedule, shape

# Groups of multiply-adds that an operand is loaded before its use, where there are registers for it.
GROUPS_AHEAD = 2


class Residence(NamedTuple):
    """Of the operands of a step, values of `held` stay in registers while those of `outer` come and go, each loaded so
    many groups ahead of its use."""

    outer: str
    held: str
    ahead: int


def residence(plan: NestSchedule, count: Mapping[str, int], room: int) -> Residence:
    """For so many different values of each operand, and registers beside the sums. Vectors stay while values of the
    other operand come and go; where there is no room for them all, it is the other way round, although a value that
    stays costs gcc an operation to bring it into all lanes (4x24 on a Neoverse N1: 28.9 GFLOPS so, 36.1 with vectors
    that stay)."""
    along = {t: plan.levels[-1].move(t) for t in "AB"}
    outer, held = ("B", "A") if along["A"] and not along["B"] else ("A", "B")
    if count[held] > count[outer] and count[held] + 2 > room:
        outer, held = held, outer
    return Residence(outer, held, max(0, min(GROUPS_AHEAD, room - count[held] - 1)))


def copies(isa: Isa, plan: NestSchedule, extents: Mapping[str, int], steps: int) -> int:
    """Enough independent sums to hide the latency of a multiply-add, if there is room for them."""
    need = shape(plan.problem, extents, plan.vector, plan.lanes)
    room = (isa.registers - need.operands) // need.accumulators
    return max(1, min(steps, room, -(-INDEPENDENT // need.accumulators)))


def asked_ahead(plan: NestSchedule, tensor: str, level: NestLevel, extents: Mapping[str, int]) -> tuple[int, ...]:
    """How far behind the first element of a turn the lines of an operand along vectors begin that are asked for: where
    each turn needs other lines of it, unless it is packed and the loop around the tile uses it again: then it is near.
    Nor with one row, where loads are all that the processor does."""
    line = LINE_BYTES * 8 // bits_of(plan.problem.elem)
    packed = any(tensor in x.pack for x in plan.levels)
    again = plan.hold and not plan.levels[plan.hold - 1].move(tensor)
    need = shape(plan.problem, {**extents, level.var: level.step}, plan.vector, plan.lanes)
    rows = need.lefts if tensor == "B" else need.rights
    short = plan.levels[-1].move(tensor) != 1 or level.move(tensor) < line // 2
    if short or rows < 2 or (packed and again):
        return ()
    return tuple(range(0, extents[plan.vector], line))
