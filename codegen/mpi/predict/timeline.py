"""A few steps of a region on some ranks, one event after the other: who computes, who waits, what is under way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from xml.sax.saxutils import escape

from codegen import __version__
from codegen.mpi.messages import START
from codegen.mpi.panels.buffers import PANELS
from codegen.mpi.phases import Phase
from codegen.mpi.predict.load import Setting, exchange_behind, iterations, message_bytes, panel_ends, times
from codegen.mpi.predict.simulate import Machine, early_of
from codegen.mpi.share import SharedRegion
from codegen.record import record

STEPS = 3  # iterations of the loop around phases that are shown
ROW, LEFT, TOP = 26, 64, 58
_STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #22262b; } .soft { fill: #5d6670; } .title { font-weight: 600; }
  .early { fill: #4c8c4a; } .late { fill: #a3c585; } .wait { fill: #e39a4b; } .message { stroke: #1f5f99; fill: none; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e4e6e8; } .soft { fill: #9da6af; } .early { fill: #5fa65c; } .late { fill: #3f6b35; }
    .wait { fill: #c47a2c; } .message { stroke: #7cc0ea; }
  }
"""
KINDS = {"early": "computes while messages travel", "late": "computes with what has arrived", "wait": "waits"}
LETTERS = {"early": "#", "late": "+", "wait": "."}


@record
class Event:
    """What a rank does, or a message (`to` a rank) that is under way."""

    rank: int
    kind: str
    start: float
    end: float
    to: int = -1


