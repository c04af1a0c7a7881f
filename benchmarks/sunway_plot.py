"""A picture of the Sunway benchmark: ratios to the published scheme, and generation times."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def plot(ratios: Sequence[tuple[str, float]], times: Sequence[float], names: Sequence[str], out: Path) -> str:
    """Write sunway.svg; says what it did."""
    try:
        pyplot: Any = importlib.import_module("matplotlib.pyplot")
    except ImportError:
        return "no plot: matplotlib is not installed (pip install '.[bench]')"
    pyplot.switch_backend("agg")
    figure, (upper, lower) = pyplot.subplots(2, 1, figsize=(11, 7), layout="constrained")
    upper.bar(range(len(ratios)), [r for _, r in ratios], color="#1f5f99")
    upper.set_xticks(range(len(ratios)), [n for n, _ in ratios], rotation=45, ha="right")
    upper.axhline(3, color="#d9822b")
    upper.set_yscale("log")
    upper.set_ylabel("predicted speed / published scheme")
    lower.bar(range(len(times)), times, color="#4c8c4a")
    lower.set_xticks(range(len(times)), names, rotation=45, ha="right")
    lower.axhline(0.66, color="#d9822b")
    lower.set_ylabel("generation, s of processor time")
    path = out / "sunway.svg"
    figure.savefig(path)
    return f"plot: {path}"
