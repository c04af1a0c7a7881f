"""What ownership brings, kernel by kernel: a table from the benchmark's JSON, for its end and for the documentation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.tensor_report import geometric_mean, threads_text

CLOSE = 1.03  # below this a difference is noise


@dataclass(frozen=True)
class Gained:
    """A kernel: what it has from ownership, and its seconds without and with it by threads."""

    kernel: str
    what: str
    seconds: Mapping[int, tuple[float, float]]

    def ratio(self, threads: int) -> float | None:
        before, after = self.seconds.get(threads, (0.0, 0.0))
        return before / after if after else None


def gains(data: Mapping[str, Any]) -> list[Gained]:
    """From the rows of a run; those that gain most come first."""
    out = []
    for row in data["rows"]:
        wrong = {(w["side"], w["threads"]) for w in row["wrong"]}
        best = {(s["side"], s["threads"]): s["best"] for s in row["seconds"]}
        pairs = {
            t: (seconds, best["ours", t])
            for (side, t), seconds in best.items()
            if side == "before" and ("ours", t) in best and not wrong & {("ours", t), ("before", t)}
        }
        if pairs:
            out.append(Gained(row["kernel"], row["brought"], pairs))
    return sorted(out, key=lambda g: -max(g.ratio(t) or 0 for t in g.seconds))


def gains_text(found: Sequence[Gained], without: str) -> str:
    """For the end of a run."""
    if not found:
        return ""
    threads = sorted({t for g in found for t in g.seconds})
    lines = [f"what {without} brings: seconds before and after, {' and '.join(map(threads_text, threads))}"]
    for g in found:
        cells = [f"{_number(g, t, 0):>9} {_number(g, t, 1):>9} {_ratio(g, t):>6}" for t in threads]
        lines.append(f"{g.kernel:20} | {' | '.join(cells)} | {g.what}")
    for t in threads:
        ratios = [r for g in found if (r := g.ratio(t)) is not None]
        better, worse = sum(r > CLOSE for r in ratios), sum(r < 1 / CLOSE for r in ratios)
        mean = f"geometric mean {geometric_mean(ratios):.2f}"
        lines.append(f"{threads_text(t)}: {better} of {len(ratios)} kernels gain, {worse} lose; {mean}")
    return "\n".join(lines) + "\n"


def gains_markdown(found: Sequence[Gained]) -> str:
    """For the documentation: the kernels that gain or lose."""
    threads = sorted({t for g in found for t in g.seconds})
    shown = [g for g in found if any(not 1 / CLOSE <= (g.ratio(t) or 1) <= CLOSE for t in threads)]
    heads = " | ".join(f"{threads_text(t)}: before | after | ratio" for t in threads)
    lines = [f"| kernel | what it has | {heads} |", "|---" * (2 + 3 * len(threads)) + "|"]
    for g in shown:
        cells = " | ".join(f"{_number(g, t, 0)} | {_number(g, t, 1)} | {_ratio(g, t)}" for t in threads)
        lines.append(f"| {g.kernel} | {g.what} | {cells} |")
    rest = len(found) - len(shown)
    return "\n".join(lines) + (f"\n\n{rest} more kernels use it and differ by less than 3 %.\n" if rest else "\n")


def _number(g: Gained, t: int, which: int) -> str:
    return f"{g.seconds[t][which]:.4f}" if t in g.seconds else "-"


def _ratio(g: Gained, t: int) -> str:
    found = g.ratio(t)
    return "-" if found is None else f"{found:.2f}"
