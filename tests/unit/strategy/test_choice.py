"""The source's order or another, by the cost model; recurrences whose rows take turns."""

from __future__ import annotations

import pytest

from codegen.machine import load
from codegen.options import GenOptions
from codegen.plan.model import Order, StoreIn, Tile, Vector
from codegen.region_model import model_region
from codegen.source_file import open_source
from codegen.strategy.choice import Decision
from codegen.strategy.cost.cycles import cycles
from codegen.strategy.planner import default_plan, usual_order
from codegen.transform.program import Program

MACHINE = load("neoverse-n1")
HEAD = "void f(int n, double A[n][n], double B[n][n], double x[n], double y[n], double z[n], unsigned char p[n][n][4])"
SUMS = "double a = 0, b = 0; for (int i = 0; i < n; i++) { a += x[i] * y[i]; b += x[i] * x[i]; } z[0] = a; z[1] = b;"
COLUMNS = "for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) A[i][j] = 2 * B[i][j];"
FILTER = """{row} {{
  double u = 0, v = 0;
  {along} {{ A[i][j] = B[i][j] + 0.5 * u + 0.25 * v; v = u; u = A[i][j]; }}
}}"""
OVER_I, OVER_J = (f"for (int {v} = 0; {v} < n; {v}++)" for v in "ij")
SHORT = f"{OVER_I} {OVER_J} for (int c = 0; c < 3; c++) p[i][j][c] = p[i][j][c] / 2;"

# The least of 3 x 3 neighbours, from a first value in the same loop.
LEAST = """for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++) {{
  {first}
  for (int k = i - 1; k <= i + 1; k++)
    for (int l = j - 1; l <= j + 1; l++) {{ {steps} }}
}}"""
ONE = LEAST.format(first="A[i][j] = 255;", steps="A[i][j] = A[i][j] < B[k][l] ? A[i][j] : B[k][l];")


def program(body: str, head: str = HEAD) -> Program:
    text = f"{head}\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    model = model_region(open_source("in.c", text, GenOptions()).slices[0], GenOptions())
    assert model is not None
    return model.program


def plan(body: str) -> Decision:
    return default_plan(program(body), MACHINE)


def told(made: Decision) -> list[str]:
    return [r.id for r in made.remarks]


def test_sums_that_wait_side_by_side_are_not_taken_apart() -> None:
    p = program(SUMS)
    assert 1.8 * cycles(p, MACHINE) < cycles(usual_order(p, "smart"), MACHINE)
    assert "source-order" in told(plan(SUMS))


def test_columns_are_worth_an_interchange() -> None:
    p = program(COLUMNS)
    assert cycles(p, MACHINE) > 3 * cycles(usual_order(p, "smart"), MACHINE)
    assert "source-order" not in told(plan(COLUMNS))


def test_first_values_stay_beside_loops_that_compilers_write_out() -> None:
    p = program(ONE)
    assert cycles(p, MACHINE) < 0.95 * cycles(usual_order(p, "none"), MACHINE)
    assert "source-order" in told(plan(ONE))


def test_vectors_are_not_expected_of_compilers_that_would_ask_about_many_rows() -> None:
    pairs = [f"{to}[i][j] = {to}[i][j] < {of}[k][l] ? {to}[i][j] : {of}[k][l];" for to, of in ("AB", "CD")]
    text = LEAST.format(first="A[i][j] = 255; C[i][j] = 255;", steps=" ".join(pairs))
    more = HEAD.replace("double x[n]", "double C[n][n], double D[n][n], double x[n]")
    p = program(text, more)
    assert cycles(p, MACHINE) > 1.5 * cycles(usual_order(p, "none"), MACHINE)  # of doubles a vector has two


def test_threads_share_what_is_inside_their_loops() -> None:
    made = plan(COLUMNS).program
    assert cycles(made, MACHINE, 2) == pytest.approx(cycles(made, MACHINE) / 2)


@pytest.mark.parametrize(("row", "along", "size", "lanes"), [(OVER_I, OVER_J, 4, False), (OVER_J, OVER_I, 256, True)])
def test_rows_of_a_filter_take_turns(row: str, along: str, size: int, lanes: bool) -> None:
    made = plan(FILTER.format(row=row, along=along)).plan.directives
    (cut,) = (d for d in made if isinstance(d, Tile))
    assert [n for _, n in cut.loops] == [size]
    assert sorted(d.variable for d in made if isinstance(d, StoreIn)) == ["u", "v"]
    assert [[r.name for r in d.loops] for d in made if isinstance(d, Order)] == [["i", "j"] if lanes else ["j", "i"]]
    assert any(isinstance(d, Vector) and d.loop.stmt == "S3" for d in made) == lanes


def test_a_single_sum_stays_in_its_register() -> None:
    made = plan(f"{OVER_I} {{ double s = 0; {OVER_J} s += A[i][j] * A[i][j] * A[i][j]; x[i] = s; }}")
    assert not any(isinstance(d, (Tile, StoreIn)) for d in made.plan.directives)


def test_loops_that_compilers_write_out_are_not_marked() -> None:
    assert not any(isinstance(d, Vector) and d.loop.name == "c" for d in plan(SHORT).plan.directives)


@pytest.mark.parametrize("taps, lanes", [("3", 1), ("n", 1), ("n, 2 *", 0)])
def test_taps_run_inside_of_vectors(taps: str, lanes: int) -> None:
    """Neighbours share most of what they read, unless it lies apart."""
    size, _, times = taps.partition(",")
    made = plan(f"{OVER_I} {OVER_J} for (int k = 0; k < {size}; k++) A[i][j] += x[k] * B[i][{times} j + k];")
    assert sum(isinstance(d, Vector) and d.loop.name == "j" and d.width > 0 for d in made.plan.directives) == lanes


def test_short_sums_wait_for_each_other_only() -> None:
    """The next sum starts while one waits for its last step; a long one fills the core by itself."""
    short, long = (f"{OVER_I} {OVER_J} for (int k = 0; k < {n}; k++) A[i][j] += B[i][k] * x[k];" for n in (8, 80))
    assert 20 * cycles(program(short), MACHINE) < cycles(program(long), MACHINE)
