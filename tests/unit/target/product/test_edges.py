"""Kernels for the edges of a product's tiles, and what a kernel asks for ahead."""

from __future__ import annotations

import pytest

from codegen.isa.load import load as load_isa
from codegen.scop.lanes import Lane
from codegen.target.product.microkernel import MicroKernel, micro_kernel, name, row_unit
from codegen.target.product.microkernel_model import low_rows, smaller
from codegen.verify.text.kernel import wrong_kernel

ADD = Lane("add", (Lane("acc"), Lane("mul", (Lane("a"), Lane("b")))))


@pytest.mark.parametrize(
    ("mr", "unit", "rows"),
    [
        (14, 1, (2, 4, 6, 8, 10, 12)),
        (30, 1, (6, 12, 18, 24)),  # not more than six, each of which compilers write out
        (12, 4, (4, 8)),
        (9, 2, (2, 4, 6, 8)),
        (8, 8, (4,)),  # no whole unit is less than the tile
        (6, 1, (2, 4)),
        (2, 1, (1,)),
        (1, 1, ()),
    ],
)
def test_tiles_have_kernels_for_even_numbers_of_rows(mr: int, unit: int, rows: tuple[int, ...]) -> None:
    assert low_rows(mr, unit) == rows
    _, made = smaller(MicroKernel("f64", ADD, 0, mr, 2), unit)
    assert tuple(k.mr for k in made) == rows and all(k.a_rows == mr for k in made)


@pytest.mark.parametrize("isa", ["avx512", "avx2", "generic", "neon", "sve"])
def test_kernels_ask_for_the_tile_that_callers_take_next(isa: str) -> None:
    table = load_isa(isa)
    down, along = (MicroKernel("f64", ADD, 0, 6, 2, along=x) for x in (False, True))
    assert name(table, down) != name(table, along)
    for kernel, further in ((down, "ldc"), (along, "")):
        text = micro_kernel(table, kernel)
        asked = [line for line in text.splitlines() if "TW_PREFETCH(row" in line]
        assert asked and all(("ldc" in line) == bool(further) for line in asked)
        assert wrong_kernel(table, kernel, text) == ""


def test_rows_of_small_kernels_are_whole_vectors_only_where_lanes_are_operands() -> None:
    assert row_unit(load_isa("avx512"), "f64") == 1
    assert row_unit(load_isa("neon"), "f64") == 2
