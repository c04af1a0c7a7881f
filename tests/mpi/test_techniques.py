"""Techniques that meet in one file for ranks: the functions for ranks beside kernels of products."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.mpi.programs import SMALL, compiled, for_ranks, needs_mpi, on_ranks, results

BOTH = """#include <stdio.h>
static void product(int n, int m, double a[n][m], double b[m][n], double c[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      c[i][j] *= 0.5;
      for (int k = 0; k < m; k++)
        c[i][j] += a[i][k] * b[k][j];
    }
#pragma endscop
}
static void steps(int n, int t, double a[n][n], double b[n][n])
{
#pragma scop
  for (int s = 0; s < t; s++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[i][j] = b[i][j];
  }
#pragma endscop
}
static double a[40][40], b[40][40], c[40][40];
int main(void)
{
  double s = 0;
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 40; j++)
      a[i][j] = i * 3 % 7 + j, b[i][j] = i - j * 5 % 11, c[i][j] = i * j % 13;
  product(40, 40, a, b, c);
  steps(40, 9, c, a);
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 40; j++)
      s += (i + 2 * j) % 17 * c[i][j];
  printf("%.17g\\n", s);
  return 0;
}
"""


@needs_mpi
def test_a_product_and_a_stencil(tmp_path: Path) -> None:
    made = for_ranks("both.c", BOTH)
    assert "tw_wide_steps(" in made and "TW_UNROLL" in made
    one = compiled("cc", BOTH, tmp_path / "one", ("-Wno-unknown-pragmas",))
    want = subprocess.run([str(one)], capture_output=True, text=True, timeout=60).stdout
    for name, flags in (("plain", ()), ("wide", (*SMALL, "-DTW_WIDE_STEPS=3"))):
        many = compiled("mpicc", made, tmp_path / name, ("-fopenmp", "-Wno-unknown-pragmas", *flags))
        done = on_ranks(many, 4)
        assert done.returncode == 0, done.stderr
        assert results(done.stdout) == results(want)
