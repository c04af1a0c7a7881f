"""What the sparse benchmark's figures come to, and the plot of time against nonzeros."""
from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def geomean(values: Sequence[float]) -> float:
    return math.exp(sum(math.log(v) for v in values) / len(values)) if values else math.nan


def verdicts(rows: Sequence[Row]) -> list[str]:
    """Measured against asked, one line for each goal."""
    pairs = [r for r in rows if "->" in r["pair"] and r["pair"] != "COO3->MCOO3"]
    out = ["", "measured / asked"]
    for name in dict.fromkeys(r["pair"] for r in pairs):
        found = [r["ratio"] for r in pairs if r["pair"] == name]
        out.append(f"  {name:15} speed / best peer: lowest {min(found):.2f} / 1.00, mean {geomean(found):.2f}")
    if pairs:
        out.append(f"  all pairs       mean {geomean([r['ratio'] for r in pairs]):.2f} / 1.50")
    threaded = [r["ours"] / r["threads"] for r in pairs if "threads" in r]
    if threaded:
        out.append(f"  more threads    mean {geomean(threaded):.2f} / 1.60")
    out += [f"  COO3->MCOO3     {r['nnz']:,}: {r['ratio']:.2f} / 2.00" for r in rows if r["pair"] == "COO3->MCOO3"]
    out += [f"  {r['pair']:15} speed / SciPy {r['ratio']:.2f} / 1.00, {r['bound'] / r['ours']:.0%} of the bound"
            for r in rows if "bound" in r]
    return [*out, *(f"  {name}: time grows as nonzeros to the power {p:.2f}" for name, p in slopes(rows).items())]


def slopes(rows: Sequence[Row]) -> dict[str, float]:
    """The exponent of time against nonzeros, from the smallest to the largest size."""
    out = {}
    for name in dict.fromkeys(f"{r['pair']} {r['kind']}" for r in rows if "->" in r["pair"]):
        mine = sorted((r["nnz"], r["ours"]) for r in rows if f"{r['pair']} {r['kind']}" == name)
        if len(mine) > 1 and mine[-1][0] > 1.5 * mine[0][0]:
            out[name] = math.log(mine[-1][1] / mine[0][1]) / math.log(mine[-1][0] / mine[0][0])
    return out


def plot(rows: Sequence[Row], out: Path) -> str:
    """sparse.svg: time against nonzeros for each pair, ours and the peer's."""
    try:
        pyplot: Any = importlib.import_module("matplotlib.pyplot")
    except ImportError:
        return "no plot: matplotlib is not installed (pip install '.[bench]')"
    names = list(dict.fromkeys(r["pair"] for r in rows if "->" in r["pair"]))
    if not names:
        return "no plot: no conversion was measured"
    pyplot.switch_backend("agg")
    figure, panels = pyplot.subplots((len(names) + 2) // 3, 3, figsize=(15, 4 * ((len(names) + 2) // 3)),
                                     squeeze=False, layout="constrained")
    for axes, name in zip(panels.ravel(), names, strict=False):
        _panel(axes, name, [r for r in rows if r["pair"] == name])
    figure.savefig(out / "sparse.svg")
    pyplot.close(figure)
    return f"plot: {out / 'sparse.svg'}"


def _panel(axes: Any, name: str, rows: Sequence[Row]) -> None:
    for n, kind in enumerate(dict.fromkeys(r["kind"] for r in rows)):
        mine = sorted((r["nnz"], r["ours"], r["peer"]) for r in rows if r["kind"] == kind)
        colour = f"C{n}"
        axes.plot([r[0] for r in mine], [r[1] for r in mine], "o-", color=colour, label=kind)
        axes.plot([r[0] for r in mine], [r[2] for r in mine], "x:", color=colour, alpha=0.6)
    axes.set(title=f"{name} (dotted: peer)", xlabel="nonzeros", ylabel="seconds", xlim=0, ylim=0)
    axes.legend(fontsize=7)
