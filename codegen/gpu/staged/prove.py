"""Proofs about loops of threads that read shared memory: it holds what the plain loop reads from the arrays.
`wrong_loop` returns a sentence about the first that fails; `proven` raises NoTiles then, or where shared memory is too
small.

The formulas and rules are those of products in tiles (`tiles/prove.py`, `tiles/synchronization.py`): a block is a tile
with one row for each thread, and no columns.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.gpu.staged.find import StagedLoop
from codegen.gpu.tiles.find import NoTiles
from codegen.gpu.tiles.model import DEEP, DepthStaging, StagedOperand, ThreadTile, constants
from codegen.gpu.tiles.order import LOAD, STEP, TileProgram
from codegen.gpu.tiles.prove import MOST_SHARED, shared_bytes, uneven_copies, wrong_lines, wrong_staging
from codegen.gpu.tiles.synchronization import wrong_order


def block_of(rows: int, helpers: int = 0) -> ThreadTile:
    """A row of the tile for each thread, but for those that only help with copies."""
    return ThreadTile((rows, 1), (1, 1), helpers=helpers)


def wrong_loop(
    t: ThreadTile, s: DepthStaging, operands: Sequence[StagedOperand], vector: int, order: TileProgram, loads: int = 0
) -> str:
    """A sentence about the first proof that fails; empty where all go through. Copies bring `vector` elements, loads
    of shared memory `loads`: as many unless it is given."""
    values = {**constants(t, s), "V": vector, "STEP": loads or vector}
    if s.stages < 2:
        return "there is room for one part of the loop only"
    return (
        next(filter(None, (uneven_copies(o, t, values) for o in operands)), "")
        or next(filter(None, (wrong_staging(o, t, values) for o in operands)), "")
        or next(filter(None, (wrong_lines(o, values) for o in operands if o.layout == DEEP)), "")
        or wrong_order(order, s.stages)
        or _apart(order)
    )


def _apart(order: TileProgram) -> str:
    """Iterations read shared memory where they are computed: nothing comes between."""
    kinds = [e.kind for e in order.loop]
    steps = [k for k, kind in enumerate(kinds) if kind == STEP]
    loads = [k for k, kind in enumerate(kinds) if kind == LOAD]
    return "" if loads == [k - 1 for k in steps] else "shared memory is read somewhere else than it is computed with"


def bytes_of(p: StagedLoop, vector: int) -> int:
    """Shared memory of a block whose copies bring so many elements."""
    return shared_bytes(_block(p, vector), p.staging, [o.staged for o in p.operands])


def _block(p: StagedLoop, vector: int) -> ThreadTile:
    return block_of(p.rows_for(vector), 0 if vector > 1 else p.helpers)


def proven(p: StagedLoop, most: int) -> None:
    """All proofs, with copies of 16 bytes and of single elements, within so many bytes. Raises NoTiles."""
    if bytes_of(p, p.vector) > most or bytes_of(p, 1) > MOST_SHARED:
        raise NoTiles("no device has so much shared memory")
    for vector in sorted({1, p.vector}):
        problem = wrong_loop(_block(p, vector), p.staging, [o.staged for o in p.operands], vector, p.order, p.vector)
        if problem:
            raise NoTiles(problem)