def steps(x: SharedRegion, at: Setting) -> tuple[tuple[Phase, tuple[int, ...]], ...]:
    """Phases one after the other, in some iterations of the loops around them."""
    out: list[tuple[Phase, tuple[int, ...]]] = []
    around = [q for q in x.ranked.cut.phases if q.depth]
    for k in range(STEPS):
        for q in around or x.ranked.cut.phases:
            _, outers = times(x.program.scop, q, at)
            if outers:
                middle = outers[len(outers) // 2]
                out.append((q, (middle[0] + k, *middle[1:]) if middle else ()))
        if not around:
            break
    return tuple(out)


def simulate(x: SharedRegion, at: Setting, machine: Machine) -> tuple[Event, ...]:
    """The events of all ranks, from time 0."""
    clock = [0.0] * at.ranks
    due = [0.0] * at.ranks  # when the last message for a rank arrives
    events: list[Event] = []
    if exchange_behind(x, START) is not None:
        due = _sent(x, (START, ()), at, machine, clock, events)
    for q, outer in steps(x, at):
        if q.panels is not None:
            _panels(x, (q, outer), at, machine, clock, events)
        else:
            _runs(x, (q, outer), at, machine, clock, events, due)
        due = _sent(x, (q.name, outer), at, machine, clock, events)
    return tuple(events)


def _runs(
    x: SharedRegion, step: tuple[Phase, Sequence[int]], at: Setting, machine: Machine, clock: list[float],
    events: list[Event], due: Sequence[float],
) -> None:  # fmt: skip
    """A phase on all ranks, with a wait between what needs no message and the rest."""
    q, outer = step
    for r in range(at.ranks):
        early = early_of(x, q, at, outer, r) * machine.iteration
        late = iterations(x, q, at, outer, r) * machine.iteration - early
        _spans(r, ((early, "early"), (max(0.0, due[r] - clock[r] - early), "wait"), (late, "late")), clock, events)


def _panels(
    x: SharedRegion, step: tuple[Phase, Sequence[int]], at: Setting, machine: Machine, clock: list[float],
    events: list[Event],
) -> None:  # fmt: skip
    """The first panels of a phase: each is sent while the one before is computed."""
    q, outer = step
    ends = panel_ends(q, at)
    shown = list(pairwise(ends))[: STEPS + 1]
    due = _sent(x, (PANELS + q.name, (*outer, *shown[0])), at, machine, clock, events) if shown else []
    for k in range(len(shown)):
        for r in range(at.ranks):
            _spans(r, ((due[r] - clock[r], "wait"),), clock, events)
        if k + 1 < len(shown):
            due = _sent(x, (PANELS + q.name, (*outer, *shown[k + 1])), at, machine, clock, events)
        for r in range(at.ranks):
            each = iterations(x, q, at, outer, r) * machine.iteration / (len(ends) - 1)
            _spans(r, ((each, "early" if k + 1 < len(shown) else "late"),), clock, events)


def _spans(rank: int, spans: Sequence[tuple[float, str]], clock: list[float], events: list[Event]) -> None:
    """What a rank does one after the other."""
    for took, kind in spans:
        if took > 0:
            events.append(Event(rank, kind, clock[rank], clock[rank] + took))
            clock[rank] += took


def _sent(
    x: SharedRegion, step: tuple[str, Sequence[int]], at: Setting, machine: Machine, clock: Sequence[float],
    events: list[Event],
) -> list[float]:  # fmt: skip
    """Messages that leave behind a phase; when the last one arrives, rank by rank."""
    phase, outer = step
    move, net = exchange_behind(x, phase), machine.network
    due = [0.0] * at.ranks
    if move is None:
        return due
    for giver in range(at.ranks):
        for taker in range(at.ranks):
            size = message_bytes(x, move, at, outer, (giver, taker)) if giver != taker else 0
            if size:
                arrives = clock[giver] + net.latency + size / net.bandwidth
                events.append(Event(giver, "message", clock[giver], arrives, taker))
                due[taker] = max(due[taker], arrives)
    return due


def text_rows(events: Sequence[Event], width: int = 88) -> list[str]:
    """One line for each rank."""
    total = max((e.end for e in events), default=0.0) or 1.0
    rows = []
    for rank in sorted({e.rank for e in events}):
        line = [" "] * width
        for e in (e for e in events if e.rank == rank and e.kind in LETTERS):
            first = int(e.start / total * width)
            for k in range(first, min(width, max(first + 1, int(e.end / total * width)))):
                line[k] = LETTERS[e.kind]
        rows.append(f"    rank {rank:2} {''.join(line)}")
    return [*rows, "            " + "   ".join(f"{LETTERS[k]} {w}" for k, w in KINDS.items())]


def svg(events: Sequence[Event], title: str, width: int = 1000) -> str:
    """A row for each rank, with lines for messages from one to another."""
    total = max((e.end for e in events), default=0.0) or 1.0
    last = max((e.rank for e in events), default=0)
    bottom = TOP + (last + 1) * ROW + 24
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + width + 20} {bottom}" '
            f'width="{LEFT + width + 20}" role="img" aria-label="{escape(title)}">',
            f"<!-- @generated by tilewright {__version__} -->",
            f"<title>{escape(title)}</title>",
            f"<style>{_STYLE}</style>",
            f'<text x="{LEFT}" y="20" class="title">{escape(title)}</text>',
            *_legend(),
            *(f'<text class="soft" x="{LEFT - 8}" y="{TOP + r * ROW + 13}" text-anchor="end">rank {r}</text>'
              for r in range(last + 1)),
            *_shapes(events, width / total),
            f'<text class="soft" x="{LEFT + width}" y="{bottom - 6}" text-anchor="end">{total * 1e6:.4g} µs</text>',
            "</svg>",
        ]
    ) + "\n"  # fmt: skip


def _legend() -> Iterator[str]:
    at = LEFT
    for kind, words in KINDS.items():
        yield f'<rect class="{kind}" x="{at}" y="30" width="14" height="12"/><text x="{at + 20}" y="41">{words}</text>'
        at += 50 + 7 * len(words)
    yield f'<path class="message" d="M{at} 30l14 12"/><text x="{at + 20}" y="41">a message</text>'


def _shapes(events: Sequence[Event], scale: float) -> Iterator[str]:
    for e in events:
        x, y, wide = LEFT + e.start * scale, TOP + e.rank * ROW, (e.end - e.start) * scale
        if e.kind == "message":
            down = TOP + e.to * ROW + (0 if e.to > e.rank else 18)
            yield f'<path class="message" d="M{x:.1f} {y + (18 if e.to > e.rank else 0)}L{x + wide:.1f} {down}"/>'
        else:
            yield f'<rect class="{e.kind}" x="{x:.1f}" y="{y}" width="{max(wide, 0.4):.1f}" height="18"/>'
