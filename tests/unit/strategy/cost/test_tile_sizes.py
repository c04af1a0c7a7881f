"""Sizes of tiles that go across lines of memory."""

from __future__ import annotations

import pytest

import codegen
from codegen.strategy.cost.tile_sizes import READ_ACROSS

# Turned, then mirrored in the same loops: both results along the innermost one, what is read across it.
TURNED = """
void turn(int h, int w, unsigned a[restrict h][w], unsigned r[restrict w][h], unsigned m[restrict w][h])
{
#pragma scop
  for (int i = 0; i < h; i++)
    for (int j = 0; j < w; j++)
      r[j][h - 1 - i] = a[i][j];
  for (int i = 0; i < w; i++)
    for (int j = h - 1; j >= 0; j--)
      m[i][h - 1 - j] = r[i][j] ^ 255u;
#pragma endscop
}
"""


@pytest.mark.parametrize("machine", ["generic", "neoverse-n1", "sapphire-rapids"])
def test_tiles_read_across_few_lines_at_a_time(machine: str) -> None:
    (region,) = codegen.generate(TURNED, machine=machine).regions
    (tile,) = [line for line in region.plan.splitlines() if line.strip().startswith("tile")]
    assert f"S1.i:{READ_ACROSS}" in tile.replace(" ", "")
