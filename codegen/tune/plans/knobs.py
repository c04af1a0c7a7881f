"""What can be changed about a plan: for every directive its numbers, where it stands, and whether it is there at all.

A knob edits *slots*: for every directive of the base the directives that stand in its place. None of them asks
whether a change is legal; the proofs that every plan goes through do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from codegen.plan.model import (
    CopyReads,
    Directive,
    Interleave,
    Jam,
    LoopRef,
    Multiply,
    Parallel,
    StripMine,
    Tile,
    Vector,
)
from codegen.record import record
from codegen.scop.product import Blocking, Sweep
from codegen.scop.tree import enclosing
from codegen.tune.plans.bases import Base
from codegen.tune.plans.nests import nest_changes

Slots = list[tuple[Directive, ...]]
NEVER = 1 << 40  # steps beyond which a product uses threads: more than any has
HUGE = 4096  # the largest size of a tile or a block


@record
class Knob:
    """Something with a few choices; `start` is the one that leaves the base as it is."""

    name: str
    choices: tuple[str, ...]
    start: int
    edit: Callable[[Slots, int], None]


def knobs_of(base: Base, threads: int) -> tuple[Knob, ...]:
    """All knobs of a base, those that matter most first; for one thread none that is about threads."""
    found: list[Knob] = [*_panels(base)]
    for k, d in enumerate(base.plan.directives):
        if isinstance(d, Tile):
            found += _tile(base, k, d)
        elif isinstance(d, Jam):
            found.append(_numbers(f"jam {d.loop}", k, d.factor, (1, 2, 3, 4, 6, 8), _jam))
        elif isinstance(d, Vector):
            found.append(_switch(f"vector {d.loop}", k))
        elif isinstance(d, Parallel):
            found.append(_threads(base, k, d))
        elif isinstance(d, Multiply):
            found += _product(k, d)
    for change in nest_changes(base):
        found.append(Knob(change.name, ("as it is", *change.choices), 0, partial(_insert, change.slot, change.options)))
    wanted = [knob for knob in found if threads > 1 or not knob.name.startswith("threads")]
    return tuple(sorted(wanted, key=lambda knob: _IMPORTANCE[knob.name.split()[0]]))


_IMPORTANCE = {"threads": 0, "register": 1, "panels": 1, "tile": 2, "tiles": 2, "kc": 3, "streams": 3, "order": 3,
               "mc": 4, "nc": 4, "jam": 4, "ahead": 4, "block": 4, "vector": 5, "near": 5, "vectors": 5, "full": 6,
               "direct": 6, "spread": 6}  # fmt: skip


def around(value: int, low: int = 2, high: int = HUGE, step: int = 1) -> tuple[int, ...]:
    """Sizes from an eighth to eight times a value, in whole steps."""
    near = {round(value * f / step) * step for f in (0.125, 0.25, 0.5, 0.75, 1, 1.5, 2, 4, 8)}
    return tuple(sorted({value, *(n for n in near if low <= n <= high)}))


def _numbers(
    name: str, k: int, now: int, values: Sequence[int], change: Callable[[Directive, int], tuple[Directive, ...]]
) -> Knob:
    values = sorted({now, *values})

    def edit(slots: Slots, choice: int) -> None:
        slots[k] = tuple(x for d in slots[k] for x in change(d, values[choice]))

    return Knob(name, tuple(map(str, values)), values.index(now), edit)


def _jam(d: Directive, factor: int) -> tuple[Directive, ...]:
    assert isinstance(d, Jam)
    return (replace(d, factor=factor),) if factor > 1 else ()


def _switch(name: str, k: int) -> Knob:
    def edit(slots: Slots, choice: int) -> None:
        if choice:
            slots[k] = ()

    return Knob(name, ("yes", "no"), 0, edit)


def _insert(k: int, options: Sequence[tuple[Directive, ...]], slots: Slots, choice: int) -> None:
    if choice:
        slots[k] = (*slots[k], *options[choice - 1])


def _threads(base: Base, k: int, d: Parallel) -> Knob:
    """Another loop around the same statement, or none."""
    stmt = d.loop.stmt or base.program.scop.statements[0].name
    names = [lp.name for lp in enclosing(base.program.tree, stmt)[:4]]
    others = [n for n in dict.fromkeys(names) if n != d.loop.name]

    def edit(slots: Slots, choice: int) -> None:
        if choice:
            name = ("", *others)[choice - 1]
            slots[k] = (Parallel(LoopRef(name, stmt)),) if name else ()

    return Knob(f"threads {d.loop}", (d.loop.name, "none", *others), 0, edit)


def _tile(base: Base, k: int, d: Tile) -> Iterator[Knob]:
    """The length of a tile along each loop, and whether full tiles get code of their own."""
    side_by_side = {x.loop for x in base.plan.directives if isinstance(x, Interleave)}
    for n, (ref, size) in enumerate(d.loops):
        values = (0, *around(size)) if size else (0, 8, 32, 128)
        if ref in side_by_side and size:
            values = (2, 4, 6, 8, 12, 16)
        yield _numbers(f"tile {ref}", k, size, values, partial(_resized, n))
    yield _numbers(f"full tiles of {d.loops[0][0]}", k, int(d.full), (0, 1), _full)


def _resized(n: int, d: Directive, size: int) -> tuple[Directive, ...]:
    if not isinstance(d, Tile):
        return (d,)
    return (replace(d, loops=tuple((ref, size if k == n else old) for k, (ref, old) in enumerate(d.loops))),)


def _full(d: Directive, full: int) -> tuple[Directive, ...]:
    return (replace(d, full=bool(full)),) if isinstance(d, Tile) else (d,)


def _panels(base: Base) -> Iterator[Knob]:
    """The size of all blocks at once: kept copies are indexed by it too."""
    sizes = {d.size for d in base.plan.directives if isinstance(d, StripMine)}
    if len(sizes) != 1:
        return
    (now,) = sizes
    values = sorted({now, 16, 24, 32, 48, 64, 96, 128, 192, 256})

    def edit(slots: Slots, choice: int) -> None:
        for k, slot in enumerate(slots):
            slots[k] = tuple(_with_panels(d, now, values[choice]) for d in slot)

    yield Knob("panels", tuple(map(str, values)), values.index(now), edit)


def _with_panels(d: Directive, old: int, new: int) -> Directive:
    if isinstance(d, StripMine):
        return replace(d, size=new)
    if isinstance(d, CopyReads):
        return replace(d, at=tuple((_swapped(x, old, new), _swapped(size, old, new)) for x, size in d.at))
    return d


def _swapped(text: str, old: int, new: int) -> str:
    return re.sub(rf"\b{old}\b", str(new), text)


def _product(k: int, d: Multiply) -> Iterator[Knob]:
    h = d.how
    field = partial(_field, k, d)
    if isinstance(h, Sweep):
        yield field("streams", (1, 2, 3, 4, 6, 8))
        yield field("vectors", (1, 2, 4, 8))
        yield field("block", around(h.block, 64, 1 << 22, 64))
        yield field("ahead", (0, 8, 16, 24, 32, 48, 64, 128))
        yield field("near", (0, *around(h.near, 64, 1 << 30), 1 << 30))
        yield field("threads", (0, *around(h.threads, 64, 1 << 30), NEVER))
        return
    if not isinstance(h, Blocking):
        return  # the order of a nest has actions of its own
    yield _register_tile(k, d, h)
    lanes = max(1, h.bits // 64)
    yield field("kc", around(h.kc, 16, HUGE, 8))
    yield field("mc", around(h.mc, h.mr, HUGE, max(1, h.mr)))
    yield field("nc", around(h.nc, h.nv * lanes, 1 << 16, h.nv * lanes))
    yield field("direct", (0, *around(h.direct, 64, 1 << 30)))
    yield field("threads", (0, *around(h.threads, 64, 1 << 30), NEVER))
    yield field("spread", (False, True))


def _field(k: int, d: Multiply, name: str, values: Sequence[int]) -> Knob:
    def change(x: Directive, value: int) -> tuple[Directive, ...]:
        if not isinstance(x, Multiply):
            return (x,)
        return (replace(x, how=replace(x.how, **{name: type(getattr(x.how, name))(value)})),)

    return _numbers(f"{name} {d.stmt}", k, getattr(d.how, name), values, change)


def _retiled(d: Directive, mr: int, nv: int) -> Directive:
    if isinstance(d, Multiply) and isinstance(d.how, Blocking):
        return replace(d, how=replace(d.how, mr=mr, nv=nv))
    return d


def _register_tile(k: int, d: Multiply, h: Blocking) -> Knob:
    """Rows by vectors; a few tiles beyond what the registers hold are for the compiler to show."""
    most = 36 if h.isa in ("neon", "sve", "avx512") else 18
    tiles = [(mr, nv) for nv in range(1, 9) for mr in range(1, 17) if 4 <= mr * nv <= most and nv <= 2 * mr + 2]
    tiles = sorted({(h.mr, h.nv), *tiles})

    def edit(slots: Slots, choice: int) -> None:
        mr, nv = tiles[choice]
        slots[k] = tuple(_retiled(x, mr, nv) for x in slots[k])

    return Knob(f"register tile {d.stmt}", tuple(f"{mr} by {nv}" for mr, nv in tiles), tiles.index((h.mr, h.nv)), edit)
