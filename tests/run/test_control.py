"""`if` on data with any statements below it, `continue`, `switch`, `break` as a bound, and macros of one round."""

from __future__ import annotations

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.run.sources import run, run_together

FORMS = {
    "two places": "if (A[i] > 0.0) { A[i] = 0.0; B[i] = 1.0; }",
    "a variable": "if (A[i] > 0.0) { double t = A[i] + 1.0; A[i] = t * t; }",
    "a loop": "if (A[i] > 0.0) for (int j = 0; j < m; j++) C[i][j] = B[i];",
    "both ways": "if (A[i] > 0.0) A[i] = 0.0; else B[i] = 0.0;",
    "one after the other": "if (A[i] > 0.0) A[i] = B[i] = 0.0;",
    "chain": "if (A[i] < -9) { A[i] = 1; B[i] = 2; } else if (B[i] < 0) { B[i] = A[i]; K[i]++; } else K[i] = 0;",
    "nested": "if (K[i]) { A[i] += 1; if (A[i] > B[i]) { B[i] = A[i]; A[i] = 0; } else A[i] -= 2; B[i] *= 2; }",
    "affine part": "if (i > 2 && A[i] > 0) { A[i] = B[i - 1]; B[i] = 2; } else { B[i] = 3; K[i] = i; }",
    "affine or": "if (i == 1 || A[i] > 0) { A[i] = 1; K[i] = 2; }",
    "swap": "for (int j = 0; j < m - 1; j++)"
    " if (C[i][j] > C[i][j + 1]) { double t = C[i][j]; C[i][j] = C[i][j + 1]; C[i][j + 1] = t; }",
    "continue": "if (i == 3) continue; if (A[i] < 0) { B[i] = 1; continue; } A[i] = B[i]; K[i] = 1;",
    "continue below": "if (K[i] > 0) { if (A[i] > 0) { A[i] = 1; continue; } else { B[i] = 2; continue; } }"
    " A[i] = 7; B[i] = 8;",
    "break": "for (int j = 0; j < m; j++) { if (j > i) break; if (j == 7) break; C[i][j] += 1; }",
    "switch": "switch (mode)"
    " { case 1: A[i] += 1; break; case 2: case 3: A[i] *= 2; B[i] = 1; break; default: K[i] = 0; }",
    "switch on data": "switch (K[i])"
    " { case 0: A[i] = 1; break; case 1: { B[i] = 2; A[i] = 3; } break; case 5: B[i]--; }",
    "once": "do { A[i] = 1; B[i] += A[i]; } while (0);",
    "negated": "if (!K[i]) { A[i] = 1; B[i] = 2; }",
    "float": "if (A[i]) { B[i] = 1 / A[i]; K[i] = 1; }",
    "guarded quotient": "if (mode != 0 && K[i] > 0) { A[i] = n / mode; B[i] = n % mode; }",
}


def source(body: str) -> str:
    return (
        "void f(int n, int m, int mode, double A[restrict n], double B[restrict n], double C[restrict n][m],"
        f" int K[restrict n])\n{{\n#pragma scop\nfor (int i = 0; i < n; i++) {{\n{body}\n}}\n#pragma endscop\n}}\n"
    )


@pytest.mark.parametrize("target", ["c", "openmp"])
def test_forms_agree(target: str) -> None:
    forms = {name: source(body) for name, body in sorted(FORMS.items()) if (name < "f") == (target == "c")}
    for name, line in run_together(forms, GenOptions(target=target)).items():
        assert "size vectors agree" in line, (name, line)


def test_argmax_keeps_value_and_place_together() -> None:
    text = """
int f(int n, const double A[n], double *best)
{
  double m = -1e30;
  int k = -1;
#pragma scop
  for (int i = 0; i < n; i++)
    if (A[i] > m) {
      m = A[i];
      k = i;
    }
#pragma endscop
  *best = m;
  return k;
}
"""
    report = run(text)
    assert report.ok and "size vectors agree" in report.lines[0], report


def test_what_the_source_may_not_evaluate_is_not_computed_ahead() -> None:
    body = "if (A[i] > 0) { B[i] = 1; for (int j = 0; j < m / mode; j++) C[i][j] = 1; }"
    made = generate("in.c", source(body), GenOptions(target="c"))
    reads = [line.strip() for line in made.text.splitlines() if "m / mode" in line]
    assert reads == ["for (int j1 = 0; j1 < m / mode; j1++)"] and "if (cond1) {" in made.text, made.text
