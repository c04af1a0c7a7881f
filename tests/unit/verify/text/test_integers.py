"""Integers of printed text as polynomials: which values are taken for the same."""

from __future__ import annotations

import pytest

from codegen.verify.poly import poly, var
from codegen.verify.text.facts import Facts
from codegen.verify.text.integers import Integers
from codegen.verify.text.read import Unread, read_expression


def test_choices_by_names_of_other_values_are_others() -> None:
    """A choice knows what its condition asks: the same words with another value may choose otherwise."""
    facts, e = Facts(), read_expression("n > k ? 8 : 6")
    first = Integers(facts, {"n": var("n"), "k": var("k")}).value(e)
    assert Integers(facts, {"n": var("n"), "k": var("k")}).value(e) == first
    assert Integers(facts, {"n": var("n"), "k": var("k") + 1}).value(e) != first
    assert facts.mentions(first, ["k"]) and not facts.mentions(first, ["m"])


def test_choices_by_a_condition_with_a_name_know_its_numbers() -> None:
    facts, e = Facts(), read_expression("once ? 8 : 6")
    asked = Integers(facts, {"me": var("me")}).cond(read_expression("me > 2"))
    assert facts.mentions(Integers(facts, {"once": asked}).value(e), ["me"])


def test_quotients_by_sums_are_not_read() -> None:
    n = var("n")
    assert (n * 4 + 3).divided(n) == (poly(4), poly(3))
    for divisor in (n + 1, poly(0)):
        with pytest.raises(Unread):
            (n * 4).divided(divisor)
