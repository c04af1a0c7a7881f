"""The loop order for a device: parallel loops outermost as threads, loops that carry dependences around them on the
host, the rest inside.

Allen and Kennedy's way. Statements that form a strongly connected component of the dependences share a nest. Loops that
carry none of its dependences become threads; where there is none, the outermost loop stays on the host, and what is
left of the component within one of its iterations is taken apart again. Iterators stay those of the source: nothing is
skewed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import islpy as isl

from codegen.recognize.access.domain_shape import most_instances
from codegen.recognize.access.strides import coefficients, move
from codegen.record import record
from codegen.scop.distance import is_zero, same_value
from codegen.scop.model import Scop
from codegen.scop.tree import Band, Leaf, Loop, Node, enclosing, kids, seq, statements, with_kids
from codegen.strategy.orders.distribution import handed_on, only, strongly_connected, universe
from codegen.transform.program import Program

FEW = 4096  # steps of one thread that take as long as some dozens of launches
Own = Mapping[str, tuple[Loop, ...]]  # the loops that a statement still has to run through


def device_order(p: Program, apart: frozenset[str] = frozenset()) -> Node:
    """The region with loops that can be threads outermost in their nests, marked as coincident. Statements `apart`
    share no nest that they need not share."""
    names = statements(p.tree)
    ties = p.must
    for array in sorted(p.deps.folds):
        ties = ties.union(p.deps.folds[array])  # sums that may be reordered, but that threads cannot share
    return _level(HostLevel(p, apart, ()), ties, names, {n: enclosing(p.tree, n) for n in names})


@record
class HostLevel:
    """A region, the statements of it that stand apart, and the loops that are on the host already."""

    program: Program
    apart: frozenset[str]
    host: tuple[Loop, ...]


def _level(at: HostLevel, ties: isl.UnionMap, names: Sequence[str], own: Own) -> Node:
    p, depth = at.program, len(at.host)
    parts = [
        _circle(at, _among(p.scop, ties, circle), circle, own)
        for circle in strongly_connected(p.scop, ties.union(handed_on(p.scop, p.deps, depth)), names)
    ]
    return seq(_joined(at, ties, parts))


def _circle(at: HostLevel, ties: isl.UnionMap, circle: tuple[str, ...], own: Own) -> Node:
    """The nest of statements that belong together."""
    p = at.program
    shared = [_of(lp, circle) for lp in own[circle[0]] if all(n in lp.exprs for n in circle)]
    free = [lp for lp in shared if is_zero(ties, lp.exprs)]
    if free:
        bound = [replace(lp, coincident=True) for lp in as_axes(p.scop, free, circle)]
        return Band(tuple(bound), _inside(p, circle, own, {lp.name for lp in bound}), len(bound) > 1)
    if not shared or _is_short(at, circle):
        return _inside(p, circle, own, set())
    first = shared[0]
    rest = {n: tuple(lp for lp in own[n] if lp.name != first.name) for n in circle}
    deeper = replace(at, host=(*at.host, first))
    return Band((first,), _level(deeper, same_value(ties, first.exprs), circle, rest))


def _is_short(at: HostLevel, circle: Sequence[str]) -> bool:
    """Is what one iteration of the host's loops does so little, whatever the sizes, that one thread is through before
    a launch for each step of it would be?"""
    total = 0
    for s in (at.program.scop.statement(n) for n in circle):
        rows = [coefficients(lp.exprs[s.name], len(s.iterators)) or [] for lp in at.host]
        fixed = [k for c in rows for k, x in enumerate(c) if x and sum(map(bool, c)) == 1]
        most = most_instances(s, fixed) if fixed else None
        if most is None:
            return False
        total += most
    return total <= FEW


def _of(lp: Loop, names: Sequence[str]) -> Loop:
    return replace(lp, exprs={n: lp.exprs[n] for n in names})


def _inside(p: Program, circle: Sequence[str], own: Own, bound: set[str]) -> Node:
    """What one thread does, in the order of the source: the loops that are neither threads nor on the host."""
    left = {lp.name for n in circle for lp in own[n]} - bound
    return _without(only(p.tree, circle), left)


def _without(node: Node, left: set[str]) -> Node:
    """The tree with these loops only, none of them for threads."""
    if isinstance(node, Leaf):
        return node
    below = with_kids(node, tuple(_without(k, left) for k in kids(node)))
    if not isinstance(below, Band):
        return below
    loops = tuple(replace(lp, coincident=False) for lp in below.loops if lp.name in left)
    return replace(below, loops=loops, permutable=False) if loops else below.child


def _among(scop: Scop, ties: isl.UnionMap, names: Sequence[str]) -> isl.UnionMap:
    here = universe(scop, names)
    return ties.intersect_domain(here).intersect_range(here)


def as_axes(scop: Scop, loops: Sequence[Loop], names: Sequence[str]) -> list[Loop]:
    """At most three of the loops, outermost first. Along the last one threads touch neighbours in memory."""
    last = max(loops, key=lambda lp: (_coalesced(scop, lp, loops, names), loops.index(lp)))
    others = [lp for lp in loops if lp is not last]
    return [*others[:2], last]


def _coalesced(scop: Scop, lp: Loop, loops: Sequence[Loop], names: Sequence[str]) -> int:
    """References that move by one element with the loop, less those that jump."""
    total = 0
    for s in (scop.statement(n) for n in names):
        for a in (a for a in s.accesses if not scop.arrays[a.array].inside):
            found = move(scop, s, a, [lp], 0)
            total += 1 if found.unit else 0 if found.still else -1
    return total


def _joined(at: HostLevel, ties: isl.UnionMap, parts: Sequence[Node]) -> list[Node]:
    """Neighbours with the same threads, none of which waits for another one's, as one nest: fewer launches, and values
    stay in registers."""
    out: list[Node] = []
    for part in parts:
        both = _both(at, ties, out[-1], part) if out else None
        out[-1:] = [both] if both is not None else [*out[-1:], part]
    return out


def _both(at: HostLevel, ties: isl.UnionMap, a: Node, b: Node) -> Node | None:
    p = at.program
    if at.apart & {*statements(a), *statements(b)}:
        return None
    if not (isinstance(a, Band) and isinstance(b, Band) and _names(a) == _names(b) and _all_threads(a, b)):
        return None
    loops = [replace(x, exprs={**x.exprs, **y.exprs}) for x, y in zip(a.loops, b.loops, strict=True)]
    among = _among(p.scop, ties, (*statements(a), *statements(b)))
    if not all(is_zero(among, lp.exprs) for lp in loops) or not _same_values(p.scop, a, b):
        return None
    return Band(tuple(loops), seq([a.child, b.child]), a.permutable)


def _names(band: Band) -> list[str]:
    return [lp.name for lp in band.loops]


def _all_threads(*bands: Band) -> bool:
    return all(lp.coincident for band in bands for lp in band.loops)


def _same_values(scop: Scop, a: Band, b: Band) -> bool:
    """Do all statements of both run on the same threads, for parameters for which they run at all?"""
    found = [_values(scop, band.loops, n).intersect_params(scop.context) for band in (a, b) for n in statements(band)]
    every = found[0]
    for one in found[1:]:
        every = every.union(one)
    return all(one.is_equal(every.intersect_params(one.params())) for one in found)


def _values(scop: Scop, loops: Sequence[Loop], name: str) -> isl.Set:
    """The threads that run a statement, as values of their loops."""
    domain = scop.statement(name).domain
    total: isl.Map | None = None
    for lp in loops:
        one = isl.Map.from_pw_aff(lp.exprs[name])
        total = one if total is None else total.flat_range_product(one)
    assert total is not None
    return total.intersect_domain(domain).range()
