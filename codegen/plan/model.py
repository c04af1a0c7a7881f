"""Plans: what to do to a region, as a short list of directives that can be printed, edited and replayed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Union

import islpy as isl

from codegen.diagnostics import Loc
from codegen.record import record
from codegen.scop.product import How
from codegen.scop.tree import Node

NOWHERE = Loc("<plan>")


@record
class LoopRef:
    """A loop by name, `i`; or the one of that name around a statement, `S2.i`."""

    name: str
    stmt: str = ""
    loc: Loc = NOWHERE  # where a plan says it; the same loop is meant wherever that is

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LoopRef) and (self.name, self.stmt) == (other.name, other.stmt)

    def __hash__(self) -> int:
        return hash((self.name, self.stmt))

    def __str__(self) -> str:
        return f"{self.stmt}.{self.name}" if self.stmt else self.name


@record
class Forward:
    """Gather in the element that a variable is copied to, instead of in the variable."""

    variable: str
    loc: Loc = NOWHERE


@record
class Substitute:
    """Compute the value of a temporary where it is read, instead of keeping it in the variable."""

    variable: str
    loc: Loc = NOWHERE


@record
class Expand:
    """Keep the values of a variable for all iterations of some loops at once, in memory of at most `limit` bytes. With
    `within` each iteration of that loop around them has its own, and each thread memory for one."""

    variable: str
    over: tuple[str, ...]
    limit: int
    loc: Loc = NOWHERE
    within: str = ""


@record
class StripMine:
    """Count the value that each statement listed in `values` has in blocks of `size`, by a new iterator `name`, and
    make statements of their own of the instances where the values `apart` lie beyond the block, or before it."""

    name: str
    values: Mapping[str, isl.PwAff]
    size: int
    apart: Mapping[str, tuple[isl.PwAff, ...]]
    loc: Loc = NOWHERE


@record
class CopyReads:
    """Let the statements read copies of `array[subscripts]` from the array `name`, made when the first of them comes.
    `at` gives for each dimension of it the index and the size, all as isl writes affine values."""

    name: str
    array: str
    subscripts: tuple[str, ...]
    stmts: tuple[str, ...]
    at: tuple[tuple[str, str], ...]
    loc: Loc = NOWHERE


@record
class Relayout:
    """Keep `array` in panels of `size` columns, each in one piece, in memory `name` of the region's own; with `fresh`
    none of its values comes from before."""

    name: str
    array: str
    size: int
    fresh: bool = False
    loc: Loc = NOWHERE


@record
class Schedule:
    """Start from this tree instead of the source's order."""

    tree: Node
    loc: Loc = NOWHERE


@record
class Tile:
    """Cut loops of one nest into tiles; size 0 keeps a loop whole inside the tile. `full` isolates full tiles."""

    loops: tuple[tuple[LoopRef, int], ...]
    full: bool = False
    loc: Loc = NOWHERE


@record
class Balance:
    """Let tiles of a loop begin less than `size` ahead of it, how far is found at run time, so that threads which take
    tiles of that size in turn get equal parts."""

    loop: LoopRef
    size: int
    loc: Loc = NOWHERE


@record
class Diamond:
    """Cut time and a loop over space that is skewed by it into diamonds, which a row of them can start all at once."""

    time: LoopRef
    space: LoopRef
    size: int
    loc: Loc = NOWHERE


@record
class Order:
    """Nest these loops in this order."""

    loops: tuple[LoopRef, ...]
    loc: Loc = NOWHERE


@record
class Reverse:
    """Run a loop from its last value to its first."""

    loop: LoopRef
    loc: Loc = NOWHERE


@record
class Skew:
    """Add a multiple of an outer loop to a loop."""

    loop: LoopRef
    factor: int
    by: LoopRef
    loc: Loc = NOWHERE


@record
class Unskew:
    """Let a loop around one statement count the statement's own iterator again, after skewing and shifting."""

    loop: LoopRef
    iterator: str
    loc: Loc = NOWHERE


@record
class Distribute:
    """Give every part below a loop a loop of its own."""

    loop: LoopRef
    loc: Loc = NOWHERE


@record
class Parallel:
    """Run a loop's iterations on threads: an equal part for each or, with `by`, so many at a time in turn. With `also`,
    what is shared out are the iterations of both loops together; that one stands right inside."""

    loop: LoopRef
    also: LoopRef | None = None
    by: int = 0
    loc: Loc = NOWHERE


@record
class Ranks:
    """Share a loop of the source out among the ranks of a communicator, in blocks."""

    loop: LoopRef
    loc: Loc = NOWHERE


@record
class Pipeline:
    """Run a loop's iterations on threads; each waits, at every step of the loop `along` inside it, until those before
    it have come as far."""

    loop: LoopRef
    along: LoopRef
    loc: Loc = NOWHERE


@record
class Vector:
    """Run a loop's iterations in vector lanes: by the compiler or, with a width in bytes, written out as vectors,
    `times` of them side by side."""

    loop: LoopRef
    width: int = 0
    times: int = 1
    loc: Loc = NOWHERE


