"""The least and greatest of several numbers as one call."""

from __future__ import annotations

import pytest

from codegen.target.finish.extremes import flattened, used

TEXTS = {
    "tw_max(tw_max(a, b), c)": "tw_max3(a, b, c)",
    "tw_min(tw_min(tw_min(f(x, y), b[i, j]), c), d)": "tw_min4(f(x, y), b[i, j], c, d)",
    "tw_min(tw_min(1, 2), 3) + tw_min(tw_min(1, 2), 3)": "tw_min3(1, 2, 3) + tw_min3(1, 2, 3)",
    "tw_max(tw_max(tw_max(tw_max(a, b), c), d), e)": "tw_max(tw_max4(a, b, c, d), e)",
    "tw_max(tw_min(tw_min(a, b), c), tw_max(tw_max(d, e), f))": "tw_max(tw_min3(a, b, c), tw_max3(d, e, f))",
    "tw_max(tw_max(a, b) + 1, c)": "tw_max(tw_max(a, b) + 1, c)",
    "tw_max(a, tw_max(b, c)": "tw_max(a, tw_max(b, c)",
    "x = tw_max(tw_max(a, b, c), d)": "x = tw_max(tw_max(a, b, c), d)",
}


@pytest.mark.parametrize("text", TEXTS)
def test_nested_calls_are_one(text: str) -> None:
    assert flattened(text) == TEXTS[text]


def test_macros_that_are_used() -> None:
    assert used("tw_max3(a, b, c) + tw_min4(a, b, c, d) + tw_max(1, 2)") == {"tw_max3", "tw_min4"}
