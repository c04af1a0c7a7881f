"""Rows of the tensor benchmark, what was asked of them, and how both are shown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True)
class Row:
    """One measurement: two rates, and how many times the first is the second."""

    group: str
    section: str
    case: str
    threads: int
    ours: float
    theirs: float
    score: float = 0.0  # what is judged; 0: the ratio
    more: dict[str, float] = field(default_factory=dict)  # further columns
    wrong: str = ""

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs if self.theirs else 0.0

    @property
    def judged(self) -> float:
        return self.score or self.ratio


@dataclass(frozen=True)
class Goal:
    """What is asked of a section: its geometric mean and its least case."""

    mean: float
    least: float
    of: str

    def text(self) -> str:
        least = f", each >= {self.least:.2f}" if self.least else ""
        return f"mean >= {self.mean:.2f}{least} of {self.of}"


@dataclass(frozen=True)
class Verdict:
    """A section at one number of threads against its goal."""

    group: str
    section: str
    threads: int
    mean: float  # of what is judged
    ratio: float  # geometric mean of the ratios
    least: float
    least_case: str
    asked: str
    met: bool | None


def geometric_mean(values: Iterable[float]) -> float:
    logs = [math.log(v) if v > 0 else -math.inf for v in values]
    return math.exp(sum(logs) / len(logs)) if logs else 0.0


def verdicts(rows: Sequence[Row], goal: Goal | None) -> list[Verdict]:
    """One per section and number of threads, in the order of the rows."""
    parts: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        if not row.wrong:
            parts.setdefault((row.section, row.threads), []).append(row)
    out = []
    for (section, threads), part in parts.items():
        mean, least = geometric_mean(r.judged for r in part), min(part, key=lambda r: r.judged)
        met = None if goal is None else mean >= goal.mean and least.judged >= goal.least
        ratio = geometric_mean(r.ratio for r in part)
        asked = goal.text() if goal else ""
        out.append(Verdict(part[0].group, section, threads, mean, ratio, least.judged, least.case, asked, met))
    return out


def threads_text(threads: int) -> str:
    return f"{threads} thread{'s' if threads > 1 else ''}"


def table(rows: Sequence[Row], found: Sequence[Verdict], ours: str, theirs: str) -> str:
    """One table per section, thread counts side by side."""
    lines: list[str] = []
    for section in dict.fromkeys(r.section for r in rows):
        part = [r for r in rows if r.section == section]
        counts = list(dict.fromkeys(r.threads for r in part))
        extra = list(dict.fromkeys(k for r in part for k in r.more))
        heads = [ours, theirs, "ratio", *extra]
        widths = [max(8, len(h)) for h in heads]
        width = max(18, *(len(r.case) for r in part))
        block = sum(widths) + len(widths) - 1
        lines += ["", section]
        lines.append(" " * width + "".join(f" | {threads_text(t):^{block}}" for t in counts).rstrip())
        lines.append(
            " " * width + (" | " + " ".join(f"{h:>{w}}" for h, w in zip(heads, widths, strict=True))) * len(counts)
        )
        for case in dict.fromkeys(r.case for r in part):
            cells = ""
            for t in counts:
                row = next((r for r in part if r.case == case and r.threads == t), None)
                cells += f" | {_cells(row, extra, widths):{block}}"
            lines.append(f"{case:{width}}{cells}".rstrip())
        lines += [_sentence(v) for v in found if v.section == section]
    return "\n".join(lines)


def _cells(row: Row | None, extra: Sequence[str], widths: Sequence[int]) -> str:
    if row is None:
        return ""
    if row.wrong:
        return f"WRONG: {row.wrong}"
    values = [_number(row.ours), _number(row.theirs), f"{row.ratio:.2f}"]
    values += [_number(row.more[k]) if k in row.more else "" for k in extra]
    return " ".join(f"{v:>{w}}" for v, w in zip(values, widths, strict=True))


def _number(value: float) -> str:
    return f"{value:.4f}" if value < 0.1 else f"{value:.2f}"


def _sentence(v: Verdict) -> str:
    judged = "" if abs(v.mean - v.ratio) < 1e-9 else f" (ratios {v.ratio:.2f})"
    asked = f"; asked: {v.asked}: {'yes' if v.met else 'NO'}" if v.asked else ""
    found = f"geometric mean {v.mean:.2f}{judged}, least {v.least:.2f} ({v.least_case})"
    return f"  {threads_text(v.threads)}: {found}{asked}"


def summary(found: Sequence[Verdict], wrong: Sequence[Row], failures: Sequence[str]) -> str:
    """The last page: every verdict on a line, then what went wrong."""
    lines = [f"{'':32} {'threads':>7} {'mean':>6} {'least':>6}  asked"]
    for v in found:
        state = {True: "met", False: "MISSED", None: ""}[v.met]
        name = f"{v.group}: {v.section}"
        lines.append(f"{name:32} {v.threads:7} {v.mean:6.2f} {v.least:6.2f}  {state:6} {v.asked}".rstrip())
    judged = [v for v in found if v.met is not None]
    lines.append(f"{sum(v.met is True for v in judged)} of {len(judged)} met")
    lines += [f"WRONG RESULT: {r.group}: {r.section}, {r.case}, {threads_text(r.threads)}: {r.wrong}" for r in wrong]
    lines += [f"FAILED: {f}" for f in failures]
    return "\n".join(lines)


def as_data(rows: Sequence[Row], found: Sequence[Verdict]) -> dict[str, object]:
    """For the JSON file."""
    return {
        "rows": [{**asdict(r), "ratio": r.ratio, "judged": r.judged} for r in rows],
        "verdicts": [asdict(v) for v in found],
    }
