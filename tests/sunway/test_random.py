"""A few random programs on the emulator; python -m tests.sunway.fuzz runs as many as one likes."""

import pytest

from tests.sunway.fuzz import run_seed


@pytest.mark.slow
@pytest.mark.parametrize("seed", [13, 14, 15, 900_010, 900_012, 900_016, 900_018])
def test_random_program(tmp_path, library, seed):
    assert run_seed(seed, tmp_path, library) == "equal"
