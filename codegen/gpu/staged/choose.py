"""Loops of threads that read shared memory: builds and proves what a plan's directives ask for, and adds such
directives to the tool's own plans, with the first of a few sizes that fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from codegen.ast.ctree import CNode, Instance, expr_names
from codegen.diagnostics import Diagnostic, Severity
from codegen.gpu.plan.device import Device
from codegen.gpu.staged.find import (
    MOST_DOUBLED,
    StagedLoop,
    ThreadLoop,
    helpers_of,
    operands,
    staged_loop,
    thread_loop,
)
from codegen.gpu.staged.prove import bytes_of, proven
from codegen.gpu.staged.terms import term_loops
from codegen.gpu.tiles.find import NoTiles
from codegen.gpu.tiles.model import DEEP, DepthStaging
from codegen.gpu.tiles.prove import MOST_SHARED
from codegen.plan.model import LoopRef, Registers, StageShared
from codegen.scop.model import Scop
from codegen.strategy.choice import Decision
from codegen.transform.program import Program

# Bytes of a row that are copied at a time, and how many such parts there is room for: what an H200 is fastest with, and
# what takes less shared memory.
SIZES = ((256, 4), (128, 4), (128, 2))


def staged_loops(p: Program, code: CNode, most: int = MOST_SHARED) -> tuple[StagedLoop, ...]:
    """The loops of threads that the plan asks for, proven, on a device with so much shared memory. Raises NoTiles."""
    tiled = {d.loops[0][0].stmt for d in p.tiles if isinstance(d, Registers)}
    tiled |= {t.instance.stmt for t in term_loops(p, code)}
    wanted: dict[str, list[StageShared]] = {}
    for d in p.tiles:
        if isinstance(d, StageShared) and d.loop.stmt not in tiled:
            wanted.setdefault(d.loop.stmt, []).append(d)
    found = tuple(_planned(p.scop, code, wanted[n], most) for n in sorted(wanted))
    if len({id(x.nest.grid) for x in found}) != len(found):
        raise NoTiles("two loops of one thread are staged")
    return found


def _planned(scop: Scop, code: CNode, stages: Sequence[StageShared], most: int) -> StagedLoop:
    name = stages[0].loop.stmt
    nest = thread_loop(code, name)
    sizes = {(d.loop.name, d.size, d.stages) for d in stages}
    if len(sizes) != 1 or stages[0].loop.name != nest.loop.loop.name:
        raise NoTiles(f"arrays of {name} are staged along {nest.loop.loop.name}, all in the same way")
    staging = DepthStaging(stages[0].size, stages[0].stages)
    made = _doubled(staged_loop(scop, nest, staging, {d.array: d.pad for d in stages}), most)
    proven(made, MOST_SHARED)
    return made


def _doubled(p: StagedLoop, most: int) -> StagedLoop:
    """With twice the rows for each block that copies single elements, where the device has room for them: lines that
    begin anywhere are read in longer turns (an H200 reads rows of 16383 numbers of f64 at 0.97 of a copy, not 0.80)."""
    if p.vector == 1 or p.single != p.threads or p.threads > MOST_DOUBLED:
        return p
    rows = 2 * p.threads
    twice = replace(p, single=rows, helpers=helpers_of(rows, p.staging, p.vector) if p.helpers else 0)
    return twice if bytes_of(twice, 1) <= most else p


def with_staged_loops(d: Decision, code: CNode, processor: Device) -> Decision:
    """A plan of the tool's own, with arrays in shared memory for its loops of threads."""
    done: list[object] = []
    for s in d.program.scop.statements:
        try:
            nest = thread_loop(code, s.name)
            found = _proposed(d.program.scop, nest, s.name, processor)
        except NoTiles:
            continue
        if any(nest.grid is x for x in done):
            continue
        done.append(nest.grid)
        program = replace(d.program, tiles=(*d.program.tiles, *found))
        plan = replace(d.plan, directives=(*d.plan.directives, *found))
        arrays = " and ".join(f"`{x.array}`" for x in found)
        text = f"{arrays} in shared memory, {found[0].size} iterations of {nest.loop.loop.name} at a time"
        remark = Diagnostic(Severity.REMARK, "kernel", text, s.loc, kind="passed")
        d = Decision(plan, (*d.remarks, remark), program)
    return d


def _moves(scop: Scop, nest: ThreadLoop, at: Instance) -> bool:
    """Does a statement write another element of memory in each iteration?"""
    s = scop.statement(at.stmt)
    target = at.accesses[s.target]
    return not scop.arrays[s.accesses[s.target].array].inside and any(nest.loop.var in expr_names(e) for e in target)


def _proposed(scop: Scop, nest: ThreadLoop, stmt: str, processor: Device) -> tuple[StageShared, ...]:
    """Directives for a loop, if they can be proven. Raises NoTiles."""
    found = [o.staged for o in operands(scop, nest)]
    if all(o.alone for o in found):
        raise NoTiles("nothing can be staged")
    if len(nest.body) > 1 and any(_moves(scop, nest, at) for at in nest.body):
        # Steps wait for each other, and a barrier more is all that is gained: an H200 takes 5.3 ms for deriche, 3.6 ms
        # where each thread reads memory itself.
        raise NoTiles("a recurrence writes an element in each iteration")
    pads = {o.name: 16 // o.bytes if o.layout == DEEP and not o.alone else 0 for o in found}
    loop, why = LoopRef(nest.loop.loop.name, stmt), "nothing fits the device"
    for line, stages in SIZES:
        staging = DepthStaging(line // max(o.bytes for o in found), stages)
        try:
            proven(staged_loop(scop, nest, staging, pads), processor.shared_per_block)
        except NoTiles as error:
            why = str(error)
            continue
        return tuple(StageShared(n, loop, staging.depth, stages, pad) for n, pad in sorted(pads.items()))
    raise NoTiles(why)
