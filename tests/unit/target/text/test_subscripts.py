"""Subscripts that data decide about, and tests that split a loop, have counters as they are: casts would keep compilers
from seeing how they move."""

from __future__ import annotations

from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.run.sources import run

KNAPSACK = """\
void f(int n, int w, const TYPE *restrict wt, const int *restrict val, int *restrict t)
{
#pragma scop
  for (int i = 1; i <= n; i++)
    for (int j = 0; j <= w; j++) {
      int best = t[(i - 1) * (w + 1) + j];
      if (j >= wt[i - 1] && t[(i - 1) * (w + 1) + j - wt[i - 1]] + val[i - 1] > best)
        best = t[(i - 1) * (w + 1) + j - wt[i - 1]] + val[i - 1];
      t[i * (w + 1) + j] = best;
    }
#pragma endscop
}
"""
# The counter's own value, not a place: it stays as wide as it was.
VALUES = """\
void f(int n, const int *restrict to, int *restrict hits)
{
#pragma scop
  for (int i = 0; i <= n; i++)
    hits[to[i]] = i > to[i] ? i * 3 : -i;
#pragma endscop
}
"""


def test_counters_are_not_cast_in_subscripts_of_data() -> None:
    text = generate("f.c", KNAPSACK.replace("TYPE", "short"), GenOptions()).text
    assert "best = j >= wt[i - 1] && t[(i - 1) * (w + 1) + j - wt[i - 1]] + val[i - 1] > best" in text
    assert "(int)" not in text


def test_unsigned_arithmetic_is_done_in_its_own_type() -> None:
    text = generate("f.c", KNAPSACK.replace("TYPE", "unsigned"), GenOptions()).text
    assert "(int)j >= wt[i - 1]" in text
    assert "t[((int)i - 1) * (w + 1) + (int)j - wt[i - 1]]" in text


def test_values_have_the_type_of_the_source() -> None:
    text = generate("f.c", VALUES, GenOptions()).text
    assert "(int)i > to[i] ? (int)i * 3 : -(int)i" in text


def test_a_nest_with_signs_and_products_in_its_subscripts_computes_the_same() -> None:
    source = """\
void f(int n, int m, const int *restrict at, const double *restrict x, double *restrict y)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      if (at[i] >= 0 && at[i] < m && j <= at[i])
        y[i * m + j] += x[(i + 1) * m - (m - (at[i] - j))];
#pragma endscop
}
"""
    assert run(source).ok
