"""PolyBench kernel by kernel, for the README: speeds over gcc -O3, ours and Polly's, as bars and as means.

All figures come from a whole run of `make bench-kernels`, or of `make bench-polybench`, which is a part of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from textwrap import fill
from typing import Any
from xml.sax.saxutils import escape

from benchmarks.kernels_cases import MORE, thirty
from benchmarks.kernels_measure import LOST

SIDES = {"ours": "Tilewright", "polly": "clang -O3 with Polly"}
_WIDTH, _LEFT, _TOP, _PANEL, _GAP, _LABELS = 760.0, 44.0, 44.0, 143.0, 34.0, 96.0
_LEAST, _MOST = 0.25, 512.0
# What a failure says, and what the README does.
_REASONS = (
    ("checksum", "computes something else"),
    ("no end", f"needs more than {LOST:g} times gcc's time and is not waited for"),
    ("exit code", "crashes"),
)
_STYLE = """\
text { font: 12px system-ui, sans-serif; fill: #24292f; }
.soft { fill: #57606a; font-size: 11px; }
.line { stroke: #d0d7de; stroke-width: 1; } .one { stroke: #57606a; stroke-width: 1.5; }
.ours { fill: #0b6fa4; } .polly { fill: #d9822b; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; } .soft { fill: #9da7b1; }
  .line { stroke: #3d444d; } .one { stroke: #9da7b1; }
  .ours { fill: #6db9e8; } .polly { fill: #f0a35e; }
}"""


def condensed(run: dict[str, Any]) -> dict[str, Any]:
    """The best seconds of each program by kernel; what failed, or gave other results than gcc's code, is not in it."""
    missing = [k for k in thirty() if k not in {r["kernel"] for r in run["rows"]}]
    if missing:
        raise SystemExit(f"the picture shows all of PolyBench; this run misses {', '.join(missing)}")
    return {
        "host": run["host"].removeprefix("this host: "),
        "compilers": [re.sub(r"\s*\([^)]*\)", "", c) for c in run["compilers"]],
        "size": run["size"],
        "rows": [{"kernel": r["kernel"], "group": r["group"], "seconds": _seconds(r)} for r in run["rows"]],
        "lost": _lost(run["rows"]),
    }


def _lost(rows: Sequence[dict[str, Any]]) -> dict[str, list[str]]:
    """Kernels for which Polly's program is no peer, by the reason."""
    found: dict[str, list[str]] = {}
    for r in rows:
        for w in r["wrong"]:
            why = next((words for sign, words in _REASONS if sign in w["what"]), "fails")
            named = r["kernel"] if w["threads"] == 1 else f"{r['kernel']} ({_threads(str(w['threads']))})"
            if w["side"] == "polly" and r["kernel"] not in found.setdefault(why, []):
                found[why].append(named)
    return dict(sorted(found.items()))


def _seconds(row: dict[str, Any]) -> dict[str, dict[str, float]]:
    wrong = {(w["side"], w["threads"]) for w in row["wrong"]}
    found: dict[str, dict[str, float]] = {}
    for s in row["seconds"]:
        if s["side"] in ("gcc", *SIDES) and (s["side"], s["threads"]) not in wrong:
            found.setdefault(s["side"], {})[str(s["threads"])] = float(f"{s['best']:.4g}")
    return found


def speeds(part: dict[str, Any], side: str, over: str, threads: str, more: bool = False) -> dict[str, float]:
    """How many times as fast one side is as another, by kernel; gcc runs on one thread."""
    found = {}
    for r in part["rows"]:
        mine = r["seconds"].get(side, {}).get(threads)
        theirs = r["seconds"].get(over, {}).get("1" if over == "gcc" else threads)
        if mine and theirs and (r["group"] == MORE) is more:
            found[r["kernel"]] = theirs / mine
    return found


def mean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def columns(part: dict[str, Any]) -> list[str]:
    return sorted({t for r in part["rows"] for t in r["seconds"].get("ours", {})}, key=int)


def table(part: dict[str, Any]) -> str:
    """Geometric means over gcc and over Polly, and where they were measured."""
    lines = ["| geometric mean of speeds | over gcc -O3, one thread | over clang -O3 with Polly |", "|---|---|---|"]
    for more, words in ((False, "PolyBench"), (True, "other kernels")):
        for t in columns(part):
            gcc, polly = (list(speeds(part, "ours", o, t, more).values()) for o in ("gcc", "polly"))
            if gcc:
                fewer = f" ({len(polly)} kernels)" if len(polly) < len(gcc) else ""
                cells = (f"{mean(gcc):.1f}", f"{mean(polly):.1f}{fewer}" if polly else "-")
                named = f"{len(gcc)} {words}" if more else f"{words}, {len(gcc)} kernels"
                lines.append(f"| {named}, {_threads(t)} | {' | '.join(cells)} |")
    where = fill(f"Measured on {part['host']}, with {', '.join(part['compilers'])}.", 120)
    return "\n".join(lines) + f"\n\n{where}\n" + _missing(part)


def _missing(part: dict[str, Any]) -> str:
    """Why Polly has no bar for some kernels."""
    if not part.get("lost"):
        return ""
    words = "; ".join(f"{why}: {', '.join(names)}" for why, names in part["lost"].items())
    return f"\n{fill(f'Where Polly has no bar, its program {words}.', 120)}\n"


def _threads(count: str) -> str:
    return "1 thread" if count == "1" else f"{count} threads"


def draw(part: dict[str, Any]) -> str:
    """A panel for each number of threads, a pair of bars for each kernel."""
    names = [r["kernel"] for r in part["rows"] if r["group"] != MORE]
    shown = columns(part)
    height = _TOP + len(shown) * (_PANEL + _GAP) - _GAP + _LABELS
    step = (_WIDTH - _LEFT - 4) / len(names)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:g} {height:g}" width="{_WIDTH:g}" role="img" '
        f'aria-label="Speed of PolyBench kernels over gcc -O3: Tilewright, and clang with Polly">',
        f"<style>{_STYLE}</style>",
        _text(_LEFT, 13, f"times the speed of gcc -O3; {'; '.join([part['host'], *part['compilers']])}", "soft"),
    ]
    x = _LEFT
    for side, words in SIDES.items():
        out += [f'<rect class="{side}" x="{x:g}" y="20" width="10" height="10"/>', _text(x + 14, 29, words, "soft")]
        x += 30 + 6.2 * len(words)
    for k, t in enumerate(shown):
        out += _panel(part, t, names, _TOP + k * (_PANEL + _GAP), step)
    bottom = height - _LABELS + 8
    for k, name in enumerate(names):
        at = _LEFT + step * (k + 0.5) + 4
        out.append(f'<text class="soft" x="{at:.1f}" y="{bottom:g}" text-anchor="end" '
                   f'transform="rotate(-90 {at:.1f} {bottom:g})">{escape(name)}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"


def _panel(part: dict[str, Any], threads: str, names: Sequence[str], top: float, step: float) -> list[str]:
    """Bars begin at 1, where gcc is; below it they hang down."""
    of_gcc = "" if threads == "1" else " (gcc: 1)"
    out = [_text(_WIDTH - 4, top - 6, f"{_threads(threads)}{of_gcc}", "soft", "end")]
    for tick in (0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512):
        y = _y(tick, top)
        kind = "one" if tick == 1 else "line"
        out.append(f'<line class="{kind}" x1="{_LEFT:g}" x2="{_WIDTH - 4:g}" y1="{y:.1f}" y2="{y:.1f}"/>')
        out.append(_text(_LEFT - 6, y + 4, f"{tick:g}", "soft", "end"))
    wide = step * 0.36
    for place, side in enumerate(SIDES):
        for kernel, value in speeds(part, side, "gcc", threads).items():
            x = _LEFT + step * names.index(kernel) + step * 0.14 + wide * place
            a, b = sorted((_y(1, top), _y(value, top)))
            box = f'x="{x:.1f}" y="{a:.1f}" width="{wide:.1f}" height="{max(b - a, 0.5):.1f}"'
            said = f"<title>{escape(kernel)}, {SIDES[side]}: {value:.2f}</title>"
            out.append(f'<rect class="{side}" {box}>{said}</rect>')
    return out


def _y(value: float, top: float) -> float:
    share = math.log(min(max(value, _LEAST), _MOST) / _LEAST) / math.log(_MOST / _LEAST)
    return top + (1 - share) * _PANEL


def _text(x: float, y: float, text: str, kind: str, anchor: str = "start") -> str:
    return f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>'
