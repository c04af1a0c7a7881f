"""Predicts seconds for an iteration of a stencil's loop over time on a device: with a launch for each sweep (`plain`),
and in tiles of a shape (`tiled`), for grids of a usual size. Also, how many blocks a multiprocessor has room for."""

from __future__ import annotations

from math import ceil, prod

from codegen.gpu.plan.device import Device
from codegen.gpu.steps.model import StepTile, is_thin
from codegen.scop.expr import Binary, Call, Unary, walk
from codegen.scop.model import Scop
from codegen.strategy.loops.stencil import Stencil, StencilSweep

POINTS = {1: 100000, 2: 2000, 3: 250}  # along each axis, by their number
# Found on an H200 (jacobi-2d of 8000 x 8000 points, one to four iterations in a launch, within 7 %): bytes that a
# multiprocessor moves to and from its shared memory in a second with warps without end, and with how many it moves half
# of that; the time from a barrier to the next one, and what each thread of a block adds to it (jacobi-1d, 8 to 32
# iterations, within 20 %); which part of the bandwidth is reached, how much faster the cache is that blocks share, and
# how much of the shorter one of moving and computing is not hidden by the other; a block alone on its multiprocessor
# hides nothing.
SHARED, FEW, MEETING, EACH_MEETS, REACHED, CACHE, SEEN = 2.8e11, 4, 9e-8, 1e-10, 0.8, 2.0, 0.5
# Of plain launches over three axes (heat-3d of 512^3 points, float and double, within 1 %, of 200^3 within 5 %): which
# part of the bandwidth is reached, and how long a point of a sweep takes a multiprocessor beside that: neighbours along
# two of the axes come from caches.
REACHED_3, POINT_3 = 0.98, 2.1e-10
# Registers of a thread, at least so many as compilers take without spilling: for a cell with its addresses, which
# small elements have as well, for counters, and for each array beyond two.
CELL, OTHERS, EACH = 4, 30, 16
UNIT = 8  # registers of a thread come in such numbers
AHEAD = 1024  # bytes of shared memory that every block takes beside its own


def resident(p: StepTile, device: Device) -> int:
    """Blocks that a multiprocessor has room for at once; 0 where it has none."""
    further = max(0, len(p.stencil.written) - 2)
    registers = CELL * p.shape.rows + OTHERS + EACH * further
    return at_once(registers, p.room, p.shape.threads, device)


def at_once(registers: int, room: int, threads: int, device: Device) -> int:
    """Blocks of so many threads, registers of each, and bytes of shared memory that a multiprocessor has room for."""
    if registers > device.registers_per_thread or room > device.shared_per_block:
        return 0
    taken = -(-registers // UNIT) * UNIT * -(-threads // device.warp) * device.warp
    return min(
        device.shared_per_multiprocessor // (room + AHEAD),
        device.registers_per_multiprocessor // taken,
        device.threads_per_multiprocessor // threads,
        device.blocks_per_multiprocessor,
    )


def plain(scop: Scop, s: Stencil, device: Device, points: int = 0) -> float:
    """Seconds for an iteration of one launch for each sweep, with so many points along each axis, or a usual number."""
    cells = float(points or POINTS[s.axes]) ** s.axes
    return len(s.sweeps) * device.launch / 2 + cells * plain_point(scop, s, device)


def plain_point(scop: Scop, s: Stencil, device: Device) -> float:
    """Seconds for a point of all sweeps over the grid, in launches of their own."""
    total, deep = 0.0, s.axes > 2
    for x in s.sweeps:
        arrays = {n for n, shift in zip(x.arrays, x.shifts, strict=True) if shift is not None}
        moved = sum(scop.arrays[a].elem.bytes for a in (*arrays, *_again(x)))
        reached = (REACHED_3 if deep else REACHED) * device.bandwidth
        work = max(moved / reached, operations(scop, x) / rate(scop, s, device))
        total += 0 if is_thin(x) else work + deep * POINT_3 / device.multiprocessors
    return total


def operations(scop: Scop, x: StencilSweep) -> int:
    """Of one point."""
    s = scop.statement(x.stmt)
    return sum(isinstance(e, (Binary, Call, Unary)) for e in walk(s.rhs)) + (s.op != "=")


def rate(scop: Scop, s: Stencil, device: Device) -> float:
    """Operations in a second, half of those that descriptions give for fused ones."""
    return (device.f64 if scop.arrays[s.written[0]].elem.bytes > 4 else device.f32) / 2


def _again(x: StencilSweep) -> tuple[str, ...]:
    """The target, if it is read as well: it is moved twice."""
    return (x.target,) if x.arrays.count(x.target) > 1 else ()


def tiled(scop: Scop, p: StepTile, device: Device) -> float:
    """Seconds for an iteration in tiles; infinite where a block does not fit."""
    s, shape = p.stencil, p.shape
    size = scop.arrays[s.written[0]].elem.bytes
    among = resident(p, device)
    if not among:
        return float("inf")
    own = [side - 2 * margin for side, margin in zip(shape.sides, p.margins, strict=True)]
    if min(own) < 1:
        return float("inf")
    blocks = prod(ceil(POINTS[s.axes] / n) for n in own)
    among = min(among, ceil(blocks / device.multiprocessors))
    turns = max(1.0, blocks / (device.multiprocessors * among) + 0.3)
    cells = prod(shape.sides)
    touched = sum(_touched(scop, p, k, x) for k, x in enumerate(s.sweeps) if not is_thin(x))
    computed = sum(operations(scop, x) for x in s.sweeps if not is_thin(x)) / rate(scop, s, device)
    warps = among * shape.threads / device.warp
    each = max(touched * size * (warps + FEW) / (SHARED * warps), computed * device.multiprocessors)
    each += sum(POINT_3 for x in s.sweeps if s.axes > 2 and not is_thin(x))
    meeting = MEETING + EACH_MEETS * shape.threads
    swept = max(among * cells * shape.steps * each, shape.steps * len(s.sweeps) * meeting)
    others = {n for x in s.sweeps for n in x.arrays if n in s.read}
    whole = 2 * len(p.carried) + shape.steps * len(others)
    brought = len(p.carried) * (cells - prod(own)) / CACHE + whole * prod(own)
    memory = blocks * brought * size / (REACHED * device.bandwidth)
    times = sorted((turns * swept, memory))
    busy = times[1] + (SEEN if among > 1 else 1.0) * times[0]
    # Short launches wait for the next one, which begins meanwhile.
    return (max(device.launch, busy) if s.axes == 1 else device.launch / 2 + busy) / shape.steps


def _touched(scop: Scop, p: StepTile, number: int, x: StencilSweep) -> float:
    """Cells of shared memory that a point of a sweep touches: what is not in registers, and the one that is written."""
    held, out = p.held(number), 1.0
    s = scop.statement(x.stmt)
    found = zip(range(len(x.arrays)), x.arrays, x.shifts, strict=True)
    reads = {(n, d) for k, n, d in found if d is not None and n in p.stencil.written and (k != s.target or s.op != "=")}
    for name, shift in reads:
        here = name == held and not any(shift[1:])
        out += min(1.0, abs(shift[0]) / p.shape.rows) if here else 1.0
    return out
