"""What compilers warned about in generated code, one source for each kind, at the levels where they see it."""
from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import codegen

COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
FLAGS = ("-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-c", "-o", "/dev/null")

# A value that nobody reads: the variable was set but not used.
UNREAD = """\
void f(int n, unsigned A[n][n])
{
#pragma scop
  for (int i = 0; i < n - 2; i++) {
    unsigned t = A[i + 2][i] * 6 % 101, u = t + 1;
    for (int j = 0; j < n; j++)
      A[i][j] /= 5;
    u += A[i][i];
  }
#pragma endscop
}
"""
# Tiles longer than the array: a first one apart, since one iteration is left out, would be followed by others.
SHORT = """\
void f(long n, signed char C[n][n], signed char A[15][15], signed char B[n][15])
{
#pragma scop
  for (long i = 0; i < n; i++)
    for (long k = 0; k < n; k++)
      for (long j = 0; j < n; j++)
        if (k != 2)
          C[j][n - 1 - i] |= A[k][i] & B[k][0];
#pragma endscop
}
"""
GLOBAL = """\
enum { N = 5 };
static double a[N + 1][N], b[N + 1][N];
double *g(void) { return &a[0][0]; }
void f(int n, int steps)
{
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n; i++)
      for (int j = 1; j < n - 1; j++)
        b[i][j] = a[i][j - 1] + a[i][j + 1] + a[i - 1][j] + a[i + 1][j];
    for (int i = 1; i < n; i++)
      for (int j = 1; j < n - 1; j++)
        a[i][j] = b[i][j];
  }
#pragma endscop
}
"""
# Half of a product into rows that lie anywhere, so that no tile is worked on in place.
HALF = """\
void f(int n, float **C, float A[n][n], float B[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
# Fewer columns than a sliver has: none is ever full.
FEW = """\
void f(int n, short C[n][3], short A[n][n], short B[n][3])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] <= B[k][j];
#pragma endscop
}
"""
# A choice by bits, from an `if` that had parentheses of its own.
BITS = """\
void f(int n, int *restrict a, const int *restrict b)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    int t = a[i];
    if (b[i] | (b[i + 1] <= t)) t = b[i] | b[i + 1];
    a[i] = t;
  }
