"""Domains that are no plain boxes: bands with bounds at run time, and rows that take turns."""

from __future__ import annotations

from codegen.options import GenOptions
from codegen.pipeline import generate

BAND = """void f(int n, int m, int w, double G[n][n], double X[n][m]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = i - w; j <= i + w; j++)
      if (j >= 0 && j < n)
        for (int k = 0; k < m; k++)
          G[i][j] += X[i][k] * X[j][k];
#pragma endscop
}
"""
HEXAGONS = """void f(int nt, int n, int m, double a[n][m], double b[n][m]) {
#pragma scop
  for (int t = 0; t < nt; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        if (i % 2 == 0)
          b[i][j] = a[i][j - 1] + a[i - 1][j] + a[i - 1][j - 1] + a[i + 1][j] + a[i + 1][j - 1];
        else
          b[i][j] = a[i][j + 1] + a[i - 1][j] + a[i - 1][j + 1] + a[i + 1][j] + a[i + 1][j + 1];
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        a[i][j] = b[i][j] + 0.1 * a[i][j];
  }
#pragma endscop
}
"""


def _slave(source: str) -> str:
    made = generate("f.c", source, GenOptions(target="sunway", stem="f", scheme="no-forms"))
    assert made.regions[0].transformed
    return dict(made.extra.files)["_slave.c"]


def test_a_band_as_wide_as_a_parameter_says_has_no_box() -> None:
    """The sides of what tiles touch have bounds, and none that is a number: tiles of it are made at an inner loop."""
    assert "G_ldm" in _slave(BAND)


def test_rows_that_take_turns_are_no_sweeps_of_a_grid() -> None:
    """Every other row is no box of the grid, so steps are taken one by one."""
    text = _slave(HEXAGONS)
    assert "time steps at once" not in text and "tw_barrier();" in text
