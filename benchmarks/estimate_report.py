"""How far estimates are from measurements, in numbers and words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.tensor_report import geometric_mean

CLOSE = 1.03  # below this a difference is noise


@dataclass(frozen=True)
class Row:
    """A kernel: seconds of the source as estimated and as compiled by gcc; seconds of the generated text, and what the
    model expects of its speed over the source's, None where it cannot say. All at one thread."""

    kernel: str
    plan: str
    estimated: float
    measured: float
    ours: float
    gain: float | None

    @property
    def ratio(self) -> float:
        return self.estimated / self.measured

    @property
    def measured_gain(self) -> float:
        return self.measured / self.ours


@dataclass(frozen=True)
class Spread:
    """Of ratios: geometric mean and standard deviation, and the factors by which half of them and nine of ten are off
    at most, either way."""

    count: int
    mean: float
    deviation: float
    half: float
    most: float

    @property
    def text(self) -> str:
        return (
            f"{self.count} kernels: geometric mean {self.mean:.2f}, geometric standard deviation {self.deviation:.2f}; "
            f"off by a factor of {self.half:.2f} (median), {self.most:.2f} (90th percentile)"
        )


def spread(ratios: Sequence[float]) -> Spread:
    mean = geometric_mean(ratios)
    squares = [math.log(r / mean) ** 2 for r in ratios]
    off = sorted(max(r, 1 / r) for r in ratios)
    at = min(len(off) - 1, math.ceil(0.9 * len(off)) - 1)
    return Spread(len(ratios), mean, math.exp(math.sqrt(sum(squares) / len(squares))), median(off), off[at])


@dataclass(frozen=True)
class Orders:
    """For how many kernels the model says rightly which of both texts is the faster, and for which it does not: a gain
    that turned out a loss, and a loss that turned out a gain."""

    known: int
    right: int
    losses: tuple[str, ...]
    missed: tuple[str, ...]


def orders(rows: Sequence[Row]) -> Orders:
    """Texts that differ by less than 3 % are as fast as each other, and either answer is right."""
    known = [r for r in rows if r.gain is not None]
    losses = tuple(r.kernel for r in known if r.gain and r.gain > 1 and r.measured_gain < 1 / CLOSE)
    missed = tuple(r.kernel for r in known if r.gain and r.gain < 1 and r.measured_gain > CLOSE)
    return Orders(len(known), len(known) - len(losses) - len(missed), losses, missed)


def table(rows: Sequence[Row]) -> str:
    """Those whose estimate is furthest above the measurement come first."""
    lines = [f"{'kernel':20} {'estimated':>10} {'measured':>10} {'ratio':>6} | {'gain':>5} {'measured':>8}  plan"]
    for r in sorted(rows, key=lambda r: -r.ratio):
        gain = "-" if r.gain is None else f"{r.gain:.2f}"
        lines.append(
            f"{r.kernel:20} {r.estimated:10.3g} {r.measured:10.3g} {r.ratio:6.2f} | "
            f"{gain:>5} {r.measured_gain:8.2f}  {r.plan}"
        )
    return "\n".join(lines)


def summary(rows: Sequence[Row]) -> str:
    if not rows:
        return "nothing measured"
    known, of = [r for r in rows if r.gain is not None], orders(rows)
    slower = sorted((r for r in rows if r.measured_gain < 1 / CLOSE), key=lambda r: r.measured_gain)
    lines = ["seconds of the source, estimated / measured:", f"  {spread([r.ratio for r in rows]).text}"]
    if known:
        lines += [
            "gain of the generated text over it, estimated / measured, where the model says one:",
            f"  {spread([(r.gain or 0) / r.measured_gain for r in known]).text}",
            f"  which of both is faster: {of.right} of {of.known} right",
            f"  a gain expected, a loss measured: {', '.join(of.losses) or 'none'}",
            f"  a loss expected, a gain measured: {', '.join(of.missed) or 'none'}",
        ]
    told = ", ".join(f"{r.kernel} {r.measured_gain:.2f}" for r in slower)
    return "\n".join([*lines, f"slower than the source: {told or 'none'}"])
