"""Vector loops count in an `int` where their statements compute with the counter as one, and only there."""

from __future__ import annotations

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.run.sources import run

HIT = """\
void f(int n, long m, unsigned u, float x[restrict n], const int *restrict which)
{
  int i;
#pragma scop
  LOOP
    x[i] += i == which[0] ? 1.0f : 0.0f;
#pragma endscop
}
"""
# Subscripts of an array that data choose are computed as in the source.
ROWS = """\
void f(int n, int d, const double *from, const int *restrict which, double *restrict to)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < d; j++)
      to[i * d + j] = from[which[i] * d + (d - 1 - j)] * (j - d + 1);
#pragma endscop
}
"""


def text_of(loop: str) -> str:
    made = generate("f.c", HIT.replace("LOOP", loop), GenOptions())
    assert made.text.count("simd\n") >= 1
    return made.text


def test_a_value_of_type_int_has_a_counter_of_its_type() -> None:
    text = text_of("for (i = 0; i < n; i++)")
    assert "for (int i = 0; i < n; i++)" in text and "x[i] += i == c0 ? 1.0f : 0.0f;" in text


@pytest.mark.parametrize(
    "loop",
    ["for (i = 0; i <= n; i++)", "for (i = 0; i < m; i++)", "for (i = 0; i < u; i++)", "for (i = m; i < n; i++)"],
    ids=["largest int", "long", "unsigned", "long start"],
)
def test_what_an_int_may_not_reach_is_counted_in_64_bits(loop: str) -> None:
    text = text_of(loop)
    assert "for (tw_index i" in text and "(int)i == c0" in text


def test_subscripts_alone_are_counted_in_64_bits() -> None:
    source = HIT.replace("LOOP", "for (i = 0; i < n; i++)").replace("i == which[0]", "which[0]")
    assert "for (tw_index i = 0; i < n; i++)" in generate("f.c", source, GenOptions()).text


def test_rows_that_data_choose() -> None:
    made = generate("f.c", ROWS, GenOptions())
    assert "for (int j = 0; j < d; j++)" in made.text
    assert "to[i * d + j] = from[c0 * d + (d - 1 - j)] * (j - d + 1);" in made.text
    assert run(ROWS).ok
