"""Functions in the old style, `void f(a, n) double *a; int n; { }`: their parameters are parameters."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.compilers import quick

SOURCE = """#include <stdio.h>
#define N 40
static double A[N][N], x[N], y[N];
static float z[N];
int next(k) int k; { return k + 1; }
static int half(k)
  long k;
{
  return (int)(k / 2);
}
static void product(n, a, u, v)
  double (*a)[N];
  const double u[N];
  double *v;
  int n;
{
  int i, j;
#pragma scop
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      v[i] += a[i][j] * u[j];
#pragma endscop
}
static void shifted(n, m, f, v) register int n; short m; float f, *v;
{
#pragma scop
  for (int i = next(0); i < n; i++)
    v[i] = f * v[i] + (float)m + (float)half(i);
#pragma endscop
}
static int undeclared(n, v)
  double v[];
{
#pragma scop
  for (int i = 0; i < n - 1; i++)
    v[i] = v[i] * 0.5 + n;
#pragma endscop
  return n;
}
int main(void)
{
  for (int i = 0; i < N; i++) {
    x[i] = i % 7;
    z[i] = (float)i;
    for (int j = 0; j < N; j++)
      A[i][j] = (i * 7 + j) % 5;
  }
  product(37, A, x, y);
  shifted(37, 3, 0.25, z);
  undeclared(39, y);
  double sum = 0;
  for (int i = 0; i < N; i++)
    sum = sum * 0.9 + y[i] + z[i];
  printf("%.17g\\n", sum);
  return 0;
}
"""


def output(text: str, folder: Path) -> str:
    (folder / "x.c").write_text(text)
    flags = ("-O1", "-std=gnu11", "-w", "-fopenmp", "-ffp-contract=off", "-DTW_NO_FMA", "-DTW_PARALLEL_MIN=0")
    flags = (*flags, "-fsanitize=undefined,address", "-fno-sanitize-recover=all", *quick("gcc"))
    subprocess.run(["gcc", *flags, "-o", folder / "x", folder / "x.c"], check=True, timeout=60)
    env = {**os.environ, "OMP_NUM_THREADS": "3", "OMP_WAIT_POLICY": "passive"}
    return subprocess.run([folder / "x"], check=True, capture_output=True, text=True, timeout=60, env=env).stdout


@pytest.mark.parametrize("target", ["c", "openmp"])
def test_regions_are_transformed(target: str, tmp_path: Path) -> None:
    made = generate("old.c", SOURCE, GenOptions(target=target))
    assert [r.transformed for r in made.regions] == [True] * 3, [d.notes for d in made.diagnostics]
    assert output(made.text, tmp_path) == output(SOURCE, tmp_path)
