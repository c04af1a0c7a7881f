"""Points in two colours: isl finds no order for them, so they run in the source's, a colour after the other."""

from __future__ import annotations

from pathlib import Path

from tests.sunway.programs import build


def test_both_colours_run_on_cores(tmp_path: Path, library: Path) -> None:
    """Also where a colour has no point, or a tile has none of one."""
    built = build("red-black-3d", tmp_path, library)
    for sizes in ((2, 2), (2, 3), (1, 4), (3, 19)):
        built.agree(*sizes)
