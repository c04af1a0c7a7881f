"""Macros that the compiler sees otherwise than the generator did: the source's result, or an error; never another."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import codegen
from codegen.checking.compare import check
from codegen.options import CppOptions, GenOptions
from codegen.pipeline import generate
from tests.compilers import with_openmp

HEAD = """#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#ifndef N
#define N 40
#endif
#ifndef ALPHA
#define ALPHA 1.5
#endif
#ifdef DOWN
#define AT(i) (39 - (i))
#else
#define AT(i) (i)
#endif
#define HALF (ALPHA / 2)
#define ABS(x) ((x) < 0 ? -(x) : (x))
static double a[100], b[100];
int main(void)
{
  for (int i = 0; i < 100; i++)
    a[i] = i % 7 - 3;
#pragma scop
"""
TAIL = """#pragma endscop
  double s = 0;
  for (int i = 0; i < 100; i++)
    s += b[i] * (i + 1);
  printf("%.9g\\n", s);
  return 0;
}
"""


def _generated(folder: Path, text: str, *args: str) -> str:
    path = folder / "in.c"
    path.write_text(text)
    return generate(str(path), text, GenOptions(target="c", cpp=CppOptions(args=args))).text


def _run(folder: Path, text: str, compiler: str, *flags: str) -> tuple[str, str]:
    """What the program prints, and what the compiler says of it."""
    path = folder / "out.c"
    path.write_text(text)
    words = [compiler, "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Wno-unknown-pragmas", *flags, str(path),
             "-o", str(folder / "out"), "-lm"]  # fmt: skip
    said = subprocess.run(words, capture_output=True, text=True)
    if said.returncode:
        return "", said.stderr
    return subprocess.run([str(folder / "out")], capture_output=True, text=True, check=True).stdout, said.stderr


def _stops(folder: Path, body: str, flag: str, words: str, *given: str) -> None:
    """The result compiles cleanly as it was generated, and with `flag` not at all, in these words."""
    text = HEAD + body + TAIL
    out = _generated(folder, text, *given)
    for compiler in with_openmp():
        plain = _run(folder, out, compiler, *given)
        assert plain == (_run(folder, text, compiler, "-D__TILEWRIGHT__", *given)[0], "") and plain[0]
        assert words in _run(folder, out, compiler, flag)[1].replace("\\'", "'")


BAKED = "when this was generated: run tilewright gen in.c with the compiler's macros"
FLAT = "  for (int i = 0; i < 10; i++)\n    for (int j = 0; j < N / 8; j++)\n      b[i * (N / 8) + j] = a[j];\n"


def test_integers_that_shape_the_loops(tmp_path: Path) -> None:
    _stops(tmp_path, FLAT, "-DN=48", f"N was 40 {BAKED}")


def test_integers_of_the_command_line(tmp_path: Path) -> None:
    _stops(tmp_path, FLAT, "-DN=40", f"N was 80 {BAKED}", "-DN=80")


def test_other_macros(tmp_path: Path) -> None:
    body = "  for (int i = 0; i < 40; i++)\n    b[AT(i)] = ABS(a[i]) + HALF * M_PI;\n"
    _stops(tmp_path, body, "-DALPHA=2.0", f"ALPHA was 1.5 {BAKED}")
    _stops(tmp_path, body, "-DDOWN", f"AT was (i) {BAKED}")


def test_what_the_file_defines_itself_needs_no_check(tmp_path: Path) -> None:
    body = "  for (int i = 0; i < 40; i++)\n    b[i] = ABS(a[i]) < 2 && true ? INT_MAX : M_PI;\n"
    assert "generated: run" not in _generated(tmp_path, HEAD + body + TAIL)


@pytest.mark.parametrize("condition", ["#ifdef SQUARE", "#if SQUARE == 1", "#if defined SQUARE && __TILEWRIGHT__"])
def test_branches(tmp_path: Path, condition: str) -> None:
    body = f"""  for (int i = 0; i < 40; i++)
{condition}
#if ABSENT
    b[i] = 1;
#else
    b[i] = a[i] * a[i];
#endif
#else
    b[i] = a[i];
