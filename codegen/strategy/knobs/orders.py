"""Knobs of `tune` for loop order: alternatives are `order` directives that permute the loops of a nest (two to four of
them), or its tile loops."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from codegen.plan.model import LoopRef, Order, Plan
from codegen.strategy.knobs.knob import Addition, Knob
from codegen.strategy.knobs.nests import planned_nests
from codegen.transform.program import Program

MOST = 4  # loops of a nest whose orders are all tried


def orders(plan: Plan, p: Program) -> Iterator[Knob]:
    for nest in planned_nests(plan):
        if not 2 <= len(nest.loops) <= MOST:
            continue
        slot = nest.start if nest.cut is None else nest.cut
        others = [x for x in permutations(nest.loops) if x != nest.loops]
        yield _orders(nest.stmt, slot, others).knob(f"order {nest.stmt}", 3)
        if nest.cut is not None:
            tiles = [tuple(f"{n}t" for n in x) for x in others]
            yield _orders(nest.stmt, slot, tiles).knob(f"order of tiles {nest.stmt}", 3)


def _orders(stmt: str, slot: int, ways: list[tuple[str, ...]]) -> Addition:
    options = tuple((Order(tuple(LoopRef(n, stmt) for n in way)),) for way in ways)
    return Addition(slot, tuple(map(" ".join, ways)), options)
