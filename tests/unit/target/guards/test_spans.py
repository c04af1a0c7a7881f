"""The ends of what a region touches: exact where that is simple, else wider, at bounded cost."""

from __future__ import annotations

import islpy as isl
import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.target.guards.spans import CASES, line_end

SIMPLE = "[n, m] -> { [i] : 0 <= i < n and i < m }"
BLOCKS = "[n, m] -> { [i] : i > 0 and 40*floor((-i)/40) >= -38 - m + i and 80*floor((-i)/40) >= -76 - n }"
BETWEEN = (
    "[n, m] -> { [i] : i >= 36 and -42 - m + i <= 40*floor((-5 - i)/40) <= -40 - i "
    "and 80*floor((-5 - i)/40) >= -80 - n }"
)


def _past(values: isl.Set) -> int:
    return int(values.dim_max_val(0).to_python()) + 1


@pytest.mark.parametrize(("text", "exact"), [(SIMPLE, True), (BLOCKS, False), (BETWEEN, False)])
def test_the_end_covers_every_element(text: str, exact: bool) -> None:
    line = isl.Set(text)
    end = line_end(line, True)
    assert end.n_piece() <= CASES
    for n, m in ((3, 5), (40, 7), (81, 200), (123, 121), (400, 1000)):
        here = line.fix_val(isl.dim_type.param, 0, isl.Val(n)).fix_val(isl.dim_type.param, 1, isl.Val(m))
        if here.is_empty():
            continue
        at = isl.Set(f"[n, m] -> {{ : n = {n} and m = {m} }}")
        found = int(end.intersect_domain(at).max_val().to_python())
        assert found == _past(here) if exact else found >= _past(here)


CHAIN = """void f(int n, int m, int ld, long *a, int *c)
{
#pragma scop
  for (short i = 1; i < n; i++)
    for (short j = 3; j <= 3; j++)
      a[2 * ((2 * i - j + 3) * ld + i) + 1] ^= (*c - a[2 * (j * ld + j + 1)] + 4) % 11;
  for (short i = m < 3 ? m : 3; i >= 3; i--)
    for (short j = i + 2; j < m; j += 3)
      *c = a[2 * ((j + 1) * ld + 2 * j + 2)] + a[2 * (i * ld + i + 1) + 1];
#pragma endscop
}
"""


def test_an_end_that_stands_for_another_is_not_left_out() -> None:
    """Row 3 is read for any m; another read of it, for m > 5 alone, goes no further than rows that depend on m."""
    made = generate("in.c", CHAIN, GenOptions())
    assert not [d for d in made.diagnostics if "does not look" in d.message]
