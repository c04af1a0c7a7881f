"""Subscripts that wrap around: the plain part of a nest has code of its own, with vectors."""

from __future__ import annotations

import re

import islpy as isl
import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.recognize.access.wraps import settled

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
    assert re.search(r"for \(tw_index i = 1; i < 63; i\+\+\)\s*v\[i\] = u\[i \+ 1\] \+ u\[i - 1\];", text)
    assert "%" not in text.split("f(void)")[1]


def test_quotients_of_many_values_stay() -> None:
    text = generate("in.c", RING.replace("(i + 1) % 64", "3 * i % 64"), GenOptions()).text
    assert "3 * i % 64" in text


def test_rows_that_take_turns_do_not_hide_steps_along_them() -> None:
    source = RING.replace("double u[64], v[64];", "double u[3][64];").replace("f(void)", "f(int t)").replace(
        "v[i] = u[(i + 1) % 64] + u[(i + 63) % 64];", "u[(t + 1) % 3][i] = u[t % 3][i];"
    )
    assert "omp simd" in generate("in.c", source, GenOptions(context="t >= 0")).text


@pytest.mark.parametrize(("pieces", "plain"), [
    ("{ [i] -> [0] : n = -1 and i = 0; [i] -> [n] : n >= 0 }", "{ [i] -> [0] : n <= 0; [i] -> [n] : n > 0 }"),
    ("{ [i] -> [n] : i = n; [i] -> [i] : i < n }", "{ [i] -> [i] : i <= n; [i] -> [n] : i > n }"),
    ("{ [i] -> [5] : i = 0; [i] -> [i] : i > 0 }", None),  # neither the larger nor the smaller of the two
])
def test_two_pieces_become_an_extreme(pieces: str, plain: str | None) -> None:
    """Otherwise what the few points of a piece have in common is printed: `n == -1 && i == 0 ? 0 : n`."""
    value = isl.PwAff(f"[n] -> {pieces}")
    found = settled(value, value.domain())
    assert found.is_equal(isl.PwAff(f"[n] -> {plain or pieces}"))
