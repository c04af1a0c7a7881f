"""What the sparse benchmark's figures come to, and the plot of time against nonzeros."""
from __future__ import annotations

import importlib
import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def geomean(values: Sequence[float]) -> float:
    return math.exp(sum(math.log(v) for v in values) / len(values)) if values else math.nan


def table(rows: Sequence[Row]) -> list[str]:
    """For each pair and size: the lowest and the mean ratio over the kinds, and what threads add."""
    taco = "TACO takes part" if any(r["taco installed"] for r in rows) else "TACO: not installed"
    out = ["", f"speed / best peer, lowest and mean over the kinds, and more threads ({taco})"]
    if any("plain" in r for r in rows):
        out.append("  plain: loops of our own in the shape that TACO's documentation shows, gcc -O3 -ffast-math")
    sizes = sorted({r["size"] for r in rows})
    out.append(f"  {'':15}" + "".join(f"{size:>22,}" for size in sizes))
    for name in dict.fromkeys(r["pair"] for r in rows):
        cells = []
        for size in sizes:
            mine = [r for r in rows if r["pair"] == name and r["size"] == size]
            ratios, more = [r["ratio"] for r in mine], [r["ours"] / r["threads"] for r in mine if "threads" in r]
            threads = f" {geomean(more):.2f}x" if more else ""
            cells.append(f"{min(ratios):.2f} {geomean(ratios):.2f}{threads}" if mine else "")
        out.append(f"  {name:15}" + "".join(f"{c:>22}" for c in cells))
    return out


def kernel_tables(rows: Sequence[Row]) -> list[str]:
    """Kernels over compressed rows by kind of matrix: one thread against the best peer, and several against one."""
    mine = [r for r in rows if "kernel" in r]
    out: list[str] = []
    for title, figure in (("one thread: speed / best peer", "ratio"), ("more threads: speed / one thread", "gain")):
        found = {(r["pair"], r["kind"]): r["ratio"] if figure == "ratio" else r["ours"] / r["threads"]
                 for r in mine if figure == "ratio" or "threads" in r}
        if not found:
            continue
        kinds = list(dict.fromkeys(kind for _, kind in found))
        out += ["", f"{title}, about {max(r['nnz'] for r in mine):,} nonzeros",
                f"  {'':10}" + "".join(f"{kind:>11}" for kind in kinds)]
        for name in dict.fromkeys(name for name, _ in found):
            cells = (f"{found[name, kind]:.2f}" if (name, kind) in found else "" for kind in kinds)
            out.append(f"  {name:10}" + "".join(f"{c:>11}" for c in cells))
        out.append(f"  mean {geomean(list(found.values())):.2f}, lowest {min(found.values()):.2f}")
    return out


def verdicts(rows: Sequence[Row]) -> list[str]:
    """Measured against asked, one line for each goal."""
    pairs = [r for r in rows if "->" in r["pair"] and r["pair"] != "COO3->MCOO3"]
    out = ["", "measured / asked"]
    threaded: dict[str, float] = {}
    for name in dict.fromkeys(r["pair"] for r in pairs):
        found = [r["ratio"] for r in pairs if r["pair"] == name]
        more = [r["ours"] / r["threads"] for r in pairs if r["pair"] == name and "threads" in r]
        if more:
            threaded[name] = geomean(more)
        threads = f", more threads {threaded[name]:.2f}x" if more else ""
        out.append(f"  {name:15} speed / best peer: lowest {min(found):.2f} / 1.00, mean {geomean(found):.2f}{threads}")
    if pairs:
        out.append(f"  all pairs       mean {geomean([r['ratio'] for r in pairs]):.2f} / 1.50")
    if threaded:
        out.append(f"  more threads    mean of the pairs {geomean(list(threaded.values())):.2f} / 1.60")
    out += [f"  COO3->MCOO3     {r['nnz']:,}: {r['ratio']:.2f} / 2.00" for r in rows if r["pair"] == "COO3->MCOO3"]
    out += [_kernel(r) for r in rows if "bound" in r] + _kernels([r for r in rows if "kernel" in r])
    found = slopes(rows)
    if found:
        steep = max(found, key=lambda name: found[name])
        out.append(f"  time grows as nonzeros to the power {statistics.fmean(found.values()):.2f} in the mean, at most "
                   f"{found[steep]:.2f} ({steep})")
    return out


def _kernels(rows: Sequence[Row]) -> list[str]:
    """Kernels over compressed rows, each over its kinds, and all of them."""
    out = []
    for name in dict.fromkeys([*(r["pair"] for r in rows), *(["all kernels"] if rows else [])]):
        mine = [r for r in rows if name in (r["pair"], "all kernels")]
        more = [r["ours"] / r["threads"] for r in mine if "threads" in r]
        low = min(mine, key=lambda r: r["ratio"])
        threads = f", more threads {geomean(more):.2f}x / 1.70" if more else ""
        out.append(f"  {name:15} speed / best peer: lowest {low['ratio']:.2f} / 1.00 ({low['kind']}), "
                   f"mean {geomean([r['ratio'] for r in mine]):.2f} / 1.30{threads}")
    return out


def _kernel(r: Row) -> str:
    more = ""
    if "threads" in r:
        more = f"; more threads {r['ours'] / r['threads']:.2f}x, {r['bound threads'] / r['threads']:.0%} of their bound"
    return (f"  {r['pair']:15} {r['nnz']:,}: speed / SciPy {r['ratio']:.2f} / 1.00, {r['bound'] / r['ours']:.0%} of "
            f"the bound, {r['gathered'] / r['ours']:.0%} with x as it must be fetched{more}")


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
