"""Answers are remembered for the very same objects, a few at a time."""

from __future__ import annotations

import islpy as isl
import pytest

from codegen.scop.memo import remember


def test_same_objects_same_answer() -> None:
    asked: list[str] = []

    @remember(2)
    def answer(what: list[int], how: str) -> list[int]:
        asked.append(how)
        return [*what]

    a, b = [1], [1]
    assert answer(a, "x") is answer(a, "x")
    assert answer(b, "x") is not answer(a, "x"), "equal, but another object"
    assert asked == ["x", "x"]
    answer(a, "y")  # the third: the first is forgotten
    assert answer(a, "x") == [1] and asked == ["x", "x", "y", "x"]


@pytest.mark.parametrize("failures, times", [(True, 1), (False, 2)])
def test_giving_up(failures: bool, times: int) -> None:
    tried: list[int] = []

    @remember(1, failures)
    def answer(what: object) -> None:
        tried.append(1)
        isl.Set("{ nonsense")

    one = object()
    for _ in range(2):
        with pytest.raises(isl.Error):
            answer(one)
    assert len(tried) == times
