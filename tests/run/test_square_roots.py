"""Square roots of whole vectors: correctly rounded, and errno is set as the source sets it."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from codegen.options import CppOptions, GenOptions
from codegen.pipeline import Generated, generate
from tests.compilers import with_openmp

SOURCE = """\
#include <math.h>
void plain(int n, double *restrict x, const double *restrict y)
{
#pragma scop
  for (int i = 0; i < n; i++)
    x[i] = sqrt(y[i]);
#pragma endscop
}
void within(int n, float *x, const float *y)
{
#pragma scop
  for (int i = 0; i < n; i++)
    x[i] = x[i] - 2 * sqrtf(y[i]);
#pragma endscop
}
void edges(int m, int n, float x[restrict m][n], float y[restrict m][n])
{
#pragma scop
  for (int t = 0; t < m; t++)
    for (int i = 1; i < n - 1; i++) {
      float d = y[t][i + 1] - y[t][i - 1], e = y[t][i];
      x[t][i] = sqrtf(d * d - e);
    }
#pragma endscop
}
void rows(int n, int m, double x[restrict n][m], double y[restrict n][m])
{
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++)
      x[i][j] = sqrt(sqrt(y[i][j + 1]) + y[i - 1][j]);
#pragma endscop
}
"""
DRIVER = """
#include <errno.h>
#include <stdio.h>
enum { N = 75, M = 13 };
static int same(double a, double b) { return a == b || (a != a && b != b); }
int main(void)
{
  static double x[N], y[N], u[M][N], v[M][N];
  static float f[N], g[N], h[N], k[N];
  for (int n = 0; n < N; n++)
    for (int low = -1; low < n; low += 1 + n / 9) {
      for (int i = 0; i < N; i++)
        y[i] = i % 5 ? 1.37 * i : __builtin_nan(""), x[i] = -7, f[i] = (float)i, g[i] = i % 4 ? 0.7f * f[i] : -0.0f;
      if (low >= 0)
        y[low] = -3, g[low] = -1e-30f;
      errno = 0;
      plain(n, x, y);
      if (errno != (low < 0 ? 0 : EDOM))
        return printf("errno %d for %d, %d\\n", errno, n, low), 1;
      errno = 0;
      within(n, f, g);
      if (errno != (low < 0 ? 0 : EDOM))
        return printf("errno %d for %d, %d of float\\n", errno, n, low), 2;
      errno = 0;
      for (int i = 0; i < N; i++)
        h[i] = k[i] = low < 0 ? (float)(i * i) : (float)i;
      edges(1, n, (void *)h, (void *)k);
      if (errno != (low < 0 || n < 7 ? 0 : EDOM))
        return printf("errno %d for %d with variables\\n", errno, n), 5;
      for (int i = 1; i < n - 1; i++) {
        volatile float d = k[i + 1] - k[i - 1], e = k[i], square = d * d, of = square - e;
        if (!same(sqrtf(of), h[i]))
          return printf("%d of %d: %a\\n", i, n, h[i]), 6;
      }
      for (int i = 0; i < N; i++) {
        volatile double a = y[i], root = i < n ? sqrt(a) : -7;
        volatile float b = g[i], part = i < n ? 2 * sqrtf(b) : 0;
        if (!same(root, x[i]) || !same(i - part, f[i]))
          return printf("%d of %d: %a %a\\n", i, n, x[i], f[i]), 3;
      }
    }
  for (int i = 0; i < M * N; i++)
    v[i / N][i % N] = i;
  errno = 0;
  rows(M, N, u, v);
  for (int i = 1; i < M - 1; i++)
    for (int j = 1; j < N - 1; j++) {
      volatile double a = v[i][j + 1], b = sqrt(a), c = b + v[i - 1][j];
      if (sqrt(c) != u[i][j])
        return 4;
    }
  return errno;
}
"""
STRICT = ("-std=gnu11", "-fopenmp", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror")


@cache
def made(machine: str = "generic", target: str = "openmp") -> Generated:
    return generate("in.c", SOURCE, GenOptions(machine=machine, target=target))


def _ran(words: list[str], text: str, folder: Path) -> int:
    (folder / "a.c").write_text(text + DRIVER)
    done = subprocess.run([*words, str(folder / "a.c"), "-o", str(folder / "a"), "-lm"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return subprocess.run([*_emulator(words[0]), str(folder / "a")], timeout=100).returncode


def _emulator(compiler: str) -> list[str]:
    cross = compiler.removesuffix("-gcc") if compiler.endswith("-gcc") else ""
    return [f"qemu-{cross.split('-')[0]}", "-L", f"/usr/{cross}"] if cross else []


@pytest.mark.parametrize("level", ["-O2", "-O3 -march=native", "-O2 -fno-math-errno -DNO_ERRNO"])
@pytest.mark.parametrize("compiler", with_openmp())
@pytest.mark.parametrize("target", ["c", "openmp"])
def test_roots_and_errno(target: str, compiler: str, level: str, tmp_path: Path) -> None:
    text = made(target=target).text
    assert "tw_f64v_root(" in text and "tw_f32v_root(" in text
    # clang 14 makes no vectors of three neighbours, with roots or without, and says so.
    words = [compiler, *STRICT, "-DTW_PARALLEL_MIN=40", "-Wno-unused-value", "-Wno-pass-failed", *level.split()]
    code = _ran(words, text, tmp_path)
    assert code == 0 or ("NO_ERRNO" in level and code == 1)


def test_roots_of_vectors_that_are_as_long_as_a_processor_has_them(tmp_path: Path) -> None:
    text = made("haswell").text
    assert "tw_f64x4u_root(" in text
    for more in ([], ["-mavx2", "-mfma"]):
        words = ["gcc", *STRICT, "-O2", *more, "-xc", "-c", "-", "-o", os.devnull]
        subprocess.run(words, input=text, text=True, check=True)


@pytest.mark.parametrize("compiler", ["aarch64-linux-gnu-gcc", "arm-linux-gnueabihf-gcc"])
def test_other_processors(compiler: str, tmp_path: Path) -> None:
    if not shutil.which(compiler) or not shutil.which(_emulator(compiler)[0]):
        pytest.skip("no compiler or emulator for it")
    assert _ran([compiler, *STRICT, "-O2"], made().text, tmp_path) == 0


def test_all_lanes_at_once() -> None:
    """The compiler has the instruction for vectors, and nothing is called but where a root is lost."""
    text = made(target="c").text.split("void within")[0] + "\n"
    done = subprocess.run(["gcc", "-O2", "-S", "-xc", "-", "-o", "-"], input=text, capture_output=True, text=True)
    assert done.returncode == 0
    if ".globl	plain" in done.stdout and "xmm" in done.stdout:
        assert "sqrtpd" in done.stdout


def test_the_report_follows_what_is_printed() -> None:
    """gcc and clang have no vectors of functions that may set errno."""
    assert [r.summary.rpartition("; vectors along ")[2] for r in made().regions] == ["i", "i", "i", "j"]
    for call in ("exp(y[i])", "pow(y[i], 3)", "y[i] > 0 ? sqrt(y[i]) : 0"):
        for target in ("c", "openmp"):
            found = generate("in.c", SOURCE.replace("sqrt(y[i])", call, 1), GenOptions(target=target))
            assert found.regions[0].transformed and "vectors" not in found.regions[0].summary
            first = found.text.split("void within")[0]
            assert "simd" not in first.split("void plain")[1] and "TW_SIMD" not in first.split("void plain")[1]
    for call in ("fabs(y[i])", "fmax(y[i], 1)", "floor(y[i])"):
        found = generate("in.c", SOURCE.replace("sqrt(y[i])", call, 1), GenOptions())
        assert "vectors along i" in found.regions[0].summary


def test_roots_in_loops_with_variables_are_taken_apart() -> None:
    """Compilers make vectors of the rest of such a loop, where the root is stored in an element of its type."""
    (apart,) = [x for x in made().text.split("\nvoid ") if x.startswith("edges")]
    assert "x[t][i] = d * d - e;" in apart and "tw_f32v_root(TW_F32V(x[t][i]))" in apart
    wider = SOURCE.replace("int m, int n, float x", "int m, int n, double x")
    assert "= d * d - e;" not in generate("in.c", wider, GenOptions()).text


def test_without_errno_compilers_make_the_vectors() -> None:
    options = GenOptions(cpp=CppOptions(args=("-fno-math-errno",)))
    found = generate("in.c", SOURCE, options)
    assert "vectors along i" in found.regions[0].summary and "_root(" not in found.text


@pytest.mark.parametrize("name", ["sqrt", "std::sqrt", "__builtin_sqrt"])
def test_roots_of_other_names(name: str) -> None:
    source = SOURCE.replace("math.h", "cmath").replace("sqrtf(", "std::sqrt(").replace("restrict", "__restrict")
    text = source.split("void rows")[0].replace("x[i] = sqrt(", f"x[i] = {name}(").split("void edges")[0]
    made = generate("in.cpp", text, GenOptions())
    assert [r.summary.endswith("vectors along i") for r in made.regions] == [True, True]
    words = ["g++", "-fopenmp", "-Wall", "-Wextra", "-Werror", "-xc++", "-c", "-", "-o", os.devnull]
    subprocess.run(words, input=made.text, text=True, check=True)
