"""Bounds on isl's work."""

from __future__ import annotations

import islpy as isl
import pytest

from codegen.scop.effort import Exhausted, at_most


def _work(times: int) -> None:
    for _ in range(times):
        isl.Set("[n] -> { [i, j] : 0 <= i < n and 0 <= j < i }").lexmax()


def test_past_its_bound_work_ends() -> None:
    with pytest.raises(Exhausted), at_most(100):
        _work(100)
    _work(100)


def test_a_bound_holds_on_behind_one_inside_it() -> None:
    with pytest.raises(Exhausted), at_most(2000):
        with at_most(100_000):
            _work(1)
        _work(100)


def test_work_inside_another_bound_ends_by_itself() -> None:
    with at_most(100_000):
        with pytest.raises(Exhausted), at_most(100):
            _work(100)
        _work(1)
