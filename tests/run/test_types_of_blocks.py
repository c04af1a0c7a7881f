"""Types that functions define: they are known there alone, and none hides another."""

from __future__ import annotations

import pytest

import codegen

ROWS = """
#pragma scop
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++)
      U[i][0] += U[i][j] / 3;
#pragma endscop
"""


@pytest.mark.parametrize(
    "inner, body",
    [
        ("typedef signed char R; R t = 3; (void)t;", ROWS),
        ("{ typedef double R; R t = 3; (void)t; }", ROWS.replace("/ 3", "/ sizeof(U[0][0])")),
        ("struct s { double x; } t = {3}; (void)t;", ROWS.replace("U[i][0]", "V[i].x").replace("U[i][j]", "V[j].x")),
    ],
)
def test_a_hidden_type_is_refused(inner: str, body: str) -> None:
    """The new text would have called its own values by that name."""
    above = "typedef long R; static R U[64][64]; struct s { int x; } V[64];\n"
    made = codegen.generate(f"{above}long f(void) {{\n{inner}\n{body}\nreturn U[0][0];\n}}\n")
    assert not made.regions[0].transformed
    assert any("is another type" in d.message for d in made.diagnostics)


def test_types_of_other_functions_are_none_of_this_one() -> None:
    one = "void {0}({1} *a, const {1} *b, int n) {{\n  typedef {1} T;\n  const T *from = b;\n#pragma scop\n"
    one += "  for (int i = 0; i < n; i++) {{\n    T s = from[i] * 77;\n    a[i] = s / 3;\n  }}\n#pragma endscop\n}}\n"
    source = one.format("f", "int") + one.format("g", "signed char") + one.format("h", "float")
    assert all(r.transformed for r in codegen.generate(source).regions)
    assert codegen.check(source).ok


def test_two_variables_of_a_type_that_their_declaration_defines() -> None:
    """They are of one type: neither hides the other's."""
    body = "struct row { int h; } b = {n}, *c = &b;\n#pragma scop\nfor (int i = 0; i < c->h; i++) a[i] += c->h;\n"
    made = codegen.generate(f"void f(int *a, int n) {{\n{body}#pragma endscop\n}}\n")
    assert made.regions[0].transformed


HIDDEN = """typedef double real;
typedef struct { real x, y; } vec;
typedef real row[8];
static real global[3];
static real twice(real x) { real t = x; return (real)(t * 2); }
void f(int n, int m, real (*restrict a)[m], const real *restrict b, const real *c)
{
  float real = b[0];
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i][j] = b[j] * real + *c + global[2];
#pragma endscop
}
void g(int n, const vec *p, vec *q, row *r)
{
  int vec = 3, real = 1;
#pragma scop
  for (int i = 0; i < n; i++) {
    q[i].x = p[i].y * vec + twice(p[i].x) * real;
    q[i].y = r[i][3] + vec;
  }
#pragma endscop
}
"""


def test_variables_with_the_names_of_types() -> None:
    """New text, and the test around it, calls a type that a variable hides by another name; elsewhere by its own."""
    found = codegen.check(HIDDEN)
    assert found.ok and all("size vectors agree" in x for x in found.lines), found.lines
    assert "const double c" in codegen.generate(HIDDEN).text
    shown = codegen.generate(HIDDEN.replace("float real", "float other").replace("* real + *c", "* other + *c")).text
    assert "const real c" in shown
