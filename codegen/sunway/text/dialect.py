"""The two spellings of DMA, waits and barriers: Athread of the SW26010, and CRTS of the SW26010-Pro."""

from __future__ import annotations

from codegen.record import record
from codegen.sunway.plan.machine import CoreGroup


@record
class Command:
    """A transfer between main and local memory: addresses, bytes, the word that counts replies, and rows of `block`
    bytes with a `gap` between them in main memory. A gap of "0" means that all is contiguous."""

    mem: str
    ldm: str
    size: str
    reply: str
    gap: str
    block: str


def get(group: CoreGroup, c: Command) -> str:
    """One command from main memory."""
    if group.crts:
        return f"athread_dma_iget_stride({c.ldm}, {c.mem}, {c.size}, {c.block}, {c.gap}, {c.reply});"
    return f"athread_get(PE_MODE, {c.mem}, {c.ldm}, {c.size}, (void *){c.reply}, 0, {c.gap}, {c.block});"


def broadcast(group: CoreGroup, c: Command) -> str:
    """One command of one core that fills the buffers of all, and adds to the reply words of all."""
    assert not group.crts
    return f"athread_get(BCAST_MODE, {c.mem}, {c.ldm}, {c.size}, (void *){c.reply}, (char)0xff, {c.gap}, {c.block});"


def put(group: CoreGroup, c: Command) -> str:
    """One command to main memory."""
    if group.crts:
        return f"athread_dma_iput_stride({c.mem}, {c.ldm}, {c.size}, {c.block}, {c.gap}, {c.reply});"
    return f"athread_put(PE_MODE, {c.ldm}, {c.mem}, {c.size}, (void *){c.reply}, {c.gap}, {c.block});"


def hold(group: CoreGroup, c: Command) -> str:
    """Says that a core keeps these bytes: until it releases them, no other may touch them in main memory."""
    return f"ldm_hold({c.mem}, {c.size}, {c.gap}, {c.block});"


def release(group: CoreGroup, c: Command) -> str:
    return f"ldm_release({c.mem}, {c.size}, {c.gap}, {c.block});"


def wait(group: CoreGroup, reply: str, count: str) -> str:
    return f"{'athread_dma_wait_value' if group.crts else 'dma_wait'}({reply}, {count});"


def barrier(group: CoreGroup) -> str:
    return "athread_ssync_array();" if group.crts else "athread_syn(ARRAY_SCOPE, 0xffff);"
