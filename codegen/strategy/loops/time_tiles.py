"""Plans time tiling of stencils: a skewed band whose tiles take many steps through a small part of the grid. Returns
the schedule and the directives for tiles, threads, rows and vectors (`TimeTiles`), or None.

Inside a tile each step runs the statements one after the other over the tile's box, so that their loops stay
parallel, unit-stride and free of tests; several rows run side by side and share what they read. Threads take the
bands of steps in turn and follow each other through the grid; very many threads get diamonds instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import islpy as isl

from codegen.machine import Machine
from codegen.plan.model import (
    Balance,
    Diamond,
    Directive,
    Distribute,
    Jam,
    LoopRef,
    Parallel,
    Schedule,
    Tile,
    Unskew,
    Vector,
)
from codegen.recognize.access.strides import coefficients, move
from codegen.recognize.ownership.registers import RegisterBudget, TileSide, register_tile, unit
from codegen.record import record
from codegen.scop.model import Scop
from codegen.scop.tree import Band, Leaf, Loop, Node, Seq, enclosing, kids, statements
from codegen.strategy.cost.tile_sizes import constant_extent
from codegen.strategy.loops.wavefronts import in_line
from codegen.strategy.orders.isl_schedule import tilable_schedule
from codegen.transform.diamond import diamond_names
from codegen.transform.program import Program
from codegen.transform.tile import iterators, tiles_of

VECTORS = 8  # in flight, rows times vectors side by side: jacobi-2d 1.78 cycles a point with 4, 1.64 with 8
ROWS = 4  # run side by side: a five-point stencil then reads 3.5 values a point instead of 5, within 16 registers
# Elements of the innermost loop in a tile, by the number of loops over space. The border between two tiles wanders
# along the rows, so rows that fit into a tile are still cut in two now and then: short rows want long tiles.
INNER = {1: 512, 2: 128, 3: 512}
STEPS = 32  # in a tile over one dimension
USUAL = 128  # elements of a tile's row that are there as a rule, in tiles that are longer
MOST = 16  # steps in tiles over two; a divisor of their rows
# Over three: many lines that follow each other in memory, so that prefetchers keep up, of few planes. heat-3d, n = 120,
# two Neoverse N1, seconds with steps, planes and lines of 8, 16, 16: 0.266; 8, 8, 32: 0.244; 8, 4, 64: 0.242;
# 4, 8, 128: 0.234; 4, 2, 128: 0.232. Rows cut at 256 instead of whole ones: 4 % more.
FLAT = (4, 2, 128)
# The same for more threads than grids of some 120 planes have room for with four steps: each is two planes a step and a
# tile behind the one before it, so that twelve are at work at most. 200 steps, 16 x86-64 cores, milliseconds on one and
# on all with four steps: 473, 61; with two: 495, 41.
MANY, LESS_DEEP = 12, (2, 2, 128)
THICK = 16  # planes and lines of diamonds over three, which want to be thick
# Over three, where steps are few: the width of diamonds, and how many planes of a block they take at a time. heat-3d,
# n = 300, 16 ranks of 4 steps: as fast as twice as wide, and better for threads.
SLIM = (16, 4)
FILL = 0.6  # the part of a cache that one step through a tile may fill
LEAST = 2 * ROWS  # rows below which the first-level cache is too small to be worth aiming at
# Elements in a row of a tile, which is cut shorter rather than left to the second-level cache, and at least so many.
# fdtd-2d, three arrays, one Neoverse N1: 0.341 s with 100 rows of 128, 0.240 with 8 of 96, 0.244 with 8 of 64.
SHORTER = 32
SHORTEST = 64
# Threads up to which they follow each other: the last of them begins when the first has done as many bands of steps as
# there are threads, and a few hundred steps are some thirty bands. Diamonds start at once; their rows are uneven.
IN_LINE = 16
LONG = 24  # loops that are never longer are not worth tiling
EFFORT = 120  # accesses times loops beyond which the analysis takes longer than a build should wait


@record
class TimeCut:
    """A way to cut time and space, and to put the tiles on threads; both in words too."""

    tiles: tuple[Directive, ...]
    threads: tuple[Directive, ...]
    text: str
    way: str


@record
class TimeTiles:
    """What to do, in order: the schedule, the first of the cuts that is legal, its threads if possible, what is done
    inside tiles, and `rows` where they are legal."""

    schedule: Schedule
    cuts: tuple[TimeCut, ...]
    inside: tuple[Directive, ...]
    vectors: tuple[Directive, ...]
    rows: tuple[Directive, ...]
    why: tuple[tuple[str, str], ...]  # statements, and the reason for their rows and vectors


def time_tiles(p: Program, machine: Machine, usual: Node) -> TimeTiles | None:
    """Tiles over time for a region whose usual schedule has a sequential loop around everything."""
    if not _steps(usual) or len(p.scop.statements) > 8 or any(a.inside for a in p.scop.arrays.values()):
        return None
    tree = tilable_schedule(p.scop, p.deps, p.tree)
    if not isinstance(tree, Band) or not tree.permutable or not 2 <= len(tree.loops) <= 4:
        return None
    if any(not isinstance(k, Leaf) for k in kids(tree.child)) if isinstance(tree.child, Seq) else False:
        return None
    tree = _still_first(p.scop, tree)
    step, space = tree.loops[0], tree.loops[1:]
    if sum(len(s.accesses) for s in p.scop.statements) * len(tree.loops) > EFFORT:
        return None
    if step.coincident or _short(p.scop, tree) or not _unit(p.scop, tree):
        return None
    names = statements(tree)
    sizes = _sizes(p.scop, names, len(space), machine)
    first = names[0]
    ref = {lp.name: LoopRef(lp.name, first) for lp in tree.loops}
    inside: list[Directive] = []
    if len(names) > 1:
        inside += [Distribute(ref[lp.name]) for lp in reversed(space)]
    counts = {(n, lp.name): _counts(p.scop, lp, step, n) for lp in space for n in names}
    inside += [Unskew(LoopRef(lp, n), it) for (n, lp), it in counts.items() if it]
    rows, vectors, why = [], [], []
    for n in names:
        s = p.scop.statement(n)
        row, elem = counts[n, space[-2].name] if len(space) > 1 else "", p.scop.arrays[s.accesses[s.target].array].elem
        along = counts[n, space[-1].name] or s.iterators[-1]
        side = TileSide(unit((s,), {n: along}), unit((s,), {n: row}), ROWS)
        tile = register_tile((s,), side, RegisterBudget(machine.registers, machine.lanes(elem.bytes or 1), VECTORS))
        if tile.rows > 1:
            rows.append(_point(counts, n, space[-2], Jam, tile.rows))
        # Compilers' own vectors of integers are as good: int and long in five points of 2-D 0.99 and 0.97
        # of their speed as vectors here, in three points of 1-D 0.90.
        wide = (machine.vector_bits // 8, tile.vectors) if elem.kind == "float" else ()
        vectors.append(_point(counts, n, space[-1], Vector, *wide))
        why.append((n, tile.reason))
    few = any(_moving(p.scop, tree, lp) for lp in space)
    cuts = _few_steps(p.scop, tree.loops, first, sizes) if few else _cuts(p.scop, tree.loops, first, sizes, machine)
    return TimeTiles(Schedule(tree), cuts, tuple(inside), tuple(vectors), tuple(rows), tuple(why))


def _cuts(
    scop: Scop, band: tuple[Loop, ...], stmt: str, sizes: tuple[int, ...], machine: Machine
) -> tuple[TimeCut, ...]:
    """Diamonds where threads are many, else tiles that they follow each other through."""
    refs = [LoopRef(lp.name, stmt) for lp in band]
    text = " by ".join(map(str, sizes[1:]))
    tile = Tile(tuple(zip(refs, sizes, strict=True)))
    words = f"tiles of {sizes[0]} steps over {text} elements", "threads follow each other through the grid"
    tiles = TimeCut((tile,), in_line(scop, band, stmt), *words)
    even = TimeCut((Balance(refs[0], sizes[0]), tile), in_line(scop, band, stmt), *words)
    if machine.cores <= IN_LINE:
        return even, tiles
    if len(sizes) == 4:
        sizes = (sizes[0], THICK, THICK, sizes[3])
    wide = sizes[1] if len(sizes) == 2 else 2 * sizes[1]  # half as wide on the average
    rest = Tile(tuple(zip(refs, (0, 0, *sizes[2:]), strict=True)))
    cut = Diamond(refs[0], refs[1], wide)
    text = " by ".join(map(str, (wide, *sizes[2:])))
    diamonds = TimeCut(
        (*((rest,) if len(sizes) > 2 else ()), cut),
        _diamonds_of_a_row(scop, band, stmt, len(sizes) - 2),
        f"diamonds of {text} elements",
        "those in a row run in parallel",
    )
    return diamonds, tiles


def _diamonds_of_a_row(
    scop: Scop, band: tuple[Loop, ...], stmt: str, cut: int
) -> tuple[Directive, ...]:
    """Threads share the diamonds of a row; so many loops after the first two are cut before."""
    names = [lp.name for lp in band]
    taken = {*names, *iterators(scop), *tiles_of(scop, band, names[2 : 2 + cut]).values()}
    return (Parallel(LoopRef(diamond_names(names[1], taken)[1], stmt)),)


def _still_first(scop: Scop, tree: Band) -> Band:
    """The band whose loops over space, but for the innermost, are in two groups: ends stay, then ends move. Of those
    that move the inner ones come first: they are the longer ones, since more ranks share an outer loop."""
    step, *space, last = tree.loops
    moves = [_moving(scop, tree, lp) for lp in space]
    still = [lp for lp, moving in zip(space, moves, strict=True) if not moving]
    return replace(tree, loops=(step, *still, *(lp for lp in reversed(space) if lp not in still), last))


def _moving(scop: Scop, tree: Band, lp: Loop) -> bool:
    """Do the ends of a loop over space depend on the step, as those of a block do that gets smaller with each?"""
    step = tree.loops[0]
    for s in (scop.statement(n) for n in statements(tree)):
        at = [s.iterators.index(_counts(scop, lp, step, s.name) or s.iterators[-1]), 0]
        values = s.domain.intersect_params(scop.context)
        for k in reversed(range(values.dim(isl.dim_type.set))):
            if k not in at:
                values = values.project_out(isl.dim_type.set, k, 1)
        values = values.reset_tuple_id()
        if values.dim(isl.dim_type.set) == 2:
            sides = (values.project_out(isl.dim_type.set, k, 1) for k in (1, 0))
            if not next(sides).flat_product(next(sides)).is_subset(values):
                return True
    return False


def _few_steps(scop: Scop, band: tuple[Loop, ...], stmt: str, sizes: tuple[int, ...]) -> tuple[TimeCut, ...]:
    """Diamonds along a loop whose ends stay. Blocks that get smaller are taken for a few steps, in which threads that
    follow each other would have a band each, or none. Rows are whole."""
    refs = [LoopRef(lp.name, stmt) for lp in band]
    if len(band) < 4:
        tile = Tile(tuple(zip(refs, sizes, strict=True)))
        text = f"tiles of {sizes[0]} steps over {' by '.join(map(str, sizes[1:]))} elements"
        return (TimeCut((tile,), in_line(scop, band, stmt), text, "threads follow each other through the grid"),)
    rest = Tile(tuple(zip(refs, (0, 0, *SLIM[1:], 0)[: len(refs)], strict=True)))
    text = f"diamonds of {SLIM[0]} elements, {SLIM[1]} of the block at a time"
    threads = _diamonds_of_a_row(scop, band, stmt, len(SLIM) - 1)
    return (TimeCut((rest, Diamond(refs[0], refs[1], SLIM[0])), threads, text, "those in a row run in parallel"),)


def _counts(scop: Scop, lp: Loop, step: Loop, stmt: str) -> str:
    """The iterator that the loop steps through while the step stands still; none if that is not simple."""
    s = scop.statement(stmt)
    own = coefficients(lp.exprs[stmt], len(s.iterators)) or []
    fixed = coefficients(step.exprs[stmt], len(s.iterators)) or []
    left = [k for k, c in enumerate(own) if c and not fixed[k]]
    return s.iterators[left[0]] if len(left) == 1 and own[left[0]] == 1 else ""


def _point(
    counts: dict[tuple[str, str], str], stmt: str, lp: Loop, make: Callable[..., Directive], *more: int
) -> Directive:
    return make(LoopRef(counts[stmt, lp.name] or lp.name, stmt), *more)


def _steps(usual: Node) -> bool:
    """A loop that must run in order, around loops that need not."""
    if not isinstance(usual, Band) or usual.loops[0].coincident:
        return False
    inner = [lp for name in statements(usual) for lp in enclosing(usual, name)[1:]]
    return bool(inner) and any(lp.coincident for lp in inner)


def _short(scop: Scop, band: Band) -> bool:
    """Is one of the loops of a constant, small length for all statements?"""

    def short(lp: Loop) -> bool:
        extents = [constant_extent(scop, lp, n) for n in statements(band)]
        return all(e is not None and e <= LONG for e in extents)

    return any(short(lp) for lp in band.loops)


def _unit(scop: Scop, band: Band) -> bool:
    """Do most accesses step through neighbours along the innermost loop, and none of full rank jump?"""
    for name in statements(band):
        s = scop.statement(name)
        for a in s.accesses:
            m = move(scop, s, a, band.loops, len(band.loops) - 1)
            if not m.unit and not m.still:
                return False
    return True


def _sizes(scop: Scop, names: tuple[str, ...], dims: int, machine: Machine) -> tuple[int, ...]:
    """Steps and lengths of a tile. Over two dimensions, what one step touches stays in the first-level cache, of rows
    that are shorter if need be, or in the second."""
    inner = INNER[dims]
    if dims != 2:
        flat = LESS_DEEP if machine.cores > MANY else FLAT
        return (*(flat if dims == 3 else (STEPS,)), inner)
    arrays = {a.array for n in names for a in scop.statement(n).accesses}
    column = max(1, sum(scop.arrays[a].elem.bytes for a in arrays if scop.arrays[a].rank >= dims))
    caches = [c.bytes for c in machine.caches if c.level <= 2] or [1 << 15]
    fits = int(caches[0] * FILL / (LEAST * column)) // SHORTER * SHORTER
    if SHORTEST <= fits < min(inner, USUAL):
        inner = fits
    for cache in caches:
        each = max(ROWS, int(cache * FILL / (column * min(inner, USUAL))) // ROWS * ROWS)
        if each >= LEAST:
            break
    steps = max(n for n in range(ROWS, MOST + 1) if each % n == 0)
    return steps, each, inner
