"""A picture of the tensor benchmark: every ratio, and the line that was asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.tensor_report import Goal, Row, threads_text

_AXIS = {
    "gemm": "speed / OpenBLAS",
    "mv": "speed / OpenBLAS",
    "semiring": "speed / bound",
    "integer": "speed / bound",
    "contraction": "speed / matrix product",
    "kernel": "speed / original",
}
_CASES = {"gemm": "rows x columns x depth", "mv": "order of the matrix", "contraction": "indices of C-A-B"}
_COLOURS = ("#1f5f99", "#d9822b", "#4c8c4a", "#8c4c8c")


def plot(rows: Sequence[Row], out: Path, goals: Mapping[str, Goal | None]) -> str:
    """Write tensor.svg and tensor.png; says what it did."""
    try:
        pyplot: Any = importlib.import_module("matplotlib.pyplot")
    except ImportError:
        return "no plot: matplotlib is not installed (pip install '.[bench]')"
    right = [r for r in rows if not r.wrong]
    groups = list(dict.fromkeys(r.group for r in right))
    if not groups:
        return "no plot: nothing was measured"
    pyplot.switch_backend("agg")
    size = (16, 5.2 * len(groups))
    figure, panels = pyplot.subplots(len(groups), 1, figsize=size, squeeze=False, layout="constrained")
    figure.get_layout_engine().set(h_pad=0.15)
    for axes, group in zip(panels[:, 0], groups, strict=True):
        _panel(axes, [r for r in right if r.group == group], goals.get(group))
    for kind in ("svg", "png"):
        figure.savefig(out / f"tensor.{kind}", dpi=90)
    pyplot.close(figure)
    return "plot: tensor.svg and tensor.png beside it"


def _panel(axes: Any, rows: Sequence[Row], goal: Goal | None) -> None:
    """One group: cases along x, section by section; one mark per number of threads."""
    group = rows[0].group
    cases = list(dict.fromkeys((r.section, r.case) for r in rows))
    place = {c: i for i, c in enumerate(cases)}
    for colour, threads in zip(_COLOURS, dict.fromkeys(r.threads for r in rows), strict=False):
        part = [r for r in rows if r.threads == threads]
        x = [place[r.section, r.case] for r in part]
        label = threads_text(threads)
        axes.plot(x, [r.ratio for r in part], "o", color=colour, markersize=5, label=label)
        if group == "mv":
            axes.plot(x, [r.ratio / r.judged for r in part], "_", color=colour, markersize=12, label=f"{label}: asked")
    sections = list(dict.fromkeys(s for s, _ in cases))
    for section in sections:
        first = min(place[c] for c in cases if c[0] == section)
        last = max(place[c] for c in cases if c[0] == section)
        axes.text((first + last) / 2, 1.02, section, ha="center", transform=axes.get_xaxis_transform(), fontsize=9)
        if first:
            axes.axvline(first - 0.5, color="#bbbbbb", linewidth=1)
    for level in _levels(group, goal):
        axes.axhline(level, color="#b03030", linestyle="--", linewidth=1)
        right_edge = axes.get_yaxis_transform()
        axes.text(1.004, level, f"{level:.2f}", color="#b03030", va="center", fontsize=8, transform=right_edge)
    axes.set_xticks(range(len(cases)), [c for _, c in cases], rotation=90, fontsize=7)
    axes.set_xlim(-0.7, len(cases) - 0.3)
    if group == "kernel":
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.axhline(1, color="#888888", linewidth=1)
    else:
        axes.set_ylim(0, max(1.2, 1.1 * max(r.ratio for r in rows)))
    axes.set_ylabel(_AXIS[group])
    axes.set_xlabel(_CASES.get(group, "case"))
    axes.set_title(f"{group} (dashes: what is asked)" if goal else group, pad=22)
    axes.grid(axis="y", color="#e0e0e0")
    axes.set_axisbelow(True)
    axes.legend(loc="upper left", bbox_to_anchor=(1.03, 1), fontsize=8)


def _levels(group: str, goal: Goal | None) -> list[float]:
    if goal is None:
        return []
    if group == "mv":  # asked case by case
        return []
    return sorted({x for x in (goal.mean, goal.least) if x})
