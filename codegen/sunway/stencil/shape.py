"""Chooses the sides of a tile and the number of time steps for a stencil in local memory: the shape of least time per
point and step that fits, or None; and checks whether a given shape fits."""

from __future__ import annotations

import itertools
from math import prod

from codegen.record import record
from codegen.scop.model import Scop
from codegen.strategy.loops.stencil import Stencil
from codegen.sunway.plan.cost import arithmetic
from codegen.sunway.plan.machine import CoreGroup

# Sides of tiles that are tried, by the number of axes, and steps of a block. Plans choose among them, too.
SIDES = {1: (64, 128, 256, 512, 1024), 2: (12, 16, 20, 24, 28, 32, 40, 48, 64, 96, 128), 3: (4, 6, 8, 12, 16, 24)}
STEPS = (2, 3, 4, 6, 8, 12, 16, 32, 64)


@record
class StencilTile:
    """Sides of a tile, and the steps of a block."""

    sides: tuple[int, ...]
    steps: int

    def halo(self, s: Stencil) -> int:
        return s.halo + s.growth * (self.steps - 1)


def fits(scop: Scop, s: Stencil, group: CoreGroup, shape: StencilTile) -> bool:
    """Is it a shape that is tried, and is there room for the boxes of all arrays?"""
    if len(shape.sides) != s.axes or shape.steps not in STEPS or any(x not in SIDES[s.axes] for x in shape.sides):
        return False
    arrays = (*s.written, *s.read)
    size = scop.arrays[arrays[0]].elem.bytes * prod(t + 2 * shape.halo(s) for t in shape.sides)
    return size * len(arrays) <= room_for(group)


def room_for(group: CoreGroup) -> int:
    return group.ldm_bytes - group.reserve - 1024


def choose(scop: Scop, s: Stencil, group: CoreGroup, cores: int, points: int) -> StencilTile | None:
    """The shape with the least time per point and step that fits into local memory, for so many along each axis."""
    arrays = (*s.written, *s.read)
    elem = scop.arrays[arrays[0]].elem.bytes
    room = room_for(group)
    lanes = group.lanes(elem)
    swept = [scop.statement(x.stmt) for x in s.sweeps]
    work = sum(max(arithmetic(y, group), 2 * len(y.accesses)) for y in swept)
    best: tuple[float, StencilTile] | None = None
    for tile in itertools.product(SIDES[s.axes], repeat=s.axes):
        for steps in (1, *STEPS):
            shape = StencilTile(tile, steps)
            halo = shape.halo(s)
            box = [t + 2 * halo for t in tile]
            size, inside = elem, 1
            for b, t in zip(box, tile, strict=True):
                size, inside = size * b, inside * t
            if size * len(arrays) > room:
                break
            block = box[-1] * elem
            fetched = size * (len(arrays) - s.anew) + inside * elem * (len(s.written) - s.anew)
            commands = box[0] if s.axes == 3 else 1
            transfer = cores * group.transfer(fetched, block, commands * len(arrays))
            compute = work * steps * (size / elem + inside) / 2 / lanes
            tiles = 1
            for t in tile:
                tiles *= -(-points // t)
            idle = -(-tiles // cores) * cores / tiles
            cost = (max(transfer, compute * idle) + 0.3 * min(transfer, compute) + 600) / (inside * steps)
            if best is None or cost < best[0]:
                best = cost, shape
    return None if best is None else best[1]
