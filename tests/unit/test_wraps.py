"""Subscripts that wrap around: the plain part of a nest has code of its own, with vectors."""

from __future__ import annotations

import re

from codegen.options import GenOptions
from codegen.pipeline import generate

RING = """
double u[64], v[64];
void f(void)
{
#pragma scop
  for (int i = 0; i < 64; i++)
    v[i] = u[(i + 1) % 64] + u[(i + 63) % 64];
#pragma endscop
}
"""


def test_ends_are_apart() -> None:
    text = generate("in.c", RING, GenOptions()).text
    assert "v[0] = u[1] + u[63];" in text
    assert "v[63] = u[0] + u[62];" in text
    assert re.search(r"for \(long i = 1; i < 63; i\+\+\)\s*v\[i\] = u\[i \+ 1\] \+ u\[i - 1\];", text)
    assert "%" not in text.split("f(void)")[1]


def test_quotients_of_many_values_stay() -> None:
    text = generate("in.c", RING.replace("(i + 1) % 64", "3 * i % 64"), GenOptions()).text
    assert "3 * i % 64" in text


def test_rows_that_take_turns_do_not_hide_steps_along_them() -> None:
    source = RING.replace("double u[64], v[64];", "double u[3][64];").replace("f(void)", "f(int t)").replace(
        "v[i] = u[(i + 1) % 64] + u[(i + 63) % 64];", "u[(t + 1) % 3][i] = u[t % 3][i];"
    )
    assert "omp simd" in generate("in.c", source, GenOptions(context="t >= 0")).text
