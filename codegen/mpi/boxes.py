"""Converts message sets to boxes in terms of the ends of two ranks' blocks (`boxes_of`); none where a set is not a few
such boxes.

A set that isl has found is a union of many pieces, one for each way in which blocks can lie. Most are the same box: in
each dimension from the greatest of a few numbers to the least of a few others, such as the end of the giver's block
and a row behind the taker's. In a grid of ranks there is one box for each axis along which blocks are neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import islpy as isl

from codegen.mpi.blocks import GIVER, PANEL, STEPS, TAKER, RankBlocks
from codegen.mpi.counting import points, with_values
from codegen.mpi.layout import extent_of
from codegen.mpi.phase_program import OUTER
from codegen.record import record
from codegen.scop.model import Array, Scop

_SET, _PARAM = isl.dim_type.set, isl.dim_type.param
FAR = 8  # numbers by which a box may begin or end beside one of the ends
FEW = 2  # indices of a block at the edge of an array that may be no iterations
MORE = 1.05  # bytes for one that are asked for
SLOPES = 8  # and by which that may grow with each step without a message


@record
class Box:
    """Elements from the greatest of `lows` to before the least of `pasts` in each dimension, where `when` holds."""

    lows: tuple[tuple[isl.Aff, ...], ...]
    pasts: tuple[tuple[isl.Aff, ...], ...]
    when: isl.Set

    def elements(self, like: isl.Set) -> isl.Set:
        """As a set like another one."""
        out = isl.Set.universe(like.get_space()).intersect_params(self.when)
        local = isl.LocalSpace.from_space(like.get_space())
        for k, (lows, pasts) in enumerate(zip(self.lows, self.pasts, strict=True)):
            at = isl.Aff.var_on_domain(local, _SET, k)
            for low in lows:
                out = out.intersect(at.ge_set(_on(low, like)))
            for past in pasts:
                out = out.intersect(at.lt_set(_on(past, like)))
        return out


def boxes_of(
    scop: Scop, array: Array, exact: isl.Set, ranks: isl.Set, blocks: Sequence[RankBlocks], right: isl.Set | None = None
) -> tuple[Box, ...]:
    """A set as boxes that have no element in common, for all ranks that there can be; none if it is not some boxes.
    `ranks` says which ranks those are. One with a block of a few indices, or none, may get what it does not need, of
    what is `right` if it is sent: without such, boxes are exact."""
    exact = exact.align_params(ranks.get_space())
    within = exact.intersect_params(ranks).coalesce()
    some = ranks if right is None else ranks.intersect(_with_blocks(ranks.get_space(), blocks))
    most = within if right is None else within.union(right.align_params(ranks.get_space()).intersect_params(ranks))
    asked = _Asked(ranks, some, most, blocks)
    run = None if right is None else _one_run(scop, array, within, asked)
    if run is not None:
        return (_for_takers(run, within, asked),)
    for parts in (*_partings(within, blocks), _shell(scop, array, within)):
        found = tuple(_box(scop, array, part, asked) for part in parts)
        sets = [b.elements(exact).intersect_params(ranks) for b in found]
        apart = all(a.is_disjoint(b) for k, a in enumerate(sets) for b in sets[:k])
        whole = isl.Set.empty(exact.get_space())
        for s in sets:
            whole = whole.union(s)
        exactly = whole.is_subset(most) and whole.intersect_params(some).is_subset(within)
        if found and apart and within.is_subset(whole) and exactly:
            return tuple(_for_takers(b, within, asked) for b in found)
    return ()


def _for_takers(box: Box, within: isl.Set, asked: _Asked) -> Box:
    """A box for takers that have a block, if others need nothing: beyond the last row there may be thousands."""
    when, axes = box.when, set[int]()
    for b in asked.blocks:
        space = within.get_space().params()
        local = isl.LocalSpace.from_space(space)
        first, past = (isl.Aff.var_on_domain(local, _PARAM, space.find_dim_by_name(_PARAM, n)) for n in b.ends(TAKER))
        if b.axis not in axes and within.intersect_params(past.le_set(first)).is_empty():
            axes.add(b.axis)
            when = when.intersect(first.lt_set(past).align_params(when.get_space()))
    return Box(box.lows, box.pasts, when)


def _shell(scop: Scop, array: Array, within: isl.Set) -> list[isl.Set]:
    """A set of elements at the borders of an array as one part for each of its sides; none if there are others."""
    local = isl.LocalSpace.from_space(within.get_space())
    parts, left = [], within
    for k in range(within.dim(_SET)):
        extent = extent_of(scop, array, k)
        if extent is None or extent.n_piece() != 1:
            return []
        last = _on(extent.align_params(within.get_space().params()).get_pieces()[0][1], within)
        for edge in (isl.Aff.zero_on_domain(local), last.add_constant_val(isl.Val(-1))):
            side = left.intersect(isl.Aff.var_on_domain(local, _SET, k).eq_set(edge))
            left = left.subtract(side)
            parts += [] if side.is_empty() else [side]
    return parts if left.is_empty() else []


def box_around(
    scop: Scop, array: Array, part: isl.Set, blocks: Sequence[RankBlocks], right: isl.Set, known: isl.Set
) -> Box | None:
    """The box around a set, within a giver's block, in those steps in which there is something in it, if all of it is
    `right` to be sent; None if it is not, or has no such ends. `known` is what holds of ranks."""
    space, held = known.get_space(), {x.position: b for b in blocks for x in b.arrays if x.array == array.name}
    lows, pasts = [], []
    for k in range(part.dim(_SET)):
        extent = extent_of(scop, array, k)
        sides = []
        for which, sign in ((0, -1), (1, 1)):
            rows = tuple(_candidates(space, extent, [held[k]] if k in held else [], which))
            sides.append(ends_near(part, k, rows[:2] if k in held else rows, sign))
        if not all(sides) or (k in held and not all(len(s) == 2 for s in sides)):
            return None
        lows.append(sides[0])
        pasts.append(sides[1])
    box = Box(tuple(lows), tuple(pasts), _when(part, known, blocks).gist(known))
    return box if box.elements(part).intersect_params(known).is_subset(right) else None


@record
class _Asked:
    """All ranks that there can be, those for which a box is exact, and what may be in it for the others."""

    ranks: isl.Set
    some: isl.Set
    most: isl.Set
    blocks: Sequence[RankBlocks]


def _with_blocks(space: isl.Space, blocks: Sequence[RankBlocks]) -> isl.Set:
    """Both ranks have more than a few indices of each range."""
    local = isl.LocalSpace.from_space(space)
    out = isl.Set.universe(space)
    for first, past in (b.ends(who) for b in blocks for who in (GIVER, TAKER)):
        ends = (isl.Aff.var_on_domain(local, _PARAM, space.find_dim_by_name(_PARAM, n)) for n in (first, past))
        out = out.intersect(next(ends).add_constant_val(isl.Val(FEW)).lt_set(next(ends)))
    return out


def _partings(within: isl.Set, blocks: Sequence[RankBlocks]) -> Iterator[list[isl.Set]]:
    """A set as one part for each axis along which two blocks differ, if they differ along one only; as a whole; as its
    pieces."""
    axes = max((b.axes for b in blocks), default=1)
    if axes > 1:
        faces, left = [], within
        for axis in range(axes):
            face = within
            for b in (b for b in blocks if b.axis != axis):
                for a, c in zip(b.ends(GIVER), b.ends(TAKER), strict=True):
                    ends = (face.find_dim_by_name(_PARAM, name) for name in (a, c))
                    face = face.equate(_PARAM, next(ends), _PARAM, next(ends))
            faces.append(face)
            left = left.subtract(face)
        if left.is_empty():
            yield [f for f in faces if not f.is_empty()]
    yield [within]
    pieces = [isl.Set.from_basic_set(b) for b in within.get_basic_sets()]
    if 1 < len(pieces) <= 4:
        yield pieces


def _box(scop: Scop, array: Array, part: isl.Set, asked: _Asked) -> Box:
    """The box around a set, with as few ends as say the same."""
    space, blocks = asked.ranks.get_space(), asked.blocks
    lows, pasts = [], []
    for k in range(part.dim(_SET)):
        extent = extent_of(scop, array, k)
        lows.append(ends_near(part, k, tuple(_candidates(space, extent, blocks, 0)), -1))
        pasts.append(ends_near(part, k, tuple(_candidates(space, extent, blocks, 1)), 1))
    always = Box(tuple(lows), tuple(pasts), isl.Set.universe(space))
    whole = Box(always.lows, always.pasts, _when(part, asked.ranks, blocks))
    runs = always.elements(part).intersect_params(asked.some).params()
    short = Box(always.lows, always.pasts, whole.when.gist(isl.Set.from_basic_set(runs.simple_hull())))
    return _fewest(short if _as_good(short, whole, part, asked) else whole, part, asked)


def _one_run(scop: Scop, array: Array, within: isl.Set, asked: _Asked) -> Box | None:
    """A box whose elements lie side by side in memory, because it has whole lines or planes of an array, and not many
    more than asked for; None where there is none, or a box that is exact has them so, too."""
    seen = _example(within, asked.blocks)
    n = within.dim(_SET)
    if seen.is_empty() or n < 2:
        return None
    thick = next((k for k in range(n) if not seen.dim_min_val(k).eq(seen.dim_max_val(k))), n)
    held = {x.position for b in asked.blocks for x in b.arrays if x.array == array.name}
    whole = {k: extent_of(scop, array, k) for k in range(thick + 1, n)}
    if not whole or held & set(whole) or any(e is None for e in whole.values()):
        return None
    box, space = _box(scop, array, within, asked), asked.ranks.get_space()
    zero = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(space))
    ends = {k: e.align_params(space).get_pieces()[0][1] for k, e in whole.items() if e is not None}
    made = Box(
        tuple((zero,) if k in whole else lows for k, lows in enumerate(box.lows)),
        tuple((ends[k],) if k in whole else pasts for k, pasts in enumerate(box.pasts)),
        box.when,
    )
    elements = made.elements(within).intersect_params(asked.ranks)
    if not within.is_subset(elements) or not elements.is_subset(asked.most) or elements.is_equal(within):
        return None
    return made if points(_example(elements, asked.blocks)) <= MORE * points(seen) else None


def _example(elements: isl.Set, blocks: Sequence[RankBlocks]) -> isl.Set:
    """The elements at certain sizes, from a rank to the next one along the first axis."""
    ends = {(0, GIVER): (120, 160), (0, TAKER): (160, 200)}
    given = dict.fromkeys((str(elements.get_dim_name(_PARAM, k)) for k in range(elements.dim(_PARAM))), 240)
    given |= {name: 8 + 4 * k for k, name in enumerate(STEPS)}
    for b in blocks:
        for who in (GIVER, TAKER):
            given |= dict(zip(b.ends(who), ends.get((b.axis, who), (80, 120)), strict=True))
    outer = [name for name in given if name.startswith(OUTER)]
    return with_values(elements, {**given, **dict.fromkeys(outer, 8)})


def _as_good(box: Box, other: Box, part: isl.Set, asked: _Asked) -> bool:
    """Does a box have what another one has, and what is right to send?"""
    all_of_it = box.elements(part).intersect_params(asked.ranks)
    same = all_of_it.intersect_params(asked.some).is_equal(other.elements(part).intersect_params(asked.some))
    return same and all_of_it.is_subset(asked.most)


def _candidates(
    space: isl.Space, extent: isl.PwAff | None, blocks: Sequence[RankBlocks], which: int
) -> Iterator[tuple[isl.Aff, ...]]:
    """Numbers near which a dimension can begin (0) or end (1); of those in one row the first counts that does."""
    local = isl.LocalSpace.from_space(space)

    def of(name: str) -> isl.Aff:
        return isl.Aff.var_on_domain(local, _PARAM, space.find_dim_by_name(_PARAM, name))

    steps = [of(n) for n in STEPS if space.find_dim_by_name(_PARAM, n) >= 0]
    for b in blocks:
        yield (of(b.ends(GIVER)[which]),)
        plain = of(b.ends(TAKER)[which])
        wider = [plain]
        for slope in range(1, SLOPES + 1) if steps else ():
            far = steps[1].sub(steps[0]).scale_val(isl.Val(slope))
            wider.append(plain.sub(far) if which == 0 else plain.add(far))
        yield tuple(wider)
    if space.find_dim_by_name(_PARAM, PANEL[which]) >= 0:
        yield (of(PANEL[which]),)
    yield (isl.Aff.zero_on_domain(local),)
    if extent is not None and extent.n_piece() == 1:
        yield (extent.align_params(space).get_pieces()[0][1],)


def ends_near(part: isl.Set, k: int, rows: Sequence[Sequence[isl.Aff]], sign: int) -> tuple[isl.Aff, ...]:
    """The ends that hold for all elements of a set, as near as they can be."""
    local = isl.LocalSpace.from_space(part.get_space())
    at = isl.Aff.var_on_domain(local, _SET, k)
    out = []
    for row in rows:
        for end in row:
            far = at.sub(_on(end, part)) if sign > 0 else _on(end, part).sub(at)
            most = part.max_val(far)
            if most.is_int() and abs(int(most.to_python())) <= FAR:
                off = int(most.to_python())
                out.append(end.add_constant_val(isl.Val(off + 1 if sign > 0 else -off)))
                break
    return tuple(out)


def _on(end: isl.Aff, like: isl.Set) -> isl.Aff:
    """A number of the parameters, for the elements of a set."""
    local = isl.LocalSpace.from_space(like.get_space())
    out = isl.Aff.zero_on_domain(local).add_constant_val(end.get_constant_val())
    space = like.get_space()
    for k in range(end.dim(_PARAM)):
        v = end.get_coefficient_val(_PARAM, k)
        if not v.is_zero():
            at = space.find_dim_by_name(_PARAM, str(end.get_dim_name(_PARAM, k)))
            out = out.add(isl.Aff.var_on_domain(local, _PARAM, at).scale_val(v))
    return out


def _when(part: isl.Set, ranks: isl.Set, blocks: Sequence[RankBlocks]) -> isl.Set:
    """What has to hold of the loops around an exchange, blocks aside, for anything to be in a message."""
    outer = part.params()
    for name in (n for b in blocks for w in (GIVER, TAKER) for n in b.ends(w)):
        outer = outer.project_out(_PARAM, outer.find_dim_by_name(_PARAM, name), 1)
    return isl.Set.from_basic_set(outer.simple_hull()).align_params(ranks.get_space())


def _fewest(box: Box, part: isl.Set, asked: _Asked) -> Box:
    """The box without ends that others imply."""
    sides = [list(box.lows), list(box.pasts)]
    for side, k in product(range(2), range(len(box.lows))):
        for end in sides[side][k]:
            kept = sides[side][k]
            sides[side][k] = tuple(e for e in kept if e is not end)
            less = Box(tuple(sides[0]), tuple(sides[1]), box.when)
            if not sides[side][k] or not _as_good(less, box, part, asked):
                sides[side][k] = kept
    return Box(tuple(sides[0]), tuple(sides[1]), box.when)
