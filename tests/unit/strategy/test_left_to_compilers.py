"""Nests in which compilers do as well by themselves: plans that share them out and change nothing else, so that one
thread runs what was written; and the few changes that do pay there."""

from __future__ import annotations

import codegen

EXTREMES = """
void extremes(int n, int d, const double *restrict x, double *restrict low, double *restrict high, int *restrict where)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    low[i] = high[i] = x[i * d];
    where[i] = 0;
    for (int j = 1; j < d; j++) {
      if (x[i * d + j] < low[i])
        low[i] = x[i * d + j];
      if (x[i * d + j] > high[i]) {
        high[i] = x[i * d + j];
        where[i] = j;
      }
    }
  }
#pragma endscop
}
"""
HALVE = """
typedef struct { unsigned char r, g; } pixel;
void halve(int w, int h, const pixel *restrict in, pixel *restrict out)
{
#pragma scop
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      out[y * w + x].r = (unsigned char)((in[y * (2 * w) + 2 * x].r + in[y * (2 * w) + 2 * x + 1].r) >> 1);
      out[y * w + x].g = (unsigned char)((in[y * (2 * w) + 2 * x].g + in[y * (2 * w) + 2 * x + 1].g) >> 1);
    }
#pragma endscop
}
"""
RED = """
void red(int n, double (*v)[n], double (*r)[n])
{
#pragma scop
  for (int j = 1; j < n - 1; j++)
    for (int i = 1; i < n - 1; i++) {
      if ((i + j) % 2)
        continue;
      v[j][i] += v[j][i - 1] + v[j][i + 1] + v[j - 1][i] + v[j + 1][i] - r[j][i];
    }
#pragma endscop
}
"""
STACKED = """
void stack(int nt, int nx, int nz, float (*restrict image)[nz], float (*restrict s)[nx][nz],
           float (*restrict r)[nx][nz])
{
#pragma scop
  for (int t = 0; t < nt; t++)
    for (int x = 0; x < nx; x++)
      for (int z = 0; z < nz; z++)
        image[x][z] += s[t][x][z] * r[t][x][z];
#pragma endscop
}
"""
WIDER = """
void wider(int h, int w, const float in[restrict h][w + 1], float out[restrict h][2 * w])
{
#pragma scop
  for (int y = 0; y < h; y++)
    for (int x = 0; x < 2 * w; x++)
      out[y][x] = 0.5f * (in[y][x / 2] + in[y][x - x / 2]);
#pragma endscop
}
"""
LEVELS = """
void levels(int n, unsigned total, const unsigned in[restrict n], unsigned char out[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    out[i] = (unsigned char)(in[i] * 255u / total);
#pragma endscop
}
"""
LEAST = """
void least(int h, int w, const float e[restrict h][w], float m[restrict h][w])
{
#pragma scop
  for (int y = 1; y < h; y++)
    for (int x = 1; x < w; x++) {
      float best = m[y - 1][x];
      if (m[y - 1][x - 1] < best)
        best = m[y - 1][x - 1];
      m[y][x] = e[y][x] + best;
    }
#pragma endscop
}
"""
ONE_THREAD_AS_WRITTEN = "tw_max_threads() > 1"


def directives(source: str) -> list[str]:
    """Of the plan for a source, without the order of its loops."""
    lines = codegen.generate(source).regions[0].plan.splitlines()
    return [line.strip() for line in lines[lines.index("  }") + 1 :] if line]


def test_a_running_extreme_waits_for_nothing_where_a_core_guesses() -> None:
    """Neither rows side by side nor values in registers: the branch of the source is right nearly always."""
    assert directives(EXTREMES) == ["parallel S1.i"]
    assert ONE_THREAD_AS_WRITTEN in codegen.generate(EXTREMES).text


def test_members_of_every_other_struct_are_not_marked_for_vectors() -> None:
    assert ONE_THREAD_AS_WRITTEN in codegen.generate(HALVE).text
    assert "omp simd" in codegen.generate(HALVE.replace("2 * x + 1", "x + 1").replace("2 * x", "x")).text


def test_one_thread_goes_past_the_points_that_a_test_leaves_out() -> None:
    text = codegen.generate(RED).text
    assert ONE_THREAD_AS_WRITTEN not in text and "i += 2" in text
    own = RED.replace("if ((i + j) % 2)\n        continue;", "").replace("i++", "i += 2")
    assert ONE_THREAD_AS_WRITTEN in codegen.generate(own).text  # whose own loop does so


def test_a_loop_with_which_nothing_comes_back_is_not_cut() -> None:
    """Only rows of the image are used again, from one time to the next: they are cut, and time is not."""
    assert directives(STACKED)[0].startswith("tile S1.t:0, S1.z:")


def test_loops_that_read_by_a_quotient_are_not_marked_for_vectors() -> None:
    """Compilers would gather: 0.2 of the speed of what they make by themselves."""
    assert "omp simd" not in codegen.generate(WIDER).text
    assert "omp simd" in codegen.generate(WIDER.replace("x / 2", "x").replace("w + 1", "2 * w")).text


def test_loops_that_divide_integers_are_not_marked_for_vectors() -> None:
    """There are no lanes of that, but for a divisor that is known, which compilers multiply by."""
    assert "simd" not in codegen.generate(LEVELS).text
    assert "simd" not in codegen.generate(LEVELS.replace("* 255u / total", "% total")).text
    for fast in ("/ 255u", "* 255.0f / total"):
        assert "simd" in codegen.generate(LEVELS.replace("* 255u / total", fast)).text


def test_a_variable_of_each_iteration_gathers_nothing_along_the_loop() -> None:
    """Also where sums and extremes may take any order: no strips of partial results, which were half as fast."""
    text = codegen.generate(LEAST).text
    assert "omp simd" in text
    assert codegen.generate(LEAST, reassociate=True).text.partition("*/")[2] == text.partition("*/")[2]
