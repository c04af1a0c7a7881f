"""What ranks run around phases is proven from its views: damaged text is refused, one place at a time.

Every change is one that a mistake in printing messages, blocks or loops around phases would make. Nothing here is run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple
from unittest import mock

import pytest

from codegen.machine import load_for
from codegen.mpi import region
from codegen.mpi.phases import NotShared
from codegen.mpi.text.message_views import NEAR
from codegen.mpi.text.read_back import check_ranks
from codegen.mpi.text.views import RankViews
from codegen.mpi.trees import ModelLoops
from codegen.options import GenOptions
from codegen.region_model import model_region
from codegen.source_file import open_source
from codegen.target.text.pieces import View
from codegen.targets.base import RegionJob
from tests.corpus import KERNELS
from tests.mpi.test_grid import GRID, PLATE
from tests.mpi.test_panels import BOXES, PRODUCT
from tests.mpi.test_proofs import BLOCKS, HEAT
from tests.mpi.test_turns import SEIDEL

DOT = """double dot(int n, double x[n], double y[n])
{
  double s = 1;
#pragma scop
  for (int i = 0; i < n; i++)
    s += x[i] * y[i];
#pragma endscop
  return s;
}
"""
FLAT = """void flat(int n, int m, double *restrict a, double *restrict b)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      b[i * m + j] = a[i * m + j];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i * m + j] = b[(n - 1 - i) * m + j];
#pragma endscop
}
"""
SOURCES: dict[str, tuple[str, dict[str, object]]] = {
    "heat": (HEAT, {}),
    "blocks": (HEAT, {"distribute": BLOCKS}),
    "grid": (PLATE, {"distribute": GRID}),
    "turns": (SEIDEL, {}),
    "sums": (DOT, {"reassociate": True}),
    "flat": (FLAT, {}),
    "dealt": ((KERNELS / "lu.c").read_text(), {}),
    "panels": (PRODUCT, {"distribute": BOXES}),
}


class Printed(NamedTuple):
    """What the proof is asked."""

    ranks: RankViews
    around: ModelLoops
    views: tuple[View, ...]


@cache
def printed(name: str) -> Printed:
    text, chosen = SOURCES[name]
    options = GenOptions(target="mpi", **chosen)  # type: ignore[arg-type]
    s = open_source(str(KERNELS / "in.c"), text, options).slices[0]
    model = model_region(s, options)
    assert model is not None
    found = []
    with mock.patch.object(region, "check_ranks", lambda *args: found.append(Printed(*args))):
        region.process(RegionJob(s, model, text, options, load_for(options.machine, None)))
    (one,) = found
    return one


def damaged(views: Sequence[View], old: str, new: str | None, which: int) -> tuple[View, ...]:
    """The views with another text in one place that has `old` in it, or without what stands there. All others are the
    same objects."""
    left = [which]

    def of(v: View) -> View | None:
        if old in v.head:
            left[0] -= 1
            if left[0] == -1:
                return None if new is None else replace(v, head=v.head.replace(old, new, 1))
        body, orelse = all_of(v.body), all_of(v.orelse)
        same = all(x is y for x, y in zip((*body, *orelse), (*v.body, *v.orelse), strict=False))
        whole = same and (len(body), len(orelse)) == (len(v.body), len(v.orelse))
        return v if whole else replace(v, body=body, orelse=orelse)

    def all_of(inner: Sequence[View]) -> tuple[View, ...]:
        return tuple(x for x in map(of, inner) if x is not None)

    found = all_of(views)
    assert left[0] < 0, "nothing was changed"
    return found


@pytest.mark.parametrize("name", SOURCES)
def test_what_ranks_run_is_proven(name: str) -> None:
    check_ranks(*printed(name))


NONE_NEAR = "tw_first_near(1, (const long[]){ 0 }"
NEAR_ONE = NEAR.format(1, 1, "(long)n - 2")
RUN = "tw_run(tw_k, &u[e0][1], (long)n - 2, sizeof(double));"
# What is damaged: the program, the text, what stands there instead (None: nothing), and which of several places.
CHANGES: dict[str, tuple[str, str, str | None, int]] = {
    # elements
    "another row": ("heat", "&u[e0]", "&u[e0 + 1]", 0),
    "another column": ("heat", "&u[e0][1]", "&u[e0][0]", 1),
    "another array": ("heat", "&u[", "&v[", 2),
    "one element too few": ("heat", "(long)n - 2, sizeof", "(long)n - 3, sizeof", 0),
    "one element too many": ("heat", "(long)n - 2, sizeof", "(long)n - 1, sizeof", 2),
    "elements of another size": ("heat", "sizeof(double));", "sizeof(float));", 0),
    "elements of another message": ("heat", "tw_run(tw_k", "tw_run(0", 0),
    "a row too few": ("heat", "tw_min(tw_giver_to, tw_taker_to + 1)", "tw_min(tw_giver_to, tw_taker_to)", 0),
    "a row too many": ("heat", "tw_max(tw_giver_from, tw_taker_from - 1)", "tw_giver_from", 0),
    "every other row": ("heat", "e0++", "e0 += 2", 0),
    "this rank's own rows": ("heat", "e0 < tw_giver_to; e0++", "e0 < tw_mine_to; e0++", 0),
    "rows of who takes them": ("heat", "long e0 = tw_giver_from; e0", "long e0 = tw_taker_from; e0", 1),
    "no elements": ("heat", RUN, None, 3),
    "a message under another condition": ("heat", "steps >= t + 2", "steps >= t + 3", 0),
    "a message whatever holds": ("heat", "steps >= 1", "1", 0),
    "another side of a box": ("grid", "tw_taker2_from), 1)]", "tw_taker2_from), 0)]", 0),
    "a box that ends elsewhere": ("grid", "tw_min(tw_giver2_to, tw_taker2_to + 1) -", "tw_giver2_to -", 0),
    "a row of a flat array": ("flat", "* m", "* n", 0),
    # blocks of two ranks
    "the giver's block is the taker's": ("heat", "tw_giver(tw_k)),", "tw_taker(tw_k)),", 0),
    "the block of the next rank": ("heat", "tw_taker(tw_k)),", "tw_taker(tw_k) + 1),", 0),
    "a block that ends where it begins": ("heat", "tw_giver(tw_k) + 1", "tw_giver(tw_k)", 1),
    "blocks of another range": ("heat", "tw_part(1,", "tw_part(0,", 1),
    "blocks that end before": ("heat", "(long)n - 1, tw_taker", "(long)n - 2, tw_taker", 0),
    "blocks of another axis": ("grid", "tw_giver2_from = tw_low(1,", "tw_giver2_from = tw_low(0,", 0),
    "the other end of a block": ("grid", "tw_giver_to = tw_high", "tw_giver_to = tw_low", 0),
    "no ends of blocks": ("heat", "const long tw_taker_from", None, 0),
    "not all messages": ("heat", "tw_k < tw_messages()", "tw_k < tw_messages() - 1", 0),
    "messages from the second on": ("heat", "long tw_k = 0", "long tw_k = 1", 0),
    "near ranks alone, where all get something": ("heat", "long tw_k = 0; tw_k < tw_messages(); tw_k++", NEAR_ONE, 0),
    "ranks that are not near enough": ("heat", "{ tw_step_to - tw_step_from }", "{ 1 }", 0),
    "ranks beside each other are left out": ("heat", "tw_first_near(1, (const long[]){ 1 }", NONE_NEAR, 0),
    "near ranks of other rows": ("heat", "(const long[]){ (long)n - 2 }); tw_k", "(const long[]){ n }); tw_k", 0),
    "not all near ranks": ("heat", "tw_k = tw_next_near()", "tw_next_near(), tw_k = tw_next_near()", 0),
    # this rank's block
    "another rank's block": ("heat", "tw_rank())", "tw_rank() + 1)", 0),
    "no block of its own": ("heat", "const long tw_mine_from", None, 0),
    "a block that is not this rank's": ("dealt", "long tw_own = tw_rank()", "long tw_own = 0", 0),
    "every block": ("dealt", "tw_own += tw_ranks()", "tw_own++", 0),
    "blocks in one piece each": ("dealt", "tw_dealt(", "tw_part(", 0),
    "dealt to who takes": ("dealt", "long tw_own = tw_giver(tw_k)", "long tw_own = tw_taker(tw_k)", 0),
    # phases and exchanges
    "messages are not sent": ("heat", "tw_send();", None, 0),
    "messages are not exchanged": ("heat", "tw_exchange();", None, 1),
    "nobody waits at the end": ("blocks", "tw_wait();", None, 2),
    "nobody waits for a piece": ("heat", "tw_piece == 1", None, 0),
    "a wait that is too late": ("heat", "tw_piece == 1", "tw_piece == 2", 0),
    "pieces that leave iterations out": ("heat", "tw_piece < 3", "tw_piece < 2", 0),
    "a wider interior": ("heat", "tw_mine_to, 1, 1), tw_to", "tw_mine_to, 0, 1), tw_to", 0),
    "a message that nobody waits for": ("heat", "tw_exchange();", "tw_send();", 1),
    "a step too few": ("heat", "t < steps", "t < steps - 1", 0),
    "a loop that begins late": ("heat", "long t = 0", "long t = 1", 0),
    "another condition around": ("heat", "n >= 3", "n >= 4", 0),
    "a phase is left out": ("heat", "int tw_piece = 0", None, 1),
    "no message behind a phase": ("heat", "tw_first_near(1, (const long[]){ 1 }", None, 0),
    "steps without a message overlap": ("heat", "tw_next_step(tw_step_from, tw_depth)", "tw_step_from + 1", 0),
    "steps end elsewhere": ("heat", "tw_depth), steps)", "tw_depth), steps - 1)", 0),
    "steps begin elsewhere": ("heat", "long tw_step_from = 0", "long tw_step_from = 1", 0),
    "steps in some other way": ("grid", "tw_few_tiles(tw_step_to", "tw_few_tiles(tw_step_from", 0),
    "ranks do not take turns": ("turns", "tw_take_turn();", None, 0),
    "ranks hand nothing on": ("turns", "tw_hand_on();", None, 0),
    "parts that begin with values": ("sums", "tw_partial(0);", None, 0),
    "parts are not joined": ("sums", "tw_total(0", None, 0),
    "parts are joined in another type": ("sums", "MPI_DOUBLE", "MPI_FLOAT", 0),
    "the greatest of all parts": ("sums", "MPI_SUM", "MPI_MAX", 0),
    "parts of another variable": ("sums", "&s", "&x[0]", 0),
    # panels
    "the first panel is left out": ("panels", "tw_turn = -1", "tw_turn = 0", 0),
    "the last panel is left out": ("panels", "tw_width, tw_turn) < n", "tw_width, tw_turn) < n - 1", 0),
    "every other panel": ("panels", "tw_turn++", "tw_turn += 2", 0),
    "panels of another range": ("panels", "tw_panel_end(0, n", "tw_panel_end(1, n", 0),
    "the panel that is computed is sent": ("panels", "tw_turn + 1), tw_panel_to", "tw_turn), tw_panel_to", 0),
    "panels that overlap": ("panels", "tw_panel_to = tw_panel_end(0,", "tw_panel_to = tw_panel_end(1,", 1),
    "a panel in the room of another": ("panels", "tw_panel_room(1,", "tw_panel_room(0,", 0),
    "a panel arrives where one is read": ("panels", "tw_panel_room(0, tw_turn + 1,", "tw_panel_room(0, tw_turn,", 0),
    "a panel is read in the room of another": ("panels", "tw_panel_at(1,", "tw_panel_at(0,", 0),
    "a panel is read where one arrives": ("panels", "tw_panel_at(0, tw_turn)", "tw_panel_at(0, tw_turn + 1)", 0),
    "rooms that are too small": ("panels", "* (tw_width)", "* (tw_width - 1)", 0),
    "rows of a room are shorter": ("panels", "[tw_width]", "[tw_width - 1]", 1),
    "a panel is read before it has come": ("panels", "tw_turn >= 0", "tw_turn >= -1", 0),
    "panels are not sent": ("panels", "tw_panel_send();", None, 0),
    "a rank has nothing of its own": ("panels", "tw_panel_messages(tw_panel_from < tw_panel_to)", "tw_messages()", 0),
    "another place in a panel": ("panels", "&tw_panel_A[e0 - tw_taker_from]", "&tw_panel_A[e0 - tw_giver_from]", 0),
    "another column of a panel": ("panels", "- tw_panel_from]", "]", 0),
    "elements of another panel": ("panels", "e0 = tw_max(tw_giver_from, tw_panel_from)", "e0 = tw_giver_from", 0),
}


@pytest.mark.parametrize("what", CHANGES)
def test_damage_is_found(what: str) -> None:
    name, old, new, which = CHANGES[what]
    found = printed(name)
    with pytest.raises(NotShared, match="around phases"):
        check_ranks(found.ranks, found.around, damaged(found.views, old, new, which))


def test_a_phase_of_another_place_is_found() -> None:
    """Phases are proven for the names of their place, and look alike elsewhere."""
    found = printed("heat")
    twice = next(x for x in found.ranks.printed if "tw_from" in x.given.values())
    given = {**twice.given, **{k: "tw_mine_from" for k, v in twice.given.items() if v == "tw_from"}}
    others = [x if x is not twice else replace(x, given=given) for x in found.ranks.printed]
    with pytest.raises(NotShared, match="another one than was proven"):
        check_ranks(replace(found.ranks, printed=others), found.around, found.views)
