"""What a rank runs in several steps: tiles over time in a block that gets smaller with each."""

from __future__ import annotations

import re
from dataclasses import replace

import islpy as isl
import pytest

from codegen.ast.ctree import For
from codegen.machine import load
from codegen.mpi.blocks import GIVER, STEPS, TAKER
from codegen.mpi.counting import points, with_values
from codegen.mpi.prove import wrong_steps
from codegen.mpi.share import several_steps, share_out
from codegen.mpi.wide.halo import not_kept
from codegen.mpi.wide.steps import wide_program
from codegen.options import GenOptions
from codegen.plan.model import Diamond, Parallel
from codegen.region_model import model_region
from codegen.source_file import open_source
from codegen.strategy.loops.time_tiles import time_tiles
from codegen.strategy.orders.isl_schedule import isl_schedule
from tests.corpus import KERNELS
from tests.mpi.programs import for_ranks
from tests.mpi.test_grid import PLATE

CUBE = """void cube(int steps, int n, double u[n][n][n], double v[n][n][n])
{
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++)
          v[i][j][k] = u[i - 1][j][k] + u[i + 1][j][k] + u[i][j - 1][k] + u[i][j][k + 1];
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++)
          u[i][j][k] = v[i][j][k];
  }
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("text", "distribute"),
    [
        (PLATE, "u: block, block; v: block, block"),
        (CUBE, "u: block, block, *; v: block, block, *"),
        (CUBE, "u: block, block, block; v: block, block, block"),
    ],
)
def test_halos_along_several_axes(text: str, distribute: str) -> None:
    """One box for each two ranks, in which there is all that is read, corners of the grid of ranks included; not with
    one row less, nor if a rank computed less beyond its block."""
    options = GenOptions(target="mpi", distribute=distribute)
    model = model_region(open_source("in.c", text, options).slices[0], options)
    assert model is not None
    ranked = share_out(model, options, None).ranked
    steps = several_steps(ranked)
    assert steps is not None and wrong_steps(ranked, steps.wide, steps.move) == ""
    exchange, (box,) = steps.move
    assert box.array == "u" and isinstance(box.made.code, For)
    narrow = replace(steps.wide, slope=0)
    assert "on another rank in the same steps" in wrong_steps(ranked, narrow, steps.move)
    statement = box.made.scop.statements[0]
    for axis in ranked.blocks:
        at = statement.domain.find_dim_by_name(isl.dim_type.param, axis.ends(TAKER)[0])
        less = statement.domain.subtract(statement.domain.equate(isl.dim_type.set, axis.axis, isl.dim_type.param, at))
        made = replace(box.made, scop=replace(box.made.scop, statements=(replace(statement, domain=less),)))
        assert wrong_steps(ranked, steps.wide, (exchange, (replace(box, made=made),))) != ""


def test_what_nobody_writes_goes_once_along_several_axes() -> None:
    """The border of b is read, and nobody writes it: its box goes ahead of the first steps alone, that of a always."""
    options = GenOptions(target="mpi", distribute="a: block, block; b: block, block")
    source = KERNELS / "jacobi-2d.c"
    model = model_region(open_source(str(source), source.read_text(), options).slices[0], options)
    assert model is not None
    ranked = share_out(model, options, None).ranked
    steps = several_steps(ranked)
    assert steps is not None and wrong_steps(ranked, steps.wide, steps.move) == ""
    for begin, sent in ((0, ["a", "b"]), (8, ["a"])):
        given = {STEPS[0]: begin, STEPS[1]: begin + 4, "n": 100, "tsteps": 50}
        for axis in ranked.blocks:
            given |= dict(zip((*axis.ends(GIVER), *axis.ends(TAKER)), (0, 50, 50, 100), strict=True))
        boxes = [t for t in steps.move[1] if points(with_values(t.made.scop.statements[0].domain, given))]
        assert [t.array for t in boxes] == sent


def test_statements_stand_once_in_steps_without_a_message() -> None:
    """At the ends of a block one statement runs farther than the other; the loops around both are one nest."""
    made = for_ranks("in.c", CUBE, distribute="u: block, *, *; v: block, *, *", assume_no_alias=True)
    inside = made.partition("if (tw_depth > 1)")[2].partition("\n      } else {\n")[0]
    assert inside.count("/* rows of diamonds */") == 1 == len(re.findall(r"for \(tw_index t = ", inside))
    assert inside.count("TW_ONE_BY_ONE();") == 2


def test_diamonds_along_a_loop_that_stays() -> None:
    """Ranks share i, whose ends move with the steps; whole planes of u go ahead of those, and of v nothing."""
    options = GenOptions(target="mpi", distribute="u: block, *, *; v: block, *, *")
    model = model_region(open_source("in.c", CUBE, options).slices[0], options)
    assert model is not None
    ranked = share_out(model, options, None).ranked
    steps = several_steps(ranked)
    assert steps is not None and wrong_steps(ranked, steps.wide, steps.move) == "" == not_kept(ranked, steps.wide)
    exchange, (planes,) = steps.move
    assert sorted(exchange.elements) == ["u"] == [planes.array]
    (statement,) = planes.made.scop.statements
    corners = statement.domain.fix_val(isl.dim_type.set, 1, isl.Val(0)).fix_val(isl.dim_type.set, 2, isl.Val(0))
    assert not corners.is_empty()
    p = wide_program(ranked, steps.wide)
    found = time_tiles(p, load("generic"), isl_schedule(p.scop, p.deps, p.tree, "smart"))
    assert found is not None
    (cut,) = found.cuts
    diamond = next(d for d in cut.tiles if isinstance(d, Diamond))
    assert diamond.space.name == "t_j" and isinstance(cut.threads[0], Parallel)
    alone = time_tiles(ranked.p, load("generic"), isl_schedule(ranked.p.scop, ranked.p.deps, ranked.p.tree, "smart"))
    assert alone is not None and not any(isinstance(d, Diamond) for c in alone.cuts[:1] for d in c.tiles)
