"""Messages as sets, and the proofs about them: faults that are planted in what would be printed are found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import islpy as isl
import pytest

from codegen.ast.ctree import Bin, Block, CNode, For, If, Int
from codegen.mpi.blocks import RankBlocks, blocks_of
from codegen.mpi.cyclic import in_turn
from codegen.mpi.layout import layouts
from codegen.mpi.messages import START, Exchange, RankedProgram, exchanges
from codegen.mpi.overlap import Margins, busy_iterations, margins, wrongly_early
from codegen.mpi.phases import Cut, cut
from codegen.mpi.prove import not_shared_out, wrong_message, wrong_order, wrong_steps
from codegen.mpi.share import several_steps
from codegen.mpi.trees import MessageLoops, skeleton, transfers
from codegen.options import GenOptions
from codegen.region_model import model_region
from codegen.source_file import open_source
from codegen.transform.program import Program

HEAT = """void heat(int steps, int n, double u[n][n], double v[n][n])
{
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        v[i][j] = u[i - 1][j] + u[i + 1][j] + u[i][j];
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        u[i][j] = v[i][j];
  }
#pragma endscop
}
"""
BLOCKS = "u: block, *; v: block, *"
Moves = tuple[tuple[Exchange, tuple[MessageLoops, ...]], ...]


@cache
def opened(text: str, distribute: str = "") -> tuple[Program, Cut, tuple[RankBlocks, ...], Moves]:
    options = GenOptions(target="mpi", distribute=distribute)
    model = model_region(open_source("in.c", text, options).slices[0], options)
    assert model is not None
    p = model.program
    found = cut(p)
    blocks = blocks_of(p.scop, found, layouts(p.scop, distribute))
    moves = tuple((x, transfers(p, found, x, blocks)) for x in exchanges(p, found, blocks))
    return p, found, blocks, moves


def with_elements(
    moves: Moves,
    p: Program,
    found: Cut,
    blocks: tuple[RankBlocks, ...],
    change: Callable[[isl.Set], isl.Set],
    which: int,
) -> Moves:
    """One exchange with other elements, and the loops for those."""
    x = replace(moves[which][0], elements={a: change(e) for a, e in moves[which][0].elements.items()})
    return (*moves[:which], (x, transfers(p, found, x, blocks)), *moves[which + 1 :])


def swapped(elements: isl.Set) -> isl.Set:
    """Giver and taker in each other's place."""
    names = {elements.find_dim_by_name(isl.dim_type.param, f"tw_{w}_{e}"): (w, e)
             for w in ("giver", "taker") for e in ("from", "to")}  # fmt: skip
    other = {"giver": "taker", "taker": "giver"}
    for at, (w, e) in names.items():
        elements = elements.set_dim_name(isl.dim_type.param, at, f"tw_{other[w]}_{e}")
    return elements


def without_last(elements: isl.Set) -> isl.Set:
    return elements.subtract(elements.lexmax())


def with_more(elements: isl.Set) -> isl.Set:
    """With the next column."""
    far = isl.Map(f"{{ {elements.get_tuple_name()}[i, j] -> {elements.get_tuple_name()}[i, j + 1] }}")
    return elements.union(elements.apply(far))


@pytest.mark.parametrize("distribute", ["", BLOCKS])
def test_halos_are_proven(distribute: str) -> None:
    p, found, blocks, moves = opened(HEAT, distribute)
    assert [(q.stmts, [lp.name for lp in q.outer]) for q in found.shared] == [(("S1",), ["t"]), (("S2",), ["t"])]
    assert wrong_order(skeleton(p, found)) == "" == not_shared_out(p, found, blocks)
    assert wrong_message(p, found, blocks, moves) == ""
    assert [(x.phase, sorted(x.elements)) for x, _ in moves] == (
        [(START, ["u"]), ("P2", ["u"])] if distribute else [("P2", ["u"]), ("", ["u", "v"])]
    )


def with_next_row(elements: isl.Set) -> isl.Set:
    """With rows that another rank computes."""
    far = isl.Map(f"{{ {elements.get_tuple_name()}[i, j] -> {elements.get_tuple_name()}[i + 1, j] }}")
    return elements.union(elements.apply(far))


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("change", [without_last, swapped, with_more, with_next_row])
@pytest.mark.parametrize("distribute", ["", BLOCKS])
def test_wrong_elements_are_found(change: Callable[[isl.Set], isl.Set], distribute: str, which: int) -> None:
    """A message short by one element, for the wrong neighbour, or with elements that its sender has not computed."""
    p, found, blocks, moves = opened(HEAT, distribute)
    faulty = with_elements(moves, p, found, blocks, change, which)
    if change is with_more and distribute:
        assert wrong_message(p, found, blocks, faulty) == ""  # held by its sender alone: too much, but right
    else:
        assert wrong_message(p, found, blocks, faulty) != ""


def test_a_message_that_is_left_out_is_found() -> None:
    p, found, blocks, moves = opened(HEAT)
    assert "not sent" in wrong_message(p, found, blocks, moves[1:])
    assert "at the end" in wrong_message(p, found, blocks, moves[:1])


