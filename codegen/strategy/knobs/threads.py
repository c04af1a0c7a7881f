"""Knob of `tune` for each `parallel` directive: another loop around the same statement runs in parallel instead, or
none."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.plan.model import LoopRef, Parallel, Plan
from codegen.scop.tree import enclosing
from codegen.strategy.knobs.knob import Knob, Slots
from codegen.transform.program import Program


def thread_loops(plan: Plan, p: Program) -> Iterator[Knob]:
    for k, d in enumerate(plan.directives):
        if isinstance(d, Parallel):
            yield _other_loop(p, k, d)


def _other_loop(p: Program, k: int, d: Parallel) -> Knob:
    """Another loop around the same statement, or none."""
    stmt = d.loop.stmt or p.scop.statements[0].name
    names = [lp.name for lp in enclosing(p.tree, stmt)[:4]]
    others = [n for n in dict.fromkeys(names) if n != d.loop.name]

    def edit(slots: Slots, choice: int) -> None:
        if choice:
            name = ("", *others)[choice - 1]
            slots[k] = (Parallel(LoopRef(name, stmt)),) if name else ()

    return Knob(f"threads {d.loop}", 0, (d.loop.name, "none", *others), 0, edit, threads=True)
