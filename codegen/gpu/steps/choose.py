"""Iterations of a loop over time in tiles: builds and proves what a plan's directives ask for (`step_tiles`), and adds
such a directive to the tool's own plans where it is predicted to pay (`with_steps`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod

from codegen.ast.ctree import CNode
from codegen.diagnostics import Diagnostic, Severity
from codegen.gpu.plan.device import Device
from codegen.gpu.steps.find import step_tile, stencil_loops
from codegen.gpu.steps.model import BlockShape, StepTile
from codegen.gpu.steps.prove import wrong_steps
from codegen.gpu.tiles.find import NoTiles
from codegen.gpu.tiles.prove import MOST_SHARED
from codegen.plan.model import LoopRef, TimeSteps
from codegen.strategy.choice import Decision
from codegen.transform.program import Program

MOST_THREADS = 1024  # of a block


def step_tiles(p: Program, code: CNode) -> tuple[StepTile, ...]:
    """What the plan asks for, proven. Raises NoTiles."""
    wanted = [d for d in p.staging if isinstance(d, TimeSteps)]
    if not wanted:
        return ()
    found = list(stencil_loops(p, code))
    out = []
    for d in wanted:
        mine = [s for s in found if s.loop.loop.name == d.loop.name and d.loop.stmt in ("", *(x.stmt for x in s.sweeps))]
        if len(mine) != 1:
            raise NoTiles(f"`{d.loop.name}` is no loop of the host over sweeps of a stencil, with nothing around it")
        out.append(proven(p, mine[0], BlockShape(d.steps, d.sides, d.threads), MOST_SHARED))
    if len({id(x.stencil.loop) for x in out}) != len(out):
        raise NoTiles("a loop has tiles of two kinds")
    return tuple(out)


def proven(p, s, shape, most) -> StepTile:
    made = step_tile(p, s, shape)
    problem = wrong_steps(made, most, MOST_THREADS)
    if problem:
        raise NoTiles(problem)
    return made


SHAPES = {2: (BlockShape(2, (64, 64), 256), BlockShape(2, (32, 64), 256), BlockShape(1, (32, 64), 256)),
          1: (BlockShape(16, (512,), 256),), 3: ()}


def with_steps(d: Decision, code: CNode, processor: Device) -> Decision:
    """A plan of the tool's own, with time steps in tiles."""
    for s in stencil_loops(d.program, code):
        for shape in SHAPES[s.axes]:
            try:
                proven(d.program, s, shape, processor.shared_per_block)
            except NoTiles:
                continue
            found = TimeSteps(LoopRef(s.loop.loop.name, s.sweeps[0].stmt), shape.steps, shape.sides, shape.threads)
            program = replace(d.program, staging=(*d.program.staging, found))
            plan = replace(d.plan, directives=(*d.plan.directives, found))
            sides = " by ".join(map(str, shape.sides))
            text = f"{shape.steps} iterations of {s.loop.loop.name} in one launch, on tiles of {sides} that overlap"
            remark = Diagnostic(Severity.REMARK, "kernel", text, d.program.scop.statement(s.sweeps[0].stmt).loc, kind="passed")
            d = Decision(plan, (*d.remarks, remark), program)
            break
    return d