@record
class Unroll:
    """Write a loop's body out `factor` times."""

    loop: LoopRef
    factor: int
    loc: Loc = NOWHERE


@record
class Jam:
    """Run `factor` iterations of a loop side by side in the loop inside it."""

    loop: LoopRef
    factor: int
    loc: Loc = NOWHERE


@record
class Interleave:
    """Run the iterations of an innermost point loop side by side."""

    loop: LoopRef
    loc: Loc = NOWHERE


@record
class ScalarReplace:
    """Keep elements that iterations of an innermost loop use again in variables, from one iteration to the next."""

    loop: LoopRef
    loc: Loc = NOWHERE


@record
class StoreIn:
    """Keep a variable of the region inside a loop. `dims` lists (iterator, loop it is counted from, size)."""

    variable: str
    loop: LoopRef
    dims: tuple[tuple[str, str, int], ...]
    loc: Loc = NOWHERE


@record
class Stay:
    """On a core group: let so many tiles of an array stay in the local memory of their core from kernel to kernel, in
    the launch whose kernels first use the array in a statement."""

    array: str
    stmt: str
    tiles: int
    loc: Loc = NOWHERE


@record
class StageIn:
    """On a core group: what an iteration of a tile loop uses of an array is copied to local memory, and back where it
    is written; without a loop, what all of the kernel around a statement uses. `ahead`: the box of the next iteration
    is fetched while this one is worked on."""

    array: str
    stmt: str
    loop: str = ""
    ahead: bool = False
    loc: Loc = NOWHERE


@record
class OnMesh:
    """On a core group: cores of a row and of a column share the operands of a product across the mesh."""

    stmt: str
    loc: Loc = NOWHERE


@record
class TimeSteps:
    """On a core group: tiles of a stencil, so long along each axis of its grid, go through so many iterations of the
    loop over time at once. On a device: blocks of `threads` do so, on tiles that overlap and are so long with that;
    with `stream`, tiles have sides along all axes but the first, along which they are marched plane by plane."""

    loop: LoopRef
    steps: int
    sides: tuple[int, ...]
    threads: int = 0
    stream: bool = False
    loc: Loc = NOWHERE


@record
class InLanes:
    """On a core group: iterations of the loop around one statement run in the lanes of vectors. Where other loops leave
    the statement's element alone, a block stays in registers while these run: `vectors` side by side, for as many
    iterations of the loop `row` as `rows` says."""

    loop: LoopRef
    vectors: int = 1
    row: str = ""
    rows: int = 1
    loc: Loc = NOWHERE


@record
class Grid:
    """On a device: run the iterations of loops, each right inside the one before, on a grid of threads, as many in a
    block along each loop as it says. Neighbouring threads take neighbouring iterations of the last one."""

    loops: tuple[tuple[LoopRef, int], ...]
    loc: Loc = NOWHERE


@record
class Registers:
    """On a device: a block of so many threads along rows and along columns carries out a tile of a product, and each
    thread has so many elements of it in registers along the two loops; with `unit`, matrix units compute it. Of several
    for one statement the first is taken that gives every multiprocessor a tile, else the last."""

    loops: tuple[tuple[LoopRef, int], tuple[LoopRef, int]]
    threads: tuple[int, int]
    unit: str = ""
    loc: Loc = NOWHERE


@record
class StageShared:
    """On a device: what a tile of a product uses of an array in so many iterations of the loop over its depth, or where
    there is none, what a block's threads use in so many of their own loop, is copied to shared memory, `stages` times
    one after the other, with `pad` elements behind each line."""

    array: str
    loop: LoopRef
    size: int
    stages: int
    pad: int = 0
    loc: Loc = NOWHERE


@record
class Multiply:
    """Carry a statement's loops out as a blocked product of rows, columns and depth."""

    stmt: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    depth: tuple[str, ...]
    how: How
    loc: Loc = NOWHERE


# What a plan says about the local memory of cores, beside tiles that stay.
LocalMemory = Union[StageIn, OnMesh, TimeSteps, InLanes]
# What it says about tiles of blocks of threads.
BlockTile = Union[Registers, StageShared]
Directive = Union[
    Forward,
    Substitute,
    Expand,
    StripMine,
    CopyReads,
    Relayout,
    Schedule,
    Balance,
    Tile,
    Diamond,
    Order,
    Reverse,
    Skew,
    Unskew,
    Distribute,
    Parallel,
    Ranks,
    Pipeline,
    Vector,
    Unroll,
    Jam,
    Interleave,
    ScalarReplace,
    StoreIn,
    Stay,
    StageIn,
    OnMesh,
    TimeSteps,
    InLanes,
    Grid,
    Registers,
    StageShared,
    Multiply,
]


@record
class Plan:
    """Directives for one region, in order, or for one `part` of a region that is too large to be taken as a whole.
    `digest` identifies its text ("" is not checked)."""

    region: int
    directives: tuple[Directive, ...]
    digest: str = ""
    loc: Loc = NOWHERE
    part: int = 0
