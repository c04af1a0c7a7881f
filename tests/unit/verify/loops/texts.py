"""Regions that have been printed, for tests that damage their text."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from codegen.machine.load import load_for
from codegen.options import GenOptions
from codegen.record import record
from codegen.region import make
from codegen.region_model import model_region
from codegen.source_file import open_source
from codegen.target.emit import RegionText, Surroundings, region_text
from codegen.target.region_views import RegionViews, region_views
from codegen.verify.loops.region import read_region, wrong_region
from codegen.verify.overlap.check import overlap_test
from codegen.verify.text.read import Unread
from tests.unit.verify.lowered.test_mutations import CASES, HEAD

OTHERS = {
    "gathered": """extern int total;
void f(int n, int *a, double *b) {
  double s = 0;
#pragma scop
  for (int i = 0; i < n; i++) {
    total += a[i];
    s += b[i];
  }
#pragma endscop
  b[0] = s;
}
""",
    "shared": """void f(int n, double *y, const double *x) {
#pragma scop
  for (int i = 0; i < n; i++)
    y[i] = x[i] + 1;
#pragma endscop
}
""",
    "own": """void f(int n, int m, double A[n][m], double B[n][m]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      double t = A[i][j] * 2;
      t = t * t;
      if (j > 0)
        B[i][j] = t - A[i][j];
      else
        B[i][j] = t;
    }
#pragma endscop
}
""",
    "pipeline": """void f(int t, int n, double A[n][n]) {
#pragma scop
  for (int k = 0; k < t; k++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        A[i][j] = (A[i - 1][j] + A[i][j - 1] + A[i][j] + A[i][j + 1] + A[i + 1][j]) / 5;
#pragma endscop
}
""",
    "product": """void f(int n, double C[n][n], double A[n][n], double B[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      C[i][j] *= 2;
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
#pragma endscop
}
""",
    "search": """void f(int n, int m, double y[n], double A[n][m]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    int k;
    for (k = 0; k < m && A[i][k] < 0; k++)
      ;
    y[i] = k;
  }
#pragma endscop
}
""",
    "memory of all": """void f(int q, int p, double A[q][p], double C4[p][p], double sum[p]) {
#pragma scop
  for (int j = 0; j < q; j++) {
    for (int k = 0; k < p; k++) {
      sum[k] = 0;
      for (int s = 0; s < p; s++)
        sum[k] += A[j][s] * C4[s][k];
    }
    for (int k = 0; k < p; k++)
      A[j][k] = sum[k];
  }
#pragma endscop
}
""",
    "memory": """void f(int r, int q, int p, double A[r][q][p], double C4[p][p], double sum[p]) {
#pragma scop
  for (int i = 0; i < r; i++)
    for (int j = 0; j < q; j++) {
      for (int k = 0; k < p; k++) {
        sum[k] = 0;
        for (int s = 0; s < p; s++)
          sum[k] += A[i][j][s] * C4[s][k];
      }
      for (int k = 0; k < p; k++)
        A[i][j][k] = sum[k];
    }
#pragma endscop
}
""",
}
# Rows behind pointers, along which a plan wants vectors.
ROWS = {
    "rows": "for (int i = 1; i < n; i++) for (int j = 0; j < m; j++) q[i][j] = p[i][j] - p[i - 1][j];",
    "rows in place": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) q[i][j] += p[i][j] * c[0];",
    "rows of one row": "for (int j = 0; j < m; j++) q[k[0]][j] = p[n][j] > c[0] ? p[n][j] : c[0];",
}
LANES = {
    "sum": "for (int i = 0; i < n; i++) y[0] += x[i] * z[i];",
    "greatest": "for (int i = 0; i < n; i++) y[0] = x[i] > y[0] ? x[i] : y[0];",
    "factors": "for (int i = 0; i < n; i++) y[0] *= x[i];",
}
OPEN = {"open sum": LANES["sum"], "open greatest": LANES["greatest"]}  # the text leaves open how long vectors are


@record
class Printed:
    """A region's views and text, and what these stand in."""

    views: RegionViews
    text: RegionText
    around: Surroundings

    def damaged(self, plain: str) -> str:
        """What is wrong with another text, by the tree alone; empty where nothing is."""
        try:
            read_region(self.views, replace(self.text, plain=plain), self.around)
        except Unread as problem:
            return str(problem)
        return ""

    @property
    def wrong(self) -> str:
        return wrong_region(self.views, self.text, self.around)


@cache
def printed(name: str) -> Printed:
    if name in OTHERS:
        return _printed(OTHERS[name], GenOptions(reassociate=name == "gathered"))
    if name in ROWS:
        head = "void f(int n, int m, const int *k, double **q, double **p, const double *c)"
        text = f"{head}\n{{\n#pragma scop\n    {ROWS[name]}\n#pragma endscop\n}}\n"
        return _printed(text, GenOptions(plan_text="region 1\n  vector j by 2 of 16 bytes\n"))
    gathered = {**LANES, **OPEN}
    asked = f"vector i by 2 of {16 if name in OPEN else 32} bytes"
    body, plan = (gathered[name], asked) if name in gathered else CASES[name]
    text = f"{HEAD}\n{{\n#pragma scop\n    {body}\n#pragma endscop\n}}\n"
    return _printed(text, GenOptions(plan_text=f"region 1\n  {plan}\n", reassociate=name == "dot" or name in gathered))


def _printed(source: str, options: GenOptions) -> Printed:
    (s,) = open_source("in.c", source, options).slices
    model = model_region(s, options)
    assert model is not None
    found = make(model, options, load_for("generic", ""))
    scop = found.program.scop
    views = region_views(scop, found.code, True)
    alias = overlap_test(scop, options.assume_no_alias, options.check_alias)
    around = Surroundings("  for (int i = 0; i < n; i++)\n    old(i);\n", "  ", "this", alias.text)
    return Printed(views, region_text(views, around), around)


NAMES = (*CASES, *OTHERS, *LANES, *OPEN, *ROWS)
