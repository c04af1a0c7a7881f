"""The table of nests that `gen --auto` and `scan` print, those that matter most first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from codegen.auto import LEFT, REFUSED, TRANSFORMED, Row
from codegen.strategy.cost.lengths import SIZE

# What the verdicts are called where nothing is written.
WORDS = {TRANSFORMED: "transformed", LEFT: "left", REFUSED: "refused"}
WOULD = {TRANSFORMED: "gains", LEFT: "left", REFUSED: "refused"}


def ranked(rows: Sequence[Row]) -> list[Row]:
    """By their part of the run time where it is known; else by the work that the cost model counts, or for nests
    without a model by their depth."""
    return sorted(rows, key=lambda r: (-(r.share or 0.0), -weight(r), r.file, r.line))


def weight(r: Row) -> float:
    return r.work if r.work is not None else float(SIZE) ** r.depth


def why(r: Row) -> str:
    """The reason for a verdict, in one line."""
    if r.verdict == TRANSFORMED:
        on = f" on {r.cores} cores" if r.cores > 1 else ""
        return r.reason + (f" (about {r.factor:.1f} times as fast{on})" if r.factor is not None else "")
    if r.verdict == LEFT:
        return f"no gain predicted: {r.reason}" if r.id == "no-gain" else r.reason
    place = f"line {r.loc.line}: " if r.loc.line and r.loc.file == r.file and r.loc.line != r.line else ""
    return f"{place}{r.reason} [{r.id}]"


def counted(rows: Sequence[Row], words: Mapping[str, str]) -> str:
    found = Counter(r.verdict for r in rows)
    return ", ".join(f"{found[v]} {words[v]}" for v in words)


def reasons(rows: Sequence[Row]) -> list[tuple[str, int]]:
    """What stands in the way, most frequent first: ids of messages, and how many nests each stops."""
    found = Counter(r.id for r in rows if r.verdict != TRANSFORMED)
    return sorted(found.items(), key=lambda x: (-x[1], x[0]))


def table(rows: Sequence[Row], title: str, words: Mapping[str, str] = WORDS) -> str:
    """A heading and a line for each nest; nothing where there are none."""
    if not rows:
        return ""
    timed = any(r.share is not None for r in rows)
    lines = [[*(("time",) if timed else ()), "nest", "function", "depth", "verdict", "why"]]
    for r in ranked(rows):
        share = (f"{100 * (r.share or 0.0):.1f}%",) if timed else ()
        lines.append([*share, f"{r.file}:{r.line}", r.function or "-", str(r.depth), words[r.verdict], why(r)])
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]) - 1)]
    body = "".join(
        "  " + "  ".join([*(cell.ljust(w) for cell, w in zip(line, widths, strict=False)), line[-1]]) + "\n"
        for line in lines
    )
    return f"{title}: {len(rows)} nests, {counted(rows, words)}\n{body}"
