"""Data of a tile beside the caches, and where the machine's description puts a statement under its roofs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log2

from codegen.machine import Machine
from codegen.report.html.draw import dot, line, path, rect, text
from codegen.report.html.model import Picture, Shape, TableView
from codegen.report.html.traffic import Work

LABEL, WIDTH, ROW = 210.0, 330.0, 24.0
LOW, HIGH = -5, 9  # intensities shown, as powers of two
BOX, LEFT, TOP, BOTTOM = (380.0, 230.0), 46.0, 14.0, 40.0


def size_text(n: int) -> str:
    if n < 1024:
        return f"{n} B"
    return f"{n / 1024:.3g} KiB" if n < 1 << 20 else f"{n / (1 << 20):.3g} MiB"


def _entries(works: Sequence[Work]) -> list[tuple[str, int]]:
    out = []
    for w in works:
        if w.tiled:
            out += [(f"{w.stmt}: {name}", n) for name, n in w.parts]
            if len(w.parts) > 1 and "," not in w.parts[0][0]:
                out.append((f"{w.stmt}: together", sum(n for _, n in w.parts)))
    return out


def footprint_table(works: Sequence[Work], machine: Machine) -> TableView | None:
    rows = []
    for name, n in _entries(works):
        fits = next((f"L{c.level} ({size_text(c.bytes)})" for c in machine.caches if n <= c.bytes), "memory")
        rows.append((name, size_text(n), fits))
    return TableView("Data of one tile", ("what", "size", "fits in"), tuple(rows)) if rows else None


def footprint_picture(works: Sequence[Work], machine: Machine) -> Picture | None:
    """Bars on a logarithmic scale, with a line for each cache."""
    entries = _entries(works)
    if not entries:
        return None
    ends = [n for _, n in entries] + [c.bytes for c in machine.caches]
    first, last = log2(max(1, min(ends))) - 1, log2(max(ends)) + 1

    def at(n: int) -> float:
        return LABEL + (log2(max(1, n)) - first) / (last - first) * WIDTH

    bottom = 22 + ROW * len(entries)
    shapes: list[Shape] = []
    for k, (name, n) in enumerate(entries):
        y = 22 + ROW * k
        shapes.append(rect("bar", LABEL, y + 4, at(n) - LABEL, ROW - 8, f"{name}: {size_text(n)}"))
        shapes.append(text("value", LABEL - 8, y + 16, name, "end"))
    for c in machine.caches:
        shapes.append(line("cache", at(c.bytes), 18, at(c.bytes), bottom))
        shapes.append(text("name", at(c.bytes), 13, f"L{c.level} {size_text(c.bytes)}", "middle"))
    return Picture(LABEL + WIDTH + 40, bottom + 6, "Data of one tile beside the caches", tuple(shapes),
                   "Logarithmic scale; a bar that ends before a cache's line fits in it")  # fmt: skip


def peak(machine: Machine, element_bytes: int) -> float:
    """Operations per cycle of one core; a multiply-add counts as two."""
    return 2 * machine.lanes(element_bytes) * machine.fma_throughput


def roofs(machine: Machine) -> tuple[float, float]:
    """Bytes per cycle: lines fetched one after the other, and as fast as they can be asked for."""
    return machine.line_bytes / machine.prefetch_latency, machine.line_bytes * machine.prefetches_per_cycle


def roofline(works: Sequence[tuple[Work, int]], machine: Machine) -> Picture | None:
    """One dot for each statement (given with the bytes of its elements) on the upper roof."""
    works = [(w, size) for w, size in works if w.operations and w.moved]
    if not works:
        return None
    slow, fast = roofs(machine)
    top = max(peak(machine, size) for _, size in works)
    low, high = log2(min(slow * 2**LOW, 0.01)), log2(top) + 1
    width, height = BOX

    def place(intensity: float, rate: float) -> tuple[float, float]:
        x = (log2(intensity) - LOW) / (HIGH - LOW)
        return LEFT + x * width, TOP + (1 - (log2(rate) - low) / (high - low)) * height

    shapes: list[Shape] = [*_scales(place, low, high)]
    for bytes_, name in ((slow, "lines one by one"), (fast, "lines as asked for")):
        bend = min(max(top / bytes_, 2.0**LOW), 2.0**HIGH)
        points = [place(2.0**LOW, max(2**low, min(top, bytes_ * 2.0**LOW))), place(bend, min(top, bytes_ * bend)),
                  place(2.0**HIGH, min(top, bytes_ * 2.0**HIGH))]  # fmt: skip
        d = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        shapes.append(path("roof", d, f"{name}: {bytes_:.3g} bytes per cycle"))
    for k, (w, size) in enumerate(works):
        near = min(max(w.intensity, 2.0**LOW), 2.0**HIGH)
        rate = min(peak(machine, size), fast * near)
        x, y = place(near, rate)
        lower = place(near, max(2**low, min(peak(machine, size), slow * near)))[1]
        title = f"{w.stmt}: {w.intensity:.3g} operations per byte, at most {rate:.3g} per cycle"
        shapes += [line("reach", x, y, x, lower), dot("spot", x, y, 4.5, title)]
        shapes.append(text("name", x + 7, y + 15 + 13 * (k % 3), w.stmt))
    unit = f", {machine.frequency_hz / 1e9:g} GHz" if machine.frequency_hz else ""
    caption = (
        f"One core of {machine.name}{unit}: {top:g} operations per cycle at most; {fast:g} bytes per cycle when lines "
        f"are fetched as fast as they can be asked for, {slow:.2g} when each waits for the one before. A prediction "
        "from the description, not a measurement; each tile's data count once"
    )
    return Picture(LEFT + width + 20, TOP + height + BOTTOM, "Roofline predicted from the machine description",
                   tuple(shapes), caption)  # fmt: skip


def _power(e: int) -> str:
    return str(2**e) if e >= 0 else f"1/{2**-e}"


def _scales(place: Callable[[float, float], tuple[float, float]], low: float, high: float) -> list[Shape]:
    out = []
    for e in range(LOW, HIGH + 1, 2):
        x, y = place(2.0**e, 2**low)
        out += [line("grid", x, TOP, x, y), text("value", x, y + 14, _power(e), "middle")]
    for e in range(int(low) // 2 * 2 + 2, int(high) + 1, 2):
        x, y = place(2.0**LOW, 2.0**e)
        out += [line("grid", x, y, LEFT + BOX[0], y), text("value", x - 6, y + 4, _power(e), "end")]
    x, y = place(2.0 ** ((LOW + HIGH) / 2), 2**low)
    return [*out, text("name", x, y + 32, "operations per byte", "middle"),
            text("name", LEFT + 6, TOP + 10, "operations per cycle")]  # fmt: skip
