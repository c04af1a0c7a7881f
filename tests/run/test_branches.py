"""Regions that are a branch or a body without braces, and numbers that are none."""

from __future__ import annotations

from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.run.sources import run

TEXT = """\
#include <math.h>
void f(int n, int m, double *restrict a, const double *restrict b)
{
  int i;
  if (n > 3)
#pragma scop
    for (i = 0; i < n; i++) a[i] = b[i] > 0 ? b[i] : NAN;
#pragma endscop
  a[0] = 1;
  for (int t = 0; t < m; t++)
    if (t > 2)
      a[1] = 2;
    else
#pragma scop
      for (i = 0; i < n; i++) a[i] += b[i] * t;
#pragma endscop
}
"""


def test_branches_without_braces() -> None:
    report = run(TEXT, GenOptions(target="c"))
    assert report.ok and len(report.lines) == 2 and all("agree" in x for x in report.lines), report
    made = generate("in.c", TEXT, GenOptions(target="c")).text
    assert "if (n > 3)\n    /* tilewright" in made and "else\n      /* tilewright" in made, made
