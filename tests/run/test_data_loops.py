"""Loops of which data decide how often they run: one statement each, carried out as it was written."""

from __future__ import annotations

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.run.sources import run

FORMS = {
    "rows of a sparse matrix": """
void f(int n, double *y, const double *x, const double *val, const int *col, const int *ptr)
{
  int i, k;
  double sum;
#pragma scop
  for (i = 0; i < n; i++) {
    sum = 0.0;
    for (k = ptr[i]; k < ptr[i + 1]; k++)
      sum += val[k] * x[col[k]];
    y[i] = sum;
  }
#pragma endscop
}""",
    "several columns": """
void f(int n, int m, double (*restrict y)[m], const double (*restrict x)[m], const double *restrict val,
       const int *restrict col, const int *restrict ptr)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int k = ptr[i]; k < ptr[i + 1]; k++) {
      const int j = col[k];
      for (int q = 0; q < m; q++)
        y[i][q] += val[k] * x[j][q];
    }
#pragma endscop
}""",
    "jumps": """
void f(int n, float *restrict b, const float *restrict v, const int *restrict cnt, const int *restrict at)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    b[i] = -1e30f;
    for (int k = 0; k < cnt[i]; k++) {
      float t = v[at[i] + k];
      t = t * t;
      if (t > b[i])
        b[i] = t;
      else if (t < 0.5f)
        continue;
      else {
        if (t > 1.5f) break;
        b[i] += 0.5f;
      }
    }
  }
#pragma endscop
}""",
    "counts": """void f(int n, int *restrict h, const int *restrict cnt, double *restrict d)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    for (int k = cnt[i]; k > 0; k -= 2) {
      h[k]++;
      h[k - 1] -= 2;
    }
    d[i] = d[i] * 2;
  }
#pragma endscop
}""",
    "under a condition": """void f(int n, double *restrict s, const int *restrict cnt, double *restrict d)
{
#pragma scop
  for (int i = 0; i < n; i++)
    if (d[i] > 0.8) {
      d[i] = 1;
      for (int k = 0; k < cnt[i]; k++)
        s[i] = s[i] * 0.5 + d[k];
    }
#pragma endscop
}""",
    "a sparse triangle": """void f(int n, double *restrict x, const double *restrict val, const int *restrict col,
       const int *restrict ptr)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double s = x[i];
    for (int k = ptr[i]; k < ptr[i + 1]; k++)
      s -= val[k] * x[col[k]];
    x[i] = s;
  }
#pragma endscop
}""",
    "products": """void f(int n, double (*restrict a)[64], const double *restrict b)
{
#pragma scop
  for (int i = 0; i < n && i < 8; i++)
    for (int j = 0; j < i * i; j++)
      a[i][j] = b[i * j];
#pragma endscop
}""",
}

SEARCHES = {
    "a median": """void f(int h, int bins, const int *restrict histo, const float *restrict value, float *restrict out)
{
  int i, k, sum;
#pragma scop
  for (i = 0; i < h; i++) {
    sum = 0;
    for (k = 0; k < bins; k++) {
      sum += histo[k];
      if (sum >= i) { out[i] = value[k]; break; }
    }
  }
#pragma endscop
}""",
    "a first column": """void f(int n, int m, const unsigned char (*restrict a)[60], int *restrict all)
{
  int i, k;
#pragma scop
  for (i = 0; i < n; i++) {
    for (k = 0; k < m && k < 60; k++)
      if (a[i][k] > 1) break;
    if (k == m) all[i] = 1; else all[i] = -k;
  }
#pragma endscop
}""",
    "a place in a table": """
void f(int n, int m, const double *restrict x, const double *restrict knots, int *restrict at)
{
  int i, k;
#pragma scop
  for (i = 0; i < n; i++) {
    for (k = m; k > 0 && knots[k - 1] > x[i]; k -= 2) ;
    at[i] = k;
  }
#pragma endscop
}""",
    "until something else": """void f(int n, int m, char (*restrict a)[60])
{
  int i, k;
#pragma scop
  for (i = 0; i < n; i++) {
    for (k = 0; k < m && k < 60; k++) {
      if (a[i][k] > 40) break;
      a[i][k] = 0;
    }
    for (k = 59; k >= 0; k--) {
      if (a[i][k] > 40) break;
      a[i][k] = 1;
    }
  }
#pragma endscop
}""",
    "with a value that was set": """void f(int n, const char *restrict s, int *restrict num)
{
  int i, j;
  double t;
#pragma scop
  for (i = 0; i < n; i++) {
    for (j = 0; j < i; j++) {
      t = s[j] * 0.5;
      if (t == s[i]) break;
    }
    if (i == j) num[i] = -1; else num[i] = num[j] + 1;
  }
#pragma endscop
}""",
}


