"""Generated code where `long` has 32 bits: the same results and no warnings. ARM and x86 of 32 bits run it, and so does
the data model of 64-bit Windows, in a program for this machine; for RISC-V of 32 bits it is compiled."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate

SOURCE = """\
#include <stddef.h>
void product(int n, int m, int p, double C[n][m], double A[n][p], double B[p][m])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < p; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
void vector(long n, long m, double A[n][m], const double *x, double *y)
{
#pragma scop
  for (long i = 0; i < n; i++)
    for (long j = 0; j < m; j++)
      y[i] += A[i][j] * x[j];
#pragma endscop
}
void flat(size_t n, size_t m, float *a, const float *b)
{
#pragma scop
  for (size_t i = 1; i < n; i++)
    for (size_t j = 0; j + 1 < m; j++)
      a[i * m + j] = a[(i - 1) * m + j] + b[i * m + j + 1];
#pragma endscop
}
void steps(int t, int n, double *u, double *v)
{
#pragma scop
  for (int s = 0; s < t; s++) {
    for (int i = 1; i < n - 1; i++)
      v[i] = u[i - 1] + u[i + 1] - u[i];
    for (int i = 1; i < n - 1; i++)
      u[i] = v[i];
  }
#pragma endscop
}
long count(long n, const int *a, long *b)
{
  long s = 0;
#pragma scop
  for (long i = 0; i < n; i++) {
    b[i] = 3 * b[i] + a[i];
    s += (long)a[i] * 2;
  }
#pragma endscop
  return s;
}
void lookup(int n, const unsigned char *to, int *h, const long *w)
{
#pragma scop
  for (int i = 0; i < n; i++)
    h[to[i]] += (int)w[i];
#pragma endscop
}
void lower(int n, double L[n][n], double *x)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++)
      x[i] -= L[i][j] * x[j];
    x[i] = x[i] / L[i][i];
  }
