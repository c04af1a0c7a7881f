"""Pairs of points by their values: formulas that are compared directly, and values in cases that are not."""

from __future__ import annotations

import islpy as isl
import pytest

from codegen.scop.distance import after, before, together

VALUES = {
    "iterator": ("[n] -> { S[i, j] -> [(j)] }", "[n] -> { T[i] -> [(i)] }"),
    "sum": ("[n] -> { S[i, j] -> [(2i - j + n)] }", "[n] -> { T[i] -> [(1 + 3i)] }"),
    "tiles": ("[n] -> { S[i, j] -> [(64*floor((i + j)/64))] }", "[n] -> { T[i] -> [(64*floor((i)/64))] }"),
    "cases": ("[n] -> { S[i, j] -> [(j)] : i >= 0; S[i, j] -> [(n)] : i < 0 }", "[n] -> { T[i] -> [(i)] }"),
    "other parameters": ("[n] -> { S[i, j] -> [(j + n)] }", "[m] -> { T[i] -> [(i - m)] }"),
}


@pytest.mark.parametrize("kind", VALUES)
def test_pairs_are_those_of_the_values(kind: str) -> None:
    a, b = map(isl.PwAff, VALUES[kind])
    assert before(a, b).is_equal(a.lt_map(b))
    assert after(a, b).is_equal(a.gt_map(b))
    assert together(a, b).is_equal(a.eq_map(b))


def test_what_is_known_of_points_does_not_count() -> None:
    a, b = isl.PwAff("[n] -> { S[i] -> [(i)] : 0 <= i < n }"), isl.PwAff("[n] -> { T[i] -> [(i)] : i >= 5 }")
    assert together(a, b).is_equal(isl.Map("[n] -> { S[i] -> T[i] }"))
