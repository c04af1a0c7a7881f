"""Macros and regions: names that macros left, definitions inside of regions, lines and counters, and marks that are
none. Results do what the source does."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from codegen.options import CppOptions, GenOptions
from codegen.pipeline import Generated, generate
from codegen.source.language import CXX, compiler_for

ITSELF = """\
#include <stdio.h>
static double scale = 1.5;
#define scale (scale * 2)
void f(int n, double *a, const double *b)
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = b[i] * scale;
#pragma endscop
  a[n - 1] += scale;
}
int main(void)
{
  double a[100] = {10, 20, 30};
  f(50, a + 50, a);
  f(50, a + 1, a);
  printf("%g %g %g %g\\n", a[1], a[50], a[51], scale);
}
"""
VARIABLE = """\
#include <stdio.h>
#define x (x + 1)
void f(int n, int *a, int *px)
{
#undef x
  int x = *px;
#define x (x + 1)
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = x;
#pragma endscop
  a[0] += x;
#undef x
}
int main(void) { int a[100], v = 3; f(100, a, &v); printf("%d %d\\n", a[0], a[50]); }
"""
MEMBER = """\
#include <stdio.h>
struct S { int width; double *data; };
#define width (s->width)
#define at(i) (s->data[i])
void f(struct S *s)
{
#pragma scop
  for (int i = 0; i < width; i++)
    at(i) = at(i) + width;
#pragma endscop
  at(0) += width;
}
#undef width
int main(void) { double d[4] = {1, 2, 3, 4}; struct S s = {4, d}; f(&s); printf("%g %g\\n", d[0], d[3]); }
"""
CALL = """\
#include <stdio.h>
static inline double sq(double x) { return x * x; }
#define sq(x) (sq(x) + 1)
#define ping(x) pong((x) + 1)
#define pong(x) (ping(x))
static inline double (ping)(double x) { return x / 2; }
void f(int n, double *a)
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = sq(a[i]) + (sq)(a[i]) + ping(a[i]);
#pragma endscop
  a[0] += sq(a[0]);
}
int main(void) { double d[4] = {1, 2, 3, 4}; f(4, d); printf("%g %g\\n", d[0], d[3]); }
"""
INLINED = """\
#include <stdio.h>
static int k = 3;
static inline int g(int i) { return i + k; }
#define k (k * 100)
void f(int n, int *a)
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = g(i);
#pragma endscop
}
int main(void) { int a[9]; f(9, a); printf("%d %d\\n", a[1], k); }
"""
DEFINED = """\
#include <stdio.h>
#define K 3
void f(int n, int *a, int *b)
{
#pragma scop
#undef K
#define K 5
  for (int i = 0; i < n; i++)
    a[i] = b[i] + K;
#undef K
#define K 7 /* more */
  for (int i = 0; i < n; i++)
    a[i] = a[i] * K;
#undef K
#define K \\
   11
#pragma endscop
  a[0] = K;
}
int main(void)
{
  int a[100] = {0}, b[100] = {1, 2, 3};
  f(50, a, b);
  printf("%d %d %d\\n", a[0], a[1], a[3]);
  f(50, b + 1, b);
  printf("%d %d %d\\n", b[0], b[1], b[3]);
}
"""
ALONE = """\
#include <stdio.h>
void f(int n, int *a)
{
  int x = 4;
#define x (x + 1)
#pragma scop
#undef x
#define W 2
  for (int i = 0; i < n; i++)
    a[i] += x * W;
#pragma endscop
#ifndef x
  a[1] = 100 + W;
#endif
}
int main(void) { int a[9] = {0}; f(9, a); printf("%d %d\\n", a[0], a[1]); }
"""
LINES = """\
#include <stdio.h>
#define HERE __LINE__
void f(int n, int *a, const int *b)
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = b[i] + HERE + __LINE__;
#pragma endscop
  a[0] += __LINE__;
}
int main(void)
{
  int a[100] = {0};
  f(50, a + 50, a);
  printf("%d\\n", a[53]);
  f(50, a + 1, a);
  printf("%d %d %d\\n", a[0], a[3], __LINE__);
}
"""
WORDS = """\
#include <stdio.h>
#define double float
#define int short
#define long int
void f(long n, double *a, int *b)
{
#pragma scop
  for (long i = 0; i < n; i++) {
    double t = a[i] * 0.1;
    int k = b[i] * 30000;
    a[i] = t + k;
  }
#pragma endscop
}
#undef int
#undef long
#undef double
int main(void)
{
  float a[50];
  short b[50];
  for (int i = 0; i < 50; i++)
    a[i] = i * 1.7f, b[i] = i;
  f(50, a, b);
  printf("%.9g %.9g\\n", a[3], a[49]);
}
"""
COUNTED = """\
#include <stdio.h>
int f(int n, int *a)
{
  a[0] = __COUNTER__;
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = i + __COUNTER__;
#pragma endscop
  return __COUNTER__;
}
int g(int n, int *a)
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = i + 1;
#pragma endscop
  return __COUNTER__;
}
int main(void) { int a[100]; printf("%d %d %d\\n", f(100, a), g(100, a), a[7]); }
"""
NO_MARKS = """\
#include <stdio.h>
#if 0
#pragma scop
  not closed, and no code: 'tis
