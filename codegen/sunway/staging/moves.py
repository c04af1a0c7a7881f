"""Prints the transfers of one local buffer: where its box lies, when it is fetched, when it is written back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from codegen.ast.ctree import Bin, CExpr, Int, Name
from codegen.sunway.plan.threads import CORES
from codegen.sunway.staging.local import LocalBuffer
from codegen.sunway.staging.transfer import DmaTransfer, Geometry, geometry
from codegen.sunway.text import dialect
from codegen.sunway.text.bodies import base_type
from codegen.sunway.text.views import SlaveView, line
from codegen.target.text.cexpr import IntPrinter

if TYPE_CHECKING:
    from codegen.sunway.slave import KernelPrinter


def geometry_of(p: KernelPrinter, b: LocalBuffer) -> Geometry:
    """How the buffer's array lies in main memory."""
    array = p.scop.arrays[b.array]
    path = next(a.path for _, a in p.scop.accesses() if a.array == b.array)
    return geometry(array, path)


def moves(
    p: KernelPrinter, b: LocalBuffer, t: DmaTransfer, ints: IntPrinter, now: str,
    out: tuple[list[SlaveView], list[SlaveView], list[SlaveView]],
) -> None:  # fmt: skip
    """What fetches a buffer, waits for it and sends it back is added to the three lists of `out`."""
    gets, waits, puts = out

    def guarded(*views: SlaveView) -> list[SlaveView]:
        tests = [*([] if b.when is None else [ints.text(b.when)]), *([f"!{p.stays(b)}"] if b.array in p.stay else [])]
        return [SlaveView("if", " && ".join(tests), views)] if tests else list(views)

    copy = f"[{now}]" if b.ahead else ""
    # What the kernel has stored there by itself is not ordered with commands.
    fence = [line(dialect.fence(p.group))] if b.array in p.stored else []
    if b.common and p.grid.count == CORES and not p.group.crts:
        # All cores have their buffer and a reply word of zero before the first of them asks for all.
        fetch = t.commands(dialect.broadcast, p.group, f"{b.name}_ldm", f"&{b.name}_got")
        gets += guarded(line(f"{b.name}_got = 0;"), line(dialect.BARRIER),
                        SlaveView("if", f"{p.words.id} == 0", (fetch,)))  # fmt: skip
        waits += guarded(line(dialect.wait(p.group, f"&{b.name}_got", t.count)))
        return
    if b.put and p.late(b):
        gets += guarded(line(dialect.wait(p.group, f"&{b.name}_put", f"{b.name}_out")))
    if b.get and not b.ahead:
        gets += guarded(*fence, line(f"{b.name}_got = 0;"),
                        t.commands(dialect.get, p.group, f"{b.name}_ldm", f"&{b.name}_got"))
    if b.get:
        now_ = waits if p.style.ahead else gets  # in series: every transfer is waited for at once
        now_ += guarded(line(dialect.wait(p.group, f"&{b.name}_got{copy}", t.count)))
    if b.put:
        put = t.commands(dialect.put, p.group, f"{b.name}_ldm", f"&{b.name}_put")
        commands = [*fence, line(f"{b.name}_put = 0;"), put]
        if p.late(b):
            puts += guarded(*commands, line(f"{b.name}_out = {t.count};"))
        else:
            done = [line(dialect.wait(p.group, f"&{b.name}_put", t.count))]
            # A data cache may have what was there before.
            done += [line(dialect.fence(p.group))] if p.group.cache_bytes and b.array in p.loaded else []
            puts += guarded(*commands, *done)


def stay_transfers(p: KernelPrinter, b: LocalBuffer, t: DmaTransfer) -> list[SlaveView]:
    """One tile comes or goes. The emulator is told who keeps it; on the machine that is nothing."""
    place, slot = f"{b.name}_kept[{p.words.tile}]", p.stays(b)
    count = line(f"{p.words.sent}++;" if t.count == "1" else f"{p.words.sent} += {t.count};")
    if p.only == "go":
        move = [t.commands(dialect.put, p.group, place, f"&{p.words.done}"), count] if b.put else []
        return [SlaveView("if", slot, (t.commands(dialect.release, p.group, place, ""), *move))]
    move = [t.commands(dialect.get, p.group, place, f"&{p.words.done}"), count] if b.array in p.fetched else []
    return [SlaveView("if", slot, (*move, t.commands(dialect.hold, p.group, place, "")))]


def sides(
    p: KernelPrinter, b: LocalBuffer, ints: IntPrinter, lets: list[SlaveView]
) -> tuple[tuple[CExpr, ...], tuple[str, ...]]:
    """Where the box starts and how long it is, with names for what is not short."""
    lows: list[CExpr] = []
    lens: list[str] = []
    for k, (low, size) in enumerate(zip(b.lows, b.lens, strict=True)):
        suffix = str(k) if len(b.lows) > 1 else ""
        if isinstance(low, (Int, Name)):
            lows.append(low)
        else:
            lets.append(line(f"const long {b.name}_at{suffix} = {ints.text(low)};"))
            lows.append(Name(f"{b.name}_at{suffix}"))
        if isinstance(size, Int):
            lens.append(str(size.value))
            continue
        if isinstance(size, Bin) and isinstance(size.left, Bin) and size.left.op == "-" and size.left.right == low:
            size = replace(size, left=replace(size.left, right=lows[-1]))
        text = ints.text(size)
        if b.when is not None:
            text = f"{ints.text(b.when, 1)} ? {ints.text(size, 1)} : 1"
        lets.append(line(f"const long {b.name}_len{suffix} = {text};"))
        lens.append(f"{b.name}_len{suffix}")
    return tuple(lows), tuple(lens)


def pointer(p: KernelPrinter, b: LocalBuffer, lens: Sequence[str], now: str) -> str:
    elem = base_type(p.scop.arrays[b.array].elem)
    store = f"{b.name}_ldm" + (f"[{now}]" if now else "")
    if b.array in p.stay:
        store = f"{p.stays(b)} ? {b.name}_kept[{p.words.tile}] : {store}"
    if len(lens) == 1:
        return f"{elem} *const {b.name}_t = {store};"
    store = f"({store})" if b.array in p.stay else store
    return f"{elem} (*const {b.name}_t){''.join(f'[{n}]' for n in lens[1:])} = (void *){store};"
