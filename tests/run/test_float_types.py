"""`_Float64` is no `double`: to alias analysis neither points to the other, so kernels for one work on copies of the
other's elements, or there are none."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate

SOURCE = """\
#include <stdio.h>
typedef TYPE real;
void product(int n, real A[n][n], real B[n][n], real C[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
void sweep(int n, real A[n][n], real x[n], real y[n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      y[i] = y[i] + A[i][j] * x[j];
#pragma endscop
}
static real A[70][70], B[70][70], C[70][70];
int main(void)
{
  for (int i = 0; i < 70; i++)
    for (int j = 0; j < 70; j++)
      A[i][j] = i * j % 7, B[i][j] = (i + j) % 5, C[i][j] = i;
  product(70, A, B, C);
  sweep(70, C, A[3], B[4]);
  for (int i = 0; i < 70; i++)
    printf("%g %g ", (double)B[4][i], (double)C[i][69 - i]);
}
"""


def printed(text: str, words: list[str], folder: Path) -> str:
    (folder / "x.c").write_text(text, encoding="utf-8")
    subprocess.run(["gcc", "-O2", "-Wall", "-Werror", *words, "x.c", "-o", "x"], cwd=folder, check=True)
    return subprocess.run(["./x"], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("type", ["_Float64", "_Float32", "_Float32x"])
def test_types_that_are_others_to_compilers(type: str, tmp_path: Path) -> None:
    source = SOURCE.replace("TYPE", type)
    made = generate("x.c", source, GenOptions(target="c"))
    assert all(r.transformed for r in made.regions) and "blocked product" in made.regions[0].summary
    assert "tw_in_place" not in made.text and "no-product" in [d.id for d in made.diagnostics]
    assert printed(made.text, [], tmp_path) == printed(source, ["-Wno-unknown-pragmas"], tmp_path)


def test_names_for_the_usual_types() -> None:
    made = generate("x.c", SOURCE.replace("TYPE", "double"), GenOptions(target="c"))
    assert "tw_in_place" in made.text and "no-product" not in [d.id for d in made.diagnostics]
