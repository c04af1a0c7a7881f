"""The sizes of tiles over time."""

from __future__ import annotations

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate

YEE = """
void f(int steps, int n, int m, {real} ex[n][m], {real} ey[n][m], {real} hz[n][m])
{{
#pragma scop
  for (int t = 0; t < steps; t++) {{
    for (int i = 1; i < n; i++)
      for (int j = 0; j < m; j++)
        ey[i][j] -= hz[i][j] - hz[i - 1][j];
    for (int i = 0; i < n; i++)
      for (int j = 1; j < m; j++)
        ex[i][j] -= hz[i][j] - hz[i][j - 1];
    for (int i = 0; i < n - 1; i++)
      for (int j = 0; j < m - 1; j++)
        hz[i][j] -= ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j];
  }}
#pragma endscop
}}
"""


@pytest.mark.parametrize(
    ("real", "tiles"),
    [
        # Three arrays of doubles: eight rows of 128 would fill more than 60 % of 32 KiB, so rows are shorter.
        ("double", "tiles t:8 t_i:8 t_j:96"),
        ("float", "tiles t:12 t_i:12 t_j:128"),
    ],
)
def test_rows_shorter_rather_than_in_the_second_cache(real: str, tiles: str) -> None:
    assert tiles in generate("f.c", YEE.format(real=real), GenOptions()).text
