"""Triangular solves in blocks: few commands, all tiles in local memory, and the order of the source."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.cli.main import main
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.sunway.emulation.predict import model_program, predict

COLUMNS = """void f(int n, int m, double L[n][n], double B[n][m]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      for (int k = 0; k < i; k++)
        B[i][j] -= L[i][k] * B[k][j];
      B[i][j] /= L[i][i];
    }
#pragma endscop
}
"""
ROWS = """void f(int n, int m, float L[n][n], float B[m][n]) {
#pragma scop
  for (int j = 0; j < m; j++)
    for (int i = 0; i < n; i++) {
      for (int k = 0; k < i; k++)
        B[j][i] -= L[i][k] * B[j][k];
      B[j][i] *= L[i][i];
    }
#pragma endscop
}
"""
# Rows that come later are needed as they were: that is a product with a triangle, which is no solve.
PRODUCT = COLUMNS.replace("k = 0; k < i;", "k = i + 1; k < n;").replace("B[i][j] /= ", "B[i][j] *= ")
# From the last row on; the sum begins with the rows next to it, which are not there before the block is solved.
BACKWARDS = PRODUCT.replace("int i = 0; i < n; i++", "int i = n - 1; i >= 0; i--")


@pytest.mark.parametrize("source", [COLUMNS, ROWS], ids=["columns", "rows"])
@pytest.mark.parametrize("machine", ["sw26010-cpe", "sw26010-pro-cpe"])
def test_results_agree(tmp_path: Path, source: str, machine: str) -> None:
    path = tmp_path / "f.c"
    path.write_text(source)
    assert main(["check", "--target", "sunway", "--machine", machine, "--scheme", "launch", str(path)]) == 0


@pytest.mark.parametrize(("source", "blocks"), [(COLUMNS, True), (ROWS, True), (PRODUCT, False), (BACKWARDS, False)])
def test_what_is_a_solve(source: str, blocks: bool) -> None:
    made = generate("f.c", source, GenOptions(target="sunway", stem="f", scheme="launch"))
    assert made.regions[0].transformed and ("  block ib" in made.regions[0].plan) == blocks
    if blocks:
        assert "stays in main memory" not in made.extra.report


def test_permission_is_enough_for_the_last_row_first() -> None:
    free = GenOptions(target="sunway", stem="f", scheme="launch", reassociate=True)
    assert generate("f.c", BACKWARDS, free).regions[0].transformed


def test_few_commands(tmp_path: Path, library: Path) -> None:
    """86,224 before for 60 x 60, and one core at work."""
    path = tmp_path / "f.c"
    path.write_text(COLUMNS)
    program = model_program(str(path), GenOptions(), tmp_path, library)
    small, large = (predict(program, {"n": n, "m": n}) for n in (60, 300))
    assert small.counts["gets"] < 50 and small.seconds < 0.0003
    assert large.counts["gets"] < 2000 and large.seconds < 0.004