#endif
"""
    _stops(tmp_path, body, "-DSQUARE", f"the branches of `#if` here were others {BAKED}")
    _stops(tmp_path, body, "-DOTHER", f"the branches of `#if` here were others {BAKED}", "-DSQUARE")
    _stops(tmp_path, body.replace("ABSENT", "!SQUARE"), "-DSQUARE=0", "were others", "-DSQUARE")


def test_branches_of_no_account(tmp_path: Path) -> None:
    body = """  for (int i = 0; i < 40; i++) {
#ifdef OTHERS
#pragma omp simd
#endif
#if 0
    b[i] = 1;
#else
    b[i] = a[i];
#endif
  }
"""
    assert "generated: run" not in _generated(tmp_path, HEAD + body + TAIL)


def test_headers_and_types(tmp_path: Path) -> None:
    """What a header of the user's says about the extents and types of arrays, too."""
    (tmp_path / "size.h").write_text("#ifndef M\n#define M 10\n#endif\n#ifndef REAL\n#define REAL double\n#endif\n"
                                     "extern REAL c[M][M];\n")  # fmt: skip
    text = """#include <stdio.h>
#include "size.h"
REAL c[M][M];
int main(void)
{
#pragma scop
  for (int i = 0; i < 10; i++)
    for (int j = 0; j < 10; j++)
      c[i][j] = i + j;
#pragma endscop
  printf("%g\\n", (double)c[9][9]);
}
"""
    out = _generated(tmp_path, text)
    for compiler in with_openmp():
        assert _run(tmp_path, out, compiler)[0] == "18\n"
        assert f"M was 10 {BAKED}" in _run(tmp_path, out, compiler, "-DM=12")[1].replace("\\'", "'")
        assert f"REAL was double {BAKED}" in _run(tmp_path, out, compiler, "-DREAL=float")[1].replace("\\'", "'")


def test_a_region_that_is_the_body_of_an_if(tmp_path: Path) -> None:
    text = HEAD.replace("#pragma scop", "  if (a[1] < 0)\n#pragma scop") + FLAT.replace("= a", "= ALPHA * a") + TAIL
    out = _generated(tmp_path, text)
    for compiler in with_openmp():
        assert _run(tmp_path, out, compiler) == (_run(tmp_path, text, compiler)[0], "")


def test_names_of_ones_own(tmp_path: Path) -> None:
    text = HEAD + "  for (int i = 0; i < 40; i++)\n    b[i] = ALPHA;\n" + TAIL
    (tmp_path / "in.c").write_text(text)
    out = generate(str(tmp_path / "in.c"), text, GenOptions(target="c", prefix="my")).text
    assert "TW_" not in out and "MY_SAME(MY_TEXT(ALPHA)" in out
    for compiler in with_openmp():
        assert _run(tmp_path, out, compiler)[1] == ""


SIZES = """#ifndef SIZES_H
#define SIZES_H
#if !defined(N_) && !defined(MINI)
#define N_ 90
#elif !defined(N_)
#define N_ 30
#endif
#ifndef STEPS
#define STEPS 20
#endif
#ifndef RADIUS
#define RADIUS 1
#endif
#define BOUND(x, y) x
#define _PB_N BOUND(N_, n)
#endif
"""
STENCIL = """#include <stdio.h>
#include "sizes.h"
static double a[N_][N_], b[N_][N_];
static void kernel(int n, double a[N_][N_], double b[N_][N_])
{
  (void)n;
#pragma scop
  for (int t = 0; t < STEPS; t++) {
    for (int i = RADIUS; i < _PB_N - RADIUS; i++)
      for (int j = 1; j < _PB_N - 1; j++)
        b[i][j] = 0.2 * (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i + RADIUS][j] + a[i - RADIUS][j]);
    for (int i = RADIUS; i < _PB_N - RADIUS; i++)
      for (int j = 1; j < _PB_N - 1; j++)
        a[i][j] = b[i][j] + 1.0 / N_;
  }
#pragma endscop
}
int main(void)
{
  double s = 0;
  for (int i = 0; i < N_; i++)
    for (int j = 0; j < N_; j++)
      a[i][j] = (i * 7 + j * 3) % 11;
  kernel(N_, a, b);
  for (int i = 0; i < N_; i++)
    for (int j = 0; j < N_; j++)
      s += a[i][j] * (i + 2 * j);
  printf("%.15g\\n", s);
  return 0;
}
"""


