"""What `read_back.py` asks of the text around a phase in panels (`PanelText`): the values that the head of the loop
over panels must have (Unread if it is no such loop), and the lines that declare ends of panels, and rooms of which each
has place for its panel.

Panels that follow each other lie in different rooms, so that one can arrive while another is read, here or by others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import islpy as isl

from codegen.mpi.blocks import PANEL
from codegen.mpi.messages import RankedProgram
from codegen.mpi.panels.buffers import WIDTH, buffers_of
from codegen.mpi.phases import Phase
from codegen.verify.text.read import Unread

_HEAD = re.compile(
    rf"long {WIDTH} = tw_panel_width\((?P<steps>.*)\), tw_turn = -1; "
    rf"tw_panel_end\((?P<first>.*), (?P<past>.*), {WIDTH}, tw_turn\) < (?P<end>.*); tw_turn\+\+"
)


class PanelText:
    """The lines of a phase, once its loop over panels is known."""

    def __init__(self, ranked: RankedProgram, q: Phase) -> None:
        self.ranked, self.q = ranked, q
        self.first = self.past = ""

    def values(self, head: str) -> Iterator[tuple[str, isl.PwAff]]:
        """What a loop over panels says, each with what it has to be: all panels from the first to the last, in turn,
        and one turn before them, in which the first one is sent."""
        m, panels = _HEAD.fullmatch(head), self.q.panels
        if m is None or panels is None:
            raise Unread(f"`{head}` is no loop over panels")
        self.first, self.past = m["first"], m["past"]
        yield m["first"], panels.first
        yield m["past"], panels.past
        yield m["end"], panels.past
        yield m["steps"], panels.past.sub(panels.first)

    def declared(self, turn: str, following: str, arrives: bool) -> Iterator[str]:
        """The ends of a panel, and its rooms: where it arrives, or where it is read."""
        begin, end = (f"tw_panel_end({self.first}, {self.past}, {WIDTH}, {t})" for t in (turn, following))
        yield f"const long {PANEL[0]} = {begin}, {PANEL[1]} = {end};"
        for k, (_, b) in enumerate(sorted(buffers_of(self.ranked, self.q).items())):
            first, *rest = b.buffer.extents
            kind, line = b.buffer.elem.spelling, "".join(f"[{e}]" for e in rest)
            size = f"(long)sizeof({kind}) * ({first})" + "".join(f" * ({e})" for e in rest)
            at = f"tw_panel_room({k}, {turn}, {size})" if arrives else f"tw_panel_at({k}, {turn})"
            yield f"{kind}(*const {b.buffer.base}){line} = {at};"
