"""Predicts seconds for an iteration of a stencil's loop over time on a device, in tiles that are marched along an axis
(`streamed`), for a large grid. Also, how many blocks a multiprocessor has room for (`resident`)."""

from __future__ import annotations

from math import ceil, prod

from codegen.gpu.plan.device import Device
from codegen.gpu.steps.cost import CACHE, REACHED, at_once, operations, rate
from codegen.gpu.stream.model import StreamTile
from codegen.scop.model import Scop

POINTS = 512  # along each axis: smaller grids are left to plain launches where these are faster
# Found on an H200 (heat-3d of 512^3 points, one and two iterations in a launch, blocks of 128 to 512 threads, float and
# double, within 8 %): a step takes so long for each block whatever is computed in it, and for each thread of a block
# that all have to meet; a point of a sweep takes a multiprocessor so long at least, and so much of the arithmetic is
# reached.
STEP, MEETING, POINT, ARITHMETIC = 4e-8, 8e-10, 1.4e-10, 0.6
# On grids of 160 to 256 points a side steps take so much longer: launchers decide by that.
FEW = 1.25
# Registers of a thread, as compilers take them: beside the values of its rows, for the addresses of a row, and for the
# rest.
ADDRESSES, OTHERS = 4, 48


def registers(p: StreamTile) -> int:
    """Of a thread: planes that it keeps, what is new, and elements at the edge, of all its rows."""
    computed = [v for k, v in enumerate(p.versions) if v.sweep >= 0 and not p.is_last(k)]
    values = sum(v.kept for v in p.versions) + len(p.carried) + len(computed) + 2
    words = max(1, max(p.bytes.values()) // 4)
    return (words * values + ADDRESSES) * p.shape.rows + OTHERS


def resident(p: StreamTile, device: Device) -> int:
    """Blocks that a multiprocessor has room for at once; 0 where it has none."""
    return at_once(registers(p), p.room, p.shape.threads, device)


def step(scop: Scop, p: StreamTile, device: Device, among: int) -> float:
    """Seconds for a step of all blocks that run at once."""
    s = p.stencil
    own = ARITHMETIC * rate(scop, s, device) / device.multiprocessors
    each = sum(max(POINT, operations(scop, x) / own) for x in s.sweeps)
    points = prod(p.shape.sides) * p.shape.steps
    return MEETING * p.shape.threads + among * (STEP + points * each)


def streamed(scop: Scop, p: StreamTile, device: Device) -> float:
    """Seconds for an iteration; infinite where a block does not fit, or brings several arrays, of which nothing was
    measured: each has addresses of its own, and registers do not last."""
    among = resident(p, device) if len(p.carried) == 1 else 0
    own = [side - 2 * margin for side, margin in zip(p.shape.sides, p.margins[1:], strict=True)]
    if not among or min(own) < 1:
        return float("inf")
    tiles = prod(ceil(POINTS / n) for n in own)
    steps = min(
        ceil(parts * tiles / (among * device.multiprocessors)) * (ceil(POINTS / parts) + p.margins[0] + p.lag)
        for parts in range(1, POINTS + 1)
    )
    others = {n for x in p.stencil.sweeps for n in x.arrays if n in p.stencil.read}
    size = max(p.bytes.values())
    halo = len(p.carried) * (prod(p.shape.sides) / prod(own) - 1) / CACHE
    moved = POINTS**3 * size * (2 * len(p.carried) + halo + p.shape.steps * len(others))
    whole = max(steps * step(scop, p, device, among), moved / (REACHED * device.bandwidth))
    return (device.launch / 2 + whole) / p.shape.steps
