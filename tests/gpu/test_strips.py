"""Stencils: a thread computes several neighbours, and launches of a loop follow each other at once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.corpus import KERNELS
from tests.gpu.programs import build, needs_cxx

SOURCE = """#include <stdio.h>
#include <stdlib.h>
static void f(int t, int n, int m, double A[n][m], double B[n][m])
{
#pragma scop
  for (int s = 0; s < t; s++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        A[i][j] = 2 * B[i][j];
  }
#pragma endscop
}
int main(int argc, char **argv)
{
  int t = atoi(argv[1]), n = atoi(argv[2]), m = atoi(argv[3]), all = n * m;
  double *A = malloc(8 * all + 8), *B = malloc(8 * all + 8), sum = 0;
  for (int k = 0; k < all; k++)
    A[k] = k * 7 % 23 * 0.37, B[k] = k % 5;
  f(t, n, m, (void *)A, (void *)B);
  for (int k = 0; k < all; k++)
    sum = sum * 0.99 + A[k] + B[k];
  printf("%.17g %d\\n", sum, argc);
  return 0;
}
"""


def test_strips_where_neighbours_read_the_same() -> None:
    """The second statement reads nothing that another iteration reads."""
    made = generate("f.c", SOURCE, GenOptions(target="cuda", stem="f"))
    assert "tile S1.i:4\n  order S1.it, S1.j, S1.i\n  grid S1.it:4, S1.j:64\n  grid S2.i:4, S2.j:64" in made.plan
    text = made.extra.file(".tw.cu")
    assert text.count("TW_STRIP(4)") == 1 and (
        "for (tw_int i = it; i < tw_narrow_min<tw_int>((tw_int)n - 1, it + 4); i++)" in text
    )
    assert "tw_count_y = ((long)n + 1) / 4;" in text  # threads for strips, not for points


def test_strips_in_three_dimensions() -> None:
    """Shorter, and in narrower blocks: fewer planes are under way."""
    path = KERNELS / "heat-3d.c"
    plan = generate(str(path), path.read_text(), GenOptions(target="cuda", stem="f")).plan
    assert "tile S1.i:2\n  order S1.it, S1.j, S1.k, S1.i\n  grid S1.it:1, S1.j:4, S1.k:32" in plan


def test_steps_wait_for_each_other() -> None:
    """Every kernel that may start early begins by waiting, and none does that is launched once."""
    text = generate("f.c", SOURCE, GenOptions(target="cuda", stem="f")).extra.file(".tw.cu")
    kernels = text.split("static __global__ void ")[1:]
    assert [k.partition("{")[2].split()[0] for k in kernels] == ["TW_STEP;"] * 3
    launches = re.findall(r"TW_LAUNCH(\w*)\(\s*(?:TW_NARROW\()?(f_r1_\d)", text)
    tiles = [("_STEP_SHARED", "f_r1_1")] * 2  # several iterations at once, there and back
    assert launches == [*tiles, ("_STEP", "f_r1_1"), ("_STEP", "f_r1_2")]
    once = SOURCE.replace("for (int s = 0; s < t; s++) {", "{ (void)t;")
    assert "TW_STEP" not in generate("f.c", once, GenOptions(target="cuda", stem="f")).extra.file(".tw.cu")


@pytest.mark.parametrize("target", ["hip", "opencl"])
def test_other_interfaces(target: str) -> None:
    made = generate("f.c", SOURCE, GenOptions(target=target, stem="f"))
    assert all(r.transformed for r in made.regions)
    assert "cudaLaunch" not in "".join(text for ending, text in made.extra.files)


@needs_cxx
def test_results(tmp_path: Path, emulator: Path) -> None:
    built = build("stencil", tmp_path, emulator, SOURCE)
    for sizes in ((2, 11, 70), (1, 6, 7), (3, 3, 3), (1, 2, 5), (0, 9, 9)):
        built.agree(*sizes)
