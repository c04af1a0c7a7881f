"""Knobs of `tune` for unroll-and-jam (the factor of each `jam` directive, a new one for nests where the plan has none),
and for leaving out a `vector` directive."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from codegen.plan.model import Directive, Jam, LoopRef, Plan, Vector
from codegen.strategy.knobs.knob import Addition, Knob, NumberKnob, present
from codegen.strategy.knobs.nests import planned_nests
from codegen.transform.program import Program


def jam_factors(plan: Plan, p: Program) -> Iterator[Knob]:
    for k, d in enumerate(plan.directives):
        if isinstance(d, Jam):
            yield NumberKnob(k, d.factor, (1, 2, 3, 4, 6, 8), _jam).knob(f"jam {d.loop}", 4)


def _jam(d: Directive, factor: int) -> tuple[Directive, ...]:
    assert isinstance(d, Jam)
    return (replace(d, factor=factor),) if factor > 1 else ()


def new_rows(plan: Plan, p: Program) -> Iterator[Knob]:
    """Rows of the loop around the innermost one side by side, after everything else, where a plan has none."""
    if any(isinstance(d, Jam) for d in plan.directives):
        return
    for nest in planned_nests(plan):
        if len(nest.loops) > 1:
            loop = LoopRef(nest.loops[-2], nest.stmt)
            options = tuple((Jam(loop, n),) for n in (2, 4, 8))
            yield Addition(len(plan.directives) - 1, ("2", "4", "8"), options).knob(f"jam {nest.stmt}", 4)


def vectors(plan: Plan, p: Program) -> Iterator[Knob]:
    for k, d in enumerate(plan.directives):
        if isinstance(d, Vector):
            yield present(f"vector {d.loop}", 5, k)
