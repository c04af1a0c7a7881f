"""Kernels of the corpus on the emulator: results equal to the original's, bit by bit."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.corpus import KERNELS, some
from tests.gpu.programs import build, needs_cxx

pytestmark = needs_cxx
# Nothing of them runs on threads, or which elements they use falls into too many cases.
ON_HOST = {"dot", "mask-pattern", "prefix-sum", "reduce-2d", "smith-waterman"}
NAMES = sorted(p.stem for p in KERNELS.glob("*.c") if p.stem not in ON_HOST)


@pytest.mark.slow
@pytest.mark.parametrize("name", some(NAMES, 5, 24))
def test_kernel(tmp_path: Path, emulator: Path, name: str) -> None:
    build(name, tmp_path, emulator).agree()


@pytest.mark.parametrize("sizes", [(7, 33), (0, 20), (2, 2), (1, 3), (3, 131)])
def test_steps_are_launches(tmp_path_factory: pytest.TempPathFactory, emulator: Path, sizes: tuple[int, int]) -> None:
    """A launch for each sweep of each step, and what is overwritten comes back alone."""
    folder = tmp_path_factory.getbasetemp() / "jacobi"
    folder.mkdir(exist_ok=True)
    built = build("jacobi-2d", folder, emulator)
    ran, (steps, n) = built.agree(*sizes), sizes
    some_points = n > 2 and steps > 0
    assert ran.counts["launches"] == (2 * steps if some_points else 0)
    assert ran.counts["bytes_out"] == (2 * 8 * (n - 2) ** 2 if some_points else 0)
    assert ran.counts["bytes_in"] == (2 * 8 * n * n if some_points else 0)
