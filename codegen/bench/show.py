"""Formats the results of a benchmark as a table for people, as JSON, and as an SVG bar chart; returns texts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from xml.sax.saxutils import escape

from codegen.bench.model import Ceilings, MeasuredRegion
from codegen.bench.roofline import sentence
from codegen.tune.timing import Timing, seconds_text

LITTLE = 1.2  # times as fast: more is wanted


def text(found: Sequence[MeasuredRegion], built_with: str, top: Ceilings | None) -> str:
    """A table for each region and a sentence on what bounds it."""
    out = [f"{built_with}\n"]
    for m in found:
        which = f", version {m.version}" if m.version else ""
        out.append(f"\n{m.title} at {m.at}{which}\n" if m.races else f"\n{m.title}: {m.note}\n")
        if m.races:
            out.append(f"  {'threads':>7}  {'before':>9}  {'after':>9}  {'gain':>6}\n")
        for r in m.races:
            times = f"{seconds_text(r.original.best):>9}  {seconds_text(r.result.best):>9}"
            out.append(f"  {r.threads:7}  {times}  {r.gain:5.3g}x\n")
        out += [f"  {said}\n" for said in (*_sentences(m, top), m.note if m.races else "", _advice(m)) if said]
    return "".join(out)


def _advice(m: MeasuredRegion) -> str:
    """For regions that gained little, what would help."""
    return m.advice if m.races and max(r.gain for r in m.races) < LITTLE else ""


def _sentences(m: MeasuredRegion, top: Ceilings | None) -> list[str]:
    """What bounds the region, for each number of threads."""
    return list(dict.fromkeys(sentence(m, r, top) for r in m.races)) if top is not None else []


def data(found: Sequence[MeasuredRegion], built_with: str, top: Ceilings | None) -> str:
    """The same as JSON; times in seconds."""
    regions = [
        {
            "region": m.index,
            "line": m.line,
            "title": m.title,
            "sizes": dict(m.sizes),
            "version": m.version,
            "runs": [
                {"threads": r.threads, "before": _times(r.original), "after": _times(r.result), "gain": r.gain,
                 "bound": sentence(m, r, top) if top is not None else ""}
                for r in m.races
            ],
            "operations": m.operations,
            "uncounted": list(m.uncounted),
            "bytes": m.bytes,
            "bound": sentence(m, m.races[0], top) if m.races and top is not None else "",
            "note": m.note,
            "advice": _advice(m),
        }
        for m in found
    ]
    return json.dumps({"built_with": built_with, "regions": regions}, indent=2) + "\n"


def _times(t: Timing) -> dict[str, float]:
    return {"best": t.best, "median": t.median, "runs": t.runs}


# -- chart -----------------------------------------------------------------------------------------

_ROW, _LEFT, _WIDTH, _TOP = 22, 240, 360, 34
_STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#1f2430}.bar{fill:#2f6fb0}.more{fill:#7fb0dd}.one{stroke:#8a8f98}"
    "@media(prefers-color-scheme:dark){text{fill:#e6e8ec}.bar{fill:#6ea8e0}.more{fill:#3f6f9f}}"
)


def chart(found: Sequence[MeasuredRegion]) -> str:
    """Bars of how many times as fast each region became, for each number of threads; SVG."""
    bars = [(m, r) for m in found for r in m.races]
    most = max([1.0, *(r.gain for _, r in bars)])
    high = _TOP + _ROW * len(bars) + 12
    x_one = _LEFT + _WIDTH / most
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_LEFT + _WIDTH + 60} {high}" role="img">',
        f"<title>Times as fast as before</title><style>{_STYLE}</style>",
        f'<text x="{_LEFT}" y="20">times as fast as before (the line: as fast)</text>',
    ]
    for k, (m, r) in enumerate(bars):
        y, wide = _TOP + _ROW * k, _WIDTH * r.gain / most
        kind = "bar" if r.threads == 1 else "more"
        name = f"{m.title.partition(' (')[2].removesuffix(')') or m.title}, {r.threads} thread{'s' * (r.threads > 1)}"
        parts += [
            f'<text x="{_LEFT - 8}" y="{y + 14}" text-anchor="end">{escape(name)}</text>',
            f'<rect class="{kind}" x="{_LEFT}" y="{y + 2}" width="{wide:.1f}" height="16"/>',
            f'<text x="{_LEFT + wide + 6:.1f}" y="{y + 14}">{r.gain:.3g}</text>',
        ]
    parts.append(f'<path class="one" d="M{x_one:.1f} {_TOP - 4}V{high - 8}"/></svg>')
    return "\n".join(parts) + "\n"
