"""Tables of the tuner's benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import exp, log
from statistics import mean, median

# Breadth before depth: both ask for the same, of which breadth asks for more at once.
SEARCHES = ("greedy1", "greedy2", "beam2bfs", "beam4bfs", "beam2dfs", "beam4dfs", "random")

POLICIES = ("policy", "policy-v1")  # with all actions, and with the seven that the searches have

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
        shown = ("untuned", "policy", "policy-v1", "shortlist", "exhaustive", "gen", "numpy")
        return f"{self.name:12} " + ", ".join(f"{m} {self.gflops[m]:.1f}" for m in shown if m in self.gflops)


def geometric(values: Sequence[float]) -> float:
    return exp(sum(map(log, values)) / len(values))


def noise(cases: Sequence[Case]) -> float:
    """Two copies of one tree lie no further apart in nine of ten products; where code stands matters beside that."""
    return max(LEAST, sorted(c.apart for c in cases)[int(0.9 * (len(cases) - 1))])


def table(cases: Sequence[Case], default: str, peak: float, answer: float, depth: int) -> str:
    """Every method: speed-up over the untuned tree, and its time; then what was asked."""
    methods = _methods(cases)
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
    asked = [_verdict("policy, seconds from start to end", answer, 1.0, answer < 1)]
    asked += [*_gains(cases, peak), *_searched(cases, depth), *_libraries(cases, default)]
    return "\n".join([*lines, "", f"{'measured':>9} {'asked':>6}", *asked, "", *_notes(cases, peak, default)])


def _methods(cases: Sequence[Case]) -> list[str]:
    """All but the start; products that were not searched have fewer."""
    return [m for m in max((c.gflops for c in cases), key=len) if m != "untuned"]


def _verdict(what: str, measured: float, asked: float, met: bool, more: str = "") -> str:
    return f"{measured:9.3f} {asked:6.2f}  {'met   ' if met else 'MISSED'}  {what}" + (f"; {more}" if more else "")


def ratios(cases: Sequence[Case], a: str, b: str) -> list[float]:
    return [c.gflops[a] / c.gflops[b] for c in cases if a in c.gflops and b in c.gflops]


def _gains(cases: Sequence[Case], peak: float) -> list[str]:
    found = mean(ratios(cases, "policy", "untuned"))
    most = mean(peak / c.gflops["untuned"] for c in cases)
    return [_verdict("policy / untuned tree, mean", found, 3.2, found >= 3.2, f"the peak itself would be {most:.2f}")]


def _searched(cases: Sequence[Case], depth: int) -> list[str]:
    """The policies beside what searches by measuring found."""
    have, equal = [c for c in cases if "exhaustive" in c.gflops], 1 - noise(cases)
    if not have:
        return []
    best = [max(SEARCHES, key=lambda m: c.gflops[m]) for c in have]
    won = ", ".join(f"{m} {best.count(m)}" for m in dict.fromkeys(best))
    found = []
    for policy in POLICIES:
        ratio = [c.gflops[policy] / c.gflops[m] for c, m in zip(have, best, strict=True)]
        share = sum(x >= equal for x in ratio) / len(ratio)
        words = f"mean quotient {mean(ratio):.3f}; below: {_below(have, ratio, equal)}"
        found.append(
            _verdict(f"{policy} as good as the best search, share of {len(have)}", share, 0.88, share >= 0.88, words)
        )
        oracle = [c.gflops[policy] / max(c.gflops[m] for m in (*SEARCHES, "exhaustive")) for c in have]
        middle = geometric(oracle)
        what = f"{policy} / best of exhaustive (depth {depth}) and all searches, geometric mean"
        found.append(_verdict(what, middle, 0.95, middle >= 0.95))
    return [*found, f"{'':26}best search: {won}"]


def _libraries(cases: Sequence[Case], default: str) -> list[str]:
    """The default method: what it found, or the tool's own plan where that is faster in the confirming run."""
    found = ratios(cases, default, "numpy")
    above = sum(x > 1 for x in found) / len(found)
    own = ratios(cases, default, "gen")
    equal = 1 - noise(cases)
    lost = f"lost, where tune keeps the tool's own plan: {_below(cases, own, 1.0)}"
    return [
        _verdict(f"{default} / NumPy, geometric mean", geometric(found), 1.0, geometric(found) >= 1),
        _verdict(f"{default} above NumPy, share", above, 0.67, above >= 0.67, f"below: {_below(cases, found, 1.0)}"),
        _verdict(f"{default} / tilewright gen, least", min(own), 1.0, min(own) >= equal, lost),
    ]


def _notes(cases: Sequence[Case], peak: float, default: str) -> list[str]:
    """What is asked of nobody, but helps to read the rest."""
    found = [f"noise {noise(cases):.1%}: what is nearer is called equal"]
    for m in ("untuned", "compiler, ijk", "compiler, ikj"):
        share = mean(c.gflops[m] for c in cases) / peak
        found.append(f"policy / {m}: mean {mean(ratios(cases, 'policy', m)):.2f}, which is {share:.0%} of peak")
    found.append(f"policy: {mean(c.gflops['policy'] for c in cases) / peak:.0%} of peak")
    for m in ("policy", default):
        others = [x for x in _methods(cases) if x != m]
        found.append(f"where {m} is not the best: {_losses(cases, m, others)}")
    return found


def _losses(cases: Sequence[Case], method: str, others: Sequence[str]) -> str:
    """Products on which another method is faster by more than the noise, by whom and by how much."""
    found = []
    for c in cases:
        best = max((m for m in others if m in c.gflops), key=lambda m: c.gflops[m])
        share = c.gflops[method] / c.gflops[best]
        if share < 1 - noise(cases):
            found.append(f"{c.name} {share:.3f} of {best}")
    return ", ".join(found) or "nowhere"


def _below(cases: Sequence[Case], values: Sequence[float], limit: float) -> str:
    return ", ".join(f"{c.name} {x:.2f}" for c, x in zip(cases, values, strict=True) if x < limit) or "none"


def as_data(cases: Sequence[Case]) -> list[dict[str, object]]:
    return [asdict(c) for c in cases]
