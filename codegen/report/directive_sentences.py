"""A sentence for each directive of a plan: what it does."""

from __future__ import annotations

from codegen.plan.model import (
    Balance,
    CopyReads,
    Diamond,
    Directive,
    Distribute,
    Expand,
    Forward,
    Grid,
    InLanes,
    Interleave,
    Jam,
    LoopRef,
    Multiply,
    OnMesh,
    Order,
    Parallel,
    Pipeline,
    Ranks,
    Registers,
    Relayout,
    Reverse,
    ScalarReplace,
    Schedule,
    Skew,
    StageIn,
    StageShared,
    Stay,
    StoreIn,
    StripMine,
    Substitute,
    Tile,
    TimeSteps,
    Unroll,
    Unskew,
    Vector,
)
from codegen.scop.product import MatrixVector, Nested


def sentence(d: Directive) -> str:
    """For people who read a plan for the first time; empty where the plan's own words have to do."""
    return _loops(d) or _data(d)


def _loops(d: Directive) -> str:
    if isinstance(d, Schedule):
        return "Puts the statements into this order of loops."
    if isinstance(d, Tile):
        sizes = " by ".join(str(n) if n else "all" for _, n in d.loops)
        return f"Cuts {_names(*(r for r, _ in d.loops))} into tiles of {sizes} iterations."
    if isinstance(d, Balance):
        return f"Lets the first tile of {_names(d.loop)} be short, found at run time, so that threads get equal parts."
    if isinstance(d, Diamond):
        return f"Cuts {_names(d.time, d.space)} into slanted tiles that can begin at the same time."
    if isinstance(d, Order):
        return f"Nests the loops {', '.join(r.name for r in d.loops)} in this order."
    if isinstance(d, Reverse):
        return f"Runs {_names(d.loop)} backwards."
    if isinstance(d, Skew):
        return f"Shifts {_names(d.loop)} by {d.factor} for each iteration of {d.by.name}: dependences point forwards."
    if isinstance(d, Unskew):
        return f"Counts {_names(d.loop)} as `{d.iterator}` of the source."
    if isinstance(d, Distribute):
        return f"Gives each statement in {_names(d.loop)} a loop of its own."
    if isinstance(d, Parallel):
        also = f" and {d.also.name}, taken together," if d.also is not None else ""
        by = f", {d.by} iterations at a time in turn" if d.by else ""
        return f"Shares the iterations of {_names(d.loop)}{also} out to threads{by}."
    if isinstance(d, Grid):
        sizes = " by ".join(str(n) for _, n in d.loops)
        return f"Runs {_names(*(r for r, _ in d.loops))} on the threads of a device, in blocks of {sizes}."
    if isinstance(d, Ranks):
        return f"Shares the iterations of {_names(d.loop)} out among ranks, in blocks."
    if isinstance(d, Pipeline):
        return f"Shares {_names(d.loop)} out to threads that follow one another along {d.along.name}."
    if isinstance(d, Vector):
        width = f" of {d.width} bytes" if d.width else ""
        times = f"{d.times} vectors{width} at a time" if d.times > 1 else f"vectors{width}"
        return f"Runs {_names(d.loop)} in {times}."
    if isinstance(d, Unroll):
        return f"Writes {d.factor} iterations of {_names(d.loop)} out."
    if isinstance(d, Jam):
        return f"Takes {d.factor} iterations of {_names(d.loop)} together through the loops inside."
    if isinstance(d, Interleave):
        return f"Runs all iterations of {_names(d.loop)} side by side."
    if isinstance(d, ScalarReplace):
        return f"Keeps what the next iterations of {_names(d.loop)} use again in registers."
    return ""


def _data(d: Directive) -> str:
    if isinstance(d, Forward):
        return f"Gathers in the element that `{d.variable}` is copied to, instead of in the variable."
    if isinstance(d, Substitute):
        return f"Computes the value of `{d.variable}` where it is read, instead of keeping it in the variable."
    if isinstance(d, Expand):
        return f"Gives every iteration of {', '.join(d.over)} its own `{d.variable}`."
    if isinstance(d, StripMine):
        return f"Works in blocks of {d.size}, so that most of what is left is a product."
    if isinstance(d, CopyReads):
        return f"Copies elements of `{d.array}` to `{d.name}` before they change."
    if isinstance(d, Relayout):
        return f"Keeps `{d.array}` in panels of {d.size} columns, each in one piece, while the region runs."
    if isinstance(d, StoreIn):
        return f"Stores `{d.variable}` inside of {_names(d.loop)} only."
    if isinstance(d, StageIn):
        where = f"each tile of `{d.loop}`" if d.loop else f"the kernel around {d.stmt}"
        return f"Copies what {where} uses of `{d.array}` to local memory" + (", one tile ahead." if d.ahead else ".")
    if isinstance(d, TimeSteps):
        where = "shared memory of the device" if d.threads else "local memory"
        along = ", plane by plane along the first axis" if d.stream else ""
        return f"Takes tiles through {d.steps} iterations of `{d.loop.name}` at once, in {where}{along}."
    if isinstance(d, InLanes):
        block = f" of {d.rows * d.vectors} in registers" if d.rows * d.vectors > 1 else ""
        return f"Runs iterations of {_names(d.loop)} in vectors{block}, on local data."
    if isinstance(d, Registers):
        rows, columns = (n for _, n in d.loops)
        by = f", on {d.unit}" if d.unit else ""
        return f"Gives each thread of a device {rows} by {columns} elements of a product in registers{by}."
    if isinstance(d, StageShared):
        return f"Copies what {d.size} iterations of {_names(d.loop)} use of `{d.array}` to shared memory of the device."
    if isinstance(d, OnMesh):
        return f"Cores share the operands of {d.stmt} across the mesh."
    if isinstance(d, Stay):
        return f"Keeps a part of `{d.array}` in fast memory from tile to tile."
    if isinstance(d, Multiply):
        if isinstance(d.how, MatrixVector):
            return f"Carries {d.stmt} out as a product of a matrix and a vector, in one sweep over the matrix."
        if isinstance(d.how, Nested):
            return f"Carries {d.stmt} out as a product in exactly this order of loops, on registers and vectors."
        return f"Carries {d.stmt} out as a product of matrices: in blocks for the caches, by a kernel on registers."
    return ""


def _names(*loops: LoopRef) -> str:
    names = [r.name for r in loops]
    return f"loop {names[0]}" if len(names) == 1 else f"loops {', '.join(names[:-1])} and {names[-1]}"
