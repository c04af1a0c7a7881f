"""The sizes of tiles over time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codegen.machine import load
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.plan.model import Tile
from codegen.region_model import model_region
from codegen.source_file import open_source
from codegen.strategy.planner import default_plan

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


POINTS = "A[i - 1][j][k] + A[i + 1][j][k] + A[i][j - 1][k] + A[i][j + 1][k] + A[i][j][k - 1] + A[i][j][k + 1]"
HEAT = f"""
void f(int steps, int n, double A[n][n][n], double B[n][n][n])
{{
#pragma scop
  for (int t = 0; t < steps; t++) {{
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++)
          B[i][j][k] = {POINTS};
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++)
          A[i][j][k] = {POINTS.replace("A", "B")};
  }}
#pragma endscop
}}
"""


@pytest.mark.parametrize(("cores", "steps"), [(2, 4), (12, 4), (16, 2)])
def test_a_line_of_many_threads_has_room_between_planes(cores: int, steps: int) -> None:
    """Each is two planes a step behind the one before it."""
    model = model_region(open_source("f.c", HEAT, GenOptions()).slices[0], GenOptions())
    assert model is not None
    plan = default_plan(model.program, replace(load("generic"), cores=cores)).plan
    assert [n for d in plan.directives if isinstance(d, Tile) for _, n in d.loops][:3] == [steps, 2, 128]
