"""Every way through a blocked product, bit for bit: sizes on both sides of whatever decides between two of them.

With blocks of at most 20 there are few rows up to 10; vectors have 2 or 4 elements, tiles up to 12 rows and columns; a
depth below 20 lets tiles run along rows, and beyond 20 there are several blocks of it.
"""

from __future__ import annotations

from itertools import chain, product
from pathlib import Path

import pytest

from tests.run import products
from tests.run.test_microkernel import HOST, compiler
from tests.run.test_products import Build, made_of

ROWS = (1, 3, 4, 5, 8, 9, 10, 11, 21, 41)
COLUMNS = (1, 2, 3, 4, 6, 7, 8, 9, 12, 13, 20, 24, 25, 48)
DEPTHS = (1, 2, 3, 19, 20, 21, 41)
# Operands along rows, columns or depth; several values for a step; bundles; triangles and bands; conversions.
CASES = {
    *("ring1_double", "ring12_float", "box0", "box4", "box5", "box6", "box12", "box17", "box18", "tensor1", "tensor4"),
    *("part0", "part2", "part6", "part9"),
}
MACHINES = ("generic", "neoverse-n1") if HOST == "aarch64" else ("generic",)


@pytest.mark.slow
@pytest.mark.parametrize("machine", MACHINES)
def test_every_path(machine: str, tmp_path: Path) -> None:
    made = chain(products.semirings(), products.shapes(), products.parts())
    cases = [c for c in made if c.name in CASES]
    assert {c.name for c in cases} == CASES
    sizes = tuple(product(ROWS, COLUMNS, DEPTHS))
    assert Build(tmp_path, cases, made_of(cases, machine).text, compiler(""), sizes=sizes).output() == "0 bad\n"
