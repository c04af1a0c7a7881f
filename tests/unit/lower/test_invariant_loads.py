"""Values that vector loops read ahead: which ones, and when not."""

from __future__ import annotations

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate

HEAD = "void f(int n, double A[n][n], double B[n][n], double x[n], double y[n], const int w[n])"


def made(body: str) -> str:
    return generate("in.c", f"{HEAD}\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n", GenOptions()).text


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("for (int j = 0; j < n; j++) x[j] = x[j] * y[0] + y[1];", "c0 = y[0]; const double c1 = y[1];"),
        ("for (int j = 1; j < n; j++) x[j] /= x[0];", "if (1 < n) { const double c0 = x[0];"),
        ("for (int j = 0; j < n; j++) x[j] += y[2] * y[2];", "x[j] += c0 * c0;"),
        ("for (int j = 0; j < n; j++) x[j] += w[3];", "if (0 < n) { const int c0 = w[3];"),
        (  # under a condition that is asked before the loop
            "for (int i = 0; i < n; i++) if (w[i] > 0) for (int j = 0; j < n; j++) A[i][j] += x[i] * B[i][j];",
            "if (cond1) { if (0 < n) { const double c0 = x[i];",
        ),
    ],
)
def test_read_ahead_if_the_loop_runs(body: str, line: str) -> None:
    assert line in " ".join(made(body).split())


def test_a_loop_that_always_runs_needs_no_test() -> None:
    text = made("for (int j = 0; j < 100; j++) x[j] *= y[0];")
    assert "const double c0 = y[0];" in text and "if (0 < 100)" not in text


@pytest.mark.parametrize(
    "body",
    [
        "for (int j = 0; j < n; j++) x[j] = x[j] > 0 ? y[0] : 1;",  # perhaps never read
        "for (int j = 0; j < n; j++) x[j] = x[j] > 0 && y[0] > 0;",
        "for (int i = 0; i < n; i++) if (w[i]) for (int j = 0; j < n; j++) if (w[j]) A[i][j] += x[i];",
        "for (int j = 0; j < n; j++) { x[j] = w[j]; A[j][1] = x[j] + 1; }",  # nothing stays
    ],
)
def test_left_where_it_is(body: str) -> None:
    assert "const double c0" not in made(body)


def test_one_iteration_may_write_what_a_later_statement_reads() -> None:
    text = made("for (int j = 0; j < 1; j++) { x[j] = w[j]; y[j] = x[0]; }")
    assert "? x[0]" not in text


def test_read_ahead_of_a_loop_that_carries_values() -> None:
    text = made("for (int j = 2; j < n; j++) x[j] = x[j - 2] * y[0];")
    assert "if (2 < n) { const double c0 = y[0]; double x_2 = x[0];" in " ".join(text.split())
