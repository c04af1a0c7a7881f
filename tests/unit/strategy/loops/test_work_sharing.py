"""How threads share loops: parts in turn where iterations differ, two loops together where one is short."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codegen.diagnostics import InputError
from codegen.options import GenOptions
from codegen.pipeline import generate

HEAD = "void f(int n, int m, double A[n][n], double B[3][n][n], double x[n], double y[n])\n{\n#pragma scop\n"
TRIANGLE = "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) A[i][j] = A[i][j] / x[j] + y[i];"
BAND = (
    "for (int i = 0; i < n; i++) for (int j = i > m ? i - m : 0; j < (i + m < n ? i + m : n); j++)"
    " A[i][j] = A[i][j] / x[j] + y[i];"
)
PLANES = "for (int c = 0; c < 3; c++) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) B[c][i][j] /= x[j];"
RAGGED = "for (int c = 0; c < 3; c++) for (int i = c; i < n; i++) for (int j = 0; j < n; j++) B[c][i][j] /= x[j];"
CARRIED = (
    "for (int c = 0; c < 3; c++) for (int i = 1; i < n; i++) for (int j = 0; j < n; j++)"
    " B[c][i][j] /= B[c][i - 1][j];"
)


def made(body: str, plan: str | None = None) -> str:
    text = HEAD + body + "\n#pragma endscop\n}\n"
    options = replace(GenOptions(), plan_text=None if plan is None else f"region 1\n  {plan}\n", machine="neoverse-n1")
    return generate("in.c", text, options).text


@pytest.mark.parametrize(
    "body, clause",
    [
        (TRIANGLE, "schedule(static, 4)"),
        (BAND, ""),
        (PLANES, "collapse(2)"),
        (CARRIED, ""),
    ],
)
def test_chosen(body: str, clause: str) -> None:
    text = made(body)
    assert "omp parallel for" in text
    assert clause in text if clause else "collapse" not in text and "schedule(" not in text


def test_loops_that_one_cannot_divide_are_not_shared_out_together() -> None:
    """The inner loop's length depends on the outer one, which `collapse` does not allow."""
    assert "collapse" not in made(RAGGED, "parallel c with i")
    text = made(PLANES, "parallel c with i")
    assert "collapse(2)" in text and "region 1 of f: threads over c with i */" in text


@pytest.mark.parametrize(
    "body, plan, why",
    [
        (CARRIED, "parallel c with i", "carried by loop `i`"),
        (PLANES, "parallel c with j", "not a plain loop directly inside"),
        (PLANES, "parallel c by 0", "1 to 4096"),
    ],
)
def test_refused(body: str, plan: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        made(body, plan)
