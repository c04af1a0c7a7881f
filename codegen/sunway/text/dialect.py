"""The two spellings of DMA, waits and barriers: Athread of the SW26010, and CRTS of the SW26010-Pro."""

from __future__ import annotations

from codegen.record import record
from codegen.sunway.plan.machine import CoreGroup
from codegen.sunway.plan.threads import SIDE, CoreGrid


@record
class DmaCommand:
    """A transfer between main and local memory: addresses, bytes, the word that counts replies, and rows of `block`
    bytes with a `gap` between them in main memory. A gap of "0" means that all is contiguous."""

    mem: str
    ldm: str
    size: str
    reply: str
    gap: str
    block: str


def get(group: CoreGroup, c: DmaCommand) -> str:
    """One command from main memory."""
    if group.crts:
        return f"athread_dma_iget_stride({c.ldm}, {c.mem}, {c.size}, {c.block}, {c.gap}, {c.reply});"
    return f"athread_get(PE_MODE, {c.mem}, {c.ldm}, {c.size}, (void *){c.reply}, 0, {c.gap}, {c.block});"


def broadcast(group: CoreGroup, c: DmaCommand) -> str:
    """One command of one core that fills the buffers of all, and adds to the reply words of all."""
    assert not group.crts
    return f"athread_get(BCAST_MODE, {c.mem}, {c.ldm}, {c.size}, (void *){c.reply}, (char)0xff, {c.gap}, {c.block});"


def put(group: CoreGroup, c: DmaCommand) -> str:
    """One command to main memory."""
    if group.crts:
        return f"athread_dma_iput_stride({c.mem}, {c.ldm}, {c.size}, {c.block}, {c.gap}, {c.reply});"
    return f"athread_put(PE_MODE, {c.ldm}, {c.mem}, {c.size}, (void *){c.reply}, {c.gap}, {c.block});"


def hold(group: CoreGroup, c: DmaCommand) -> str:
    """Says that a core keeps these bytes: until it releases them, no other may touch them in main memory."""
    return f"ldm_hold({c.mem}, {c.size}, {c.gap}, {c.block});"


def release(group: CoreGroup, c: DmaCommand) -> str:
    return f"ldm_release({c.mem}, {c.size}, {c.gap}, {c.block});"


def wait(group: CoreGroup, reply: str, count: str) -> str:
    return f"{'athread_dma_wait_value' if group.crts else 'dma_wait'}({reply}, {count});"


BARRIER = "tw_barrier();"


def fence(group: CoreGroup) -> str:
    """What this core has stored in main memory by itself is there before anything that follows. With a data cache it
    leaves that first, and what is loaded afterwards comes from main memory."""
    return "tw_fence();" if group.cache_bytes else "memb();"


def barrier_lines(group: CoreGroup, grid: CoreGrid) -> list[str]:
    """What a barrier is on this grid: these cores wait for each other, and for no other core."""
    full, rest = divmod(grid.count, SIDE)
    if full == SIDE:
        return ["athread_ssync_array();" if group.crts else "athread_syn(ARRAY_SCOPE, 0xffff);"]
    if group.crts and grid.count in (8, 16, 32):
        return [f"CRTS_ssync_{grid.count}spe();"]
    name = "athread_ssync" if group.crts else "athread_syn"
    row, column = (f"{name}({scope}_SCOPE, {{}});" for scope in ("ROW", "COL"))
    if full == 0:
        return [row.format(_first(rest))] if rest > 1 else []
    if rest == 0:
        return [row.format("0xff"), *([column.format(_first(full))] if full > 1 else [])]
    # Columns with a core in the last row hand on, to the rest of their rows, that it has come.
    own = row.format("mine")
    return [
        "const int id = athread_get_id(-1);",
        f"const int mine = id / {SIDE} < {full} ? 0xff : {_first(rest)};",
        own,
        column.format(f"id % {SIDE} < {rest} ? {_first(full + 1)} : {_first(full)}"),
        own,
    ]


def _first(count: int) -> str:
    """A mask of the first cores of a row or column."""
    return f"0x{(1 << count) - 1:02x}"
