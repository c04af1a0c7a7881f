"""The program of one thread block for a product: copies to shared memory, waits, barriers, loads and multiply-adds, in
order.

The depth is gone through in parts of DEPTH, each of which is staged as a whole. Copies of a part begin STAGES - 1 parts
ahead, into the room that the part before has left. A part is computed in steps; each loads registers, and computes with
them.
"""

from __future__ import annotations

from codegen.record import record

COPY, COMMIT, WAIT, BARRIER, LOAD, STEP = "copy", "commit", "wait", "barrier", "load", "step"


@record
class TileEvent:
    """`part` is how far its part of the depth lies ahead of the loop's, `step` the step within it that it loads for or
    computes. A wait leaves `behind` groups of copies under way. `only` is the part, as far ahead, that has to be there
    for the event to take place at all; -1: it always does. Where `divergent`, threads of a block may differ in whether
    they come to it."""

    kind: str
    part: int = 0
    step: int = 0
    behind: int = 0
    only: int = -1
    divergent: bool = False


@record
class TileProgram:
    """Events ahead of the loop over parts, for the parts they name, and those of each iteration."""

    before: tuple[TileEvent, ...]
    loop: tuple[TileEvent, ...]
    steps: int  # of a part


def pipelined(stages: int, steps: int) -> TileProgram:
    """The order of a kernel with so many rooms, and so many steps to a part."""
    before = [e for u in range(stages - 1) for e in (TileEvent(COPY, u, only=u), TileEvent(COMMIT))]
    ready = [TileEvent(WAIT, behind=stages - 2), TileEvent(BARRIER)]
    ahead = [TileEvent(COPY, stages - 1, only=stages - 1), TileEvent(COMMIT)]
    body = [e for s in range(steps) for e in (TileEvent(LOAD, 0, s), TileEvent(STEP, 0, s))]
    return TileProgram(tuple(before), (*ready, *ahead, *body), steps)