#pragma endscop
}
"""
# Vectors along a loop around another one, and of calls: clang was told to make them, and said that it had not.
AROUND = """\
#include <math.h>
void f(const double c[100], const double x[100], double p[100])
{
#pragma scop
  for (int i = 0; i < 100; i++) {
    p[i] = c[99];
    for (int k = 98; k >= 0; k--)
      p[i] = p[i] * x[i] + c[k];
  }
  for (int i = 0; i < 100; i++)
    p[i] = sqrt(p[i]) / 3;
#pragma endscop
}
"""
# Vectors longer than the processor's, turned around: functions on them have no ABI.
TURNED = """\
void f(int n, float *restrict x, float *restrict y)
{
#pragma scop
  for (int i = 0; i < n; i++)
    y[i] = x[n - 1 - i] > 0 ? x[n - 1 - i] : 2 * y[i];
#pragma endscop
}
"""
# A condition that is computed in two parts of the code and read in one of them.
DECIDED = """\
void f(int n, int m, signed char B[n + 23][m + 22])
{
#pragma scop
  for (int i = 0; i <= (n - 2) / 2; i++)
    for (int j = i; n > j; j += 2)
      if ((m - (3 * i + j) + 1) % (n + 5) > n - i - 2)
        for (int k = 0; k < i; k++)
          B[k + 3][j + 2] = B[i][i] * (j + k);
#pragma endscop
}
"""
# One element in two spellings, compared with itself.
ITSELF = """\
void f(int n, int a[n], int *restrict b)
{
#pragma scop
  for (int i = 1; i < n; i++)
    b[i] = a[i] > a[(i - 1) + 1] ? 7 - i : 7 - i <= 7 - ((i + 1) - 1);
#pragma endscop
}
"""
# A loop that keeps a value runs at least once, by the type of its bound.
UNSIGNED = """\
void f(unsigned m, int *A)
{
#pragma scop
  for (long i = 0; i <= m; i++)
    *A = *A % 101 * (i % 2) + 9;
#pragma endscop
}
"""
# Threads in turn, each with a counter that no statement needs.
TURN = """\
void f(long m, short *restrict B, short s)
{
#pragma scop
  for (int i = 1; i <= 3; i++)
    for (long j = 0; j < m + 2; j++)
      B[j] -= s;
#pragma endscop
}
"""
# Rows of a matrix from the last to the first: their distance is negative.
BACKWARDS = """\
void f(long m, double y[16], double A[15][16], double x[16])
{
#pragma scop
  for (long i = 0; i < 16; i++)
    for (long j = m - 1; j >= 0; j--)
      y[i] += A[j][i] * x[j];
#pragma endscop
}
"""
# Vectors wider than the registers that compilers may use, in a product that chooses.
WIDE = """\
void f(int n, long C[n][n], long A[n][n], long B[n][n], signed char D[n][n], signed char E[n][n], signed char F[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] = C[i][j] > A[i][k] + B[k][j] ? C[i][j] : A[i][k] + B[k][j];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        D[i][j] += E[i][k] / F[k][j];
#pragma endscop
}
"""
# Several vectors at a time, or a whole sliver, which rows of a fixed length never have.
ROWS = """\
void f(int n, int C[15][17][15])
{
#pragma scop
  for (int j = 1; j < n - 1; j++)
    for (int c = 3; c < n; c++)
      for (int it = 0; it < n; it++)
        for (int i = 0; i < n; i++)
          C[c][j + 2][it] -= 3;
#pragma endscop
}
"""
SLIVERS = """\
void f(long n, long m, unsigned char C[n][7], unsigned char A[n][n], unsigned char B[n][7])
{
#pragma scop
  for (long i = 0; i < n; i++)
    for (long j = 0; j < m; j++)
      for (long k = 0; k < n; k++)
        C[i][j] += A[i][k] - B[k][j];
#pragma endscop
}
"""
# A counter that becomes a number, compared with an element that has only two values.
TRUTH = """\
#include <stdbool.h>
void f(bool *restrict a, const bool *restrict b)
{
#pragma scop
  for (int i = 1; i < 2; i++)
    a[i] = (3 * i + 6 > b[i] ? b[i + 1] : b[i]) && 9 != b[i];
#pragma endscop
}
"""
SOURCES = {
    "unread": UNREAD, "short": SHORT, "global": GLOBAL, "half": HALF, "few": FEW, "bits": BITS, "around": AROUND,
    "turned": TURNED, "decided": DECIDED, "itself": ITSELF, "unsigned": UNSIGNED, "backwards": BACKWARDS, "wide": WIDE,
    "rows": ROWS, "slivers": SLIVERS, "truth": TRUTH,
}
MACHINES = {"wide": {"machine": "skylake-x", "isa": "generic"}}
PLANS = {
    "turned": "region 1\n  vector S1.i by 2 of 64 bytes\n",
    "unsigned": "region 1\n  scalar_replace S1.i\n",
}


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("target", ["c", "openmp"])
def test_nothing_to_warn_of(name: str, target: str, tmp_path: Path) -> None:
    where = MACHINES.get(name, {})
    made = codegen.generate(SOURCES[name], name=f"{name}.c", target=target, plan=PLANS.get(name), **where)
    assert all(r.transformed for r in made.regions), made.diagnostics
    path = tmp_path / f"{name}.c"
    path.write_text(made.text, encoding="utf-8")
    for compiler in COMPILERS:
        for flags in (("-std=c11", "-O3", "-Wpedantic"), ("-std=gnu99", "-O2")):
            words = [compiler, *flags, *FLAGS, str(path)]
            done = subprocess.run(words, text=True, capture_output=True, check=False)
            assert done.returncode == 0, done.stderr


def test_a_turn_without_its_counter() -> None:
    plan = "region 1\n  pipeline S1.i along S1.j\n"
    text = codegen.generate(TURN, name="turn.c", plan=plan).text
    assert "i_turn" in text and "const tw_index i " not in text


def test_sizes_beyond_the_array_have_no_code() -> None:
    """n is at most 5 where the source means anything: no tile, no second half."""
    text = codegen.generate(GLOBAL, name="g.c", target="c").text
    assert "/* tiles" not in text


def test_what_is_read_on_some_path_only_says_nothing() -> None:
    """`b` is read where `a` is positive: its size tells nothing about n."""
    text = codegen.generate("""\
static double b[5];
double *g(void) { return b; }
void f(int n, double *restrict a)
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = a[i] > 0 ? b[i] : 1;
#pragma endscop
}
""", name="g.c", target="c").text
    assert "i < n" in text or "i <= n" in text
