"""`sizeof`: numbers of elements as bounds, and variables for which something of another size stands later."""

from __future__ import annotations

import pytest

import codegen

TABLES = """
#define LENGTH(a) (sizeof(a) / sizeof *(a))
enum { ROWS = 5, COLUMNS = 3 * ROWS };
typedef double real;
real t[40], u[ROWS][COLUMNS];
struct { int n; float at[9]; } s[6];
"""
BOUNDS = {
    "by name": "for (unsigned i = 0; i < sizeof t / sizeof t[0]; i++) t[i] += i;",
    "by a macro": "for (int i = 0; i < (int)LENGTH(t); i++) t[i] = 2 * t[i];",
    "compared unsigned": "for (int i = 0; i < LENGTH(t); i++) t[i] = 2 * t[i];",
    "by types": "for (int i = 0; i < (int)(sizeof t / sizeof(real)); i++) t[i] = 1;",
    "rows": "for (unsigned i = 0; i < LENGTH(u); i++) for (unsigned j = 0; j < LENGTH(u[i]); j++) u[i][j] += i - j;",
    "all": "for (int k = 0; k < (int)(sizeof u / sizeof u[0][0]); k++) t[k % 40] += 1;",
    "members": "for (unsigned i = 0; i < LENGTH(s); i++) for (unsigned j = 0; j < LENGTH(s->at); j++) s[i].at[j] = i;",
}
KEPT = {
    "parameter": "for (int i = 0; i < (int)(sizeof q / sizeof q[0]); i++) q[i] = i;",
    "unsized": "for (int i = 0; i < (int)LENGTH(v); i++) q[i] = i;",
    "other elements": "for (int i = 0; i < (int)(sizeof t / sizeof(float)); i++) q[i % 8] = i;",
}


def _function(body: str) -> str:
    above = f"{TABLES}static int v[] = {{1, 2, 3}};\nvoid f(int q[8]) {{\n"
    return f"{above}#pragma scop\n{body}\n#pragma endscop\n(void)q; (void)v;\n}}\n"


@pytest.mark.parametrize("name", BOUNDS)
def test_numbers_of_elements_are_bounds(name: str) -> None:
    made = codegen.generate(_function(BOUNDS[name]))
    assert made.regions[0].transformed, made.diagnostics
    assert codegen.check(_function(BOUNDS[name])).ok


@pytest.mark.parametrize("name", KEPT)
def test_other_quotients_are_none(name: str) -> None:
    made = codegen.generate(_function(KEPT[name]))
    assert not made.regions[0].transformed


def test_variables_keep_their_sizes() -> None:
    """Of a pointer that is written as the array it leads to, of a narrow number that is a formula, of a parameter."""
    source = """
        double t[40];
        static double of(const double *p, int n) { return sizeof(p) + p[n]; }
        void f(long *x, int n) {
        #pragma scop
          for (int i = 0; i < n; i++) {
            double *p = t;
            short k = (short)(i + 1);
            x[i] = sizeof(p) + 100 * sizeof(*p) + 10000 * sizeof k + 1000000 * sizeof(x) + sizeof i + sizeof t;
          }
        #pragma endscop
        }
        void g(double *y) {
        #pragma scop
          for (int i = 0; i < 40; i++)
            y[i] = of(t, i);
        #pragma endscop
        }
    """
    made = codegen.generate(source)
    assert made.regions[0].transformed and "sizeof(t) + t[" not in made.text
    assert codegen.check(source).ok


def test_local_arrays_are_checked_with_their_sizes() -> None:
    """The test around a region has them as they are declared, not as pointers."""
    source = """
        #define LENGTH(a) (sizeof(a) / sizeof((a)[0]))
        void f(double *a) {
          float t[8], u[3][5];
        #pragma scop
          for (unsigned i = 0; i < LENGTH(t); i++)
            t[i] = (float)a[i] / sizeof(t[0]);
          for (int i = 0; i < (int)LENGTH(t); i++)
            a[i] += t[i] * sizeof t;
          for (unsigned i = 0; i < LENGTH(u); i++)
            for (unsigned j = 0; j < LENGTH(u[0]); j++)
              u[i][j] = a[i] + j;
        #pragma endscop
          a[0] += u[1][1];
        }
    """
    assert codegen.generate(source).regions[0].transformed
    found = codegen.check(source)
    assert found.ok and "agree" in found.lines[0], found.lines
