"""Knobs of `tune` for products: the block size of all panels, and the sizes in each `product` directive (register tile,
cache blocks, streams, distance of prefetches, the number of steps from which threads are used)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from codegen.isa.load import load
from codegen.plan.model import CopyReads, Directive, Multiply, Plan, StripMine
from codegen.scop.product import Blocking, MatrixVector
from codegen.strategy.knobs.knob import HUGE, Knob, NumberKnob, Slots, around
from codegen.transform.program import Program

NEVER = 1 << 40  # steps beyond which a product uses threads: more than any has
_RANKS = {"kc": 3, "streams": 3, "mc": 4, "nc": 4, "ahead": 4, "block": 4, "near": 5, "vectors": 5, "direct": 6,
          "pair": 3, "spread": 6, "run": 5, "threads": 0}  # fmt: skip


def panels(plan: Plan, p: Program) -> Iterator[Knob]:
    """The size of all blocks at once: copies are indexed by it, too."""
    sizes = {d.size for d in plan.directives if isinstance(d, StripMine)}
    if len(sizes) != 1:
        return
    (now,) = sizes
    values = sorted({now, 16, 24, 32, 48, 64, 96, 128, 192, 256})

    def edit(slots: Slots, choice: int) -> None:
        for k, slot in enumerate(slots):
            slots[k] = tuple(_with_panels(d, now, values[choice]) for d in slot)

    yield Knob("panels", 1, tuple(map(str, values)), values.index(now), edit)


def _with_panels(d: Directive, old: int, new: int) -> Directive:
    if isinstance(d, StripMine):
        return replace(d, size=new)
    if isinstance(d, CopyReads):
        return replace(d, at=tuple((_swapped(x, old, new), _swapped(size, old, new)) for x, size in d.at))
    return d


def _swapped(text: str, old: int, new: int) -> str:
    return re.sub(rf"\b{old}\b", str(new), text)


def product_sizes(plan: Plan, p: Program) -> Iterator[Knob]:
    for k, d in enumerate(plan.directives):
        if not isinstance(d, Multiply):
            continue
        if isinstance(d.how, MatrixVector):
            yield from _matvec(k, d, d.how)
        elif isinstance(d.how, Blocking):  # the order of a nest has actions of its own
            yield from _blocking(k, d, d.how)


def _matvec(k: int, d: Multiply, h: MatrixVector) -> Iterator[Knob]:
    yield _field(k, d, "streams", (1, 2, 3, 4, 6, 8))
    yield _field(k, d, "vectors", (1, 2, 4, 8))
    if h.pair:
        yield _field(k, d, "pair", (0, 2, 4, 8, 16))
    yield _field(k, d, "block", around(h.block, 64, 1 << 22, 64))
    yield _field(k, d, "ahead", (0, 8, 16, 24, 32, 48, 64, 128))
    yield _field(k, d, "near", (0, *around(h.near, 64, 1 << 30), 1 << 30))
    yield _field(k, d, "threads", (0, *around(h.threads, 64, 1 << 30), NEVER))


def _blocking(k: int, d: Multiply, h: Blocking) -> Iterator[Knob]:
    yield _register_tile(k, d, h)
    lanes = max(1, h.bits // 64)
    yield _field(k, d, "kc", around(h.kc, 16, HUGE, 8))
    yield _field(k, d, "mc", around(h.mc, h.mr, HUGE, max(1, h.mr)))
    yield _field(k, d, "nc", around(h.nc, h.nv * lanes, 1 << 16, h.nv * lanes))
    yield _field(k, d, "run", (0, *around(h.run or 256, h.nv * lanes, 1 << 12, h.nv * lanes)))
    yield _field(k, d, "direct", (0, *around(h.direct, 64, 1 << 30)))
    yield _field(k, d, "threads", (0, *around(h.threads, 64, 1 << 30), NEVER))
    yield _field(k, d, "spread", (False, True))


def _field(k: int, d: Multiply, name: str, values: Sequence[int]) -> Knob:
    def change(x: Directive, value: int) -> tuple[Directive, ...]:
        if not isinstance(x, Multiply):
            return (x,)
        return (replace(x, how=replace(x.how, **{name: type(getattr(x.how, name))(value)})),)

    return NumberKnob(k, getattr(d.how, name), values, change).knob(f"{name} {d.stmt}", _RANKS[name], name == "threads")


def _register_tile(k: int, d: Multiply, h: Blocking) -> Knob:
    """Rows by vectors; a few tiles beyond what the registers hold are for the compiler to show."""
    most = 36 if load(h.isa).registers >= 32 else 18
    tiles = [(mr, nv) for nv in range(1, 9) for mr in range(1, 17) if 4 <= mr * nv <= most and nv <= 2 * mr + 2]
    tiles = sorted({(h.mr, h.nv), *tiles})

    def edit(slots: Slots, choice: int) -> None:
        mr, nv = tiles[choice]
        slots[k] = tuple(_retiled(x, mr, nv) for x in slots[k])

    words = tuple(f"{mr} by {nv}" for mr, nv in tiles)
    return Knob(f"register tile {d.stmt}", 1, words, tiles.index((h.mr, h.nv)), edit)


def _retiled(d: Directive, mr: int, nv: int) -> Directive:
    if isinstance(d, Multiply) and isinstance(d.how, Blocking):
        return replace(d, how=replace(d.how, mr=mr, nv=nv))
    return d
