"""Rows and vectors side by side: the tile with the fewest reads that registers and prefetchers allow, and its use."""

from __future__ import annotations

from fractions import Fraction

from codegen.machine import load
from codegen.options import GenOptions
from codegen.plan.model import Jam, Vector
from codegen.recognize.ownership.registers import RegisterBudget, RegisterRows, TileSide, register_tile, unit
from codegen.region_model import model_region
from codegen.scop.model import Statement
from codegen.source_file import open_source
from codegen.strategy.planner import default_plan
from codegen.transform.program import Program

FIVE = """for (int t = 0; t < m; t++) { for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)
    e[i][j] = 0.2 * (d[i][j] + d[i][j - 1] + d[i][j + 1] + d[i - 1][j] + d[i + 1][j]);
  for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)
    d[i][j] = e[i][j]; }"""


def program(body: str) -> Program:
    head = "void f(int n, int m, double d[n][n], double e[n][n])\n"
    text = f"{head}{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    model = model_region(open_source("in.c", text, GenOptions()).slices[0], GenOptions())
    assert model is not None
    return model.program


def five() -> tuple[Program, Statement]:
    p = program(FIVE)
    return p, p.scop.statements[0]


def side_by_side(s: Statement, row: str, rows: int, lanes: int, registers: int) -> RegisterRows:
    side = TileSide(unit((s,), {s.name: "j"}), unit((s,), {s.name: row}), rows)
    return register_tile((s,), side, RegisterBudget(registers, lanes))


def test_rows_share_their_neighbours() -> None:
    """Four rows of a five-point stencil touch six rows above one another; and in each of the four one vector more left
    of the two, one right, and one between them."""
    _, s = five()
    found = side_by_side(s, "i", 4, 2, 32)
    assert (found.rows, found.vectors, found.reads, found.alone) == (4, 2, Fraction(6 * 2 + 4 * 3, 8), 5)
    assert found.registers <= 32


def test_the_budget_counts() -> None:
    _, s = five()
    assert side_by_side(s, "i", 4, 2, 20).vectors == 1
    assert side_by_side(s, "", 4, 2, 32).rows == 1


def test_many_lines_are_one_row() -> None:
    """More lines than prefetchers follow: rows one by one, however much they would share."""
    wide = FIVE.replace("d[i + 1][j])", "d[i + 1][j]" + "".join(f" + d[i + {k}][j]" for k in range(2, 16)) + ")")
    assert side_by_side(program(wide).scop.statements[0], "i", 4, 2, 64).rows == 1


def test_plans_follow_the_choice_and_say_why() -> None:
    p, s = five()
    machine = load("neoverse-n1")
    made = default_plan(p, machine)
    choice = side_by_side(s, "i", 4, machine.lanes(8), machine.registers)
    jams = [d.factor for d in made.plan.directives if isinstance(d, Jam) and d.loop.stmt == s.name]
    vectors = [d.times for d in made.plan.directives if isinstance(d, Vector) and d.loop.stmt == s.name]
    assert (jams, vectors) == ([choice.rows], [choice.vectors])
    assert choice.reason in [r.message for r in made.remarks if r.id == "register-tile"]
