"""Kernels of the corpus with numbers in place of their sizes."""

from __future__ import annotations

import pytest

from benchmarks.fixed import with_numbers
from tests.corpus import KERNELS


@pytest.mark.parametrize(("large", "size"), [(False, "180"), (True, "2800")])
def test_sizes_are_numbers(large: bool, size: str) -> None:
    made = with_numbers((KERNELS / "floyd-warshall.c").read_text(encoding="utf-8"), large)
    assert made is not None and "DRIVER" not in made
    assert f"void kernel_floyd_warshall(real d[{size}][{size}])" in made and f"k < {size};" in made


def test_a_kernel_without_sizes() -> None:
    assert with_numbers("void f(void)\n{\n}\n", True) is None
