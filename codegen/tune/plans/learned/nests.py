"""Estimates the loops around each statement as the directives of a plan leave them, for the learned cost model, without
applying the plan.

Carrying a plan out takes some hundredths of a second, which is too long for thousands of candidates. Here directives
only move, cut and mark the loops that they name; whether that is legal is not asked, and what is not understood is
passed over. Nothing is decided by this but which candidates are measured first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from codegen.plan.model import (
    Diamond,
    Directive,
    Distribute,
    Interleave,
    Jam,
    LoopRef,
    Order,
    Parallel,
    Pipeline,
    Plan,
    Schedule,
    Tile,
    Unroll,
    Unskew,
    Vector,
)
from codegen.scop.tree import Node, loops
from codegen.tune.plans.learned.facts import RegionFacts, Row, row_of


@dataclass
class NestLoop:
    """A loop with the statements below it. `tile`: so many iterations are one of a tile loop; `inner`: so many of the
    loop itself are in a tile."""

    name: str
    rows: dict[str, Row]
    tile: int = 0
    inner: int = 0
    full: bool = False
    threads: bool = False
    width: int = 0  # bytes of vectors; 1 where compilers choose
    side: int = 1  # vectors, or iterations, side by side
    jam: int = 1


@dataclass
class Nests:
    """For each statement its loops, outermost first; a loop that statements share is one object."""

    facts: RegionFacts
    around: dict[str, list[NestLoop]] = field(default_factory=dict)

    def find(self, ref: LoopRef) -> NestLoop | None:
        for stmt in (ref.stmt,) if ref.stmt else tuple(self.around):
            for loop in self.around.get(stmt, ()):
                if loop.name == ref.name:
                    return loop
        return None

    def lists(self, loop: NestLoop) -> list[list[NestLoop]]:
        return [self.around[s] for s in loop.rows]


def nests_of(facts: RegionFacts, plan: Plan) -> Nests:
    tree = next((d.tree for d in plan.directives if isinstance(d, Schedule)), facts.tree)
    nests = Nests(facts, _loops(facts, tree))
    for d in plan.directives:
        act = _ACTS.get(type(d))
        if act is not None:
            act(nests, d)
    return nests


def _loops(facts: RegionFacts, tree: Node) -> dict[str, list[NestLoop]]:
    around: dict[str, list[NestLoop]] = {name: [] for name in facts.statements}
    known = _rows(facts, tree)
    for k, q in enumerate(loops(tree)):
        loop = NestLoop(q.loop.name, dict(known[k]))
        for s in loop.rows:
            around[s].append(loop)
    return around


def _rows(facts: RegionFacts, tree: Node) -> list[dict[str, Row]]:
    """The coefficients of all loops of a tree; all candidates around one plan share its tree, which keeps them."""
    kept: list[dict[str, Row]] | None = tree.__dict__.get("_rows")
    if kept is None:
        kept = []
        for q in loops(tree):
            rows = {}
            for stmt, value in q.loop.exprs.items():
                if stmt in facts.statements:
                    n = len(facts.statements[stmt].extents)
                    rows[stmt] = row_of(value, n) or (0.0,) * n
            kept.append(rows)
        tree.__dict__["_rows"] = kept
    return kept


def _tile(nests: Nests, d: Directive) -> None:
    assert isinstance(d, Tile)
    found = [(loop, size) for ref, size in d.loops if (loop := nests.find(ref)) is not None]
    cut(nests, found, d.full)


def cut(nests: Nests, found: Sequence[tuple[NestLoop, int]], full: bool = False) -> None:
    """Tile loops stand before the first of the loops that are cut."""
    if not found:
        return
    outer = [NestLoop(f"{lp.name}t", dict(lp.rows), tile=size, full=full) for lp, size in found if size]
    for lp, size in found:
        lp.inner = size
    for around in nests.lists(found[0][0]):
        at = min((k for k, x in enumerate(around) if any(x is lp for lp, _ in found)), default=len(around))
        around[at:at] = outer


def _diamond(nests: Nests, d: Directive) -> None:
    assert isinstance(d, Diamond)
    found = [(loop, d.size) for ref in (d.time, d.space) if (loop := nests.find(ref)) is not None]
    cut(nests, found)


def _order(nests: Nests, d: Directive) -> None:
    assert isinstance(d, Order)
    wanted = [loop for ref in d.loops if (loop := nests.find(ref)) is not None]
    if not wanted:
        return
    for around in nests.lists(wanted[0]):
        places = [k for k, x in enumerate(around) if any(x is lp for lp in wanted)]
        if len(places) == len(wanted):
            for k, lp in zip(places, wanted, strict=True):
                around[k] = lp


def _distribute(nests: Nests, d: Directive) -> None:
    """Every statement gets the loop for itself."""
    assert isinstance(d, Distribute)
    loop = nests.find(d.loop)
    for stmt in tuple(loop.rows) if loop is not None else ():
        around = nests.around[stmt]
        for k, x in enumerate(around):
            if x is loop:
                around[k] = replace(x, rows={stmt: x.rows[stmt]})


def _unskew(nests: Nests, d: Directive) -> None:
    assert isinstance(d, Unskew)
    loop = nests.find(d.loop)
    if loop is None:
        return
    loop.name = d.iterator
    for stmt, row in loop.rows.items():
        names = nests.facts.scop.statement(stmt).iterators
        if d.iterator in names:
            loop.rows[stmt] = tuple(float(n == d.iterator) for n in names[: len(row)])


def _parallel(nests: Nests, d: Directive) -> None:
    assert isinstance(d, (Parallel, Pipeline))
    loop = nests.find(d.loop)
    if loop is not None:
        loop.threads = True


def _vector(nests: Nests, d: Directive) -> None:
    assert isinstance(d, Vector)
    loop = nests.find(d.loop)
    if loop is not None:
        loop.width, loop.side = max(1, d.width), max(loop.side, d.times)


def _jam(nests: Nests, d: Directive) -> None:
    assert isinstance(d, (Jam, Unroll))
    loop = nests.find(d.loop)
    if loop is not None:
        loop.jam = d.factor


def _interleave(nests: Nests, d: Directive) -> None:
    assert isinstance(d, Interleave)
    loop = nests.find(d.loop)
    if loop is not None:
        loop.side = max(loop.side, loop.inner or 1)


_ACTS: dict[type, Callable[[Nests, Directive], None]] = {
    Tile: _tile,
    Diamond: _diamond,
    Order: _order,
    Distribute: _distribute,
    Unskew: _unskew,
    Parallel: _parallel,
    Pipeline: _parallel,
    Vector: _vector,
    Jam: _jam,
    Unroll: _jam,
    Interleave: _interleave,
}
