"""Tables of the tuner's benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import exp, log
from statistics import mean, median

SEARCHES = ("greedy1", "greedy2", "beam2dfs", "beam4dfs", "beam2bfs", "beam4bfs", "random")

LEAST = 0.005  # of a speed: what is nearer is called equal


@dataclass(frozen=True)
class Case:
    """One product: GFLOPS and seconds of each method, and the nest that it found. `apart` is by how much two copies of
    one tree differed."""

    name: str
    gflops: dict[str, float]
    seconds: dict[str, float]
    nests: dict[str, str]
    apart: float = 0.0

    def line(self) -> str:
        shown = ("untuned", "policy", "shortlist", "exhaustive", "gen", "numpy")
        return f"{self.name:12} " + ", ".join(f"{m} {self.gflops[m]:.1f}" for m in shown if m in self.gflops)


def geometric(values: Sequence[float]) -> float:
    return exp(sum(map(log, values)) / len(values))


def noise(cases: Sequence[Case]) -> float:
    """Two copies of one tree lie no further apart in nine of ten products; where code stands matters beside that."""
    return max(LEAST, sorted(c.apart for c in cases)[int(0.9 * (len(cases) - 1))])


def table(cases: Sequence[Case], default: str, peak: float) -> str:
    """Every method: speed-up over the untuned tree, and its time; then what was asked."""
    methods = [m for m in cases[0].gflops if m != "untuned"]  # the first cases have all
    heads = f"{'GFLOPS':>7} {'mean x':>7} {'geo':>6} {'median':>7} {'min':>6} {'max':>6} {'seconds':>8} {'cases':>6}"
    lines = ["", f"{'method':14} {heads}"]
    for m in ("untuned", *methods):
        have = [c for c in cases if m in c.gflops]
        ratios = [c.gflops[m] / c.gflops["untuned"] for c in have]
        lines.append(
            f"{m:14} {mean(c.gflops[m] for c in have):7.1f} {mean(ratios):7.2f} {geometric(ratios):6.2f} "
            f"{median(ratios):7.2f} {min(ratios):6.2f} {max(ratios):6.2f} {mean(c.seconds[m] for c in have):8.2f} "
            f"{len(have):6}"
        )
    return "\n".join([*lines, "", *asked(cases, default, peak)])


def asked(cases: Sequence[Case], default: str, peak: float) -> list[str]:
    """What the tuner has to show, and where it loses."""

    def ratios(a: str, b: str) -> list[float]:
        return [c.gflops[a] / c.gflops[b] for c in cases if a in c.gflops and b in c.gflops]

    found = []
    for m in ("untuned", "compiler, ijk", "compiler, ikj"):
        share = mean(c.gflops[m] for c in cases) / peak
        what = "asked 3.2; " if m == "untuned" else ""
        found.append(f"policy / {m}: mean {mean(ratios('policy', m)):.2f} ({what}which is {share:.0%} of peak)")
    found.append(f"policy: {mean(c.gflops['policy'] for c in cases) / peak:.0%} of peak; noise {noise(cases):.1%}")
    found += _searched([c for c in cases if "exhaustive" in c.gflops], 1 - noise(cases))
    rest = ratios(default, "numpy")
    above = sum(x > 1 for x in rest) / len(rest)
    found.append(
        f"{default} / NumPy: geometric mean {geometric(rest):.3f} (asked 1.00), above in {above:.0%} (asked 67 %); "
        f"below: {_below(cases, rest, 1.0)}"
    )
    own = ratios(default, "gen")
    found.append(
        f"{default} / tilewright gen: geometric mean {geometric(own):.3f}, least {min(own):.3f}; "
        f"below, where tune keeps the other: {_below(cases, own, 1.0)}"
    )
    both = [max(c.gflops[default], c.gflops["gen"]) / c.gflops["numpy"] for c in cases]
    above = sum(x > 1 for x in both) / len(both)
    found.append(f"better of both / NumPy: geometric mean {geometric(both):.3f} (asked 1.00), above in {above:.0%}")
    return found


def _searched(cases: Sequence[Case], equal: float) -> list[str]:
    """The policy beside what searches by measuring found."""
    if not cases:
        return []
    best = [max(SEARCHES, key=lambda m: c.gflops[m]) for c in cases]
    ratio = [c.gflops["policy"] / c.gflops[m] for c, m in zip(cases, best, strict=True)]
    share = sum(x >= equal for x in ratio) / len(ratio)
    oracle = [c.gflops["policy"] / max(c.gflops[m] for m in (*SEARCHES, "exhaustive")) for c in cases]
    won = ", ".join(f"{m} {best.count(m)}" for m in dict.fromkeys(best))
    return [
        f"policy / best search: at least equal in {share:.0%} of {len(cases)} (asked 88 %), mean {mean(ratio):.3f}; "
        f"best search: {won}; below: {_below(cases, ratio, equal)}",
        f"policy / best of exhaustive and all searches: geometric mean {geometric(oracle):.3f} (asked 0.95)",
    ]


def _below(cases: Sequence[Case], values: Sequence[float], limit: float) -> str:
    return ", ".join(f"{c.name} {x:.2f}" for c, x in zip(cases, values, strict=True) if x < limit) or "none"


def as_data(cases: Sequence[Case]) -> list[dict[str, object]]:
    return [asdict(c) for c in cases]
