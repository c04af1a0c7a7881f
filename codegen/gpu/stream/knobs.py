"""Knobs of `tune` for time steps of stencils: how many a launch computes, on which tiles, and whether it does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from codegen.gpu.stream.choose import STREAMED, TILES
from codegen.plan.model import Directive, Plan, TimeSteps
from codegen.strategy.knobs.knob import Knob, NumberKnob, Slots, present
from codegen.transform.program import Program


def time_steps(plan: Plan, p: Program) -> Iterator[Knob]:
    """Iterations of a loop over time in a launch, the tiles that they run on, and whether they do."""
    for k, d in enumerate(plan.directives):
        if isinstance(d, TimeSteps):
            tiles = STREAMED if d.stream else TILES[len(d.sides)]
            yield NumberKnob(k, d.steps, tiles.steps, _so_many).knob(f"steps {d.loop}", 1)
            shapes = tuple(x for x in tiles.shapes if x != (d.sides, d.threads))
            names = (f"{' by '.join(map(str, sides))}, {threads} threads" for sides, threads in shapes)
            yield Knob(f"time tile {d.loop}", 1, ("as it is", *names), 0, partial(_on_tiles, k, shapes))
            yield present(f"tiles over time {d.loop}", 2, k)


def _so_many(d: Directive, steps: int) -> tuple[Directive, ...]:
    return (replace(d, steps=steps),) if isinstance(d, TimeSteps) else (d,)


def _on_tiles(k: int, shapes: Sequence[tuple[tuple[int, ...], int]], slots: Slots, choice: int) -> None:
    if choice:
        sides, threads = shapes[choice - 1]
        slots[k] = tuple(replace(d, sides=sides, threads=threads) for d in slots[k] if isinstance(d, TimeSteps))
