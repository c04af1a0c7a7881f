"""Loops of a few fixed iterations, which compilers write out, are products only from where packing pays; and threads
leave the order of loops in which arrays lie in memory."""

from __future__ import annotations

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


def test_threads_do_not_make_a_loop_jump_through_memory() -> None:
    plan = codegen.generate(NORMALISED).regions[0].plan
    assert "parallel S1.i" in plan and "order" not in plan
