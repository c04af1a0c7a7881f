"""Times compared level by level, and the cheap way for tiles, which never says more."""

from __future__ import annotations

import islpy as isl
import pytest

from codegen.scop.times import in_order, surely_in_order

FORWARD = "[n] -> { S[i, j] -> S[i + 1, j] : 0 <= i < n and 0 <= j < n; S[i, j] -> S[i, j + 1] : 0 <= i, j < n }"
SLANTED = "[n] -> { S[i, j] -> S[i + 1, j - 1] : 0 <= i < n and 0 < j < n }"
ROWS = ("i", "j")
TILES = ("16*floor(i/16)", "16*floor(j/16)", "i", "j")
MOVED = ("i - (i + n) % 16", "8*floor((3 + j)/8) + 5", "i", "j")
SKEWED = ("16*floor(i/16)", "16*floor((i + j)/16)", "i", "i + j")
STRIPS = ("16*floor(i/16)", "j", "i")
TURNED = ("16*floor(-i/16)", "i", "j")
OTHER = ("16*floor(i/16) - i", "i", "j")
NESTED = ("16*floor(i/16)", "2*floor((16*floor(i/16) + j)/4)", "i", "j")


def _times(names: tuple[str, ...]) -> list[isl.PwAff | int]:
    return [0, *(isl.PwAff(f"[n] -> {{ S[i, j] -> [({e})] }}") for e in names)]


@pytest.mark.parametrize("pairs", [FORWARD, SLANTED], ids=["forward", "slanted"])
@pytest.mark.parametrize("names", [ROWS, TILES, MOVED, SKEWED, STRIPS, TURNED, OTHER, NESTED], ids=" ".join)
def test_the_cheap_way_says_no_more(pairs: str, names: tuple[str, ...]) -> None:
    relation, times = isl.Map(pairs), _times(names)
    if surely_in_order(relation, times, times):
        assert in_order(relation, times, times)


@pytest.mark.parametrize("names", [ROWS, TILES, MOVED, SKEWED, STRIPS], ids=" ".join)
def test_the_cheap_way_is_enough_for_tiles(names: tuple[str, ...]) -> None:
    times = _times(names)
    assert surely_in_order(isl.Map(FORWARD), times, times)


def test_tiles_that_a_dependence_leaves_backwards_are_seen() -> None:
    times = _times(TILES)
    assert not in_order(isl.Map(SLANTED), times, times)
    assert not surely_in_order(isl.Map(SLANTED), times, times)
