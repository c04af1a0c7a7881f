"""Pictures of the Sunway benchmark, one panel for each thing that was asked for; a line marks what was asked."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

OURS, THEIRS, PLAIN, ASKED = "#1f5f99", "#8a8f98", "#4c8c4a", "#d9822b"


@dataclass
class Figures:
    """What was measured. Names to numbers, or sizes to numbers; empty where it was not asked for."""

    ratios: dict[str, float] = field(default_factory=dict)  # speed against the published scheme
    ragged: dict[str, float] = field(default_factory=dict)  # time at ragged sizes over time at padded ones
    bytes: dict[str, float] = field(default_factory=dict)  # moved over the lower bound
    generation: dict[str, float] = field(default_factory=dict)  # seconds
    gemm: dict[str, dict[int, float]] = field(default_factory=dict)  # % of peak by size
    jacobi: dict[str, dict[int, float]] = field(default_factory=dict)  # speed against a launch per step, by size


def plot(found: Figures, out: Path) -> str:
    """Write sunway.svg; says what it did."""
    try:
        pyplot: Any = importlib.import_module("matplotlib.pyplot")
    except ImportError:
        return "no plot: matplotlib is not installed (pip install '.[bench]')"
    pyplot.switch_backend("agg")
    figure, axes = pyplot.subplots(3, 2, figsize=(13, 12), layout="constrained")
    figure.suptitle("SW26010 core group, timing model. Dashed: what was asked for.")
    _bars(axes[0][0], found.ratios, "speed against the published scheme (times; geometric mean asked: 3)", 3)
    _lines(axes[0][1], found.gemm, "gemm, square: % of peak", "n", {"shared panels": 80, "without": 9})
    _lines(axes[1][0], found.jacobi, "jacobi-2d, 12 steps: speed against a launch per step (times)", "n",
           {"many steps at once": 5})  # fmt: skip
    _bars(axes[1][1], found.bytes, "DMA bytes over the lower bound of the tiles", 1.1, 0.95)
    _bars(axes[2][0], found.ragged, "time at ragged sizes over time at padded ones", 1.05, 0.5)
    _bars(axes[2][1], found.generation, "generation, s of processor time (mean asked: 0.66)", 0.66)
    path = out / "sunway.svg"
    figure.savefig(path)
    figure.savefig(path.with_suffix(".png"), dpi=80)
    pyplot.close(figure)
    return f"plots: {path}"


def _bars(axis: Any, values: Mapping[str, float], title: str, asked: float, start: float = 0.0) -> None:
    names: Sequence[str] = list(values)
    bars = axis.bar(range(len(names)), [v - start for v in values.values()], bottom=start, color=OURS)
    axis.bar_label(bars, [f"{v:.2f}" if v < 10 else f"{v:.0f}" for v in values.values()], fontsize=8)
    axis.set_xticks(range(len(names)), names, rotation=40, ha="right")
    axis.axhline(asked, color=ASKED, linestyle="--")
    axis.set_title(title, fontsize=10)
    axis.set_ylim(start, max([asked, *values.values()], default=asked) * 1.02 + 0.03 * (asked - start))
    axis.spines[["top", "right"]].set_visible(False)


def _lines(axis: Any, rows: Mapping[str, Mapping[int, float]], title: str, label: str,
           asked: Mapping[str, float]) -> None:  # fmt: skip
    for (name, values), colour in zip(rows.items(), (OURS, PLAIN, THEIRS), strict=False):
        axis.plot(list(values), list(values.values()), marker="o", markersize=4, color=colour)
        if values:
            last = max(values)
            place = {"xytext": (4, 5), "textcoords": "offset points", "ha": "right"}
            axis.annotate(name, (last, values[last]), color=colour, **place)
    for value in asked.values():
        axis.axhline(value, color=ASKED, linestyle="--")
    axis.set_title(title, fontsize=10)
    axis.set_xlabel(label)
    axis.set_ylim(bottom=0)
    axis.spines[["top", "right"]].set_visible(False)
