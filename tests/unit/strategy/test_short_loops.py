"""Loops of a few fixed iterations, which compilers write out, are products only from where packing pays; and threads
leave the order of loops in which arrays lie in memory; nor are marks put where compilers do better by themselves."""

from __future__ import annotations

import re

import pytest

import codegen

ROWS = """
void rows(int n, const float (*restrict a)[S], const float b[S][S], float (*restrict c)[S])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < S; j++) {
      c[i][j] = 0;
      for (int k = 0; k < S; k++)
        c[i][j] += a[i][k] * b[k][j];
    }
#pragma endscop
}
"""
SQUARE = """
void square(const float a[16][16], const float b[16][16], float c[restrict 16][16])
{
#pragma scop
  for (int i = 0; i < 16; i++)
    for (int k = 0; k < 16; k++)
      for (int j = 0; j < 16; j++)
        c[i][j] += a[i][k] * b[k][j];
#pragma endscop
}
"""
# Where the largest element of a row lies: the subscript of the second read is data.
LARGEST = """
void largest(int n, int m, const float *restrict a, int *restrict r)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    int b = 0;
    for (int j = 1; j < m; j++)
      if (a[i * m + j] > a[i * m + b])
        b = j;
    r[i] = b;
  }
#pragma endscop
}
"""
# Channels of a batch; k outermost, which owns more arrays, would jump through x.
NORMALISED = """
void normalise(int b, int c, int n, float *restrict x, const float *restrict scale, const float *restrict shift)
{
#pragma scop
  for (int i = 0; i < b; i++)
    for (int k = 0; k < c; k++)
      for (int p = 0; p < n; p++)
        x[(i * c + k) * n + p] = x[(i * c + k) * n + p] * scale[k] + shift[k];
#pragma endscop
}
"""


@pytest.mark.parametrize(("size", "product"), [(8, False), (16, False), (24, True)])
def test_small_fixed_sizes_are_products_only_from_where_packing_pays(size: int, product: bool) -> None:
    made = codegen.generate(ROWS.replace("S]", f"{size}]").replace("< S", f"< {size}"))
    assert ("product S" in made.regions[0].plan) == product


@pytest.mark.parametrize(("size", "product"), [(8, False), (16, True)])
def test_columns_that_do_not_lie_side_by_side_are_left_to_compilers_only_where_few(size: int, product: bool) -> None:
    text = ROWS.replace("b[k][j]", "b[j][k]").replace("S]", f"{size}]").replace("< S", f"< {size}")
    assert ("product S" in codegen.generate(text).regions[0].plan) == product


def test_threads_do_not_make_a_loop_jump_through_memory() -> None:
    plan = codegen.generate(NORMALISED).regions[0].plan
    assert "parallel S1.i" in plan and "order" not in plan


def test_elements_that_compilers_keep_in_registers_through_two_short_loops_are_not_marked() -> None:
    text = codegen.generate(SQUARE).text
    assert "simd" not in text and "c[i][j] += a[i][k] * b[k][j];" in text
    assert "simd" in codegen.generate(ROWS.replace("S]", "16]").replace("< S", "< 16")).text  # on threads


def test_vectors_do_not_run_across_rows_where_data_decide_about_a_subscript() -> None:
    made = codegen.generate(LARGEST)
    assert "tile" not in made.regions[0].plan and "simd" not in made.text


DEPTHWISE = """
void depthwise(int h, int w, int c, double (*restrict in)[w + 4][c], double (*restrict f)[TAPS][c],
               double (*restrict out)[w][c])
{
#pragma scop
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      for (int r = 0; r < 3; r++)
        for (int s = 0; s < TAPS; s++)
          for (int k = 0; k < c; k++)
            out[y][x][k] += in[y + r][x + s][k] * f[r][s][k];
#pragma endscop
}
"""


@pytest.mark.parametrize("steps", [3, 5])
def test_vectors_go_through_a_few_steps_in_registers(steps: int) -> None:
    """The loop over channels goes outside the last few steps; what long vectors leave over runs in the shortest."""
    made = codegen.generate(DEPTHWISE.replace("TAPS", str(steps)))
    assert "vector S1.k by" in made.regions[0].plan and "product" not in made.regions[0].plan
    assert "one of the shortest at a time" in made.text


def test_elements_that_steps_read_elsewhere_stay_in_memory() -> None:
    """The target's array is read where steps may have written it: nothing is kept in registers, nor is that said."""
    own = DEPTHWISE.replace("TAPS", "3")
    (target,) = set(re.findall(r"(\w+)\[[^;=]*\+= ", own))
    (read,) = set(re.findall(r"\+= (\w+)\[", own))
    text = re.sub(rf"\+= {read}\[", f"+= {target}[", own)
    assert not any("in registers" in d.message for d in codegen.generate(text).remarks)
    assert any("in registers" in d.message for d in codegen.generate(own).remarks)
