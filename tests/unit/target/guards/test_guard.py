"""Conditions that must hold together."""

from __future__ import annotations

import pytest

from codegen.target.guards.guard import all_of


@pytest.mark.parametrize(
    ("tests", "text"),
    [
        (("a", ""), "a"),
        (("a || b",), "a || b"),
        (("a || b", "c"), "(a || b) && c"),
        (("(a || b)", "f(c || d)"), "(a || b) && f(c || d)"),
        (("a && b", "c ? d : e"), "a && b && (c ? d : e)"),
        ((), ""),
    ],
)
def test_alternatives_get_parentheses(tests: tuple[str, ...], text: str) -> None:
    assert all_of(tests) == text
