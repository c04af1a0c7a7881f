"""Nests that ran slower than the source's own loops on one thread, and what is decided about them now."""

from __future__ import annotations

import pytest

import codegen

RECTANGLES = """
void rectangles(int n, int m, const float a[restrict n][m], float s[restrict n + 1][m + 1])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      s[i + 1][j + 1] = a[i][j] + s[i][j + 1] + s[i + 1][j] - s[i][j];
#pragma endscop
}
"""
COINS = """
void coins(int n, int w, long ways[w + 8])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 8; j < w + 8; j++)
      ways[j] += ways[j - 5];
#pragma endscop
}
"""
TAPS = """
void taps(int n, int m, const unsigned char in[restrict n][m + 7], unsigned char out[restrict n][m],
          const unsigned char w[restrict 7])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      unsigned char s = 0;
      for (int k = 0; k < 7; k++)
        s += in[i][j + k] * w[k];
      out[i][j] = s;
    }
#pragma endscop
}
"""
POINTS = """
void turn(int n, const double M[restrict 4][4], const double x[restrict n][4], double y[restrict n][4])
{
#pragma scop
  for (int e = 0; e < n; e++)
    for (int i = 0; i < 4; i++) {
      y[e][i] = 0;
      for (int k = 0; k < 4; k++)
        y[e][i] += M[i][k] * x[e][k];
    }
#pragma endscop
}
"""
BODIES = """
struct body { double x, y, vx, vy; };
void move(int t, int n, struct body p[restrict n])
{
#pragma scop
  for (int k = 0; k < t; k++)
    for (int i = 0; i < n; i++)
      p[i].x += p[i].vx * 0.01;
#pragma endscop
}
"""
HEAT = """
void heat(int t, int n, double a[restrict n], double b[restrict n])
{
#pragma scop
  for (int k = 0; k < t; k++) {
    for (int i = 1; i < n - 1; i++)
      b[i] = 0.33 * (a[i - 1] + a[i] + a[i + 1]);
    for (int i = 1; i < n - 1; i++)
      a[i] = 0.33 * (b[i - 1] + b[i] + b[i + 1]);
  }
#pragma endscop
}
"""
ONE_THREAD_AS_WRITTEN = "tw_max_threads() > 1"


@pytest.mark.parametrize("machine", ["generic", "neoverse-n1"])
def test_tiles_for_threads_alone_are_for_threads_alone(machine: str) -> None:
    """Every point has an element of its own: tiles bring nothing back. Rows side by side would wait for less, and
    compute more addresses than that is worth."""
    result = codegen.generate(RECTANGLES, machine=machine)
    assert "pipeline" in result.regions[0].plan and "interleave" not in result.regions[0].plan
    assert ONE_THREAD_AS_WRITTEN in result.text and "if(parallel" not in result.text


def test_tiles_that_bring_a_row_back_are_for_one_thread_too() -> None:
    assert ONE_THREAD_AS_WRITTEN not in codegen.generate(COINS).text


@pytest.mark.parametrize("source", [HEAT, COINS])
def test_tiles_are_for_grids_that_fill_some(source: str) -> None:
    """With little work the loops of the source run; OpenMP is not asked."""
    text = codegen.generate(source).text
    assert "there is work for tiles" in text and "if(parallel" not in text and ONE_THREAD_AS_WRITTEN not in text


def test_a_few_integers_are_not_added_up_in_lanes() -> None:
    """Compilers write seven steps out, and make vectors along the loop around."""
    assert "reduction(" not in codegen.generate(TAPS).text


def test_four_rows_do_not_take_turns_by_eight() -> None:
    assert "interleave" not in codegen.generate(POINTS).regions[0].plan
    assert "interleave" in codegen.generate(POINTS.replace("4", "8")).regions[0].plan


def test_members_of_structs_make_no_vectors_through_steps() -> None:
    """The loop over structs stays inside that over steps, where lanes could not run along it."""
    assert "S1.k:0, S1.i" in codegen.generate(BODIES).regions[0].plan.replace("tile ", "")
    arrays = BODIES.replace("struct body p[restrict n]", "double x[restrict n], const double v[restrict n]")
    arrays = arrays.replace("p[i].x += p[i].vx", "x[i] += v[i]")
    assert "S1.i:128, S1.k:0" in codegen.generate(arrays).regions[0].plan
