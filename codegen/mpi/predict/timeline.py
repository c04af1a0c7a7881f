"""Simulates a few steps of a region on its ranks, as one event after the other: who computes, who waits, what is under
way (`simulate`); and shows the events as a line of text for each rank, or as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
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
    trace = _Trace(x, at, machine, [0.0] * at.ranks, [0.0] * at.ranks, [])
    trace.send(START, ())
    for q, outer in steps(x, at):
        if q.panels is not None:
            trace.panels(q, outer)
        else:
            trace.run(q, outer)
        trace.send(q.name, outer)
    return tuple(trace.events)


@dataclass
class _Trace:
    """What ranks have done so far: their clocks, and when the last message for each arrives."""

    x: SharedRegion
    at: Setting
    machine: Machine
    clock: list[float]
    due: list[float]
    events: list[Event]

    def run(self, q: Phase, outer: Sequence[int]) -> None:
        """A phase on all ranks, with a wait between what needs no message and the rest."""
        for r in range(self.at.ranks):
            early = early_of(self.x, q, self.at, outer, r) * self.machine.iteration
            late = iterations(self.x, q, self.at, outer, r) * self.machine.iteration - early
            self._spend(r, early, "early")
            self._spend(r, self.due[r] - self.clock[r], "wait")
            self._spend(r, late, "late")

    def panels(self, q: Phase, outer: Sequence[int]) -> None:
        """The first panels of a phase: each is sent while the one before is computed."""
        ends = panel_ends(q, self.at)
        shown = list(pairwise(ends))[: STEPS + 1]
        for k, panel in enumerate(shown):
            if k == 0:
                self.send(PANELS + q.name, (*outer, *panel))
            for r in range(self.at.ranks):
                self._spend(r, self.due[r] - self.clock[r], "wait")
            more = k + 1 < len(shown)
            if more:
                self.send(PANELS + q.name, (*outer, *shown[k + 1]))
            for r in range(self.at.ranks):
                each = iterations(self.x, q, self.at, outer, r) * self.machine.iteration / (len(ends) - 1)
                self._spend(r, each, "early" if more else "late")

    def send(self, phase: str, outer: Sequence[int]) -> None:
        """Messages that leave behind a phase, or ahead of a panel."""
        move, net = exchange_behind(self.x, phase), self.machine.network
        self.due = [0.0] * self.at.ranks
        if move is None:
            return
        for giver, taker in product(range(self.at.ranks), repeat=2):
            size = message_bytes(self.x, move, self.at, outer, (giver, taker)) if giver != taker else 0
            if size:
                arrives = self.clock[giver] + net.latency + size / net.bandwidth
                self.events.append(Event(giver, "message", self.clock[giver], arrives, taker))
                self.due[taker] = max(self.due[taker], arrives)

    def _spend(self, rank: int, took: float, kind: str) -> None:
        if took > 0:
            self.events.append(Event(rank, kind, self.clock[rank], self.clock[rank] + took))
            self.clock[rank] += took


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
