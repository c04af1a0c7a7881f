"""What compilers say of generated code once they optimize, or with macros that make nothing of their arguments: nothing
that they do not say of its source."""

from __future__ import annotations

import os
import subprocess
from functools import cache

import pytest

from codegen.options import CppOptions, GenOptions
from codegen.pipeline import generate
from tests.compilers import with_openmp

STRICT = ("-std=gnu11", "-fopenmp", "-Wall", "-Wextra", "-Werror")
LEVELS = ("-O2", "-O3", "-O2 -march=skylake-avx512 -mprefer-vector-width=512", "-O3 -march=haswell")
SHORT = """\
double C[3], D[3];
float F[5];
void halves(int n, int m)
{
#pragma scop
  for (int t = 0; t < n; t++)
    for (int k = 0; k < m; k++)
      C[k] = C[k] * 0.5 + D[k];
#pragma endscop
}
void inside(int n, int m, float *out)
{
  float Q[5] = { 0 };
#pragma scop
  for (int t = 0; t < n; t++)
    for (int k = 0; k < m; k++)
      Q[k] = F[k] * 0.5f + Q[k];
#pragma endscop
  for (int k = 0; k < m; k++)
    out[k] = Q[k];
}
"""
TAPS = """\
void taps(int n, double *restrict y, const double *restrict x, const double w[3])
{
#pragma scop
  for (int t = 0; t < 1000; t++)
    for (int i = 0; i < n; i++)
      y[i] = y[i] * w[0] + x[i] * w[2];
#pragma endscop
}
"""
ROWS = """\
static double A[65][65];
void upper(double *x, double *y)
{
#pragma scop
  for (int i = 0; i < 65; i++)
    for (int j = i; j < 65; j++)
      y[i] += A[i][j] * x[j];
#pragma endscop
}
void last(double *x, double *y)
{
#pragma scop
  for (int i = 64; i < 65; i++)
    for (int j = 0; j < 65; j++)
      y[i] += A[i][j] * x[j];
#pragma endscop
}
void down(double *x, double *y)
{
#pragma scop
  for (int i = 0; i < 65; i++)
    for (int j = 0; j <= i; j++)
      y[j] += A[i][j] * x[i];
#pragma endscop
}
"""
NEED = "#ifdef CAREFUL\n#define need(x) ((void)0)\n#else\n#define need(x) ((void)(x))\n#endif\n"
NAMED = """\
void only(int n, float *x)
{
#pragma scop
  need(n);
  for (int i = 0; i < 100; i++)
    x[i] *= 2;
#pragma endscop
}
void each(int n, int m, float *x)
{
  int k, unread = n;
#pragma scop
  for (k = 0; k < m; k++) {
    need(unread > 2);
    x[k] = 1;
  }
#pragma endscop
}
"""


@cache
def made(source: str, machine: str) -> str:
    return generate("in.c", source, GenOptions(machine=machine)).text


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("compiler", with_openmp())
@pytest.mark.parametrize("machine", ["generic", "skylake-x"])
@pytest.mark.parametrize("source", [SHORT, ROWS, NEED + NAMED], ids=["short", "rows", "named"])
def test_nothing_is_said(source: str, machine: str, compiler: str, level: str) -> None:
    text = made(source, machine)
    assert "tilewright: region 2" in text
    words = [compiler, *STRICT, *level.split(), "-xc", "-c", "-", "-o", os.devnull]
    done = subprocess.run(words, input=text, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr


def test_vectors_are_no_longer_than_rows_along_which_they_run() -> None:
    text = made(SHORT, "skylake-x")
    assert "x8u" not in text and "x16u" not in text
    assert "vectors along i" in generate("in.c", TAPS, GenOptions(machine="skylake-x")).regions[0].summary


def test_what_a_macro_leaves_out_is_mentioned() -> None:
    """It may be another macro when it is compiled; and what stays in the source's text is used there."""
    text = generate("in.c", NEED + NAMED, GenOptions(cpp=CppOptions(args=("-DCAREFUL",)))).text
    assert "(void)n;" in text and "(void)unread;" in text
