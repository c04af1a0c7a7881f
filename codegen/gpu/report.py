"""The lines that `inspect` shows of a region on a device: plan, kernels with their registers, tiles with their shared
memory, what is copied, and for which sizes it runs there; or why it stays on the host."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import prod

from codegen.diagnostics import Unsupported
from codegen.gpu.body import check_region
from codegen.gpu.dialect import Dialect
from codegen.gpu.emit import device_part
from codegen.gpu.kernels import DeviceKernel, thread_loops, unrolled
from codegen.gpu.plan.device import Device, load_device
from codegen.gpu.region import device_code, made_for_device
from codegen.gpu.registers.count import registers
from codegen.gpu.registers.lower import KernelLoops, thread_code
from codegen.gpu.sizes import with_sizes
from codegen.gpu.staged.find import StagedLoop
from codegen.gpu.staged.prove import bytes_of
from codegen.gpu.steps.cost import at_once
from codegen.gpu.stream.model import StreamTile, TimeTile
from codegen.gpu.tiles.find import TiledProduct
from codegen.gpu.tiles.prove import shared_bytes
from codegen.gpu.transfers import ArrayText, BoxText
from codegen.gpu.worth import worth_text
from codegen.options import GenOptions
from codegen.plan.text import show
from codegen.region_model import Modelled
from codegen.scop.model import Scop
from codegen.target.text.cexpr import IntPrinter


def described(model: Modelled, options: GenOptions, dialect: Dialect) -> Iterator[str]:
    """The plan, the kernels with their blocks, and what is copied."""
    scop = model.program.scop
    try:
        check_region(scop, dialect.words)
        made = made_for_device(model, options, dialect)
        code = device_code(made, options)
        part, arrays, kernels = device_part(made.program.scop, made.program.deps, code, dialect, options.arrays)
    except Unsupported as error:
        yield f"  stays on the host: {error.message}"
        return
    yield "  plan"
    for line in show((made.plan,), {scop.region: made.program.scop}).splitlines()[1:]:
        yield f"  {line}"
    yield "  kernels"
    device, sized = load_device(options.device), with_sizes(made.program.scop).scop
    for text, kernel in zip(part.kernels, kernels, strict=True):
        yield f"    {text.name}: {text.comment}; {_registers(sized, kernel, device)}"
    for name in sorted(code.tiled):
        yield from _tiles(code.tiled[name], device)
    for loop in code.staged:
        yield _staged(loop, device)
    for tile in code.steps:
        yield _steps(tile)
    yield f"  arrays of the {options.arrays}"
    for a in arrays:
        yield f"    {a.name}: {_moved(a, options.arrays)}"
    if options.arrays == "host":
        ints = IntPrinter({p.name: p for p in scop.params}, {}, set())
        worth = worth_text(made.program.scop, kernels, arrays, code.device, ints)
        yield f"  on the device where, in seconds, {worth}" if worth else "  on the device at all sizes"


def _registers(scop: Scop, k: DeviceKernel, device: Device) -> str:
    """What a thread of a plain kernel is predicted to take, and how many blocks there is room for."""
    threads = prod(x.threads for x in k.axes)
    loops = KernelLoops(frozenset(map(id, thread_loops(k.node))), threads, partial(unrolled, scop))
    wide = registers(thread_code(scop, k.node, loops, True), device)
    small = registers(thread_code(scop, k.node, loops, False), device) if k.small else 0
    most = at_once(wide, 0, threads, device)
    narrow = f", {small} with counters of 32 bits" if k.small else ""
    blocks = "1 block" if most == 1 else f"{most} blocks"
    return f"about {wide} registers a thread{narrow}, at most {blocks} on a multiprocessor"


def _tiles(p: TiledProduct, device: Device) -> Iterator[str]:
    """The sizes of a product's tiles, and what a block of each takes."""
    for t in p.tiles:
        room = shared_bytes(t, p.staging, p.operands)
        most = min(device.shared_per_multiprocessor // room, device.threads_per_multiprocessor // t.count)
        yield (
            f"    {p.nest.statement.name} in tiles of {t.sides[0]} by {t.sides[1]}: {t.count} threads, each with "
            f"{t.registers[0]} by {t.registers[1]} elements in registers, {room} bytes of shared memory, "
            f"at most {most} blocks on a multiprocessor"
        )


def _staged(p: StagedLoop, device: Device) -> str:
    """What a block takes whose threads read shared memory."""
    room = bytes_of(p, p.vector)
    most = min(device.shared_per_multiprocessor // room, device.threads_per_multiprocessor // p.threads)
    stmts = ", ".join(dict.fromkeys(at.stmt for at in p.nest.body))
    arrays = " and ".join(o.staged.name for o in p.operands)
    return (
        f"    {stmts} with {arrays} in shared memory: {p.threads} threads, {p.staging.depth} iterations of "
        f"{p.nest.loop.loop.name} at a time, {room} bytes, at most {most} blocks on a multiprocessor"
    )


def _steps(p: TimeTile) -> str:
    """What a block takes that computes several time steps."""
    streamed = isinstance(p, StreamTile)
    stmts, sides = ", ".join(x.stmt for x in p.stencil.sweeps), " by ".join(map(str, p.shape.sides))
    how = "plane by plane on tiles" if streamed else "on tiles"
    return (
        f"    {stmts}: {p.shape.steps} iterations of {p.stencil.loop.loop.name} in a launch, {how} of {sides} that "
        f"overlap by {' by '.join(map(str, p.margins[streamed:]))} at either end: {p.shape.threads} threads, each with "
        f"{p.shape.rows} points, {p.room} bytes of shared memory, {p.resident} "
        f"block{'s' if p.resident != 1 else ''} on a multiprocessor"
    )


def _moved(a: ArrayText, arrays: str) -> str:
    if arrays != "host" and not a.scalar:
        return "used where it is"
    both = (("copied to the device", a.come), ("copied back", a.go))
    return "; ".join(f"{_box(b)} {what}" for what, b in both if b is not None) or "not copied"


def _box(b: BoxText) -> str:
    if not b.lows:
        return "its value"
    sides = zip(b.lows, b.counts, strict=True)
    return "".join(f"[{n}]" if low == "0" else f"[{n} from {low}]" for low, n in sides)
