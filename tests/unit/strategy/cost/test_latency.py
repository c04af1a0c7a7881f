"""Sums inside loops along lines: which loop goes innermost, and when it is better left alone."""

from __future__ import annotations

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate

PADDED = """\
      for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++)
          if (i + p >= 1 && i + p <= n && j + q >= 1 && j + q <= m)
            s += in[i + p - 1][j + q - 1] * f[p][q];
"""
CUT = """\
      for (int p = MAX(0, i - 2); p <= MIN(n - 1, i + 2); p++)
        for (int q = MAX(0, j - 2); q <= MIN(m - 1, j + 2); q++)
          s += in[p][q] * f[p - i + 2][q - j + 2];
"""
# How far a window reaches is not known: rows for a given tap are as long as that, counted from the point as the line.
REACH = """\
      for (int p = i - r; p <= i + r; p++)
        for (int q = j - r; q <= j + r; q++)
          if (p >= 0 && p < n && q >= 0 && q < m)
            s += in[p][q];
"""
BEHIND = """\
      for (int q = MAX(0, j - r + 1); q <= j; q++)
        s += in[i][q];
"""
# Rows are as long either way.
TRIANGLE = BEHIND.replace("MAX(0, j - r + 1)", "0")
# Compilers write such a window out.
WINDOW = """\
      for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++)
          s += in[i + p][j + q] * f[p][q];
"""
WIDE = WINDOW.replace("< 3", "< 9")
# Not along lines: the sum stays in a register.
ACROSS = """\
      for (int p = 0; p < m; p++)
        for (int q = 0; q < 3; q++)
          s += fabs(in[j][p] - f[q][q]);
"""


# Divisions take as long in vectors as one by one, and only the sum waits for the point before.
NEAR = """#include <math.h>
void k(int n, double x[restrict n], double out[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int j = 0; j < n; j++) {
      double d = x[j] - x[i];
      double r = d * d + 1;
      double q = WHAT;
      s += q;
    }
    out[i] = s;
  }
#pragma endscop
}
"""


def plan_of(sums: str) -> str:
    text = (
        "#include <math.h>\n#define MIN(a, b) ((a) < (b) ? (a) : (b))\n#define MAX(a, b) ((a) > (b) ? (a) : (b))\n"
        "void k(int n, int m, int r, double in[n][m], double f[9][9], double out[n][m])\n{\n#pragma scop\n"
        "  for (int i = 0; i < n; i++)\n    for (int j = 0; j < m; j++) {\n      double s = 0;\n"
        f"{sums}      out[i][j] = s;\n    }}\n#pragma endscop\n}}\n"
    )
    return generate("k.c", text, GenOptions()).plan


def test_a_padded_filter_runs_along_lines() -> None:
    plan = plan_of(PADDED)
    assert "tile S1.j:256" in plan and "order S2.p, S2.q, S2.j" in plan and "vector S2.j" in plan
    assert "store s in S1.jt [j - jt: 256]" in plan and "skew" not in plan


def test_taps_that_go_with_the_point_are_counted_from_there() -> None:
    plan = plan_of(CUT)
    assert "skew S2.q by -1*S2.j" in plan and "order S2.p, S2.q, S2.j" in plan and "vector S2.j" in plan


@pytest.mark.parametrize(
    "sums, skewed", [(REACH, True), (BEHIND, True), (TRIANGLE, False)], ids=["box", "behind", "triangle"]
)
def test_rows_are_the_longest_that_there_are(sums: str, skewed: bool) -> None:
    plan = plan_of(sums)
    assert ("skew S2.q by -1*S2.j" in plan) == skewed and "vector S2.j" in plan


@pytest.mark.parametrize("sums", [ACROSS, WINDOW], ids=["across lines", "small window"])
def test_sums_that_stay_in_a_register(sums: str) -> None:
    assert "store s" not in plan_of(sums)


def test_a_wide_window_runs_along_lines() -> None:
    assert "store s in S1.jt" in plan_of(WIDE)


def test_divisions_keep_the_order() -> None:
    """Rows in turn would only put what is kept in registers into memory."""
    plan = generate("k.c", NEAR.replace("WHAT", "d / (r * sqrt(r))"), GenOptions(machine="neoverse-n1")).plan
    assert "store" not in plan and "parallel" in plan


def test_divisions_behind_a_condition_keep_the_order() -> None:
    """Compilers branch there, whichever loop is innermost."""
    far, near = (NEAR.replace("WHAT", x) for x in ("r > 1 ? d * r : 0", "r > 1 ? d / r : 0"))
    plans = [generate("k.c", text, GenOptions(machine="neoverse-n1")).plan for text in (far, near)]
    assert "store" in plans[0] and "store" not in plans[1] and "parallel" in plans[1]
