"""What an iteration costs as compilers run it: lines that come back, chains of sums, branches, short functions."""

from __future__ import annotations

import pytest

from codegen.machine import Machine, load
from codegen.options import GenOptions
from codegen.region_model import model_region
from codegen.source_file import open_source
from codegen.strategy.cost.cycles import cycles

N1, X86 = load("neoverse-n1"), load("skylake-x")
HEAD = "double fmin(double, double);\nvoid f(int n, double A[n][n], double B[n][n], double x[n], double y[n],"
HEAD += " unsigned char p[n][n][4], unsigned char q[n][n], int m, unsigned char r[n][n][m])"
OVER = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) "


def each(body: str, n: int = 400, machine: Machine = N1) -> float:
    """Cycles of an iteration."""
    text = f"{HEAD}\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    model = model_region(open_source("in.c", text, GenOptions()).slices[0], GenOptions())
    assert model is not None
    return cycles(model.program, machine, sizes=(("n", n), ("m", 4))) / n**2


def test_columns_find_their_lines_in_the_cache_while_they_fit() -> None:
    columns = "for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) x[i] += A[i][j] * y[j];"
    near, between, far = (each(columns, n) for n in (200, 4000, 40000))
    assert near < between < far


def test_pixels_lie_side_by_side() -> None:
    assert each(OVER + "q[i][j] = p[i][j][3];") < each(OVER + "q[i][j] = r[i][j][3];")


def test_sums_wait_for_memory_where_the_loop_stores_elsewhere() -> None:
    alone = each(OVER + "x[i] += A[i][j] * y[j];")
    both = each(OVER + "{ x[i] += A[i][j] * y[j]; B[i][j] = A[i][j]; }")
    assert alone == pytest.approx(2, abs=0.1)
    assert both == pytest.approx(9, abs=0.1)


def test_choices_are_compared_then_selected() -> None:
    assert each(OVER + "x[i] = x[i] < A[i][j] ? x[i] : A[i][j];") == pytest.approx(4, abs=0.1)


def test_branches_of_running_extremes_seldom_change_their_mind() -> None:
    running = each(OVER + "if (A[i][j] < x[i]) x[i] = A[i][j];")
    other = each(OVER + "if (A[i][j] < y[i]) x[i] = A[i][j];")
    assert running + 10 < other


def test_minima_are_instructions_where_the_processor_has_those_of_c() -> None:
    body = OVER + "x[j] = fmin(A[0][j], y[j]);"
    assert 1.5 * each(body) < each(body, machine=X86)
