"""Decides whether a band of loops is worth tiling or cutting into strips, and returns its tile sizes: the largest tile
whose footprint stays in the second-level cache of the machine description, 0 for loops too short to cut."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from codegen.machine import Machine
from codegen.plan.model import Directive, Tile
from codegen.recognize.access.strides import AccessStride, coefficients, move, subscripts
from codegen.scop.distance import bounds, constant
from codegen.scop.memo import remember
from codegen.scop.model import Scop, Statement
from codegen.scop.tree import Loop

# The part of the cache a tile may fill; the rest is for what streams past it.
FILL = 0.5
# Innermost loops get longer tiles: whole lines, long vectors, and the prefetcher's benefit.
INNER = 4
# Loops that never run longer than this are not worth cutting.
SHORT = 24
# Iterations of an innermost loop that compilers write out. alpha-blend, 3 iterations: 0.083 s, with `omp simd` 0.21 s.
WRITTEN_OUT = 6
# Lines that a tile writes across, and elements along them, at most: few enough to stay in the first-level cache, and as
# many as it takes for what is read to come in long runs.
ACROSS, ALONG = 128, 32
# Lines that a tile reads across at most: so many the processor fetches ahead of their use by itself.
READ_ACROSS = 16
# Elements of a strip that stays in the first-level cache: few, so that threads get some each.
STRIP = 256
# Iterations that a thread takes at a time: a strip is long against joining its lanes, and short against what there is
# to do once threads pay.
REDUCTION_STRIP = 4096


def is_strip(d: Directive) -> bool:
    """Is a tile a strip of a reduction for threads, which changes no order?"""
    return isinstance(d, Tile) and len(d.loops) == 1 and d.loops[0][1] == REDUCTION_STRIP


def constant_extent(scop: Scop, lp: Loop, stmt: str) -> int | None:
    """Trip count when it does not depend on parameters."""
    return _constant_extent(lp.exprs[stmt], scop.statement(stmt).domain)


@remember(1024)
def _constant_extent(value: isl.PwAff, domain: isl.Set) -> int | None:
    image = isl.Map.from_pw_aff(value).intersect_domain(domain).range()
    if not image.dim_is_bounded(isl.dim_type.set, 0):
        return None
    low, high = (constant(v) for v in bounds(image, 0))
    return None if low is None or high is None else high - low + 1


def written_out(scop: Scop, lp: Loop, names: Sequence[str], most: int = WRITTEN_OUT) -> bool:
    """Is the loop so short that compilers write it out? Marked for vectors it would not be. Nor do vectors pay where it
    may be shorter still, at the edge of a window: the largest of 5 neighbours, 0.74 of gcc's speed with `omp simd`."""
    return all(0 < (_longest(scop, lp, n) or 0) <= most for n in names)


def _longest(scop: Scop, lp: Loop, stmt: str) -> int | None:
    """How far apart the first and the last iteration are at most, whatever the parameters; None: any distance."""
    image = isl.Map.from_pw_aff(lp.exprs[stmt]).intersect_domain(scop.statement(stmt).domain).range()
    low, high = image.dim_min_val(0), image.dim_max_val(0)
    return high.to_python() - low.to_python() + 1 if low.is_int() and high.is_int() else None


def worth_tiling(scop: Scop, stmts: Sequence[Statement], around: Sequence[Loop], band: Sequence[Loop]) -> bool:
    """Is there data that comes back too late, or arrives by lines in the wrong direction, without tiles?"""
    first = len(around) - len(band)
    long = [k for k, lp in enumerate(band) if not _is_short(scop, lp)]
    if len(long) < 2:
        return False
    for s in stmts:
        for a in s.accesses:
            moves = [move(scop, s, a, around, first + k) for k in range(len(band))]
            if scop.arrays[a.array].rank >= 2 and len(long) >= 3 and any(moves[k].still for k in long[:-1]):
                return True
            if not moves[long[-1]].unit and not moves[long[-1]].still and any(moves[k].unit for k in long[:-1]):
                return True
    return False


def bring_back(
    scop: Scop, stmts: Sequence[Statement], around: Sequence[Loop], members: Sequence[Loop]
) -> list[Loop]:
    """The loops without the outermost ones that go elsewhere with every array, and not along its lines: nothing is won
    by cutting those."""
    left = list(members)
    while len(left) > 2:
        which = next(k for k, lp in enumerate(around) if lp is left[0])
        moves = [move(scop, s, a, around, which) for s in stmts for a in s.accesses if scop.arrays[a.array].rank]
        if any(m.still or m.unit for m in moves):
            break
        left.pop(0)
    return left


def comes_back(scop: Scop, stmts: Sequence[Statement], around: Sequence[Loop], members: Sequence[Loop]) -> bool:
    """Is anything that moves with the first of these loops used again along the others, or does a line of it lie along
    the first? Then it has to be cut, so that this is still in the cache. If not, the others run in tiles and the first
    goes through all of each. image_condition, sums over time, 10 x 300 x 400 in f32: 0.91 of gcc's speed with time in
    tiles, 0.97 without."""
    where = [next(k for k, x in enumerate(around) if x is lp) for lp in members]
    for s in stmts:
        for a in s.accesses:
            if not scop.arrays[a.array].rank:
                continue
            first, *others = (move(scop, s, a, around, k) for k in where)
            if not first.still and (first.unit or any(m.still for m in others)):
                return True
    return False


