"""Which cases a run of all tests takes."""

from __future__ import annotations

import pytest

from tests.fast import THIN, TURN, some_of_each, turn_of_commit

LONG = [f"tests/a.py::test_long[{n}]" for n in range(4 * THIN + 1)]
SHORT = [f"tests/a.py::test_short[{n}]" for n in range(10)]
LISTED = frozenset({"/tests/a.py::test_long", f"-{LONG[0]}"})


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
