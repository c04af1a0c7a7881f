"""Bounds on isl's work."""

from __future__ import annotations

import islpy as isl
import pytest

from codegen.scop.effort import Exhausted, Spent, at_most, spend


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


def _taken(times: int) -> int:
    spent = Spent()
    with at_most(10_000_000, spent):
        _work(times)
    return spent.operations


def test_what_was_taken_is_told() -> None:
    one = _taken(1)
    assert 0 < one < 10_000 and _taken(7) == pytest.approx(7 * one, rel=0.1)


def test_what_is_taken_inside_counts_outside() -> None:
    spent = Spent()
    with at_most(10_000_000, spent):
        with at_most(1_000_000):
            _work(3)
        _work(2)
        with pytest.raises(Exhausted), at_most(100):
            _work(1)
    assert spent.operations == pytest.approx(5 * _taken(1) + 100, rel=0.1)
    for bound in (3, 5, 8):
        with pytest.raises(Exhausted), at_most(bound * _taken(1)):
            for _ in range(10):
                with at_most(1_000_000):
                    _work(1)


def test_an_inner_bound_is_no_more_than_what_is_left() -> None:
    spent = Spent()
    with pytest.raises(Exhausted), at_most(50_000, spent), at_most(100_000_000):
        _work(10_000)
    assert spent.operations == 50_000


def test_other_work_counts_as_isls() -> None:
    spent = Spent()
    with at_most(10_000, spent):
        spend(3000)
        spend(4000)
    assert spent.operations == pytest.approx(7000, abs=100)
    with pytest.raises(Exhausted), at_most(10_000, spent):
        for _ in range(4):
            spend(3000)
    assert spent.operations == 10_000
    spend(1 << 40)  # where there is no bound


def test_the_context_can_be_used_afterwards() -> None:
    ctx = isl.DEFAULT_CONTEXT
    for _ in range(3):
        with pytest.raises(Exhausted), at_most(100):
            _work(100)
        assert ctx.get_max_operations() == 0
        _work(10)
