"""A picture of the kernel benchmark: how many times the compiler's speed, kernel by kernel."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.kernels_cases import MORE
from benchmarks.kernels_measure import Best
from benchmarks.kernels_report import LEAST, MEAN, ratio
from benchmarks.tensor_report import threads_text

_SIDES = {"ours": ("Tilewright", "#1f5f99"), "polly": ("clang + Polly", "#d9822b"), "hand": ("by hand", "#4c8c4a")}


def plot(found: Sequence[Best], threads: Sequence[int], out: Path, name: str = "kernels") -> str:
    """Write NAME.svg and NAME.png, and NAME-more for what is not of PolyBench; says what it did."""
    try:
        pyplot: Any = importlib.import_module("matplotlib.pyplot")
    except ImportError:
        return "no plot: matplotlib is not installed (pip install '.[bench]')"
    if not found:
        return "no plot: nothing was measured"
    pyplot.switch_backend("agg")
    parts = {
        name: [b for b in found if b.case.group != MORE],
        f"{name}-more": [b for b in found if b.case.group == MORE],
    }
    made = [_figure(pyplot, part, threads, out / stem) for stem, part in parts.items() if part]
    return f"plot: {', '.join(made)} beside it"


def _figure(pyplot: Any, found: Sequence[Best], threads: Sequence[int], path: Path) -> str:
    size = (max(8.0, 2 + 0.45 * len(found)), 4.8 * len(threads))
    figure, panels = pyplot.subplots(len(threads), 1, figsize=size, squeeze=False, layout="constrained")
    for axes, t in zip(panels[:, 0], threads, strict=True):
        _panel(axes, found, t)
    for kind in ("svg", "png"):
        figure.savefig(path.with_suffix(f".{kind}"), dpi=90)
    pyplot.close(figure)
    return f"{path.name}.svg and .png"


def _panel(axes: Any, found: Sequence[Best], threads: int) -> None:
    for side, (label, colour) in _SIDES.items():
        points = [(i, r) for i, b in enumerate(found) if (r := ratio(b.of("gcc", 1), b.of(side, threads)))]
        if points:
            axes.plot(*zip(*points, strict=True), "o", color=colour, markersize=5, label=label)
    for level in (LEAST, MEAN):
        axes.axhline(level, color="#b03030", linestyle="--", linewidth=1)
    groups = [b.case.group for b in found]
    for i, group in enumerate(groups):
        if i == 0 or groups[i - 1] != group:
            axes.text(i, 1.02, group, transform=axes.get_xaxis_transform(), fontsize=8)
            axes.axvline(i - 0.5, color="#bbbbbb", linewidth=1)
    axes.set_xticks(range(len(found)), [b.case.name for b in found], rotation=90, fontsize=8)
    axes.set_xlim(-0.7, len(found) - 0.3)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_ylabel(f"speed / gcc -O3, {threads_text(threads)}")
    axes.grid(axis="y", color="#e0e0e0")
    axes.set_axisbelow(True)
    axes.legend(loc="upper left", fontsize=8)
