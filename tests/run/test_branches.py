"""Regions that are a branch or a body without braces, and numbers that are none."""

from __future__ import annotations

from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.run.sources import run

TEXT = """\
#include <math.h>
void f(int n, int m, double *restrict a, const double *restrict b)
{
  int i;
  if (n > 3)
#pragma scop
    for (i = 0; i < n; i++) a[i] = b[i] > 0 ? b[i] : NAN;
#pragma endscop
  a[0] = 1;
  for (int t = 0; t < m; t++)
    if (t > 2)
      a[1] = 2;
    else
#pragma scop
      for (i = 0; i < n; i++) a[i] += b[i] * t;
#pragma endscop
}
"""


def test_branches_without_braces() -> None:
    report = run(TEXT, GenOptions(target="c"))
    assert report.ok and len(report.lines) == 2 and all("agree" in x for x in report.lines), report
    made = generate("in.c", TEXT, GenOptions(target="c")).text
    assert "if (n > 3)\n    /* tilewright" in made and "else\n      /* tilewright" in made, made


BOTH = """\
void f(int n, int c, double *restrict a, const double *restrict b)
{
  int i;
  if (c)
#pragma scop
    for (i = 0; i < n; i++) a[i] = 2 * b[i];
#pragma endscop
  else if (n > 3)
#pragma scop
    for (i = 0; i < n; i++) a[i] = 3 * b[i];
#pragma endscop
  else
    a[0] = 1;
#pragma scop
  for (i = 0; i < n; i++) a[i] += b[i];
#pragma endscop
}
"""


def test_both_branches_are_regions() -> None:
    """The pragma at the end of one stands between it and `else`, which no parser takes."""
    report = run(BOTH, GenOptions(target="c"))
    assert report.ok and len(report.lines) == 3 and all("agree" in x for x in report.lines), report


ASSERTED = """\
#include <assert.h>
typedef struct { int w, h; float *data; } image;
static float pixel(image m, int x, int y)
{
  assert(x < m.w && y < m.h);
  return m.data[y * m.w + x];
}
void called(image in, float *restrict out, int w, int h)
{
#pragma scop
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      out[y * w + x] = 2 * pixel(in, x, y);
#pragma endscop
}
void direct(int n, int m, float *restrict a)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    assert(i < m);
    a[i] = 1;
  }
#pragma endscop
}
"""


def test_assertions_that_may_fail_take_the_source() -> None:
    report = run(ASSERTED, GenOptions(target="c"))
    assert report.ok and all("agree" in x for x in report.lines), report
    made = generate("in.c", ASSERTED, GenOptions(target="c")).text
    assert "The fast version assumes: no assertion fails" in made and "if (m >= n)" in made, made


def test_assertions_about_data_are_refused() -> None:
    made = generate("in.c", ASSERTED.replace("assert(i < m)", "assert(a[i] > 0)"), GenOptions(target="c"))
    assert [n.id for d in made.diagnostics for n in d.notes] == ["unknown-call"], made.diagnostics


# `up`, `at`, `h` and `k` are set before every use, `y` on one way only, and `x` is looked at behind the region.
TEMPORARIES = """\
double f(int n, const double *restrict v, const double *restrict d, double *restrict m)
{
  double x = 3, y = 4, h;
  int up, at, k;
#pragma scop
  for (int i = 2; i < n - 1; i++) {
    if (v[i] > 0) {
      up = i - 2; at = i - 1;
    } else {
      up = i + 1; at = i;
    }
    if (d[i] < 0) {
      k = 0;
      if (d[i] < -1) { k = 1; m[i] = 0; }
      h = v[i] * k; m[i] = h + d[up] - d[at];
    } else
      m[i] = v[i] * d[at];
  }
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++) {
    if (v[i] > 0) {
      y = v[i]; x = v[i] + y;
    }
    m[i] += y;
  }
#pragma endscop
  return x;
}
"""


def test_temporaries_of_branches() -> None:
    """What a variable held before an `if` that sets it is not kept where nobody looks at it: iterations are apart."""
    report = run(TEMPORARIES, GenOptions(target="c"))
    assert report.ok, report
    assert "vectors along i" in report.lines[0] and "sequential" in report.lines[1], report.lines
    made = generate("in.c", TEMPORARIES, GenOptions(target="c")).text
    assert "up = cond1 ? " in made and "if (cond1) y = " in made
