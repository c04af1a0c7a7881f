"""Which variables threads get copies of."""

from __future__ import annotations

import re

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate

LOOP = """
{before}
void f({params})
{{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      {body}
#pragma endscop
}}
"""

COMPLEX = """
void f(int n, double _Complex *z, double _Complex *w)
{
#pragma scop
  for (int i = 0; i < n; i++)
    w[i] = z[i] * z[i] + w[i];
#pragma endscop
}
"""

STEPS = """
void f(int steps, int n, double a[n], double b[n])
{
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      b[i] = a[i - 1] + a[i + 1];
    for (int i = 1; i < n - 1; i++)
      a[i] = b[i - 1] + b[i + 1];
  }
#pragma endscop
}
"""


def clause(params: str, body: str, before: str = "") -> str:
    text = generate("f.c", LOOP.format(params=params, body=body, before=before), GenOptions()).text
    found = re.search(r"#pragma omp parallel for.*?(firstprivate\(.*?\))?$", text, re.MULTILINE)
    assert found
    return found[1] or ""


@pytest.mark.parametrize(
    ("params", "body", "expected"),
    [
        ("int n, int m, unsigned char *x, unsigned char *y", "y[i * m + j] = x[i * m + j] / 2;", "m, n, x, y"),
        ("int n, int m, double x[n][m], double y[n][m]", "y[i][j] = x[i][j] / 2;", "m, n, x, y"),
        ("int n, int m, float **x, float **y", "y[i][j] = x[i][j] / 2;", "m, n, x, y"),
        # Arrays are no pointers: a copy would be another array.
        ("int n, int m", "y[i][j] = x[i][j] / 2;", "m, n"),
        # A struct that is passed by value has its array in it.
        ("int n, int m, rows y, rows *x", "y.row[i][j] = x->row[i][j] / 2;", "m, n, x"),
    ],
)
def test_copies(params: str, body: str, expected: str) -> None:
    before = "unsigned char x[90][90], y[90][90]; typedef struct { unsigned char row[90][90]; } rows;"
    assert clause(params, body, before) == (f"firstprivate({expected})" if expected else "")


@pytest.mark.parametrize("before", ["#define K 7", "static const int K = 7;"])
def test_constants_have_no_copies(before: str) -> None:
    params = "int n, int m, double x[n][m], double y[n][m]"
    assert clause(params, "y[i][j] = K * x[i][j];", before) == "firstprivate(m, n, x, y)"
    assert "K" not in clause(params.replace("[m]", "[K]"), "if (j < K) y[i][j] = x[i][j] / 2;", before)


def test_no_lanes_of_complex_products() -> None:
    assert "simd" not in generate("f.c", COMPLEX, GenOptions()).text
    assert "simd" in generate("f.c", COMPLEX.replace("z[i] * z[i] +", "z[i] +"), GenOptions()).text


def test_vectors_may_lie_on_anything() -> None:
    """clang reads pointers and counts anew after each vector that it stores: jacobi-1d 1.4 times gcc's time."""
    text = generate("f.c", STEPS, GenOptions()).text
    assert "TW_F64V(b[i]) = " in text
    assert re.search(r"#pragma omp parallel num_threads.*?firstprivate\(a, b, n, steps, t_ahead\)", text, re.DOTALL)


def test_numbers_that_the_region_computes() -> None:
    """They lie where others might, as far as clang knows, once threads share them; of those that change there are no
    copies."""
    params = "int n, int m, double x[n][m], double y[n][m]"
    source = LOOP.format(params=params, body="y[i][j] = c * x[i][j];", before="")
    source = source.replace("#pragma scop", "  double c;\n#pragma scop\n  c = 1.0 / n;")
    assert "firstprivate(c, m, n, x, y)" in generate("f.c", source, GenOptions()).text
    changing = source.replace("y[i][j] = c * x[i][j]", "{ c = x[i][j]; y[i][j] = c * c; }")
    assert "firstprivate(m, n, x, y)" in generate("f.c", changing, GenOptions()).text
