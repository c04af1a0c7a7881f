"""Builds the `View` records (C lines and loops that templates print) of a phase in panels: a loop over panels in which
the next one travels while this one is computed, with the ends and buffers of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codegen.mpi.blocks import PANEL
from codegen.mpi.messages import RankedProgram
from codegen.mpi.panels.buffers import WIDTH, buffers_of
from codegen.mpi.phases import Phase
from codegen.mpi.text.message_views import MessageViews
from codegen.mpi.trees import MessageLoops
from codegen.target.text.pieces import View

TURN = "tw_turn"  # number of the panel that is computed; before the first one, nothing is


def panel_views(
    messages: MessageViews, ranked: RankedProgram, q: Phase, loops: Sequence[MessageLoops], run: tuple[View, ...],
    given: Mapping[str, str],
) -> tuple[View, ...]:  # fmt: skip
    """`run` is what a rank runs in a panel."""
    assert q.panels is not None
    first, past = (messages.value(v, 5) for v in (q.panels.first, q.panels.past))
    steps = messages.value(q.panels.past.sub(q.panels.first).coalesce())
    messages.helpers.add("tw_max")

    def ends(turn: str) -> tuple[View, ...]:
        begin, end = (f"tw_panel_end({first}, {past}, {WIDTH}, {turn}{more})" for more in ("", " + 1"))
        return (View("decl", f"const long {PANEL[0]} = {begin}, {PANEL[1]} = {end};"),)

    def next_turn(text: str) -> str:
        return text.replace(f"{TURN} + 1 + 1", f"{TURN} + 2")

    following = f"{TURN} + 1"
    ahead = (*(View(v.kind, next_turn(v.head)) for v in ends(following)), *_rooms(ranked, q, following, arrives=True))
    each = f"long tw_k = 0; tw_k < tw_panel_messages({PANEL[0]} < {PANEL[1]}); tw_k++"
    what = f"the next panels of {messages.names(loops)}"
    send = (
        *ahead,
        View("for", each, what, body=messages.between_two(messages.all_elements(loops, given))),
        View("decl", "tw_panel_send();"),
    )
    begin = f"long {WIDTH} = tw_panel_width({steps}), {TURN} = -1"
    over = f"{begin}; tw_panel_end({first}, {past}, {WIDTH}, {TURN}) < {past}; {TURN}++"
    body = (View("block", body=send), View("if", f"{TURN} >= 0", body=(*ends(TURN), *_rooms(ranked, q, TURN), *run)))
    return (View("for", over, f"panels of {q.along(ranked.p.scop)}", body=body),)


def _rooms(ranked: RankedProgram, q: Phase, turn: str, arrives: bool = False) -> tuple[View, ...]:
    """The buffers of a panel: where it arrives, or where it is read."""
    out = []
    for k, (_, b) in enumerate(sorted(buffers_of(ranked, q).items())):
        rows, kind = "".join(f"[{e}]" for e in b.buffer.extents[1:]), b.buffer.elem.spelling
        size = " * ".join([f"(long)sizeof({kind})", *(f"({e})" for e in b.buffer.extents)])
        at = f"tw_panel_room({k}, {turn}, {size})" if arrives else f"tw_panel_at({k}, {turn})"
        out.append(View("decl", f"{kind}(*const {b.buffer.base}){rows} = {at};"))
    return tuple(out)