def shorter(node: CNode) -> CNode:
    """Loops that end one iteration too early."""
    if isinstance(node, For):
        return replace(node, upper=Bin("-", node.upper, Int(1)), body=shorter(node.body))
    if isinstance(node, If):
        return replace(node, then=shorter(node.then), orelse=node.orelse and shorter(node.orelse))
    if isinstance(node, Block):
        return Block(tuple(map(shorter, node.children)))
    return node


def test_loops_that_end_too_early_are_found() -> None:
    p, found, blocks, moves = opened(HEAT)
    x, (t,) = moves[0]
    faulty = replace(t, made=replace(t.made, code=shorter(t.made.code)))
    assert "missing iteration" in wrong_message(p, found, blocks, ((x, (faulty,)), *moves[1:]))


def test_blocks_that_leave_something_out_are_found() -> None:
    p, found, blocks, _ = opened(HEAT)
    low = blocks[0].first.add_constant_val(isl.Val(1))
    assert "outside of all blocks" in not_shared_out(p, found, (replace(blocks[0], first=low),))


def test_another_order_of_phases_is_found() -> None:
    p, found, _, _ = opened(HEAT)
    made = skeleton(p, found)

    def turned(node: CNode) -> CNode:
        if isinstance(node, Block):
            return Block(tuple(reversed(node.children)))
        if isinstance(node, If):
            return replace(node, then=turned(node.then))
        return replace(node, body=turned(node.body)) if isinstance(node, For) else node

    assert wrong_order(replace(made, code=turned(made.code))) != ""


@pytest.mark.parametrize("distribute", ["", BLOCKS])
def test_what_touches_messages_waits(distribute: str) -> None:
    """The rows at the ends of a block read the halo of u; nothing that S2 uses is under way but where it is stored."""
    p, found, blocks, moves = opened(HEAT, distribute)
    ranked, sent = RankedProgram(p, found, blocks), [x for x, _ in moves]
    assert margins(ranked, sent) == {"P1": Margins(1, 1), "P2": Margins(1, 1)}
    busy = busy_iterations(ranked, found.shared[0], sent)
    assert "S1 would run too early" in wrongly_early(busy, ranked, found.shared[0], Margins(0, 1))
    assert "S1 would run too early" in wrongly_early(busy, ranked, found.shared[0], Margins(1, 0))


@pytest.mark.parametrize("distribute", ["", BLOCKS])
def test_steps_without_a_message_are_proven(distribute: str) -> None:
    p, found, blocks, _ = opened(HEAT, distribute)
    ranked = RankedProgram(p, found, blocks)
    steps = several_steps(ranked)
    assert steps is not None and (steps.wide.slope, steps.wide.more) == (1, {"S1": 0, "S2": 0})
    assert wrong_steps(ranked, steps.wide, steps.move) == ""
    narrow = replace(steps.wide, slope=0)
    assert "on another rank in the same steps" in wrong_steps(ranked, narrow, steps.move)
    for change, why in (
        (without_last, "do not have"),
        (swapped, "do not have"),
        (with_next_row, "sender does not have"),
        (with_next_column_of_all, "sender does not have"),
        (with_more, "" if distribute else "sender does not have"),  # too much, but right
    ):
        x = replace(steps.move[0], elements={a: change(e) for a, e in steps.move[0].elements.items()})
        faulty = x, transfers(p, found, x, blocks)
        problem = wrong_steps(ranked, steps.wide, faulty)
        assert why in problem and bool(why) == bool(problem), change


def with_next_column_of_all(elements: isl.Set) -> isl.Set:
    """With what lies behind the end of a row."""
    return with_more(with_more(with_more(elements)))


LU = """void f(int n, double a[n][n])
{
#pragma scop
  for (int k = 0; k < n; k++)
    for (int i = k + 1; i < n; i++)
      for (int j = k + 1; j < n; j++)
        a[i][j] -= a[i][k] * a[k][j];
#pragma endscop
}
"""


def test_a_phase_that_needs_all_of_a_message_waits() -> None:
    p, found, blocks, moves = opened(LU)
    assert margins(RankedProgram(p, found, blocks), [x for x, _ in moves]) == {}


def test_blocks_of_a_factorization_are_dealt_out_in_turn() -> None:
    """All ranks get the next row; a stencil and arrays in blocks keep one block for each rank."""
    p, found, blocks, moves = opened(LU)
    ranked = RankedProgram(p, found, blocks)
    sent = in_turn(ranked, [x for x, _ in moves])
    assert sent is not None and not any("taker" in str(e) for e in sent[0].elements.values())
    dealt = tuple((x, transfers(p, found, x, blocks)) for x in sent)
    assert wrong_message(p, found, blocks, dealt) == ""
    assert wrong_message(p, found, blocks, with_elements(dealt, p, found, blocks, without_last, 0)) != ""
    p, found, blocks, moves = opened(HEAT)
    assert in_turn(RankedProgram(p, found, blocks), [x for x, _ in moves]) is None
