"""From which size on products are packed."""

from __future__ import annotations

import pytest

from codegen.machine import load
from codegen.options import GenOptions
from codegen.region_model import model_region
from codegen.scop.product import Blocking
from codegen.source_file import open_source
from codegen.strategy.products.selection import DIRECT_STEPS, DIRECT_STEPS_CUT, find_products


def packed_from(elem: str, columns: str, machine: str) -> int:
    """The number of steps of the box from which the product of one nest is packed."""
    text = f"""void f(int n, {elem} A[n][n], {elem} B[n][n], {elem} C[n][n])
{{
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < {columns}; j++)
    for (int k = 0; k < n; k++)
      C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}}
"""
    model = model_region(open_source("in.c", text, GenOptions()).slices[0], GenOptions())
    assert model is not None
    (d,) = find_products(model.program, load(machine), "smart").directives
    assert isinstance(d.how, Blocking)
    return d.how.direct


@pytest.mark.parametrize("machine", ["generic", "neoverse-n1", "sapphire-rapids"])
@pytest.mark.parametrize("elem", ["float", "double"])
def test_the_bound_depends_on_cut_corners_and_not_on_the_width_of_vectors(elem: str, machine: str) -> None:
    assert packed_from(elem, "n", machine) == DIRECT_STEPS
    assert packed_from(elem, "i + 1", machine) == DIRECT_STEPS_CUT > DIRECT_STEPS
