"""Proofs that all tiles of a stencil share, whether they stay in their place or are marched: threads have equal parts
of a tile, every row is one thread's, and every point of the grid is one block's. Each returns a sentence about what is
wrong, empty where nothing is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import islpy as isl

from codegen.gpu.steps.model import ROW, BlockShape, first
from codegen.gpu.tiles.model import parsed
from codegen.gpu.tiles.prove import bijection, box, relation, space_of
from codegen.verify.readback import TreePoint


def wrong_shape(shape: BlockShape, margins: Sequence[int], threads: int) -> str:
    """On a device with so many threads for a block."""
    if shape.chunks < 1 or shape.chunks * prod(shape.sides[1:]) != shape.threads or shape.threads > threads:
        return "a block has threads for whole lines of a tile, and no more than the device can have"
    if shape.rows * shape.chunks != shape.sides[0]:
        return "threads have no equal parts of a tile"
    if any(n <= 2 * m for n, m in zip(shape.sides, margins, strict=True)):
        return "tiles are all overlap: values travel further in so many iterations"
    return ""


def wrong_rows(shape: BlockShape, values: Mapping[str, int]) -> str:
    """Every row of a tile is one row of one thread."""
    rows = relation(space_of(("chunk", "r"), (shape.chunks, shape.rows)), (parsed(ROW, values),))
    return "" if bijection(rows, box(shape.sides[0])) else "a row of a tile belongs to no thread, or to two"


def wrong_blocks(shape: BlockShape, margins: Sequence[int], values: Mapping[str, int], axis: int) -> str:
    """Every point belongs to one cell of one block, of those that are not in its margins. The sides of the tile are
    those of the grid's axes from `axis` on."""
    for k, (side, margin) in enumerate(zip(shape.sides, margins, strict=True), axis):
        domain = isl.Set(f"{{ [block, p] : 0 <= block and {margin} <= p < {side - margin} }}")
        at = TreePoint(domain, ("block", "p"), (), (), ())
        if not bijection(relation(at, (parsed(f"{first(k)} + p", values),)), isl.Set("{ [x] : 0 <= x }")):
            return "a point is written by no block, or by two"
    return ""
