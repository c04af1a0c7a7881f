"""Knobs of `tune` for plans of devices: threads of a block along each loop, iterations of a thread, tiles of products
in registers, and how deep and how often arrays are staged in shared memory, and whether at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from math import log2, prod

from codegen.plan.model import Directive, Grid, Plan, Registers, StageShared, Tile
from codegen.strategy.knobs.knob import Knob, KnobMaker, NumberKnob, Slots
from codegen.transform.program import Program

THREADS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
STRIPS = (1, 2, 3, 4, 6, 8, 12, 16)
DEPTHS = (4, 8, 16, 24, 32, 64, 128)
STAGES = (2, 3, 4, 5, 6, 8)
PADS = (0, 1, 2, 4, 8, 16)
Shape = tuple[int, int, int, int]  # threads along rows and columns, and elements of a thread along both
# Tiles from 32 by 32 to 256 by 128 elements, from 64 to 512 threads.
SHAPES: tuple[Shape, ...] = tuple(
    (down, right, rows, columns)
    for down in (4, 8, 16, 32)
    for right in (8, 16, 32)
    for rows in (2, 4, 8, 16)
    for columns in (2, 4, 8, 16)
    if 64 <= down * right <= 512 and 8 <= rows * columns <= 128
    and 32 <= down * rows <= 256 and 32 <= right * columns <= 256
)  # fmt: skip


def block_threads(plan: Plan, p: Program) -> Iterator[Knob]:
    """The threads of a block along each loop of a grid, but for products in tiles, whose blocks are those tiles."""
    tiles = _by_statement(plan, Registers)
    for k, d in enumerate(plan.directives):
        if isinstance(d, Grid) and d.loops[0][0].stmt not in tiles:
            for n, (ref, threads) in enumerate(d.loops):
                yield NumberKnob(k, threads, THREADS, partial(_along, n)).knob(f"threads {ref}", 1)


def _along(n: int, d: Directive, threads: int) -> tuple[Directive, ...]:
    if not isinstance(d, Grid):
        return (d,)
    return (replace(d, loops=tuple((ref, threads if k == n else old) for k, (ref, old) in enumerate(d.loops))),)


def strip_lengths(plan: Plan, p: Program) -> Iterator[Knob]:
    """How many iterations of a loop a thread runs, where a plan gives it several."""
    for k, d in enumerate(plan.directives):
        if isinstance(d, Tile) and len(d.loops) == 1 and d.loops[0][1]:
            yield NumberKnob(k, d.loops[0][1], STRIPS, _strip).knob(f"iterations {d.loops[0][0]}", 1)


def _strip(d: Directive, length: int) -> tuple[Directive, ...]:
    return (replace(d, loops=((d.loops[0][0], length),)),) if isinstance(d, Tile) else (d,)


def register_tiles(plan: Plan, p: Program) -> Iterator[Knob]:
    """The tiles of a product: those of the plan, from which the launcher takes one by the sizes, or one of a table."""
    for stmt, places in _by_statement(plan, Registers).items():
        first = plan.directives[places[0]]
        assert isinstance(first, Registers)
        yield Knob(f"tile {stmt}", 0, ("as it is", *map(_words, SHAPES)), 0, partial(_retiled, places, first))


def _words(shape: Shape) -> str:
    down, right, rows, columns = shape
    return f"{rows} by {columns} elements, {down} by {right} threads"


def _retiled(places: list[int], first: Registers, slots: Slots, choice: int) -> None:
    if not choice:
        return
    down, right, rows, columns = SHAPES[choice - 1]
    (row, _), (column, _) = first.loops
    for k in places:
        slots[k] = ()
    slots[places[0]] = (replace(first, loops=((row, rows), (column, columns)), threads=(down, right)),)


def shared_memory(plan: Plan, p: Program) -> Iterator[Knob]:
    """How deep arrays of a statement are staged, how often, and the elements behind their lines; or not at all."""
    tiles = _by_statement(plan, Registers)
    for stmt, places in _by_statement(plan, StageShared).items():
        first = plan.directives[places[0]]
        assert isinstance(first, StageShared)
        yield _staged(places, first.size, DEPTHS, _deep, f"depth {stmt}", 2)
        yield _staged(places, first.stages, STAGES, _often, f"stages {stmt}", 2)
        for k in places:
            d = plan.directives[k]
            assert isinstance(d, StageShared)
            yield _staged([k], d.pad, PADS, _padded, f"pad {d.array} of {stmt}", 4)
        yield Knob(f"shared memory {stmt}", 3, ("yes", "no"), 0, partial(_left_out, [*places, *tiles.get(stmt, [])]))


def _staged(
    places: list[int], now: int, values: tuple[int, ...], change: Callable[[StageShared, int], StageShared],
    name: str, rank: int,
) -> Knob:  # fmt: skip
    """A number of all directives for the arrays of a statement."""
    found = sorted({now, *values})

    def edit(slots: Slots, choice: int) -> None:
        for k in places:
            slots[k] = tuple(change(d, found[choice]) for d in slots[k] if isinstance(d, StageShared))

    return Knob(name, rank, tuple(map(str, found)), found.index(now), edit)


def _deep(d: StageShared, size: int) -> StageShared:
    return replace(d, size=size)


def _often(d: StageShared, stages: int) -> StageShared:
    return replace(d, stages=stages)


def _padded(d: StageShared, pad: int) -> StageShared:
    return replace(d, pad=pad)


def _left_out(places: list[int], slots: Slots, choice: int) -> None:
    for k in places if choice else ():
        slots[k] = ()


def _by_statement(plan: Plan, kind: type[Registers] | type[StageShared]) -> dict[str, list[int]]:
    """Where directives of a kind stand in a plan, by the statement that they are for."""
    found: dict[str, list[int]] = {}
    for k, d in enumerate(plan.directives):
        if isinstance(d, kind):
            stmt = d.loop.stmt if isinstance(d, StageShared) else d.loops[0][0].stmt
            found.setdefault(stmt, []).append(k)
    return found


def expected(plan: Plan) -> float:
    """How a plan looks without a measurement, as a power of two: blocks of about 256 threads with whole warps side by
    side, tiles that load little for what they compute, and four parts of the depth under way."""
    tiles, total = _by_statement(plan, Registers), 0.0
    for d in plan.directives:
        if isinstance(d, Grid) and d.loops[0][0].stmt not in tiles:
            sizes = [n for _, n in d.loops]
            total += 0.15 * abs(log2(prod(sizes) / 256)) + 0.5 * max(0.0, 5 - log2(sizes[-1]))
        elif isinstance(d, Registers):
            (row, down), (_, right) = d.loops
            loads = log2(1 + 1 / down + 1 / right) + 0.1 * abs(log2(prod(d.threads) / 128))
            total += loads / len(tiles[row.stmt])
        elif isinstance(d, StageShared):
            total += 0.05 * abs(d.stages - 4) + 0.05 * abs(log2(d.size / 16)) + 0.02 * abs(d.pad - 4)
        elif isinstance(d, Tile):
            total += 0.1 * abs(log2(max(1, d.loops[0][1]) / 4))
    return total


KNOBS: tuple[KnobMaker, ...] = (register_tiles, block_threads, strip_lengths, shared_memory)
