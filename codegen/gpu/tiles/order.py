"""The program of one thread block for a product: copies to shared memory, waits, barriers, loads and multiply-adds, in
order.

The depth is gone through in parts of DEPTH, each of which is staged as a whole. Copies of a part begin STAGES - 1 parts
ahead, into the room that the part before has left. A part is computed in steps; each loads registers, and computes with
them. With two sets of registers, those of a step are loaded while the step before it is computed.
"""

from __future__ import annotations

from codegen.record import record

COPY, COMMIT, WAIT, BARRIER, LOAD, STEP = "copy", "commit", "wait", "barrier", "load", "step"


@record
class TileEvent:
    """`part` is how far its part of the depth lies ahead of the loop's, `step` the step within it that it loads for or
    computes. A wait leaves `behind` groups of copies under way. `only` is the part, as far ahead, that has to be there
    for the event to take place at all; -1: it always does. `registers` is the set that it loads or computes with. Where
    `divergent`, threads of a block may differ in whether they come to it."""

    kind: str
    part: int = 0
    step: int = 0
    behind: int = 0
    only: int = -1
    registers: int = 0
    divergent: bool = False


@record
class TileProgram:
    """Events ahead of the loop over parts, for the parts they name, and those of each iteration."""

    before: tuple[TileEvent, ...]
    loop: tuple[TileEvent, ...]
    steps: int  # of a part

    @property
    def sets(self) -> int:
        """Sets of registers."""
        return 1 + max(e.registers for e in (*self.before, *self.loop))


def pipelined(stages: int, steps: int) -> TileProgram:
    """The order of a kernel with so many rooms, and so many steps to a part."""
    before = [e for u in range(stages - 1) for e in (TileEvent(COPY, u, only=u), TileEvent(COMMIT))]
    ready = [TileEvent(WAIT, behind=stages - 2), TileEvent(BARRIER)]
    ahead = [TileEvent(COPY, stages - 1, only=stages - 1), TileEvent(COMMIT)]
    body = [e for s in range(steps) for e in (TileEvent(LOAD, 0, s), TileEvent(STEP, 0, s))]
    return TileProgram(tuple(before), (*ready, *ahead, *body), steps)


def loading_ahead(stages: int, steps: int) -> TileProgram:
    """The same with two sets of registers. The last step of a part is computed behind the barrier for the next one, of
    which the first step has its registers then. Steps are even in number: each has the same set in all parts."""
    assert steps % 2 == 0
    before = [e for u in range(stages - 1) for e in (TileEvent(COPY, u, only=u), TileEvent(COMMIT))]
    ready = [TileEvent(WAIT, behind=stages - 2), TileEvent(BARRIER)]
    ahead = [TileEvent(COPY, stages - 1, only=stages - 1), TileEvent(COMMIT)]
    loads = [TileEvent(LOAD, 0, s, registers=s % 2) for s in range(1, steps)]
    following = [*([e] for e in loads), [*ready, TileEvent(LOAD, 1, 0, only=1)]]
    body = [e for s in range(steps) for e in (*following[s], TileEvent(STEP, 0, s, registers=s % 2))]
    return TileProgram((*before, *ready, TileEvent(LOAD, 0, 0, only=0)), (*ahead, *body), steps)
