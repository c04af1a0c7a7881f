"""Loops whose statements take turns at even and odd values are counted in steps, without tests and divisions inside."""

from __future__ import annotations

import re

import pytest

import codegen
from tests.run.sources import run

ZIP = """
void zip(int n, const double *a, const double *b, double *c)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    if (i % 2 == 0)
      c[i] = a[i / 2];
    else
      c[i] = b[i / 2];
  }
#pragma endscop
}
"""

# Each statement uses what the other one made a place before: a step begins where the first one of the text does.
TURNS = """
void turns(int n, const double *a, double *c)
{
#pragma scop
  for (int i = 1; i < n; i++) {
    if (i % 2 == FIRST)
      c[i] = c[i - 1] + a[i / 2];
    else
      c[i] = c[i - 1] * a[i / 2] + 1;
  }
#pragma endscop
}
"""

# For a row only two of the four run.
GRID = """
void grid(int n, double u[2 * n][2 * n], double c[n + 1][n + 1])
{
#pragma scop
  for (int i = 1; i < 2 * n; i++)
    for (int j = 1; j < 2 * n; j++) {
      if (i % 2 == 0 && j % 2 == 0)
        u[i][j] += c[i / 2][j / 2];
      else if (i % 2 == 0)
        u[i][j] += c[i / 2][j / 2] + c[i / 2][j / 2 + 1];
      else if (j % 2 == 0)
        u[i][j] += c[i / 2][j / 2] + c[i / 2 + 1][j / 2];
      else
        u[i][j] += c[i / 2][j / 2] + c[i / 2 + 1][j / 2 + 1];
    }
#pragma endscop
}
"""

ALL = {"zip": ZIP, "even": TURNS.replace("FIRST", "0"), "odd": TURNS.replace("FIRST", "1"), "grid": GRID}


@pytest.mark.parametrize("text", ALL.values(), ids=ALL)
def test_agrees(text: str) -> None:
    report = run(text)
    assert report.ok, report.lines
    assert not [d for d in report.diagnostics if d.id == "region-refused"]


@pytest.mark.parametrize("text", [ZIP, GRID], ids=["zip", "grid"])
def test_a_step_has_no_test_and_no_division_of_its_counter(text: str) -> None:
    fast = codegen.generate(text, name="in.c").text.partition("#pragma scop")[0].partition("} else {\n    for (int")[0]
    bodies = re.findall(
        r"for \(tw_index (\w+) = [^\n]*\1\+\+\) \{\n((?:[^\n]*\[2 \* \1[^\n]*\n(?:[^\n;]*;\n)?)+) *\}", fast
    )
    assert bodies and all(not re.search(rf"if|\b{var} /", body) for var, body in bodies), fast