def few_lines(
    scop: Scop,
    stmts: Sequence[Statement],
    around: Sequence[Loop],
    band: Sequence[Loop],
    sizes: Sequence[int],
    machine: Machine,
) -> tuple[int, ...]:
    """The sizes, made smaller where the innermost loop goes across lines that another loop of the band runs along.

    Of those that it writes, each lies on a page of its own, and far apart they compete for few places in a cache.
    Neoverse N1, f64, transposition by tiles of 32 x 32 and 32 x 128, of the speed of the plain loops: 700 x 700 0.85
    and 0.89, 4000 x 4000 4.1 and 8.4, 2048 x 2048 2.4 and 2.7; transpose-inplace 2.5 and 3.0, permute-4d 1.65 and 1.85.

    Those that it reads are waited for, unless they are fetched ahead; tiles of more lines only pay where something is
    used again, or written across lines, too. Neoverse N1, rotate-90 by tiles of 104 x 416, 104 x 32 and 104 x 16, of
    gcc's speed: 338 x 391 0.40, 0.47 and 0.94, 700 x 700 0.66, 0.66 and 0.96, 1500 x 1500 2.9, 3.1 and 3.6,
    2048 x 2048 1.8, 2.8 and 3.4."""
    out = list(sizes)
    where = [next(k for k, x in enumerate(around) if x is lp) for lp in band]
    ways = [(a, [move(scop, s, a, around, k) for k in where]) for s in stmts for a in s.accesses]
    once = not any(m.still for a, moves in ways for m in moves if scop.arrays[a.array].rank)
    along = all(moves[-1].unit for a, moves in ways if a.write)
    for a, moves in ways:
        if moves[-1].unit or moves[-1].still or not any(m.unit for m in moves):
            continue
        if a.write:
            line = machine.line_bytes // scop.arrays[a.array].elem.bytes
            for k, m in enumerate(moves):
                most = ACROSS if k == len(moves) - 1 else max(ALONG, 4 * line) if m.unit else out[k]
                out[k] = min(out[k], most)
        elif once and along:
            out[-1] = min(out[-1], READ_ACROSS)
    return tuple(out)


def worth_strips(scop: Scop, stmts: Sequence[Statement], around: Sequence[Loop], band: Sequence[Loop]) -> bool:
    """Does all that the innermost loop goes along come back for every iteration of the loops around it? Then a strip of
    it stays in the first-level cache meanwhile: fir takes 64 times through a long signal otherwise."""
    first, last = len(around) - len(band), len(around) - 1
    if len(band) != 2 or not band[-1].coincident or _is_short(scop, band[-1]):
        return False
    back = False
    for s in stmts:
        for a in s.accesses:
            if not scop.arrays[a.array].rank:
                continue
            moves = [move(scop, s, a, around, k) for k in range(first, last + 1)]
            if not (moves[-1].unit or moves[-1].still) or rank_of(moves) >= len(band):
                return False
            back = back or (moves[-1].unit and a.write and any(m.still for m in moves[:-1]))
    return back


def rank_of(moves: Sequence[AccessStride]) -> int:
    """In how many directions an access goes as the loops run; as many as there are loops where that is not known."""
    rows = [m.steps for m in moves if m.steps is not None]
    if len(rows) < len(moves):
        return len(moves)
    left, rank = [list(r) for r in rows], 0
    for column in range(len(rows[0])):
        pivot = next((r for r in left if r[column]), None)
        if pivot is None:
            continue
        rank += 1
        left.remove(pivot)
        left = [[x - y * r[column] / pivot[column] for x, y in zip(r, pivot, strict=True)] for r in left]
    return rank


def _is_short(scop: Scop, lp: Loop) -> bool:
    extents = [constant_extent(scop, lp, s) for s in lp.exprs]
    return all(e is not None and e <= SHORT for e in extents)


def tile_sizes(scop: Scop, stmts: Sequence[Statement], band: Sequence[Loop], machine: Machine) -> tuple[int, ...]:
    """One size per loop; 0 for loops too short to cut."""
    cache = [c.bytes for c in machine.caches if c.level == 2] or [c.bytes for c in machine.caches[-1:]] or [1 << 18]
    budget = int(cache[0] * FILL)
    lanes = max(1, machine.vector_bits // 64)
    best = _sizes(scop, band, 2 * lanes)
    base = 2 * lanes
    while base <= 512:
        sizes = _sizes(scop, band, base)
        if footprint(scop, stmts, band, sizes) > budget:
            break
        best, base = sizes, base + 2 * lanes
    return best


def _sizes(scop: Scop, band: Sequence[Loop], base: int) -> tuple[int, ...]:
    out = [0 if _is_short(scop, lp) else base for lp in band]
    if out and out[-1]:
        out[-1] *= INNER
    return tuple(out)


def footprint(scop: Scop, stmts: Sequence[Statement], band: Sequence[Loop], sizes: Sequence[int]) -> int:
    """Bytes a tile touches: for each array the box around all its accesses."""
    boxes: dict[str, int] = {}
    for s in stmts:
        n = len(s.iterators)
        width = _iterator_widths(scop, s, band, sizes)
        for a in s.accesses:
            array = scop.arrays[a.array]
            cells = 1
            for _, c in subscripts(a, n)[array.scope :]:
                cells *= 1 + int(sum(abs(x) * (w - 1) for x, w in zip(c, width, strict=True))) if c else 64
            boxes[a.array] = max(boxes.get(a.array, 0), cells * array.elem.bytes)
    return sum(boxes.values())


def _iterator_widths(scop: Scop, s: Statement, band: Sequence[Loop], sizes: Sequence[int]) -> list[int]:
    """How many values each iterator takes inside a tile; 1 for those that loops outside have fixed."""
    out = [1] * len(s.iterators)
    for lp, size in zip(band, sizes, strict=True):
        c = coefficients(lp.exprs[s.name], len(s.iterators)) or []
        length = size or constant_extent(scop, lp, s.name) or SHORT
        for k, x in enumerate(c):
            if x:
                out[k] = max(out[k], length)
    return out