def test_sizes_keep_their_names(tmp_path: Path) -> None:
    """Bounds, extents and values, through other macros and from a header: any size will do."""
    (tmp_path / "sizes.h").write_text(SIZES)
    out = _generated(tmp_path, STENCIL)
    for compiler in with_openmp():
        for flags in ((), ("-DMINI",), ("-DN_=51", "-DSTEPS=7"), ("-DN_=2",), ("-DSTEPS=(-3)",), ("-DN_=133",)):
            assert _run(tmp_path, out, compiler, *flags) == (_run(tmp_path, STENCIL, compiler, *flags)[0], "")
        for odd in ("5+46", "2*50", "1<<6", "51u", "1?51:9", "0x100000000"):
            assert "N_ is not a plain number" in _run(tmp_path, out, compiler, f"-DN_={odd}")[1], odd
        assert f"RADIUS was 1 {BAKED}" in _run(tmp_path, out, compiler, "-DRADIUS=2")[1].replace("\\'", "'")


def test_names_of_the_command_line(tmp_path: Path) -> None:
    text = HEAD + "  for (int i = 0; i < TOP; i++)\n    b[i] = a[i] + TOP;\n" + TAIL
    out = _generated(tmp_path, text, "-DTOP=40")
    for compiler in with_openmp():
        assert _run(tmp_path, out, compiler, "-DTOP=77") == (_run(tmp_path, text, compiler, "-DTOP=77")[0], "")


SHAPING = {
    "stride": "  for (int i = 0; i < 2; i++)\n    for (int j = 0; j < N; j++)\n      b[i * N + j] = a[j];\n",
    "modulo": "  for (int i = 0; i < 99; i++)\n    b[i] = a[i % N];\n",
    "extent": "  for (int i = 0; i < N; i++) {\n    double t[N];\n    t[0] = a[i];\n    b[i] = t[0];\n  }\n",
}


@pytest.mark.parametrize("kind", SHAPING)
def test_sizes_that_shape_the_region(tmp_path: Path, kind: str) -> None:
    _stops(tmp_path, SHAPING[kind], "-DN=41", f"N was 40 {BAKED}")


def test_sizes_that_conditionals_ask_for(tmp_path: Path) -> None:
    """Another size may bring other declarations."""
    body = "  for (int i = 0; i < N; i++)\n    b[i] = a[i];\n"
    asked = "#define LONG (N > 64)\n#if LONG\n#define DOWN\n#endif\n#ifdef DOWN"
    text = HEAD.replace("#ifdef DOWN", asked) + body + TAIL
    out = _generated(tmp_path, text)
    for compiler in with_openmp():
        assert f"N was 40 {BAKED}" in _run(tmp_path, out, compiler, "-DN=41")[1].replace("\\'", "'")


def test_check_knows_the_values(tmp_path: Path) -> None:
    (tmp_path / "sizes.h").write_text(SIZES)
    (tmp_path / "in.c").write_text(STENCIL)
    report = check(str(tmp_path / "in.c"), STENCIL, GenOptions(target="c"), lambda _: None)
    assert report.ok, report.lines


@pytest.mark.parametrize("size", ["40", "N"])
def test_code_that_is_switched_off_looks_at_variables(tmp_path: Path, size: str) -> None:
    loop = f"  for (int i = 0; i < {size}; i++) {{\n    t = a[i] * 2 + i;\n    b[i] = t;\n  }}\n"
    body = f"  double t = 0;\n#pragma scop\n{loop}"
    tail = TAIL.replace("  double s", '#ifdef DEBUG\n  printf("%g\\n", t);\n#else\n  /* t */\n#endif\n  double s')
    text = HEAD.replace("#pragma scop\n", "") + body + tail
    out = _generated(tmp_path, text)
    for compiler in with_openmp():
        assert _run(tmp_path, out, compiler, "-DDEBUG") == (_run(tmp_path, text, compiler, "-DDEBUG")[0], "")


def test_check_sees_macros_as_regions_do() -> None:
    """Those that end with `#undef` behind the region, or mean something else by then."""
    source = """
#define BY(x) ((x) * 2)
#define K 3
void f(int n, double *a) {
#pragma scop
  for (int i = 0; i < n; i++) a[i] = BY(a[i]) + K;
#pragma endscop
}
#undef BY
#undef K
#define K 4
void g(int n, double *a) {
#pragma scop
  for (int i = 0; i < n; i++) a[i] += K;
#pragma endscop
}
"""
    report = codegen.check(source)
    assert report.ok, report.lines
