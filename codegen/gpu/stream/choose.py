"""Iterations of a loop over time in tiles: builds and proves what a plan's directives ask for (`step_tiles`), and adds
such a directive to the tool's own plans where it is predicted to pay (`with_steps`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import product
from math import ceil, prod

from codegen.ast.ctree import CNode
from codegen.diagnostics import Diagnostic, Severity
from codegen.gpu.plan.device import Device
from codegen.gpu.steps.cost import plain, plain_point, resident, tiled
from codegen.gpu.steps.find import reshaped, stencil_loops, step_tile
from codegen.gpu.steps.model import BlockShape
from codegen.gpu.steps.prove import wrong_steps
from codegen.gpu.stream.cost import FEW, step, streamed
from codegen.gpu.stream.cost import POINTS as LARGE
from codegen.gpu.stream.cost import resident as resident_stream
from codegen.gpu.stream.find import AXES, stream_tile
from codegen.gpu.stream.model import StreamPace, StreamTile, TimeTile
from codegen.gpu.stream.prove import wrong_stream
from codegen.gpu.tiles.find import NoTiles
from codegen.gpu.tiles.prove import MOST_SHARED
from codegen.plan.model import LoopRef, TimeSteps
from codegen.record import record
from codegen.scop.model import Scop
from codegen.strategy.choice import Decision
from codegen.strategy.loops.stencil import Stencil
from codegen.transform.program import Program

MOST_THREADS = 1024  # of a block
GAIN = 1.2  # by which tiles have to be faster


@record
class TileChoices:
    """What is tried: iterations of a launch, and the sides of tiles with the threads of a block."""

    steps: tuple[int, ...]
    shapes: tuple[tuple[tuple[int, ...], int], ...]

    def blocks(self) -> Iterator[BlockShape]:
        for (sides, threads), steps in product(self.shapes, self.steps):
            yield BlockShape(steps, sides, threads)


def _tiles(steps: tuple[int, ...], sides: Sequence[tuple[int, ...]], rows: Sequence[int]) -> TileChoices:
    """All tiles of which each thread has so many cells, neighbours along the first axis."""
    found = ((x, prod(x) // n) for x, n in product(sides, rows) if x[0] % n == 0 and prod(x) // n <= MOST_THREADS)
    return TileChoices(steps, tuple(found))


# By the number of axes; and where tiles are marched along an axis: four rows for each thread, since two and eight were
# slower.
TILES = {
    1: _tiles((4, 8, 16, 32), ((256,), (512,), (1024,)), (1,)),
    2: _tiles((1, 2, 3, 4, 6, 8), ((32, 32), (32, 64), (48, 64), (64, 64)), (4, 8, 16)),
    3: _tiles((1, 2), ((8, 16, 32), (12, 16, 32), (16, 16, 32)), (8, 12, 16)),
}
STREAMED = _tiles((1, 2), tuple((4 * down, width) for width, down in product((32, 64), (4, 8, 16))), (4,))


def step_tiles(p: Program, code: CNode, processor: Device | None = None) -> tuple[TimeTile, ...]:
    """What the plan asks for, proven, for a device if that is known. Raises NoTiles."""
    wanted = [d for d in p.staging if isinstance(d, TimeSteps)]
    found = list(stencil_loops(p, code)) if wanted else []
    out = []
    for d in wanted:
        named = (s for s in found if s.loop.loop.name == d.loop.name)
        mine = [s for s in named if d.loop.stmt in ("", *(x.stmt for x in s.sweeps))]
        if len(mine) != 1:
            raise NoTiles(f"`{d.loop.name}` is no loop of the host over sweeps of a stencil, with nothing around it")
        made = _proven(p, mine[0], BlockShape(d.steps, d.sides, d.threads), d.stream, MOST_SHARED)
        out.append(made if processor is None else _on(p.scop, made, processor))
    if len({id(x.stencil.loop) for x in out}) != len(out):
        raise NoTiles("a loop has tiles of two kinds")
    return tuple(out)


def _on(scop: Scop, p: TimeTile, device: Device) -> TimeTile:
    """With the number of blocks that run at once, and what is predicted of them."""
    if not isinstance(p, StreamTile):
        # A launch of fewer iterations is taken to last as long as one of all.
        ratio = min(1.0, tiled(scop, p, device) / plain(scop, p.stencil, device))
        return replace(p, resident=resident(p, device), fewest=max(1, ceil(ratio * p.shape.steps)))
    among = max(1, resident_stream(p, device))
    plain_ = p.shape.steps * plain_point(scop, p.stencil, device)
    pace = StreamPace(among * device.multiprocessors, FEW * step(scop, p, device, among), plain_)
    return replace(p, resident=among, pace=pace)


def _proven(p: Program, s: Stencil, shape: BlockShape, stream: bool, most: int) -> TimeTile:
    made: TimeTile
    if stream:
        made = stream_tile(p, s, shape)
        problem = wrong_stream(p.scop, made, most, MOST_THREADS)
    else:
        made = step_tile(p, s, shape)
        problem = wrong_steps(made, most, MOST_THREADS)
    if problem:
        raise NoTiles(problem)
    return made


def with_steps(d: Decision, code: CNode, processor: Device, gain: float = GAIN) -> Decision:
    """A plan of the tool's own, with time steps in tiles, if these are predicted to be so much faster."""
    p = d.program
    for s in stencil_loops(p, code):
        try:
            shape, stream = _best(p, s, processor, gain)
            _proven(p, s, shape, stream, processor.shared_per_block)
        except NoTiles:
            continue
        stmt = s.sweeps[0].stmt
        found = TimeSteps(LoopRef(s.loop.loop.name, stmt), shape.steps, shape.sides, shape.threads, stream)
        program = replace(d.program, staging=(*d.program.staging, found))
        plan = replace(d.plan, directives=(*d.plan.directives, found))
        sides = " by ".join(map(str, shape.sides))
        how = "plane by plane on tiles" if stream else "on tiles"
        text = f"{shape.steps} iterations of {s.loop.loop.name} in one launch, {how} of {sides} that overlap"
        remark = Diagnostic(Severity.REMARK, "kernel", text, p.scop.statement(stmt).loc, kind="passed")
        d = Decision(plan, (*d.remarks, remark), program)
    return d


def _best(p: Program, s: Stencil, processor: Device, gain: float) -> tuple[BlockShape, bool]:
    """The shape of least predicted time, and whether it is of a plane that is marched along an axis, if that is less
    than the time of plain launches by the gain. Raises NoTiles."""
    first = step_tile(p, s, BlockShape(1, TILES[s.axes].shapes[0][0], MOST_THREADS))
    launches = plain(p.scop, s, processor)
    parts = {(x, False): tiled(p.scop, reshaped(first, x), processor) / launches for x in TILES[s.axes].blocks()}
    if s.axes == AXES:
        with suppress(NoTiles):
            launches = plain(p.scop, s, processor, LARGE)
            for x in STREAMED.blocks():
                parts[x, True] = streamed(p.scop, stream_tile(p, s, x), processor) / launches
    best = min(parts, key=lambda x: parts[x])
    if parts[best] == float("inf") or parts[best] * gain > 1:
        raise NoTiles("tiles would not be faster")
    return best
