"""Random regions that share a file with other techniques, on every target that runs here: what the program prints is
what it printed before.

These are a few; `python -m tests.property.combined FIRST COUNT` runs many.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.property.combined import WAYS, combined, failures, ways

# None with products, whose proofs take long.
SEEDS = {"openmp": 4003, "c": 4004, "dispatch": 4011, "sunway": 4017, "sunway-pro": 4019, "mpi": 4023, "opencl": 4024}


@pytest.mark.parametrize("name", WAYS)
def test_random_file(name: str) -> None:
    if name not in ways():
        pytest.skip(f"no {WAYS[name].needs}")
    counts = Counter[str]()
    assert failures(SEEDS[name], [name], counts) == []
    assert counts[f"{name}: transformed"] > 0


def test_programs_are_the_same_for_the_same_seed() -> None:
    assert combined(1) == combined(1) != combined(2)
