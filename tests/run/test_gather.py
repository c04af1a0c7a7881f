"""Subscripts that depend on data: elements that are read wherever they lie, and stores in the order of the source."""

from __future__ import annotations

import re

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.run.sources import run

HEAD = """
#include <math.h>
typedef struct { int to; float weight; } edge;
typedef struct { int n; float *val; int *next; edge *e; } graph;
unsigned char lut[256];
"""

READS = {
    "rows": """void f(float *out, const int *inp, const float *wte, const float *wpe, int B, int T, int C)
{
#pragma scop
  for (int b = 0; b < B; b++)
    for (int t = 0; t < T; t++) {
      float *o = out + b * T * C + t * C;
      int ix = inp[b * T + t];
      const float *w = wte + ix * C;
      for (int i = 0; i < C; i++)
        o[i] = w[i] + wpe[t * C + i];
    }
#pragma endscop
}""",
    "one of a row": """void f(float *losses, const float *probs, const int *targets, int B, int T, int V)
{
#pragma scop
  for (int b = 0; b < B; b++)
    for (int t = 0; t < T; t++)
      losses[b * T + t] = -logf(probs[b * T * V + t * V + targets[b * T + t]]);
#pragma endscop
}""",
    "computed": """void f(int w, int h, float *out, const float *img, const float *xs, const float *ys)
{
#pragma scop
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      int ix = (int)floorf(xs[y * w + x]);
      int iy = (int)floorf(ys[y * w + x]);
      out[y * w + x] = img[iy * w + ix] + (xs[y * w + x] - ix) * img[iy * w + ix + 1] - img[(iy + 1) * w + ix];
    }
#pragma endscop
}""",
    "members": """void f(graph *g, float *restrict out, int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    out[i] = g->val[g->next[i]] * g->e[i].weight + g->val[g->e[i].to];
    if (out[i] > 1 && g->next[i] > 0) out[i] += g->val[g->next[i] - 1];
  }
#pragma endscop
}""",
    "both subscripts": """void f(int n, int m, double a[n][m], const double b[n][m], const int p[m], const int q[n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i][j] = b[q[i]][p[j]] + b[i][p[j]];
#pragma endscop
}""",
    "table": """void f(int w, int h, unsigned char *dst, const unsigned char *src)
{
#pragma scop
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      dst[y * w + x] = lut[src[y * w + x]];
#pragma endscop
}""",
    "bytes": """void f(int n, double *y, double *x, unsigned char *p)
{
#pragma scop
  for (int i = 0; i < n; i++)
    y[i] = x[p[i] / 2];
#pragma endscop
}""",
    "chain": """void f(int n, double s[restrict 1], const double *restrict x, const int *restrict p, int *restrict q)
{
#pragma scop
  for (int i = 0; i < n; i++)
    s[0] += x[p[q[i]] + 2 * i] * (i > 3 ? x[p[i - 3]] : 1.0);
#pragma endscop
}""",
    "products of loop variables": """void f(int n, double *restrict re, const double *restrict t)
{
#pragma scop
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      re[k] += t[(i * k) % n];
#pragma endscop
}""",
}

STORES = {
    "counts": """void f(int n, int *hist, const unsigned char *img)
{
#pragma scop
  for (int i = 0; i < n; i++)
    hist[img[i]]++;
#pragma endscop
}""",
    "under a condition": """void f(int n, int *restrict a, int *restrict p, double *restrict c)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    if (c[i] > 0.75)
      a[p[i]] = i;
    else if (p[i] > 1)
      a[p[i] - 1] += p[i];
    c[i] = c[i] + a[i];
    if (p[i] == 2) { a[p[i]] -= 2; c[i] = 0; }
  }
#pragma endscop
}""",
    "either way": """void f(int n, short *restrict a, int *restrict p, double *restrict c)
{
#pragma scop
  for (int i = 0; i < n; i++)
    if (c[i] > 0.75)
      a[p[i]] = 40000 + i;
    else
      a[p[i]] *= 3.5;
#pragma endscop
}""",
    "in rows": """void f(int n, int m, double (*restrict h)[16], int (*restrict bin)[m], double *restrict d)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++)
      h[i][bin[i][j]] += 1.0;
    d[i] = h[i][2];
  }
#pragma endscop
}""",
    "a permutation": """void f(int n, int m, float *restrict out, const float *restrict in, const int *restrict to)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      out[to[i] * m + j] = in[i * m + j];
#pragma endscop
}""",
    "gradients": """void f(float *dwte, float *dwpe, const float *dout, const int *inp, int B, int T, int C)
{
#pragma scop
  for (int b = 0; b < B; b++)
    for (int t = 0; t < T; t++) {
      int ix = inp[b * T + t];
      float *w = dwte + ix * C;
      for (int i = 0; i < C; i++) {
        float d = dout[b * T * C + t * C + i];
        w[i] += d;
        dwpe[t * C + i] += d;
      }
    }
#pragma endscop
}""",
    "a counter": """int f(int n, const double *restrict x, double *restrict y)
{
  int k = 0;
#pragma scop
  for (int i = 0; i < n; i++)
    if (x[i] > 0.9) {
      y[k] = x[i];
      k = (k + 1) % 4;
    }
#pragma endscop
  return k;
}""",
    "read and written": """void f(int n, double *restrict x, const int *restrict p)
{
#pragma scop
  for (int i = 0; i < n; i++)
    x[i] = x[p[i]] + 1;
  for (int i = 0; i < n; i++)
    x[i * i % 4] = x[i] * 2;
#pragma endscop
}""",
    "members": """void f(int n, edge *restrict e, const int *restrict p)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    e[p[i]].weight += 0.5f;
    e[i].to = p[i];
  }
#pragma endscop
}""",
}


