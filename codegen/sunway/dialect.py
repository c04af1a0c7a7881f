"""The two spellings of DMA, waits and barriers: Athread of the SW26010, and CRTS of the SW26010-Pro."""

from __future__ import annotations

from codegen.sunway.plan.machine import CoreGroup


def get(group: CoreGroup, mem: str, ldm: str, size: str, reply: str, gap: str, block: str) -> str:
    """One command from main memory. A gap of "0" means that all is contiguous."""
    if group.crts:
        return f"athread_dma_iget_stride({ldm}, {mem}, {size}, {block}, {gap}, {reply});"
    return f"athread_get(PE_MODE, {mem}, {ldm}, {size}, (void *){reply}, 0, {gap}, {block});"


def broadcast(group: CoreGroup, mem: str, ldm: str, size: str, reply: str, gap: str, block: str) -> str:
    """One command of one core that fills the buffers of all, and adds to the reply words of all."""
    assert not group.crts
    return f"athread_get(BCAST_MODE, {mem}, {ldm}, {size}, (void *){reply}, (char)0xff, {gap}, {block});"


def put(group: CoreGroup, mem: str, ldm: str, size: str, reply: str, gap: str, block: str) -> str:
    """One command to main memory."""
    if group.crts:
        return f"athread_dma_iput_stride({mem}, {ldm}, {size}, {block}, {gap}, {reply});"
    return f"athread_put(PE_MODE, {ldm}, {mem}, {size}, (void *){reply}, {gap}, {block});"


def hold(group: CoreGroup, mem: str, ldm: str, size: str, reply: str, gap: str, block: str) -> str:
    """Says that a core keeps these bytes: until it releases them, no other may touch them in main memory."""
    return f"ldm_hold({mem}, {size}, {gap}, {block});"


def release(group: CoreGroup, mem: str, ldm: str, size: str, reply: str, gap: str, block: str) -> str:
    return f"ldm_release({mem}, {size}, {gap}, {block});"


def wait(group: CoreGroup, reply: str, count: str) -> str:
    return f"{'athread_dma_wait_value' if group.crts else 'dma_wait'}({reply}, {count});"


def barrier(group: CoreGroup) -> str:
    return "athread_ssync_array();" if group.crts else "athread_syn(ARRAY_SCOPE, 0xffff);"
