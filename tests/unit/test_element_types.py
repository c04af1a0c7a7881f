"""What the type of the elements decides: the same loops in float and in int."""

from __future__ import annotations

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate

OPTIONS = GenOptions(machine="neoverse-n1", banner=False)
OVER = "for (int {v} = 0; {v} < n; {v}++) ".format
CLAMP = """{i} {{
  moved[i] = 0;
  {j} {{
    if (X[i][j] < lo[i] || X[i][j] > hi[i]) moved[i]++;
    if (X[i][j] < lo[i]) X[i][j] = lo[i]; else if (X[i][j] > hi[i]) X[i][j] = hi[i];
  }}
}}""".format(i=OVER(v="i"), j=OVER(v="j"))
TENSOR = OVER(v="i") + OVER(v="j") + OVER(v="k") + OVER(v="r") + "M[i][r] += T[i][j][k] * B[j][r] * C[k][r];"
SUMS = OVER(v="i") + OVER(v="j") + "y[i] += A[i][j] * x[j];"
FORCES = """{i} {{
  real a = 0;
  {j} {{
    real d = b[j].x - b[i].x, s = b[j].m * d;
    a += s * d;
  }}
  y[i] = a;
}}""".format(i=OVER(v="i"), j=OVER(v="j"))


def plan(real: str, params: str, body: str) -> str:
    head = f"typedef {real} real;\nstruct body {{ real x, y, z, m; }};\nvoid f(int n, {params})\n"
    return generate("in.c", f"{head}{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n", OPTIONS).plan


@pytest.mark.parametrize("real", ["double", "float", "int"])
def test_branches_are_not_taken_twice(real: str) -> None:
    """A loop for each statement would make the same decision on data a second time."""
    made = plan(real, "real X[n][n], const real lo[n], const real hi[n], unsigned moved[n]", CLAMP)
    assert "vector" not in made and made.count("loop") <= 2


@pytest.mark.parametrize("real, product", [("float", True), ("double", True), ("int", False)])
def test_products_that_multiplications_bound_stay_as_they_are(real: str, product: bool) -> None:
    """Two multiplications of integers for each step keep their one unit busy, in tiles and out of them."""
    made = plan(real, "real M[n][n], real T[n][n][n], real B[n][n], real C[n][n]", TENSOR)
    assert ("product" in made) is product


@pytest.mark.parametrize("real, form", [("float", "across"), ("int", "fold"), ("unsigned", "fold")])
def test_integers_are_summed_in_any_order_on_lanes(real: str, form: str) -> None:
    """Signed ones too: they wrap around there, and an order that the source does not have may overflow."""
    assert f"form {form} " in plan(real, "real A[n][n], real x[n], real y[n]", SUMS)


def test_what_is_read_of_the_same_array_keeps_its_order() -> None:
    other = OVER(v="i") + OVER(v="j") + "y[i] += A[i][j] * y[j + n];"
    assert "form fold" not in plan("int", "real A[n][n], real y[2 * n]", other)


@pytest.mark.parametrize("real", ["double", "float"])
def test_members_of_structs_are_no_rows(real: str) -> None:
    """Rows side by side would gather them."""
    assert "store" not in plan(real, "const struct body b[n], real y[n]", FORCES)
