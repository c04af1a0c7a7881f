"""Dependences of many pieces with many faces: isl's scheduler would look for an order without an end."""

from __future__ import annotations

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.property.harness import program_of


@pytest.mark.parametrize("seed", [3000292, 3000421, 3000697])
def test_generation_ends(seed: int) -> None:
    """Left as they are, these regions would be: with a warning, past eight times the limit."""
    made = generate("in.c", program_of(seed).text(), GenOptions(timeout=10))
    assert made.regions[0].transformed
