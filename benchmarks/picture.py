"""The README's picture: what the benchmarks measured, each group against its peer, drawn from their JSON.

    python -m benchmarks.picture [build/bench/tensor.json] [build/bench/kernels.json]

puts what the given runs measured into docs/measured.json, draws docs/measured.svg (from tensor.json) and
docs/polybench.svg (from kernels.json), writes the lines between the README's two `measured` comments, and from
kernels.json the table between the two `owners` comments of docs/measurements.md. What is not given is taken from
docs/measured.json, as it was measured before.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from benchmarks import bars
from benchmarks.bars import mean
from benchmarks.kernels_gains import gains, gains_markdown

ROOT = Path(__file__).parents[1]
# Group and sections of tensor.json, what the row is called, and whose speed is 1.
_TENSOR = (
    ("gemm", r"dgemm", "matrix product, f64", "OpenBLAS"),
    ("gemm", r"sgemm", "matrix product, f32", "OpenBLAS"),
    ("mv", r".* A x", "matrix-vector, in order", "OpenBLAS"),
    ("mv", r".* A x, reassociated", "matrix-vector, reassociated", "OpenBLAS"),
    ("mv", r".* A\^T x", "transposed matrix-vector", "OpenBLAS"),
    ("contraction", r".*", "tensor contractions, f64", "our matrix product"),
    ("semiring", r".*", "semirings", "a loop in registers"),
    ("integer", r".*", "integer products", "a loop in registers"),
)
GCC = "gcc -O3 of the source"
BARS = "![PolyBench, kernel by kernel: times the speed of gcc -O3, Polly beside it](docs/polybench.svg)\n\n"
_LEFT, _RIGHT, _TOP, _STEP, _WIDTH = 190.0, 560.0, 46.0, 21.0, 760.0
_FROM, _TO = 0.5, 128.0
_STYLE = """\
text { font: 12px system-ui, sans-serif; fill: #24292f; }
.soft { fill: #57606a; } .head { font-weight: 600; }
.line { stroke: #d0d7de; stroke-width: 1; } .one { stroke: #57606a; stroke-width: 1.5; }
.t1 { fill: #0b6fa4; fill-opacity: .6; } .t2 { fill: none; stroke: #b4590a; stroke-opacity: .75; stroke-width: 1.2; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; } .soft { fill: #9da7b1; }
  .line { stroke: #3d444d; } .one { stroke: #9da7b1; }
  .t1 { fill: #6db9e8; } .t2 { stroke: #f0a35e; }
}"""


def main(words: Sequence[str]) -> int:
    kept = ROOT / "docs" / "measured.json"
    data = json.loads(kept.read_text(encoding="utf-8"))
    for run in (json.loads(Path(w).read_text(encoding="utf-8")) for w in words):
        data = with_run(data, run)
        _tell_owners(run)
    kept.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    (ROOT / "docs" / "measured.svg").write_text(draw(data), encoding="utf-8")
    if "kernels" in data:
        (ROOT / "docs" / "polybench.svg").write_text(bars.draw(data["kernels"]), encoding="utf-8")
    readme = ROOT / "README.md"
    readme.write_text(with_figures(readme.read_text(encoding="utf-8"), data), encoding="utf-8")
    print(f"docs/measured.json, its pictures and README.md:\n{_means(data)}{sentence(data)}")
    return 0


def _means(data: dict[str, Any]) -> str:
    return bars.table(data["kernels"]) if "kernels" in data else ""


def _tell_owners(run: dict[str, Any]) -> None:
    """The table of what ownership brings, where the run has measured it."""
    found = gains(run) if "compilers" in run else []
    if found:
        page = ROOT / "docs" / "measurements.md"
        page.write_text(between(page.read_text(encoding="utf-8"), "owners", gains_markdown(found)), encoding="utf-8")


def with_run(data: dict[str, Any], run: dict[str, Any]) -> dict[str, Any]:
    """The figures with those of a whole run in place of what they were: quick or busy ones are no figures to show."""
    if run["quick"] or run["busy"]:
        raise SystemExit("a run with --quick or --busy is no measurement to show")
    if "compilers" in run:
        return {**data, "kernels": bars.condensed(run)}
    host = run["host"].removeprefix("this host: ")
    return {**data, "host": host, "compiler": _compiler(run), "rows": _tensor(run) + _originals(run)}


def _compiler(run: dict[str, Any]) -> str:
    return re.sub(r"\s*\([^)]*\)", "", str(run["compiler"]))


def _tensor(run: dict[str, Any]) -> list[dict[str, Any]]:
    out = []
    for group, section, label, peer in _TENSOR:
        found = [r for r in run["rows"] if r["group"] == group and re.fullmatch(section, r["section"])]
        out += _row(label, peer, ((r["threads"], r["ratio"]) for r in found if not r["wrong"]))
    return out


def _originals(run: dict[str, Any]) -> list[dict[str, Any]]:
    found = [r for r in run["rows"] if r.get("group") == "kernel" and not r["wrong"]]
    return _row("kernels with products", GCC, ((r["threads"], r["ratio"]) for r in found))


def _row(label: str, peer: str, pairs: Iterable[tuple[int, float]]) -> list[dict[str, Any]]:
    by: dict[str, list[float]] = {}
    for threads, ratio in pairs:
        by.setdefault(str(threads), []).append(round(ratio, 3))
    return [{"label": label, "peer": peer, "ratios": dict(sorted(by.items()))}] if by else []


def draw(data: dict[str, Any]) -> str:
    """The picture: a row for each group, a mark for each case, the geometric means beside it."""
    rows = data["rows"]
    bottom = _TOP + _STEP * len(rows)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:g} {bottom + 46:g}" width="{_WIDTH:g}"'
        f' role="img" aria-label="Speed of generated code relative to its peers">',
        f"<style>{_STYLE}</style>",
        _text(_LEFT, 14, f"speed / peer, a mark for each case; {data['host']}, --machine native, {data['compiler']}",
              "soft"),
    ]
    for tick in (0.5, 1, 2, 4, 8, 16, 32, 64, 128):
        out.append(f'<line class="{"one" if tick == 1 else "line"}" x1="{_x(tick):.1f}" x2="{_x(tick):.1f}" '
                   f'y1="{_TOP - 8:g}" y2="{bottom - 4:g}"/>')
        out.append(_text(_x(tick), bottom + 12, f"{tick:g}", "soft", "middle"))
    columns = sorted({t for r in rows for t in r["ratios"]}, key=int)
    places = {t: _RIGHT + 36 + 44 * k for k, t in enumerate(columns)}
    out.append(_text(_RIGHT + 12, _TOP - 18, "geometric mean, threads", "soft"))
    out += [_text(x, _TOP - 4, t, "head", "middle") for t, x in places.items()]
    for k, row in enumerate(rows):
        y = _TOP + _STEP * (k + 0.5)
        out.append(_text(_LEFT - 10, y + 4, row["label"], "", "end"))
        for t, values in row["ratios"].items():
            kind, at = ("t1", y - 3) if t == columns[0] else ("t2", y + 4)
            out += [f'<circle class="{kind}" cx="{_x(v):.1f}" cy="{at:g}" r="3"/>' for v in sorted(values)]
            out.append(_text(places[t], y + 4, f"{mean(values):.2f}", "", "middle"))
        out.append(_text(_RIGHT + 14 + 44 * len(columns) + 8, y + 4, _short(row["peer"]), "soft"))
    y = bottom + 34
    out.append(f'<circle class="t1" cx="{_LEFT + 6:g}" cy="{y - 4:g}" r="3"/>'
               + _text(_LEFT + 16, y, "1 thread", "soft"))
    if len(columns) > 1:
        out.append(f'<circle class="t2" cx="{_LEFT + 86:g}" cy="{y - 4:g}" r="3"/>'
                   + _text(_LEFT + 96, y, f"{columns[-1]} threads (gcc: 1)", "soft"))
    return "\n".join([*out, "</svg>"]) + "\n"


def _x(ratio: float) -> float:
    share = math.log(min(max(ratio, _FROM), _TO) / _FROM) / math.log(_TO / _FROM)
    return _LEFT + share * (_RIGHT - _LEFT)


def _text(x: float, y: float, text: str, kind: str, anchor: str = "start") -> str:
    shown = f' class="{kind}"' if kind else ""
    return f'<text{shown} x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>'


def _short(peer: str) -> str:
    return {"our matrix product": "of our product", "a loop in registers": "of registers",
            GCC: "of gcc -O3"}.get(peer, f"of {peer}")


def sentence(data: dict[str, Any]) -> str:
    """The figures in words, one line for each of the groups that people ask about first."""
    by = {r["label"]: r for r in data["rows"]}
    parts = []
    for label, words in (("matrix product, f64", "OpenBLAS's speed in f64"), ("matrix product, f32", "it in f32")):
        if label in by:
            values = by[label]["ratios"]["1"]
            parts.append(f"{mean(values):.2f} of {words} (worst of {len(values)} shapes {min(values):.2f})")
    said = f"Matrix products on one {data['host'].split(',')[0]} core run at {' and '.join(parts)}"
    last = next((r for r in data["rows"] if r["peer"].startswith("gcc")), None)
    if last is not None:
        values = last["ratios"]["1"]
        said += (f"; {len(values)} {last['label']} at {mean(values):.1f} times the speed that gcc -O3 gives the source "
                 f"(geometric mean)")
    return said + ". All with `--machine native`; the default, `generic`, gives the same bytes on every host."


def with_figures(readme: str, data: dict[str, Any]) -> str:
    """PolyBench's picture and means, where they were measured, and the sentence."""
    shown = f"{BARS}{_means(data)}\n" if "kernels" in data else ""
    return between(readme, "measured", f"{shown}{_wrapped(sentence(data))}\n")


def between(page: str, name: str, text: str) -> str:
    """The page with this text between the comments of that name."""
    pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.S)
    made, found = pattern.subn(lambda m: m[1] + text + m[2], page)
    if found != 1:
        raise SystemExit(f"a line <!-- {name} --> and one <!-- end --> are needed, once")
    return made


def _wrapped(text: str, width: int = 120) -> str:
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
