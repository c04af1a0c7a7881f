"""Wavefronts: nests in which all loops carry dependences, as launches one after the other of threads along a front."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.corpus import KERNELS
from tests.gpu.programs import build, needs_cxx


@needs_cxx
@pytest.mark.parametrize(
    ("name", "sizes", "launches"),
    [("lcs", (17, 23), 2 + 17 + 23 - 1), ("seidel-2d", (3, 12), 4 * 2 + 3 * 9 + 1), ("wavefront", (7, 9), 6 + 8 - 1)],
)
def test_fronts_are_launches(tmp_path: Path, emulator: Path, name: str, sizes: tuple[int, ...], launches: int) -> None:
    """Equal bit by bit, in as many launches as there are fronts."""
    built = build(name, tmp_path, emulator)
    assert built.agree(*sizes).counts["launches"] == launches
    built.agree(*(2 for _ in sizes))


def test_no_strips_along_fronts() -> None:
    path = KERNELS / "seidel-2d.c"
    plan = generate(str(path), path.read_text(), GenOptions(target="cuda", stem="k")).plan
    assert "grid" in plan and "tile" not in plan