def whole(forms: dict[str, str]) -> str:
    """One file of all forms."""
    return HEAD + "\n".join(t.replace(" f(", f" f{k}(", 1) for k, t in enumerate(forms.values()))


@pytest.mark.parametrize("target", ["c", "openmp"])
def test_reads_agree_and_loops_are_shared_out(target: str) -> None:
    report = run(whole(READS), GenOptions(target=target))
    assert report.ok and len(report.lines) == len(READS), report
    assert all("size vectors agree" in line for line in report.lines), report
    if target == "openmp":
        assert sum("threads over" in line for line in report.lines) == len(READS) - 1, report  # all but the sum


def test_stores_agree() -> None:
    report = run(whole(STORES), GenOptions())
    assert report.ok and len(report.lines) == len(STORES), report
    assert all("size vectors agree" in line for line in report.lines), report
    by_form = dict(zip(STORES, report.lines, strict=True))
    assert "threads over i" in by_form["in rows"]  # rows are apart, whatever lies in them
    assert "threads" not in by_form["counts"]


def text_of(body: str, head: str, options: GenOptions | None = None) -> tuple[str, list[str]]:
    """What is generated for a region, and the ids of what is told about it."""
    made = generate("in.c", f"{HEAD}{head}\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n", options or GenOptions())
    return made.text, [x.id for d in made.diagnostics for x in (d, *d.notes)]


GATHER = "for (int i = 0; i < n; i++)\n  y[i] = x[p[i]];"


@pytest.mark.parametrize(
    "head, told",
    [
        ("void f(int n, double *restrict y, double *x, int *p)", False),
        ("void f(int n, double *y, double *restrict x, int *p)", False),
        ("void f(int n, float *y, double *x, int *p)", False),
        ("void f(int n, double *y, double *x, int *p)", True),
        ("void f(int n, unsigned char *y, double *x, int *p)", True),
        ("void f(int n, double *y, double *x, unsigned char *p)", False),
    ],
)
def test_what_is_assumed_about_overlap_is_said(head: str, told: bool) -> None:
    text, ids = text_of(GATHER, head)
    assert ("overlap" in ids) == told and "y[i] = x[p[i]];" in text
    _, refused = text_of(GATHER, head, GenOptions(check_alias=True))
    assert ("alias-unknown" in refused) == told


def test_bytes_reach_no_further_than_their_values() -> None:
    text, _ = text_of(GATHER, "void f(int n, double *y, double *x, unsigned char *p)")
    assert "TW_SPAN(x, 0, 256)" in text
    text, _ = text_of(GATHER.replace("p[i]", "3 * (p[i] & 31) - 2"), "void f(int n, double *y, double *x, int *p)")
    assert "TW_SPAN(x, -2, 92)" in text
    text, _ = text_of(GATHER.replace("x[", "lut["), "void f(int n, unsigned char *y, int *p)")
    assert "TW_SPAN(&lut, 0, 1)" in text


@pytest.mark.parametrize(
    "begin, told",
    [("double *y = x + 1;", []), ("double *y = x;\n  if (n > 9) y = z;", ["alias-unknown"])],
)
def test_overlap_that_the_function_shows_is_not_ignored(begin: str, told: list[str]) -> None:
    head = f"void f(int n, double *x, double *z, int *p)\n{{\n  {begin}\n"
    made = generate("in.c", f"{head}#pragma scop\n{GATHER}\n#pragma endscop\n}}\n", GenOptions())
    assert [x.id for d in made.diagnostics for x in d.notes] == told
    assert "threads" not in made.text and "simd" not in made.text


def test_nothing_is_read_ahead_of_its_condition() -> None:
    body = """for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    if (q[j] >= 0) y[i * n + j] += x[q[i] + p[0]];"""
    text, _ = text_of(body, "void f(int n, double *restrict y, double *restrict x, int *restrict p, int *restrict q)")
    reads = [line for line in text.splitlines() if "p[0]" in line]
    assert reads and all("q[j] >= 0" in line for line in reads), text


def test_operands_of_products_are_not_gathered_ahead() -> None:
    body = """for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    for (int k = 0; k < n; k++)
      c[i][j] += a[i][p[k]] * b[k][j];"""
    head = "void f(int n, double c[restrict n][n], double a[restrict n][n], double b[restrict n][n], int *restrict p)"
    text, _ = text_of(body, head)
    assert "c[i][j] += a[i][" in text and "tw_kernel" not in text and "tw_pack" not in text


def test_parts_of_computed_integers_that_nobody_needs_are_not_asked_for() -> None:
    body = "for (unsigned long i = 0; i < n; i++)\n  x[((m - 1) & 7) * ld + i] += x[(p[i] & 1) * ld + i];"
    text, ids = text_of(body, "void f(unsigned long n, unsigned long m, unsigned long ld, double *x, int *p)")
    assert "region-refused" not in ids and "m_1_7_ld" in text
    assert not re.search(r"\bm_1_7\b", text), text


def test_core_groups_refuse() -> None:
    made = generate("in.c", f"{HEAD}void f(int n, double *restrict y, double *restrict x, int *restrict p)\n{{\n"
                    f"#pragma scop\n{GATHER}\n#pragma endscop\n}}\n", GenOptions(target="sunway"))  # fmt: skip
    assert [(x.id, x.loc.line) for d in made.diagnostics for x in d.notes] == [("data-dependent-subscript", 10)]
