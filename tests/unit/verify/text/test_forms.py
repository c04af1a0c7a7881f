"""Forms of printed products that proofs once did not read, and what happens where a text cannot be proven."""

from __future__ import annotations

import re

import pytest

from codegen import generate
from codegen.verify.text import check
from codegen.verify.text.read import Node, read_statements

MATVEC = """#include <stdint.h>
void f(int n, int m, int16_t y[n], int16_t a[m][n], int16_t x[2 * m])
{
#pragma scop
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++)
      y[j] ^= a[i][j] | x[2 * i];
#pragma endscop
}
"""
LONG_NAMES = re.sub(r"\bn\b", "elements_of_each_line_of_the_matrix_in_memory", MATVEC)
SMALL = """void f(int n, int m, signed char c[n + 38][m + 38], signed char a[35][70], signed char b[35][35])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < n; k++)
        c[i][j] = c[i][j] + -a[i][2 * k] ^ b[k][j];
#pragma endscop
}
"""
GEMM = """void f(int n, double c[n][n], double a[n][n], double b[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        c[i][j] += a[i][k] * b[k][j];
#pragma endscop
}
"""


@pytest.mark.parametrize(
    "source",
    [MATVEC, LONG_NAMES, SMALL],
    ids=["a copy of elements of a type of the user's", "lines that are wrapped", "fewer columns than a tile has"],
)
def test_the_text_is_proven(source: str) -> None:
    found = generate(source)
    assert "product S1" in found.text
    assert not [d for d in found.diagnostics if d.id in ("fallback", "unproven", "region-refused")]


def test_a_pointer_of_a_type_that_is_not_known_is_declared() -> None:
    (declared,) = read_statements("int8_t *next = room;")
    assert declared.kind == "declare" and declared.text == "next"
    (product,) = read_statements("f(a * b);")
    assert product.kids[0].kids == (Node("binary", "*", (Node("name", "a"), Node("name", "b"))),)


def test_a_text_that_is_not_proven_gives_way_to_a_simpler_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "wrong_text", lambda emitted: "a row too many" if emitted.products else "")
    found = generate(GEMM)
    assert "tw_rows" not in found.text and "tilewright: region 1" in found.text
    (warning,) = {d.message for d in found.diagnostics if d.id == "unproven"}
    assert "could not be proven: a row too many" in warning
