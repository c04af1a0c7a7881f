"""Pipelines whose last stage runs other statements than those before it: a triangular solve in blocks."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate

SOLVE = """\
void f(int n, double L[n][n], double x[n], double b[n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    x[i] = b[i];
    for (int j = 0; j < i; j++)
      x[i] -= L[i][j] * x[j];
    x[i] = x[i] / L[i][i];
  }
#pragma endscop
}
"""
PLAN = """\
region 1
  block ib = {S2: i; S3: i} by 4 split {S2: j}
  block jb = {S4: j} by 4
  schedule {
    loop i { S1 }
    loop ib, jb = {S2: ib; S3: ib; S4: jb} {
      loop i, j { S4 }
      loop j = {S2: j; S3: i} {
        S3
        loop i { S2 }
      }
    }
  }
  pipeline S3.ib along S3.jb
"""
MAIN = """
#include <stdio.h>
#include <string.h>
static double L[50 * 50], x[50], y[50], b[50];
int main(void)
{
  for (int n = 0; n < 50; n++) {
    for (int k = 0; k < n * n; k++)
      L[k] = k * k % 7 + 1;
    for (int k = 0; k < 50; k++)
      b[k] = k % 5, x[k] = y[k] = -1;
    f(n, (void *)L, x, b);
    g(n, (void *)L, y, b);
    if (memcmp(x, y, sizeof x))
      return printf("n = %d\\n", n), 1;
  }
  return 0;
}
"""


def planned(target: str = "openmp", source: str = SOLVE) -> str:
    return generate("in.c", source, replace(GenOptions(), plan_text=PLAN, target=target)).text


def test_the_last_stage_is_one_of_the_loop() -> None:
    text = planned()
    loop = re.search(r"for \(tw_index jb = 0; jb <= ib; jb\+\+\) \{[^\n]*\n(.*)\n(.*)\n", text)
    assert loop and "tw_follow(tw_line, ib_turn, jb);" in loop[1] and "if (jb < ib)" in loop[2]
    assert text.count("tw_reach(tw_line, jb);") == 1


def _runs_as_written(folder: Path, source: str, main: str = MAIN) -> None:
    plain = re.sub("#pragma.*", "", source).replace("void f(", "static void g(")
    (folder / "t.c").write_text(planned(source=source) + plain + main)
    flags = ["-O2", "-Wall", "-Wextra", "-Werror", "-fopenmp", "-ffp-contract=off", "-DTW_PARALLEL_MIN=0"]
    subprocess.run(["cc", *flags, "-o", folder / "t", folder / "t.c"], check=True)
    for threads in ("1", "2", "3", "7"):
        ran = subprocess.run([folder / "t"], capture_output=True, text=True, env={"OMP_NUM_THREADS": threads})
        assert ran.returncode == 0, ran.stdout


def test_any_number_of_threads(tmp_path: Path) -> None:
    _runs_as_written(tmp_path, SOLVE)


@pytest.mark.parametrize(
    ("first", "test", "loop"),
    [
        ("p", "", "jb = tw_min(tw_floord(p, 4), ib); jb <= ib;"),  # there may be a last stage and none before it
        ("3", "if (i > p) ", "jb = 0; jb <= ib;"),  # one pipeline behind the other, or behind an `else` alone
    ],
)
def test_bounds_by_a_parameter(tmp_path: Path, first: str, test: str, loop: str) -> None:
    source = SOLVE.replace("int n,", "int n, int p,").replace("j = 0", f"j = {first}")
    source = source.replace("x[i] = x[i] /", f"{test}x[i] = x[i] /")
    assert loop in planned(source=source)
    main = MAIN.replace("for (int n", "for (int p = 0; p < 50; p += 5)\n  for (int n").replace("(n, (", "(n, p, (")
    _runs_as_written(tmp_path, source, main)


def test_nothing_waits_on_one_thread() -> None:
    assert "tw_follow" not in planned("c")
