"""Which cases a run of all tests takes."""

from __future__ import annotations

import pytest

from tests.fast import BROAD, THIN, THIRD, TURN, some_of_each, turn_of_commit

LONG = [f"tests/a.py::test_long[{n}]" for n in range(4 * THIN + 1)]
SHORT = [f"tests/a.py::test_short[{n}]" for n in range(BROAD)]
BROADER = [f"tests/a.py::test_broad[{n}]" for n in range(BROAD + 5)]
SLOW = ["tests/a.py::test_slow"]
LISTED = frozenset({"/tests/a.py::test_long", *SLOW, f"-{LONG[0]}"})


def test_all_cases_are_seen_in_so_many_commits() -> None:
    found = [some_of_each([*LONG, *SHORT], LISTED, turn) for turn in range(THIN)]
    assert all(set(SHORT) <= x for x in found)
    assert set().union(*found) == {*LONG[1:], *SHORT}
    assert sum(map(len, found)) == len(LONG) - 1 + THIN * len(SHORT)


def test_functions_with_few_cases_have_one_in_every_turn() -> None:
    few = LONG[1 : THIN - 1]
    assert all(some_of_each(few, LISTED, turn) for turn in range(2 * THIN))


def test_the_turn_can_be_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TURN, "7")
    assert turn_of_commit() == 7


def test_functions_with_many_cases_are_seen_whole_in_three_commits() -> None:
    found = [some_of_each(BROADER, LISTED, turn) for turn in range(THIRD)]
    assert set().union(*found) == set(BROADER) and sum(map(len, found)) == len(BROADER)


def test_slow_functions_with_few_cases_take_turns() -> None:
    assert [len(some_of_each(SLOW, LISTED, turn)) for turn in range(4)] in ([0, 1, 0, 1], [1, 0, 1, 0])
