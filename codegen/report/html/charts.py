"""The data of one tile beside the cache sizes, for the report page: as a table (`footprint_table`) and as a bar chart
(`footprint_picture`); None where nothing is tiled."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2

from codegen.machine import Machine
from codegen.report.html.draw import line, rect, text
from codegen.report.html.model import Picture, SvgElement, TableView
from codegen.report.html.panes import hue_of
from codegen.report.traffic import TileWork

LABEL, WIDTH, ROW = 210.0, 330.0, 24.0


def size_text(n: int) -> str:
    if n < 1024:
        return f"{n} B"
    return f"{n / 1024:.3g} KiB" if n < 1 << 20 else f"{n / (1 << 20):.3g} MiB"


def _entries(works: Sequence[TileWork]) -> list[tuple[str, str, int]]:
    """Statement, what it is, and its bytes."""
    out = []
    for w in works:
        if w.tiled:
            out += [(w.stmt, f"{w.stmt}: {name}", n) for name, n in w.parts]
            if len(w.parts) > 1 and "," not in w.parts[0][0]:
                out.append((w.stmt, f"{w.stmt}: together", sum(n for _, n in w.parts)))
    return out


def footprint_table(works: Sequence[TileWork], machine: Machine) -> TableView | None:
    rows = []
    for _, name, n in _entries(works):
        fits = next((f"L{c.level} ({size_text(c.bytes)})" for c in machine.caches if n <= c.bytes), "memory")
        rows.append((name, size_text(n), fits))
    return TableView("Data of one tile", ("what", "size", "fits in"), tuple(rows)) if rows else None


def footprint_picture(works: Sequence[TileWork], machine: Machine) -> Picture | None:
    """Bars on a logarithmic scale, with a line for each cache."""
    entries = _entries(works)
    if not entries:
        return None
    ends = [n for _, _, n in entries] + [c.bytes for c in machine.caches]
    first, last = log2(max(1, min(ends))) - 1, log2(max(ends)) + 1

    def at(n: int) -> float:
        return LABEL + (log2(max(1, n)) - first) / (last - first) * WIDTH

    bottom = 22 + ROW * len(entries)
    shapes: list[SvgElement] = []
    for k, (stmt, name, n) in enumerate(entries):
        y = 22 + ROW * k
        shapes.append(rect(f"bar h{hue_of(stmt)}", LABEL, y + 4, at(n) - LABEL, ROW - 8, f"{name}: {size_text(n)}"))
        shapes.append(text("value", LABEL - 8, y + 16, name, "end"))
    for c in machine.caches:
        shapes.append(line("cache", at(c.bytes), 18, at(c.bytes), bottom))
        shapes.append(text("name", at(c.bytes), 13, f"L{c.level} {size_text(c.bytes)}", "middle"))
    return Picture(LABEL + WIDTH + 40, bottom + 6, "Data of one tile beside the caches", tuple(shapes),
                   "Logarithmic scale; a bar that ends before a cache's line fits in it")  # fmt: skip
