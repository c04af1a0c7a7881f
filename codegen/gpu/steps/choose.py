"""Iterations of a loop over time in tiles: builds and proves what a plan's directives ask for (`step_tiles`), and adds
such a directive to the tool's own plans where it is predicted to pay (`with_steps`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from math import prod

from codegen.ast.ctree import CNode
from codegen.diagnostics import Diagnostic, Severity
from codegen.gpu.plan.device import Device
from codegen.gpu.steps.cost import plain, resident, tiled
from codegen.gpu.steps.find import reshaped, stencil_loops, step_tile
from codegen.gpu.steps.model import BlockShape, StepTile
from codegen.gpu.steps.prove import wrong_steps
from codegen.gpu.tiles.find import NoTiles
from codegen.gpu.tiles.prove import MOST_SHARED
from codegen.plan.model import LoopRef, TimeSteps
from codegen.strategy.choice import Decision
from codegen.strategy.loops.stencil import Stencil
from codegen.transform.program import Program

MOST_THREADS = 1024  # of a block
GAIN = 1.2  # by which tiles have to be faster
# What is tried by the number of axes: sides, cells of a thread, and iterations of a launch.
SIDES: dict[int, tuple[tuple[int, ...], ...]] = {
    1: ((256,), (512,), (1024,)),
    2: ((32, 32), (32, 64), (48, 64), (64, 64)),
    3: ((8, 16, 32), (12, 16, 32), (16, 16, 32)),
}
ROWS = {1: (1,), 2: (4, 8, 16), 3: (8, 12, 16)}
STEPS = {1: (4, 8, 16, 32), 2: (1, 2, 3, 4, 6, 8), 3: (1, 2)}


def step_tiles(p: Program, code: CNode, processor: Device | None = None) -> tuple[StepTile, ...]:
    """What the plan asks for, proven, for a device if that is known. Raises NoTiles."""
    wanted = [d for d in p.staging if isinstance(d, TimeSteps)]
    found = list(stencil_loops(p, code)) if wanted else []
    out = []
    for d in wanted:
        named = (s for s in found if s.loop.loop.name == d.loop.name)
        mine = [s for s in named if d.loop.stmt in ("", *(x.stmt for x in s.sweeps))]
        if len(mine) != 1:
            raise NoTiles(f"`{d.loop.name}` is no loop of the host over sweeps of a stencil, with nothing around it")
        made = _proven(p, mine[0], BlockShape(d.steps, d.sides, d.threads), MOST_SHARED)
        out.append(made if processor is None else replace(made, resident=resident(made, processor)))
    if len({id(x.stencil.loop) for x in out}) != len(out):
        raise NoTiles("a loop has tiles of two kinds")
    return tuple(out)


def _proven(p: Program, s: Stencil, shape: BlockShape, most: int) -> StepTile:
    made = step_tile(p, s, shape)
    problem = wrong_steps(made, most, MOST_THREADS)
    if problem:
        raise NoTiles(problem)
    return made


def with_steps(d: Decision, code: CNode, processor: Device) -> Decision:
    """A plan of the tool's own, with time steps in tiles."""
    p = d.program
    for s in stencil_loops(p, code):
        try:
            shape = _best(p, s, processor)
            _proven(p, s, shape, processor.shared_per_block)
        except NoTiles:
            continue
        stmt = s.sweeps[0].stmt
        found = TimeSteps(LoopRef(s.loop.loop.name, stmt), shape.steps, shape.sides, shape.threads)
        program = replace(d.program, staging=(*d.program.staging, found))
        plan = replace(d.plan, directives=(*d.plan.directives, found))
        sides = " by ".join(map(str, shape.sides))
        text = f"{shape.steps} iterations of {s.loop.loop.name} in one launch, on tiles of {sides} that overlap"
        remark = Diagnostic(Severity.REMARK, "kernel", text, p.scop.statement(stmt).loc, kind="passed")
        d = Decision(plan, (*d.remarks, remark), program)
    return d


def _best(p: Program, s: Stencil, processor: Device) -> BlockShape:
    """The shape of least predicted time, if that is less than that of plain launches. Raises NoTiles."""
    first = step_tile(p, s, BlockShape(1, SIDES[s.axes][0], MOST_THREADS))
    costs = {x: tiled(p.scop, reshaped(first, x), processor) for x in _shapes(s)}
    best = min(costs, key=lambda x: costs[x])
    if costs[best] * GAIN > plain(p.scop, s, processor):
        raise NoTiles("tiles would not be faster")
    return best


def _shapes(s: Stencil) -> Iterator[BlockShape]:
    for sides, rows, steps in product(SIDES[s.axes], ROWS[s.axes], STEPS[s.axes]):
        threads = prod(sides) // rows
        if sides[0] % rows == 0 and threads <= MOST_THREADS:
            yield BlockShape(steps, sides, threads)
