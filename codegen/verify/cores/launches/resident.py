"""Checks tiles that stay in local memory from kernel to kernel of a launch: it holds what main memory would.
`check_residents` raises Unread otherwise.

The kernels are proven for tiles that come and go. For a tile that stays, its place takes the part of main memory: that
is the same to all kernels where nothing else of the launch uses the array, where all kernels find the same tile of the
same core in the same place, where boxes of different tiles have no element in common, and where the tile comes before
and goes behind them all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from codegen.ast.ctree import Bin, CExpr, For, Name, expr_names, substitute
from codegen.record import record
from codegen.scop.model import Scop
from codegen.scop.tree import THREADED
from codegen.verify.cores.expr import same
from codegen.verify.cores.kernel import KernelReader
from codegen.verify.cores.launches.barriers import dealing
from codegen.verify.cores.launches.resident_transfers import Mover
from codegen.verify.cores.memory import BoxCopy, box
from codegen.verify.cores.records import PrintedStatement, StagedBoxes
from codegen.verify.cores.relations import IN, OUT, box_of
from codegen.verify.text.read import Unread


class TileSlots(NamedTuple):
    """Local memory for tiles of an array: so many, each of so many elements."""

    slots: int
    elements: int


@record
class Launched:
    """What a launch runs: kernels in the order of the text, which of them run whenever the loops around do, those that
    bring tiles and those that bring them back, each with its conditions, and the places of tiles."""

    kernels: Sequence[KernelReader]
    sure: Sequence[KernelReader]
    comes: Sequence[tuple[Mover, Sequence[CExpr]]]
    goes: Sequence[tuple[Mover, Sequence[CExpr]]]
    places: Mapping[str, TileSlots]


def check_residents(scop: Scop, x: Launched, elsewhere: frozenset[str]) -> None:
    """Raises Unread where a tile that stays may have something else. `elsewhere` are arrays that are used outside of
    these kernels."""
    for name, place in x.places.items():
        uses = [(k, leaf, stage, c) for k in x.kernels for leaf, stage, c in _boxes(k) if c.kept == name]
        if not uses:
            raise Unread(f"`{name}` is there for nobody")
        array = uses[0][3].array
        base = scop.arrays[array].base
        if any(scop.arrays[a].base == base for a in elsewhere):
            raise Unread(f"`{array}` stays with cores, and is used outside of kernels")
        for k in x.kernels:
            _check_all_kept(scop, k, base, name)
        _check_alike(uses, place)
        _check_disjoint(uses[0][2], uses[0][3])
        _check_comes(x, name, place, [k for k in x.kernels if any(u[0] is k for u in uses)], uses)


def _boxes(k: KernelReader) -> Iterator[tuple[PrintedStatement, StagedBoxes, BoxCopy]]:
    seen: set[int] = set()
    for leaf in k.leaves:
        for stage in leaf.stages:
            for c in stage.copies:
                if id(c) not in seen:
                    seen.add(id(c))
                    yield leaf, stage, c


def _check_all_kept(scop: Scop, k: KernelReader, base: str, name: str) -> None:
    """Whatever a kernel does to the array, it does in the box of the tile."""
    for _, _, c in _boxes(k):
        if scop.arrays[c.array].base == base and c.kept != name:
            raise Unread(f"`{c.array}` stays with cores, and `{c.buffer}` has another part of it")
    for leaf in k.leaves:
        for n, a in enumerate(scop.statement(leaf.instance.stmt).accesses):
            mine = [c for s in leaf.stages for c in s.copies if c.name == leaf.places.get(n, "")]
            if scop.arrays[a.array].base == base and (not mine or mine[-1].kept != name):
                raise Unread(f"`{a.array}` stays with cores, and is used in main memory")


def _canonical(loops: Sequence[For]) -> dict[str, CExpr]:
    bound = [lp for lp in loops if lp.loop.kind in THREADED]
    return {lp.var: Name(f"tile {k}") for k, lp in enumerate(bound)}


def _shape(stage: StagedBoxes, c: BoxCopy) -> tuple[CExpr, ...]:
    names = _canonical(stage.at.loops)
    return tuple(substitute(e, names) for e in (*c.lows, *c.lens))


def _check_alike(uses: Sequence[tuple[KernelReader, PrintedStatement, StagedBoxes, BoxCopy]], place: TileSlots) -> None:
    """All kernels have the same tiles of the same cores, in the same boxes, in the same order."""
    first, _, stage, copy = uses[0]
    deal, shape = dealing(first), _shape(stage, copy)
    outer = {lp.var for _, _, s, _ in uses for lp in s.at.loops if lp.loop.kind not in THREADED}
    if deal is None or any(expr_names(e) & outer for e in shape):
        raise Unread(f"tiles of `{copy.array}` that stay are not the same every time")
    for k, _, s, c in uses:
        alike = dealing(k) == deal and all(map(same, _shape(s, c), shape)) and len(c.lows) == len(copy.lows)
        bound = [lp for lp in s.at.loops if lp.loop.kind in THREADED]
        if not alike or len(bound) != k.wide or s.at.loops[-1] is not bound[-1]:
            raise Unread(f"kernels find other tiles of `{c.array}` in its place")
        if k.limits[c.stays] != place.slots or k.buffers[c.buffer].elements != place.elements:
            raise Unread(f"more or other tiles of `{c.array}` stay than there is room for")


def _check_disjoint(stage: StagedBoxes, c: BoxCopy) -> None:
    whole = box_of(stage, c)
    pairs = whole.apply_range(whole.reverse())
    for k, lp in enumerate(stage.at.loops):
        if lp.loop.kind in THREADED:
            apart = (pairs.order_lt(IN, k, OUT, k), pairs.order_gt(IN, k, OUT, k))
            if not all(p.is_empty() for p in apart):
                raise Unread(f"tiles of `{c.array}` that stay have elements in common")


def _check_comes(
    x: Launched, name: str, place: TileSlots, kernels: Sequence[KernelReader],
    uses: Sequence[tuple[KernelReader, PrintedStatement, StagedBoxes, BoxCopy]],
) -> None:  # fmt: skip
    """A tile comes before all kernels, unless the first writes it as a whole; and goes behind them, if one writes."""
    outer = [_outer(stage) for _, _, stage, _ in uses]
    comes, goes = (_movers(group, name) for group in (x.comes, x.goes))
    array, copy, stage = uses[0][3].array, uses[0][3], uses[0][2]
    for mover, tests in (*comes, *goes):
        command, limit = mover.moved[name]
        names = {lp.var: Name(f"tile {k}") for k, lp in enumerate(mover.bound)}
        shape = _shape(stage, copy)
        lows, lens = box(command.later(dict(names)), shape[len(copy.lows) + 1 :])
        right = command.outside.array == array and all(map(same, (*lows, *lens), shape)) and limit == place.slots
        if not right or mover.deal != dealing(kernels[0]):
            raise Unread(f"other tiles of `{array}` come or go than those that stay")
        if not all(_tested(o, outer[0], tests) for o in outer):
            raise Unread(f"tiles of `{array}` may not have come when they are used")
    if len(comes) > 1 or len(goes) > 1 or any(m.moved[name][0].put for m, _ in comes):
        raise Unread(f"tiles of `{array}` come or go twice")
    if any(not m.moved[name][0].put for m, _ in goes) or (
        comes and goes and len(comes[0][1]) != len(goes[0][1])
    ):
        raise Unread(f"tiles of `{array}` go where they have not come")
    fresh = all(not c.get for k, _, _, c in uses if k is kernels[0])
    tests = goes[0][1] if goes else ()
    sure = len(tests) == len(outer[0]) and any(k is kernels[0] for k in x.sure)
    if not comes and not (fresh and goes and sure):
        raise Unread(f"tiles of `{array}` are used before they have come")
    if not goes and any(c.put for _, _, _, c in uses):
        raise Unread(f"tiles of `{array}` do not go back")


def _outer(stage: StagedBoxes) -> tuple[For, ...]:
    """Loops around a kernel."""
    kinds = [lp.loop.kind in THREADED for lp in stage.at.loops]
    return stage.at.loops[: kinds.index(True)]


def _tested(mine: Sequence[For], first: Sequence[For], tests: Sequence[CExpr]) -> bool:
    """Are conditions those under which the outermost loops around a kernel run, the same loops for all kernels?"""
    if len(mine) < len(tests) or any(a is not b for a, b in zip(mine[: len(tests)], first, strict=False)):
        return False
    return all(same(t, Bin(lp.op, lp.lower, lp.upper)) for t, lp in zip(tests, mine, strict=False))


def _movers(group: Sequence[tuple[Mover, Sequence[CExpr]]], name: str) -> list[tuple[Mover, Sequence[CExpr]]]:
    return [(m, tests) for m, tests in group if name in m.moved]
