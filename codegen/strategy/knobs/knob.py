"""The `Knob` record for `tune`: one choice about a plan with a few alternatives.

A knob edits *slots*: for every directive of the plan the directives that stand in its place. None of them asks
whether a change is legal; the proofs that every plan goes through do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from codegen.plan.model import Directive, Plan
from codegen.record import record
from codegen.transform.program import Program

Slots = list[tuple[Directive, ...]]
HUGE = 4096  # the largest size of a tile or a block


@record
class Knob:
    """`start` is the choice that leaves the plan as it is; `rank` is less for what matters more. `threads`: it is about
    them, and of no use where there is one."""

    name: str
    rank: int
    choices: tuple[str, ...]
    start: int
    edit: Callable[[Slots, int], None]
    threads: bool = False


# All knobs of one kind for a plan and the program it leads to.
KnobMaker = Callable[[Plan, Program], Iterator[Knob]]
Change = Callable[[Directive, int], tuple[Directive, ...]]


def around(value: int, low: int = 2, high: int = HUGE, step: int = 1) -> tuple[int, ...]:
    """Sizes from an eighth to eight times a value, in whole steps."""
    near = {round(value * f / step) * step for f in (0.125, 0.25, 0.5, 0.75, 1, 1.5, 2, 4, 8)}
    return tuple(sorted({value, *(n for n in near if low <= n <= high)}))


@record
class NumberKnob:
    """A number of directive `slot`: what it is now, and what it may be."""

    slot: int
    now: int
    values: Sequence[int]
    change: Change

    def knob(self, name: str, rank: int, threads: bool = False) -> Knob:
        values = sorted({self.now, *self.values})

        def edit(slots: Slots, choice: int) -> None:
            slots[self.slot] = tuple(x for d in slots[self.slot] for x in self.change(d, values[choice]))

        return Knob(name, rank, tuple(map(str, values)), values.index(self.now), edit, threads)


def present(name: str, rank: int, slot: int) -> Knob:
    """A directive, or none in its place."""

    def edit(slots: Slots, choice: int) -> None:
        if choice:
            slots[slot] = ()

    return Knob(name, rank, ("yes", "no"), 0, edit)


@record
class Addition:
    """Directives to add after those in a slot, one of `options`, described by `choices`."""

    slot: int
    choices: tuple[str, ...]
    options: tuple[tuple[Directive, ...], ...]

    def knob(self, name: str, rank: int) -> Knob:
        return Knob(name, rank, ("as it is", *self.choices), 0, partial(_insert, self))


def _insert(added: Addition, slots: Slots, choice: int) -> None:
    if choice:
        slots[added.slot] = (*slots[added.slot], *added.options[choice - 1])
