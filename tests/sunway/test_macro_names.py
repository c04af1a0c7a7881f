"""Arguments of launches are called as the region's sizes are; a macro of that name is in their way only where it is one
at the region."""

from __future__ import annotations

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate

NEST = """  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i][j] = a[i][j] * 0.5 + b[i][j];
"""
HEAD = "void f(int n, int m, double a[n][m], double b[n][m])\n{\n"
ELSEWHERE = {
    "in another region": HEAD + "#pragma scop\n" + NEST + "#pragma endscop\n}\n" + HEAD.replace("f(", "g(")
    + "#pragma scop\n#define n (n / 2)\n" + NEST + "#undef n\n#pragma endscop\n}\n",
    "before": "#define m 5\nint g = m;\n#undef m\n" + HEAD + "#pragma scop\n" + NEST + "#pragma endscop\n}\n",
    "behind": HEAD + "#pragma scop\n" + NEST + "#pragma endscop\n}\n#define a 5\nint g = a;\n",
}
THERE = "#define a (a)\n" + HEAD + "#pragma scop\n" + NEST + "#pragma endscop\n}\n"


@pytest.mark.parametrize("where", ELSEWHERE)
def test_macros_elsewhere_are_in_nobodys_way(where: str) -> None:
    made = generate("f.c", ELSEWHERE[where], GenOptions(target="sunway", stem="f", scheme="launch"))
    assert made.regions[0].transformed, made.diagnostics


def test_macros_at_the_region_leave_it_alone() -> None:
    made = generate("f.c", THERE, GenOptions(target="sunway", stem="f", scheme="launch"))
    assert [r.transformed for r in made.regions] == [False]