#pragma endscop
}
"""
NAMES = ("product", "vector", "flat", "steps", "count", "lookup", "lower")
DRIVER = """\
enum { N = 45 };
static double a[N][N], b[N][N], c[2][N][N], x[N], y[2][N], u[2][N], v[2][N], l[N][N], z[2][N];
static float f[2][N * N], g[N * N];
static int k[N], h[2][256];
static long w[2][N];
static unsigned char to[N];
static unsigned seed = 7;
static int next(void) { return (int)((seed = seed * 1103515245u + 12345u) >> 20) % 7 - 3; }
int run(void);
int run(void)
{
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) {
      a[i][j] = next(), b[i][j] = next(), c[0][i][j] = c[1][i][j] = next();
      f[0][i * N + j] = f[1][i * N + j] = (float)next(), g[i * N + j] = (float)next();
      l[i][j] = i == j ? 2 : next() * 0.25;
    }
    x[i] = next(), y[0][i] = y[1][i] = next(), u[0][i] = u[1][i] = next(), v[0][i] = v[1][i] = next();
    z[0][i] = z[1][i] = next(), k[i] = next(), w[0][i] = w[1][i] = next(), to[i] = (unsigned char)(next() + 3);
  }
  int wrong = 0;
  product(N, N - 1, N - 2, (void *)c[0], (void *)a, (void *)b);
  was_product(N, N - 1, N - 2, (void *)c[1], (void *)a, (void *)b);
  vector(N, N, a, x, y[0]), was_vector(N, N, a, x, y[1]);
  flat(N, N - 3, f[0], g), was_flat(N, N - 3, f[1], g);
  steps(5, N, u[0], v[0]), was_steps(5, N, u[1], v[1]);
  wrong |= count(N, k, w[0]) != was_count(N, k, w[1]);
  lookup(N, to, h[0], w[0]), was_lookup(N, to, h[1], w[1]);
  lower(9, (void *)l, z[0]), was_lower(9, (void *)l, z[1]);
  wrong |= 2 * !!__builtin_memcmp(c[0], c[1], sizeof c[0]) + 4 * !!__builtin_memcmp(y[0], y[1], sizeof y[0]);
  wrong |= 8 * !!__builtin_memcmp(f[0], f[1], sizeof f[0]) + 16 * !!__builtin_memcmp(u[0], u[1], sizeof u[0]);
  wrong |= 32 * !!__builtin_memcmp(w[0], w[1], sizeof w[0]) + 64 * !!__builtin_memcmp(h[0], h[1], sizeof h[0]);
  return wrong | 128 * !!__builtin_memcmp(z[0], z[1], sizeof z[0]);
}
"""
ALONE = """\
void *malloc(size_t n);
void *malloc(size_t n)
{
  static _Alignas(64) char room[1 << 22];
  static size_t used;
  used += (n + 63) / 64 * 64;
  return used > sizeof room ? 0 : room + used - (n + 63) / 64 * 64;
}
void free(void *p);
void free(void *p) { (void)p; }
void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
  for (size_t i = 0; i < n; i++)
    ((volatile char *)to)[i] = ((const char *)from)[i];
  return to;
}
void *memset(void *to, int x, size_t n);
void *memset(void *to, int x, size_t n)
{
  for (size_t i = 0; i < n; i++)
    ((volatile char *)to)[i] = (char)x;
  return to;
}
int memcmp(const void *a, const void *b, size_t n);
int memcmp(const void *a, const void *b, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (((const unsigned char *)a)[i] != ((const unsigned char *)b)[i])
      return 1;
  return 0;
}
"""
EXIT_32 = """\
void _start(void);
__attribute__((force_align_arg_pointer)) void _start(void)
{
  const int code = run();
  __asm__ volatile("int $0x80" : : "a"(1), "b"(code));
}
"""
MAIN = "int main(void) { return run(); }\n"
STRICT = ("-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas")


@cache
def program(target: str) -> str:
    """The generated functions, those of the source under other names, and what compares them."""
    text = generate("in.c", SOURCE, GenOptions(target=target)).text
    was = re.sub(r"#pragma (?:end)?scop\n", "", SOURCE)
    for name in NAMES:
        was = re.sub(rf"\b{name}\(", f"was_{name}(", was)
    assert text.count("tw_index i") >= 7
    return text + was + DRIVER


def built(words: list[str], text: str, folder: Path) -> Path:
    (folder / "a.c").write_text(text)
    end = ["-lgcc"] if "-nostdlib" in words else []
    done = subprocess.run([*words, str(folder / "a.c"), "-o", str(folder / "a"), *end], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return folder / "a"


@pytest.mark.parametrize("level", ["-O1", "-O3"])
def test_arm_of_32_bits(level: str, tmp_path: Path) -> None:
    compiler, qemu = "arm-linux-gnueabihf-gcc", shutil.which("qemu-arm") or shutil.which("qemu-arm-static")
    if not shutil.which(compiler) or qemu is None:
        pytest.skip("no compiler and emulator of ARM")
    words = [compiler, *STRICT, "-fopenmp", level, "-march=armv7-a", "-mfpu=neon", "-ffp-contract=off"]
    made = built(words, program("openmp") + MAIN, tmp_path)
    assert subprocess.run([qemu, "-L", "/usr/arm-linux-gnueabihf", str(made)], timeout=100).returncode == 0


@pytest.mark.parametrize("level", ["-O1", "-O3"])
def test_x86_of_32_bits(level: str, tmp_path: Path) -> None:
    """Without a library: few machines have one for this."""
    compiler, qemu = "i686-linux-gnu-gcc", shutil.which("qemu-i386") or shutil.which("qemu-i386-static")
    if not shutil.which(compiler) or qemu is None:
        pytest.skip("no compiler and emulator of x86 with 32 bits")
    words = [compiler, *STRICT, level, "-msse2", "-mfpmath=sse", "-ffreestanding", "-nostdlib", "-static"]
    made = built([*words, "-fno-builtin"], program("c") + ALONE + EXIT_32, tmp_path)
    assert subprocess.run([qemu, str(made)], timeout=100).returncode == 0


def test_64_bits_with_a_short_long(tmp_path: Path) -> None:
    """Windows: the code of its data model is linked and run here, where that is x86-64."""
    if not shutil.which("clang") or platform.machine() != "x86_64" or platform.system() != "Linux":
        pytest.skip("clang on Linux for x86-64 is needed")
    alone = ("-ffreestanding", "-fno-builtin", "-mno-stack-arg-probe")
    words = ["clang", "--target=x86_64-w64-windows-gnu", *STRICT, "-O2", *alone, "-S", "-emit-llvm"]
    made = built(words, f"_Static_assert(sizeof(long) == 4, \"\");\n{program('c')}", tmp_path).read_text()
    empty = ["clang", "-xc", "-S", "-emit-llvm", os.devnull, "-o", "-"]
    here = subprocess.run(empty, capture_output=True, text=True)
    head = "\n".join(x for x in here.stdout.split("\n") if x.startswith("target "))
    (tmp_path / "b.ll").write_text(f"{head}\n" + re.sub(r"^target .*\n", "", made, flags=re.M))
    (tmp_path / "main.c").write_text(f"int run(void);\n{MAIN}")
    parts = [str(tmp_path / name) for name in ("b.ll", "main.c")]
    done = subprocess.run(["clang", "-w", *parts, "-o", str(tmp_path / "b")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert subprocess.run([str(tmp_path / "b")], timeout=100).returncode == 0


@pytest.mark.parametrize("machine", ["riscv32", "armv7-linux-gnueabihf", "i686-linux-gnu", "x86_64-w64-windows-gnu"])
def test_clang_says_nothing(machine: str, tmp_path: Path) -> None:
    if not shutil.which("clang"):
        pytest.skip("no clang")
    words = ["clang", f"--target={machine}", *STRICT, "-O1", "-ffreestanding", "-c"]
    built(words, program("c"), tmp_path)