#endif
#if 1
void f(int n, int *a)
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = i;
#pragma end\\
scop
}
#else
#pragma endscop
#if 1
#pragma scop
#endif
#endif
const char *t = "\\
#pragma scop\\n\\
";
/*
#pragma scop
*/
// \\
#pragma scop
int main(void) { int a[100]; f(100, a); printf("%d\\n%s", a[3], t); }
"""
C = {
    "itself": ITSELF,
    "variable": VARIABLE,
    "member": MEMBER,
    "call": CALL,
    "inlined": INLINED,
    "defined": DEFINED,
    "alone": ALONE,
    "lines": LINES,
    "words": WORDS,
    "counted": COUNTED,
    "no-marks": NO_MARKS,
}
RAW = """\
#include <cstdio>
const char *raw = R"x(
#pragma scop
  for (int i = 0; i < n; i++) a[i] = 0;
#pragma endscop
"quoted)x";
const char *more = u8R"(
#pragma scop
)";
void f(int n, double *a)
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = 1;
#pragma endscop
}
int main() { double a[9]; f(9, a); std::printf("%s%s%g", raw, more, a[8]); }
"""


def _runs(text: str, name: str, words: list[str], folder: Path) -> str:
    (folder / name).write_text(text)
    subprocess.run([*words, name, "-o", "p"], cwd=folder, check=True)
    return subprocess.run(["./p"], cwd=folder, check=True, capture_output=True, text=True, timeout=20).stdout


def _made(source: str, name: str = "p.c", target: str = "openmp") -> Generated:
    return generate(name, source, GenOptions(target=target))


@pytest.mark.parametrize("name", C)
def test_result_is_the_source(name: str, tmp_path: Path) -> None:
    made = _made(C[name])
    assert any(r.transformed for r in made.regions)
    words = ["gcc", "-fopenmp", "-O1", "-Wall", "-Wno-unused-function"]
    assert _runs(made.text, "p.c", words, tmp_path) == _runs(C[name], "p.c", words, tmp_path)


@pytest.mark.parametrize("name", [n for n in C if n != "counted"])
def test_regions_are_transformed(name: str) -> None:
    assert all(r.transformed for r in _made(C[name]).regions)


def test_code_of_a_header(tmp_path: Path) -> None:
    (tmp_path / "k.h").write_text("#define K 7\n#define K2 9\n")
    source = ALONE.replace("#define W 2\n", '#define W 2\n#include "k.h"\n').replace("x * W", "x * W + K")
    (tmp_path / "p.c").write_text(source.replace("100 + W", "100 + K2"))
    text = (tmp_path / "p.c").read_text()
    made = generate(str(tmp_path / "p.c"), text, GenOptions())
    assert made.regions[0].transformed
    want = _runs(text, "p.c", ["gcc", "-w"], tmp_path)
    assert _runs(made.text, "p.c", ["gcc", "-w", "-fopenmp"], tmp_path) == want
    (tmp_path / "k.h").write_text("#define K 7\n#define K2 9\na[2] = 1;\n")
    assert not generate(str(tmp_path / "p.c"), text, GenOptions()).regions[0].transformed


def test_copies_count_no_further(tmp_path: Path) -> None:
    """Versions of a function for several processors would use what counts several times."""
    used = ITSELF.replace("a[n - 1] += scale", "a[n - 1] += __COUNTER__")
    used = used.replace("a[51], scale", "a[51], 1.0 + __COUNTER__")
    for source in (used, DEFINED):
        made = generate("p.c", source, GenOptions(dispatch=True))
        assert [d.id for d in made.diagnostics if "one version alone" in d.message]
        words = ["gcc", "-fopenmp", "-w"]
        assert _runs(made.text, "p.c", words, tmp_path) == _runs(source, "p.c", words, tmp_path)


def test_raw_strings(tmp_path: Path) -> None:
    if not compiler_for(CXX):
        pytest.skip("no C++ compiler")
    made = _made(RAW, "p.cpp")
    assert [r.transformed for r in made.regions] == [True]
    words = ["g++", "-fopenmp", "-w"]
    assert _runs(made.text, "p.cpp", words, tmp_path) == _runs(RAW, "p.cpp", words, tmp_path)


@pytest.mark.parametrize("target", ["mpi", "cuda", "sunway"])
def test_other_files_meet_no_macros(target: str) -> None:
    made = _made(MEMBER, target=target)
    assert not made.regions[0].transformed
    assert "is a macro around it" in str(made.diagnostics)


def test_a_size_keeps_its_name() -> None:
    source = DEFINED.replace("#define K 3\n", "").replace("b[i] + K", "b[i] + N").replace("i < n", "i < N")
    made = generate("p.c", source, GenOptions(cpp=CppOptions(args=("-DN=40",))))
    assert made.regions[0].transformed and "#undef N" not in made.text
