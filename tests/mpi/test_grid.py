"""Grids of ranks: blocks along several dimensions, and faults that are planted in what would be printed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import islpy as isl
import pytest

from codegen.ast.ctree import CNode, For, Fun, If, Instance
from codegen.checking.compare import check
from codegen.diagnostics import InputError
from codegen.mpi.blocks import RankBlocks, blocks_of
from codegen.mpi.grid import on_grid
from codegen.mpi.layout import layouts, words
from codegen.mpi.messages import START, RankedProgram, exchanges
from codegen.mpi.overlap import Margins, busy_iterations, margins, wrongly_early
from codegen.mpi.phases import Cut, NotShared, cut
from codegen.mpi.predict.load import grid_sides
from codegen.mpi.prove import not_shared_out, wrong_message
from codegen.mpi.target import Support, support
from codegen.mpi.trees import transfers
from codegen.options import GenOptions
from codegen.region_model import model_region
from codegen.source_file import open_source
from codegen.transform.program import Program
from tests.mpi.programs import compiled, needs_mpi, on_ranks
from tests.mpi.test_proofs import Moves, with_elements, with_more

PLATE = """void plate(int steps, int n, double u[n][n], double v[n][n])
{
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        v[i][j] = u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1];
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        u[i][j] = v[i][j];
  }
#pragma endscop
}
"""
GRID = "u: block, block; v: block, block"


@cache
def opened(text: str, distribute: str = GRID) -> tuple[Program, Cut, tuple[RankBlocks, ...], Moves]:
    options = GenOptions(target="mpi", distribute=distribute)
    model = model_region(open_source("in.c", text, options).slices[0], options)
    assert model is not None
    p, held = model.program, layouts(model.program.scop, distribute)
    found = on_grid(p, cut(p), held)
    blocks = blocks_of(p.scop, found, held)
    moves = tuple((x, transfers(p, found, x, blocks)) for x in exchanges(p, found, blocks))
    return p, found, blocks, moves


def swapped(elements: isl.Set) -> isl.Set:
    """Giver and taker in each other's place along the second axis."""
    names = {elements.find_dim_by_name(isl.dim_type.param, f"tw_{w}2_{e}"): (w, e)
             for w in ("giver", "taker") for e in ("from", "to")}  # fmt: skip
    other = {"giver": "taker", "taker": "giver"}
    for at, (w, e) in names.items():
        elements = elements.set_dim_name(isl.dim_type.param, at, f"tw_{other[w]}2_{e}")
    return elements


def without_column(elements: isl.Set) -> isl.Set:
    """Without the column behind the taker's block."""
    at = elements.find_dim_by_name(isl.dim_type.param, "tw_taker2_to")
    return elements.subtract(elements.equate(isl.dim_type.set, 1, isl.dim_type.param, at))


def plain(node: CNode) -> bool:
    """One nest without tests inside it, from and to the extremes of at most three numbers."""
    node = node.then if isinstance(node, If) and node.orelse is None else node
    while isinstance(node, For):
        if any(len(e.args) > 3 for e in (node.lower, node.upper) if isinstance(e, Fun)):
            return False
        node = node.body
    return isinstance(node, Instance)


def test_messages_along_both_axes() -> None:
    """Proven as they are; not with an element less, for another rank, with too much, or one left out."""
    p, found, blocks, moves = opened(PLATE)
    assert [q.positions(q.stmts[0]) for q in found.shared] == [(1, 2), (1, 2)]
    assert wrong_message(p, found, blocks, moves) == "" == not_shared_out(p, found, blocks)
    assert [x.phase for x, _ in moves] == [START, "P2"]
    assert all([plain(t.made.code) for t in parts] == [True, True] for _, parts in moves)  # rows, and columns
    changes: tuple[Callable[[isl.Set], isl.Set], ...] = (without_column, swapped, with_more)
    for change in changes:
        assert wrong_message(p, found, blocks, with_elements(moves, p, found, blocks, change, 1)) != ""
    assert "not sent" in wrong_message(p, found, blocks, moves[:1])
    assert "not sent" in wrong_message(p, found, blocks, moves[1:])


