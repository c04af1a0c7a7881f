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
