"""What `check` needs to run a region: sizes of arrays with computed subscripts, what the source only names, and arrays
that share memory where that means something."""

from __future__ import annotations

import pytest

from tests.run.sources import run

UPSAMPLE = """
void upsample(float *in, int w, int h, int stride, float scale, float *out)
{
#pragma scop
  for (int j = 0; j < h * stride; ++j)
    for (int i = 0; i < w * stride; ++i) {
      int from = (j / stride) * w + i / stride;
      out[j * w * stride + i] = scale * in[from];
    }
#pragma endscop
}
"""
REORG = """
void reorg(const float *x, int w, int h, int c, int stride, int part, float *out)
{
#pragma scop
  for (int k = 0; k < c; ++k)
    for (int j = 0; j < h; ++j)
      for (int i = 0; i < w; ++i) {
        int offset = k / part, to = i * stride + offset % stride + w * stride * (j * stride + offset / stride);
        out[to] = x[i + w * (j + h * k)];
      }
#pragma endscop
}
"""
# A function gets a number that it does not look at, so the region has no need of it, but its text has.
UNUSED = """
static double at(const double *a, int rows, int m, int i, int j)
{
  return i < 0 || j < 0 || j >= m ? 0 : a[i * m + j];
}
void shifted(int n, int m, int rows, const double *restrict a, double *restrict b)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      b[i * m + j] = at(a, rows, m, i - 1, j - 1);
#pragma endscop
}
"""
ANY_ORDER = """
void rows(int n, int m, double *y, const double *x)
{
#pragma scop
PRAGMA
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[i * m + j] += x[j] * x[i];
#pragma endscop
}
"""


@pytest.mark.parametrize("text", [UPSAMPLE, REORG, UNUSED], ids=["quotients", "remainders", "unused"])
def test_they_run(text: str) -> None:
    report = run(text)
    assert report.ok and "size vectors agree" in report.lines[0], report.lines


def test_sizes_that_data_decide_stay_unknown() -> None:
    text = UPSAMPLE.replace("int from =", "int from = (int)(in[j] * 1e9f) +")
    report = run(text)
    assert "how much memory `in` needs is not known" in " ".join(report.lines), report.lines


@pytest.mark.parametrize("pragma", ["", "#pragma omp parallel for", "#pragma omp simd", "#pragma GCC ivdep"])
def test_memory_is_shared_where_the_source_has_an_order(pragma: str) -> None:
    """Threads of the source's own would race for elements that are read and written."""
    report = run(ANY_ORDER.replace("PRAGMA", pragma))
    assert report.ok and ("arrays that overlap" in report.lines[0]) == (not pragma), report.lines


def test_memory_is_shared_by_arrays_that_no_promise_is_about() -> None:
    """The threads' loop is about y alone: the source says what it computes with y in x, too."""
    text = (
        "void f(int n, int m, double *x, double *y)\n{\n#pragma scop\n"
        "  for (int i = 0; i < n; i++) x[i] = i;\n"
        "#pragma omp parallel for\n  for (int i = 0; i < n; i++) y[2 * i] = 1;\n"
        "  for (int j = 0; j < m; j++) y[j] = x[j] + 1;\n#pragma endscop\n}\n"
    )
    report = run(text)
    assert report.ok and "arrays that overlap" in report.lines[0], report.lines