def test_corners_go_with_rows() -> None:
    """Of nine points around one, ranks that differ along both axes send the corner: one box has all of it."""
    text = PLATE.replace("u[i - 1][j] +", "u[i - 1][j - 1] +").replace("u[i + 1][j] +", "u[i + 1][j + 1] +")
    p, found, blocks, moves = opened(text)
    assert wrong_message(p, found, blocks, moves) == ""
    assert [len(parts) for _, parts in moves] == [1, 1]


def test_blocks_and_margins_along_the_second_axis() -> None:
    p, found, blocks, moves = opened(PLATE)
    low = [replace(b, first=b.first.add_constant_val(isl.Val(2))) if b.axis else b for b in blocks]
    assert "outside of all blocks" in not_shared_out(p, found, low)
    ranked, sent = RankedProgram(p, found, blocks), [x for x, _ in moves]
    q = found.shared[0]
    assert margins(ranked, sent)[q.name] == Margins(1, 1, ((1, 1),))
    busy = busy_iterations(ranked, q, sent)
    for m in (Margins(1, 1, ((0, 1),)), Margins(1, 1, ((1, 0),)), Margins(0, 1, ((1, 1),))):
        assert "S1 would run too early" in wrongly_early(busy, ranked, q, m)


def test_an_axis_that_hands_values_on_is_refused() -> None:
    """Along j each element is computed from the one before it; a proof finds it, too, if it is shared nevertheless."""
    text = PLATE.replace("u[i][j] = v[i][j]", "u[i][j] = v[i][j] + u[i][j - 1]")
    with pytest.raises(NotShared, match="cannot be shared along dimension 2"):
        opened(text)
    _, found, blocks, _ = opened(PLATE)
    options = GenOptions(target="mpi")
    model = model_region(open_source("in.c", text, options).slices[0], options)
    assert model is not None
    assert "elsewhere along it" in not_shared_out(model.program, found, blocks)


def test_grids() -> None:
    assert [grid_sides(n, 2) for n in (1, 2, 4, 6, 7, 16)] == [(1, 1), (2, 1), (4, 1), (3, 2), (7, 1), (4, 4)]
    assert grid_sides(64, 3) == (4, 4, 4)
    with pytest.raises(InputError, match="one to 3 dimensions"):
        words("a: block, block, block, block")
    with pytest.raises(InputError, match="as many dimensions"):
        words("a: block, block; b: block, *")


@needs_mpi
def test_a_grid_is_run() -> None:
    options = GenOptions(target="mpi", assume_no_alias=True, distribute=GRID)
    report = check("in.c", PLATE, options, lambda _: None)
    assert report.ok and "2, 3, 4, 6, 7 ranks" in report.lines[0] and "ranks over i, j" in report.lines[0]


@needs_mpi
def test_boxes_are_handed_out_and_collected(tmp_path: Path) -> None:
    program = """
int main(void)
{
  enum { N = 7, M = 5 };
  int whole[N][M], mine[N][M] = {{0}}, back[N][M] = {{0}};
  int wrong = tw_ranks() != 6 || tw_ranks_along(0) != 3 || tw_ranks_along(1) != 2;
  for (int i = 0; i < N * M; i++)
    whole[i / M][i % M] = tw_rank() ? -1 : i + 1;
  tw_scatter_boxes(mine, whole, N, M, 1, sizeof(int));
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      const int own = i >= tw_first_at(0, N) && i < tw_past_at(0, N) && j >= tw_first_at(1, M) && j < tw_past_at(1, M);
      wrong |= mine[i][j] != (own ? i * M + j + 1 : 0);
    }
  tw_gather_boxes(back, mine, N, M, 1, sizeof(int));
  wrong |= tw_rank() == 0 && memcmp(back, whole, sizeof whole) != 0;
  tw_extents(1, 1000, 1);
  return wrong || tw_ranks_along(1) != 6;
}
"""
    done = on_ranks(compiled("mpicc", support(Support(axes=2)) + program, tmp_path / "boxes"), 6)
    assert done.returncode == 0, done.stderr