def test_searches_agree() -> None:
    text = "\n".join(t.replace("void f(", f"void f{k}(", 1) for k, t in enumerate(SEARCHES.values()))
    report = run(text, GenOptions())
    assert report.ok and all("size vectors agree" in line for line in report.lines), report
    shared = {form for form, line in zip(SEARCHES, report.lines, strict=True) if "threads over i" in line}
    assert shared == set(SEARCHES) - {"with a value that was set"}


def test_a_search_stores_to_one_place() -> None:
    loop = "for (int i = 0; i < n; i++) { for (j = 0; j < m; j++) { a[i] += b[j]; if (b[j] > 1) break; } p[i] = j; }"
    assert "counter-after-loop" in told(loop)[1]
    assert "jump" in told("for (j = 0; j < n; j++) { a[j] = b[j]; if (b[j] > 1) break; }")[1]


def test_forms_agree() -> None:
    text = "\n".join(t.replace("void f(", f"void f{k}(", 1) for k, t in enumerate(FORMS.values()))
    report = run(text, GenOptions())
    assert report.ok and all("size vectors agree" in line for line in report.lines), report
    shared = {form: "threads over i" in line for form, line in zip(FORMS, report.lines, strict=True)}
    alone = {"counts", "a sparse triangle", "under a condition", "products"}
    assert all(shared[form] for form in shared if form not in alone), shared
    assert not shared["a sparse triangle"]


def told(body: str, head: str = "", target: str = "openmp") -> tuple[str, list[str]]:
    given = "int n, int m, double *restrict a, double *restrict b, int *restrict p, int *restrict q"
    text = f"int f({given})\n{{\n  int k = 0, j;\n  {head}\n#pragma scop\n{body}\n#pragma endscop\n  return k;\n}}\n"
    made = generate("in.c", text, GenOptions(target=target))
    return made.text, [x.id for d in made.diagnostics for x in d.notes]


def test_counters_that_live_on_are_refused() -> None:
    loop = "for (int i = 0; i < n; i++)\n  for ({0} = p[i]; {0} < q[i]; {0}++)\n    a[i] += b[{0}];"
    assert told(loop.format("k"))[1] == ["counter-after-loop", "nonaffine-bound"]
    assert told(loop.format("j"))[1] == []


@pytest.mark.parametrize(
    "inner, last, why",
    [
        ("for (j = 0; j < m; j++) a[i] += b[j];", "a[i] += j;", "counter-after-loop"),
        ("for (j = 0; j < m; j++) if (b[j] > t) break;", "a[i] += b[j];", "counter-after-loop"),
        ("for (int s = 0; s < p[t]; s++) a[i] += b[s];", "a[i] += b[s];", "unknown-name"),
        ("{ int s = p[t]; a[i] += b[s]; }", "a[i] += b[s];", "unknown-name"),
    ],
)
def test_variables_of_a_loop_are_not_known_behind_it(inner: str, last: str, why: str) -> None:
    loop = f"for (int i = 0; i < n; i++) for (int t = p[i]; t < q[i]; t++) {{ {inner} {last} }}"
    assert why in told(loop)[1]


def test_deep_nests_below_are_taken_by_themselves() -> None:
    body = """for (int i = 0; i < n; i++)
  for (int j = 0; j < p[i]; j++)
    for (int s = 0; s < m; s++)
      for (int t = 0; t < m; t++)
        a[s * m + t] += b[t * m + s];"""
    text, ids = told(body)
    assert "nonaffine-bound" in ids and "part 1" in text


def test_names_are_their_own() -> None:
    body = """for (int i = 0; i < n; i++) {
  for (int r = p[i]; r < q[i]; r++) {
    double t = b[r];
    a[i] += t;
  }
  for (int r = 0; r < m; r++)
    b[i * m + r] = a[i];
}"""
    text, ids = told(body)
    assert not ids and "for (int r1 = p[i]; r1 < q[i]; r1++)" in text and "double t1 = b[r1];" in text


def test_core_groups_refuse() -> None:
    _, ids = told("for (int i = 0; i < n; i++)\n  for (int r = 0; r < p[i]; r++)\n    a[i] *= 2;", target="sunway")
    assert ids == ["nonaffine-bound"]
