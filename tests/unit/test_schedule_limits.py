"""Regions on which isl's scheduler had no end: what it is given is bounded by counts, the same everywhere."""
from __future__ import annotations

import pytest

import codegen

# Loops of constant length, of which a schedule could make one.
SHORT = """\
void f(int n, int m, double C[n + 7][m + 17][n + 10][m + 7], double A[n + 8][m + 10][n + 7], double D[4][7][8][5])
{
#pragma scop
  for (int in = 2; in < m + 2; in++)
    for (int dep = 2; dep < 4; dep++)
      for (int it = n + 2 - 1; it >= 0; it--)
        for (int b = 0; b < 4; b += 2) {
          double acc = 0;
          for (int row = 5 - 1; row >= 1; row--)
            acc = acc <= A[4 - row][in][dep] + D[b][it][2 * dep][row]
                    ? A[4 - row][in][dep] + D[b][it][2 * dep][row] : acc;
          C[dep][2 * it][in][b] = C[dep][2 * it][in][b] > 0 ? acc : C[dep][2 * it][in][b];
        }
#pragma endscop
}
"""
# Dependences with many faces, and of many pieces.
PIECES = """\
static int A[60][60];
void f(int n, int m, int s0, int s1)
{
#pragma scop
  for (int i = 2; i <= m; i += 1)
    for (int j = i; (n < m ? n : m) >= j; j = j + 3)
      for (int k = j + 2; k > 0; k -= 1) {
        int t1[3];
        for (int w1 = 0; w1 < 3; w1++)
          t1[w1] = (A[m][j + 2] + A[i][j] + A[k + 2][i] + s0) % 101;
        if (A[(i + k + m + 2) >> 1][i - 1] >= 7) A[j + 1][m] = s0 % 101 <= A[j + 1][m] ? A[j + 1][m] : s0 % 101;
        if (s1 > 3 || !A[i + 1][0]) {
          if (!A[i][j + 1] && t1[(i + 3 * j - 1) % 3] > 6) s1 += (A[i + 1][i] - t1[0]) % 11;
          else s1 &= 5;
        }
        s1 -= (A[3][k] % 3 - A[k + 2][k]) % 11;
      }
#pragma endscop
  A[0][0] = s1;
}
"""


@pytest.mark.parametrize("text", [SHORT, PIECES], ids=["short", "pieces"])
def test_the_scheduler_ends(text: str) -> None:
    made = codegen.generate(text, name="f.c", timeout=10)
    assert made.regions[0].transformed, made.diagnostics
