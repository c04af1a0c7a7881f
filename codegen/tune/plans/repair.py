"""Repairs the directives of a plan after a knob was turned: tile sizes along a diagonal, skew factors of tile loops,
the parallel loop (tile loop or not), and the vector loop, which follows the innermost or is dropped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from codegen.plan.model import Directive, Order, Parallel, Skew, Tile, Vector


def repaired(
    base: Sequence[Directive], edited: Sequence[Directive], free: frozenset[tuple[str, str]]
) -> tuple[Directive, ...]:
    """The edited directives, with those that follow from others brought into line. `free` are loops, each with a
    statement below it, that carry no dependence."""
    before, now = _cut(base), _cut(edited)
    skewed = {d.loop.name for d in edited if isinstance(d, Skew)} | {d.by.name for d in edited if isinstance(d, Skew)}
    out: list[Directive] = []
    for d in edited:
        if isinstance(d, Tile):
            d = _in_steps(d, skewed)
            now.update(_sizes(d))
        elif isinstance(d, Skew):
            d = _diagonal(d, now)
        elif isinstance(d, Parallel):
            d = _outermost(d, before, now)
        elif isinstance(d, Vector):
            inner = _innermost(d, edited)
            if inner is not d and (inner.loop.stmt, inner.loop.name) not in free:
                continue
            d = inner
        out.append(d)
    return tuple(out)


Cut = dict[tuple[str, str], int]  # (statement, loop): length of its tiles, 0 for none


def _cut(directives: Sequence[Directive]) -> Cut:
    out: Cut = {}
    for d in directives:
        if isinstance(d, Tile):
            for key, size in _sizes(d).items():
                out.setdefault(key, size)
    return out


def _sizes(d: Tile) -> Cut:
    return {(ref.stmt, ref.name): size for ref, size in d.loops}


def _in_steps(d: Tile, skewed: set[str]) -> Tile:
    """Of two loops whose tile loops run along a diagonal, the second size is a multiple of the first."""
    if len(d.loops) < 2 or not all(f"{ref.name}t" in skewed for ref, _ in d.loops[:2]):
        return d
    (first, steps), (second, size), *rest = d.loops
    steps = max(1, steps)
    return replace(d, loops=((first, steps), (second, max(1, -(-size // steps)) * steps), *rest))


def _diagonal(d: Skew, now: Cut) -> Skew:
    """Tile loops are skewed by as many tiles as one step of the outer one is worth."""
    inner, outer = (now.get((ref.stmt, ref.name[:-1]), 0) if ref.name.endswith("t") else 0 for ref in (d.loop, d.by))
    return replace(d, factor=inner // outer) if inner and outer else d


def _outermost(d: Parallel, before: Cut, now: Cut) -> Parallel:
    """Threads share tiles where there are any, and iterations where there are none any more."""
    stmt, name = d.loop.stmt, d.loop.name
    if name.endswith("t") and before.get((stmt, name[:-1])) and not now.get((stmt, name[:-1]), 0):
        return replace(d, loop=replace(d.loop, name=name[:-1]))
    if now.get((stmt, name)) and not before.get((stmt, name)):
        return replace(d, loop=replace(d.loop, name=f"{name}t"))
    return d


def _innermost(d: Vector, edited: Sequence[Directive]) -> Vector:
    """Lanes run along the loop that an order puts innermost."""
    for x in reversed(edited):
        names = [ref.name for ref in x.loops] if isinstance(x, Order) and x.loops[0].stmt == d.loop.stmt else []
        if d.loop.name in names:
            return replace(d, loop=replace(d.loop, name=names[-1]))
    return d
