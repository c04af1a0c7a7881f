"""Loops that are taken apart where tests in them change: no test is left inside, and small sizes agree as well."""

from __future__ import annotations

import re

import pytest

import codegen
from tests.run.sources import run

EDGES = """
void edges(int h, int w, const float *a, float *b)
{
  int y, x;
#pragma scop
  for (y = 0; y < h; y++)
    for (x = 0; x < w; x++) {
      float s = a[y * w + x];
      if (y == 0 && x == 0)
        s += 1;
      else if (y == h - 1 && x == w - 1)
        s += 2;
      else if (x == 0)
        s += a[y * w + x + 1];
      else if (y == 0)
        s += a[y * w + x - 1];
      else if (x == w - 1)
        s *= 3;
      else
        s += a[y * w + x - 1] + a[y * w + x + 1];
      b[y * w + x] = s;
    }
#pragma endscop
}
"""

RING = """
void ring(int n, const double *a, double *b)
{
#pragma scop
  for (int i = 0; i < n; i++)
    b[i] = a[(i + 1) % n] - 2 * a[i] + a[(i + n - 1) % n];
#pragma endscop
}
"""

CLIPPED = """
void clipped(int n, int m, int pad, double a[n][m], double b[n][m + 2 * pad])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m + 2 * pad; j++)
      b[i][j] = a[i][j < pad ? 0 : j >= m + pad ? m - 1 : j - pad];
#pragma endscop
}
"""

ROWS = """
void rows(int n, double u[n][20][4], double r[n][20][4])
{
  int i, j, m;
#pragma scop
  for (i = 1; i < n - 1; i++)
    for (j = 0; j < 20; j++)
      for (m = 0; m < 4; m++)
        r[i][j][m] = u[i + 1][j][m] - u[i - 1][j][m];
  for (i = 3; i < n - 3; i++)
    for (j = 0; j < 20; j++)
      for (m = 0; m < 4; m++)
        r[i][j][m] -= u[i - 2][j][m] + u[i + 2][j][m];
#pragma endscop
}
"""

BAND = """
void band(int n, int lo, int hi, double *a)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    if (i >= lo)
      a[i] += 1;
    if (i < hi)
      a[i] *= 2;
  }
#pragma endscop
}
"""


MUTED = """
void mix(int tracks, int n, double a[tracks][n], const int *muted, double *out)
{
#pragma scop
  for (int t = 0; t < tracks; t++) {
    if (muted[t])
      continue;
    for (int i = 0; i < n; i++)
      out[i] += a[t][i];
  }
#pragma endscop
}
"""

TOGETHER = """
void both(int nt, int n, double s[nt][n], double r[nt][n], double *image, double *light)
{
#pragma scop
  for (int t = 0; t < nt; t++)
    for (int i = 0; i < n; i++) {
      image[i] += s[t][i] * r[t][i];
      light[i] += s[t][i] * s[t][i];
    }
#pragma endscop
}
"""

ALL = {
    "edges": EDGES, "ring": RING, "clipped": CLIPPED, "rows": ROWS, "band": BAND, "muted": MUTED, "together": TOGETHER,
}  # fmt: skip


@pytest.mark.parametrize("text", ALL.values(), ids=ALL)
def test_agrees(text: str) -> None:
    report = run(text)
    assert report.ok, report.lines
    assert not [d for d in report.diagnostics if d.id == "region-refused"]


def fast(text: str) -> str:
    """What is generated ahead of the fallback."""
    return codegen.generate(text, name="in.c").text.partition("} else {\n  for")[0]


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        (EDGES, r"for \(tw_index x = 1; x < \(tw_index\)w - 1; x\+\+\)"),
        (RING, r"for \(tw_index i = 1; i < \(tw_index\)n - 1; i\+\+\)"),
        (CLIPPED, r"for \(tw_index j = .*pad.*; j\+\+\)"),
    ],
    ids=["edges", "ring", "clipped"],
)
def test_inside_has_no_test(text: str, inside: str) -> None:
    found = re.search(inside + r"( \{)?\n((?:.*\n)*?)(?=#pragma|\s*\}\n|\s*if )", fast(text))
    assert found, fast(text)
    assert "if" not in found[2]
    assert "?" not in found[2]


def test_rows_are_asked_once() -> None:
    """The test of a row stands ahead of the loops along it."""
    text = fast(ROWS)
    assert re.search(r"if \(.*i.*\) \{\n\s*for \(tw_index j", text), text


def test_data_are_asked_once() -> None:
    """An `if` around a loop stays around it."""
    text = fast(MUTED)
    assert not re.search(r"for \(tw_index i.*\n\s*if", text), text
    assert re.search(r"if \(cond1\) \{", text), text


def test_what_reads_the_same_stays_together() -> None:
    text = fast(TOGETHER)
    loops = re.findall(r"image\[i\] .*\n\s*light\[i\]", text)
    assert loops, text


BLOCKS = """
void blocks(int cells, double (*a)[5][5])
{
#pragma scop
  for (int c = 0; c < cells; c++)
    for (int p = 0; p < 5; p++)
      for (int i = 0; i < 5; i++) {
        if (i == p)
          continue;
        for (int j = p + 1; j < 5; j++)
          a[c][i][j] -= a[c][i][p] * a[c][p][j];
      }
#pragma endscop
}
"""


def test_one_thread_runs_loops_without_the_test_that_the_source_has() -> None:
    """i == p takes loop i apart; that is faster than what was written, whether there are threads or not."""
    text = codegen.generate(BLOCKS).text
    assert "tw_max_threads() > 1" not in text and "for (tw_index i = p + 1; i < 5; i++)" in text
    assert run(BLOCKS).ok
