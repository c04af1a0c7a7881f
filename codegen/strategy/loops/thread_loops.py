"""Chooses which of several parallel loops threads share: the one whose threads own most data.

The outermost legal loop starts threads least often, so another one has to take its place as well; that is an order of
loops like any other, and legal or not by dependences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import islpy as isl

from codegen.machine import Machine
from codegen.plan.model import Directive, LoopRef, Order, Parallel
from codegen.recognize.ownership.extract import BlockedNest, frame
from codegen.record import record
from codegen.scop.model import Access, Statement
from codegen.scop.tree import FoundLoop, Loop, enclosing, has_band, statements
from codegen.strategy.cost.groups import stepped
from codegen.strategy.cost.tile_sizes import constant_extent
from codegen.transform.program import Program

if TYPE_CHECKING:
    from codegen.recognize.ownership.search import ThreadLoop


@record
class Shared:
    """The loop to share out, the steps that do it, what to tell, and why; nothing where there was nothing to choose."""

    loop: str
    steps: tuple[Directive, ...]
    text: str
    why: str = ""


def equal_parts(place: FoundLoop) -> Shared:
    """The loop as it stands."""
    name = place.loop.name
    return Shared(name, (Parallel(LoopRef(name, statements(place.band)[0])),), f"loop {name} runs in parallel")


def shared_out(p: Program, place: FoundLoop, machine: Machine) -> Shared:
    """For a loop that may run on threads: this one, or another of its band."""
    names = statements(place.band)
    usual = equal_parts(place)
    others = _candidates(place)
    if len(others) < 2:
        return usual
    counted = {lp.name: _counted(p, lp, names) for lp in others}
    inside = _inside(p, names)
    if any(lp is None or lp.name not in {x.name for x in inside} for lp in counted.values()):
        return usual
    from codegen.recognize.ownership.search import thread_loops

    f = frame(p.scop, BlockedNest(names, (), inside))
    lengths = {(counted[lp.name] or lp).name: _rounds(p, lp, names) for lp in others}
    found = [c for c in thread_loops(f, lengths, machine.cores) if c.name in lengths]
    best, mine = found[0], next(c for c in found if (counted[place.loop.name] or place.loop).name == c.name)
    first = next(lp for lp in others if (counted[lp.name] or lp).name == best.name)
    if not _better(best, mine) or (best.busy <= mine.busy and _jumps(p, first, others, names)):
        return replace(usual, why=_words(mine, [c for c in found if c is not mine]))
    order = [first, *(lp for lp in others if lp is not first)]
    refs = [LoopRef(lp.name, names[0]) for lp in order]
    text = f"loop {first.name} runs in parallel"
    return Shared(first.name, (Order(tuple(refs)), Parallel(refs[0])), text, _words(best, [mine]))


def _better(one: ThreadLoop, other: ThreadLoop) -> bool:
    """Is it worth another order? Loops are in the order that suits caches best."""
    return one.busy > other.busy or one.uses > other.uses


def _jumps(p: Program, first: Loop, others: Sequence[Loop], names: Sequence[str]) -> bool:
    """Would it jump through an array that is gone through in the order of memory now? Normalising 8 x 64 planes of
    3136 floats, planes of a channel one after the other: 0.8 of gcc's speed on one thread of a Neoverse N1."""
    passed = others[: others.index(first)]
    for s in map(p.scop.statement, names):
        for a in s.accesses:
            mine, outer = _place(first, s, a), [_place(lp, s, a) for lp in passed]
            if mine is not None and any(k is not None and k < mine for k in outer):
                return True
    return False


def _place(lp: Loop, s: Statement, a: Access) -> int | None:
    """The first subscript of an access that a loop moves."""
    d = stepped(lp, s.name)
    if d is None:
        return None
    subscripts = [a.index.get_pw_aff(k) for k in range(a.index.dim(isl.dim_type.out))]
    return next((k for k, x in enumerate(subscripts) if x.involves_dims(isl.dim_type.in_, d, 1)), None)


def _words(best: ThreadLoop, rest: list[ThreadLoop]) -> str:
    return f"{best.reason}; {'; '.join(c.reason for c in rest)}"


def _candidates(place: FoundLoop) -> list[Loop]:
    """Loops of the band, from this one on, that carry nothing; not the innermost one, which is for vectors."""
    band = place.band
    last = len(band.loops) - (not has_band(band.child) and not place.loop.tile)
    some = band.loops[place.member : last]
    kinds = [lp for lp in some if lp.coincident and not lp.kind and bool(lp.tile) == bool(place.loop.tile)]
    return kinds if kinds and kinds[0] is place.loop else []


def _counted(p: Program, lp: Loop, names: tuple[str, ...]) -> Loop | None:
    """The loop itself, or the one whose tiles it counts."""
    if not lp.tile:
        return lp
    return next((x for x in enclosing(p.tree, names[0]) if x.name == lp.of and not x.tile), None)


def _inside(p: Program, names: tuple[str, ...]) -> tuple[Loop, ...]:
    """Loops that all the statements share, whatever bands they are in."""
    around = [{lp.name: lp for lp in enclosing(p.tree, n) if not lp.tile} for n in names]
    shared = [n for n in around[0] if all(n in a for a in around)]
    return tuple(Loop(n, {s: a[n].exprs[s] for s, a in zip(names, around, strict=True)}) for n in shared)


def _rounds(p: Program, lp: Loop, names: tuple[str, ...]) -> int | None:
    """How many iterations there are to share out, where that is known."""
    known = [constant_extent(p.scop, lp, n) for n in names]
    if any(n is None for n in known):
        return None
    most = max(n for n in known if n is not None)
    return -(-most // lp.tile) if lp.tile else most
