"""Builds the directives for wavefronts, bands whose loops all carry dependences: tile sizes, tiles along diagonals or
pipelines of threads, and rows interleaved by skewing the innermost loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codegen.plan.model import Balance, Directive, Interleave, LoopRef, Order, Parallel, Pipeline, Skew, Tile, Unskew
from codegen.recognize.access.strides import coefficients
from codegen.scop.model import Scop
from codegen.scop.tree import Loop
from codegen.transform.tile import tiles_of

# Rows side by side: each point waits for its neighbour's whole chain of additions and a division, about 25 cycles
# on the cores at hand, while the units could start a new one every three. seidel-2d: 4 rows 2.2x, 6 2.4x, 8 2.9x.
ROWS = 8
STEPS = 16  # of the outermost of three loops: time, as a rule
# Columns after which the next thread may follow. lcs, 700 by 700, two threads, milliseconds with tiles of 176 by 704:
# 0.59, by 352: 0.38, by 256: 0.36; 5000 by 6000: 24.8, 23.3, 23.0.
STAGE = 256


def tile_shape(size: int, n: int) -> tuple[int, ...]:
    """Sizes for a band of n loops: longer along the innermost, few steps of the outermost."""
    size = max(STEPS, size // STEPS * STEPS)
    if n == 2:
        return size, max(size, STAGE)
    return STEPS, 2 * STEPS, *([size] * (n - 3)), 4 * size


def whole_rows(n: int) -> tuple[int, ...]:
    """Sizes for a band of n loops, three or more, whose innermost one makes vectors: the longer, the better.
    advection-upwind, of gcc's speed: 0.92 with rows of 512, 0.99 with whole ones."""
    return (STEPS, *([2 * STEPS] * (n - 2)), 0)


def behind(
    scop: Scop, band: Sequence[Loop], stmt: str, sizes: Sequence[int]
) -> Iterator[tuple[Directive, ...]]:
    """Ways to cut the loops and to let threads follow each other along the second one, in parts that are equal if that
    can be. Two threads, against diagonals of tiles with a barrier after each: seidel-2d, 100 steps, n = 1000, 1.22;
    16 steps, n = 500, 1.79; advection-upwind, 100 steps, n = 500, 1.27; lcs, n = 1500, 1.11."""
    refs = [LoopRef(lp.name, stmt) for lp in band]
    cut = Tile(tuple(zip(refs, sizes, strict=True)))
    yield Balance(refs[0], sizes[0]), cut, *in_line(scop, band, stmt)
    yield cut, *in_line(scop, band, stmt)


def diagonals(
    scop: Scop, band: Sequence[Loop], stmt: str, sizes: Sequence[int]
) -> tuple[Directive, ...]:
    """Cut the loops, and run the tiles on a diagonal of the two outermost tile loops in parallel: for cores that cannot
    wait for each other. The second size is a multiple of the first, so that one tile along either loop is one diagonal
    further on: fewer waits, and more tiles at a time."""
    cut = Tile(tuple((LoopRef(lp.name, stmt), n) for lp, n in zip(band, sizes, strict=True)))
    first, second = _tiles(scop, band, stmt)
    return cut, Skew(second, sizes[1] // sizes[0], first), Order((second, first)), Parallel(first)


def in_line(scop: Scop, band: Sequence[Loop], stmt: str) -> tuple[Directive, ...]:
    """Threads take the rows of the outermost tile loop in turn and follow each other along the second one: none waits
    for all others, and what one row has just written is close by for the next. Two threads, against diagonals:
    jacobi-2d 1.08, fdtd-2d 1.08, heat-3d 1.11, jacobi-1d 1.06."""
    first, second = _tiles(scop, band, stmt)
    return (Pipeline(first, second),)


def _tiles(scop: Scop, band: Sequence[Loop], stmt: str) -> tuple[LoopRef, LoopRef]:
    """The tile loops of the two outermost loops."""
    names = tiles_of(scop, band, [lp.name for lp in band[:2]])
    return LoopRef(names[band[0].name], stmt), LoopRef(names[band[1].name], stmt)


def side_by_side(scop: Scop, band: Sequence[Loop], stmt: str) -> Iterator[tuple[Directive, ...]]:
    """Ways to run rows side by side, cheapest first: the innermost loop is skewed until rows do not wait for
    each other, then goes around a block of rows."""
    row, inner = (LoopRef(lp.name, stmt) for lp in band[-2:])
    for factor in range(3):
        skew = (Skew(inner, factor, row),) if factor else ()
        yield (
            *skew,
            *_unskewed(scop, band, stmt, factor),
            Tile(((row, ROWS), (inner, 0))),
            Order((inner, row)),
            Interleave(row),
            *_plain(scop, band, stmt),
        )


def _unskewed(scop: Scop, band: Sequence[Loop], stmt: str, factor: int) -> tuple[Directive, ...]:
    """Take the outermost loop out of the innermost one's values, so that subscripts stay short."""
    if len(band) < 3:
        return ()
    values = [coefficients(lp.exprs[stmt], len(scop.statement(stmt).iterators)) for lp in (band[0], band[-2], band[-1])]
    step, row, inner = values
    if step is None or row is None or inner is None or sum(map(bool, step)) != 1:
        return ()
    k = next(k for k, c in enumerate(step) if c)
    times = (inner[k] + factor * row[k]) / step[k]
    outer = LoopRef(band[0].name, stmt)
    return (Skew(LoopRef(band[-1].name, stmt), -int(times), outer),) if times.denominator == 1 and times else ()


def _plain(scop: Scop, band: Sequence[Loop], stmt: str) -> tuple[Directive, ...]:
    """Count rows by their own iterator, where only the outermost loop was added to it."""
    its = scop.statement(stmt).iterators
    step, row = (coefficients(lp.exprs[stmt], len(its)) for lp in (band[0], band[-2]))
    if len(band) < 3 or step is None or row is None:
        return ()
    own = [k for k, c in enumerate(row) if c and not step[k]]
    if len(own) != 1 or row[own[0]] != 1 or its[own[0]] == band[-2].name:
        return ()
    return (Unskew(LoopRef(band[-2].name, stmt), its[own[0]]),)
