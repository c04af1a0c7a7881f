"""The cores' time as a picture: when each computes, waits for memory, and stands at a barrier."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from codegen.record import record

COLOURS = {"compute": "#4c8c4a", "wait": "#d9822b", "barrier": "#b0b0b0", "get": "#1f5f99", "put": "#8c4c8c"}
LETTERS = {"compute": "#", "wait": ".", "barrier": "|"}


@record
class Event:
    core: int
    kind: str
    start: float
    end: float


def read_trace(path: Path) -> list[Event]:
    """What the emulator wrote under SW_TRACE."""
    out = []
    for line in path.read_text().splitlines():
        core, kind, start, end, _ = line.split()
        out.append(Event(int(core), kind, float(start), float(end)))
    return out


def text_rows(events: Sequence[Event], total: float, width: int = 96) -> list[str]:
    """One line for every eighth core: # computes, . waits for memory, | stands at a barrier."""
    rows = []
    for core in range(0, 64, 8):
        share: list[dict[str, float]] = [{} for _ in range(width)]
        for e in events:
            if e.core == core and e.kind in LETTERS:
                first, last = e.start / total * width, e.end / total * width
                for k in range(int(first), min(width, int(last) + 1)):
                    share[k][e.kind] = share[k].get(e.kind, 0) + max(0.0, min(last, k + 1) - max(first, k))
        text = "".join(LETTERS[max(s, key=lambda k: s[k])] if s and max(s.values()) > 0.05 else " " for s in share)
        rows.append(f"core {core:2} {text}")
    return [*rows, "        # computes   . waits for memory   | stands at a barrier"]


def svg(events: Sequence[Event], total: float, width: int = 1200, height: int = 9) -> str:
    """All cores, one row each; transfers as thin lines below the work they overlap with."""
    shapes = []
    for e in events:
        x, w = e.start / total * width, max(0.3, (e.end - e.start) / total * width)
        thin = e.kind in ("get", "put")
        y = e.core * height + (height - 3 if thin else 0)
        shapes.append(f'<rect x="{x:.1f}" y="{y}" width="{w:.1f}" height="{2 if thin else height - 4}" '
                      f'fill="{COLOURS.get(e.kind, "#000")}"/>')
    keys = "".join(
        f'<text x="{10 + 110 * k}" y="{64 * height + 16}" fill="{c}" font-size="12">{name}</text>'
        for k, (name, c) in enumerate(COLOURS.items())
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{64 * height + 24}">'
    return "\n".join([head, *shapes, keys, "</svg>"]) + "\n"
