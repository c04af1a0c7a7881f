"""What the type of the elements decides: the same loops in float and in int."""

from __future__ import annotations

from dataclasses import replace

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

def window(where: str) -> str:
    """The largest of five neighbours, fewer at the edges."""
    body = f"if (x + d >= 0 && x + d < n) m = src[y][{where}] > m ? src[y][{where}] : m;"
    return f"{OVER(v='y')}{OVER(v='x')}{{ real m = 0; for (int d = -2; d <= 2; d++) {body} dst[y][x] = m; }}"


def test_extremes_of_windows_have_vectors_along_lines() -> None:
    """In any order or not: what each point keeps for itself becomes a strip, as sums of floating-point numbers do."""
    made = plan("unsigned char", "real src[n][n], real dst[n][n]", window("x + d"))
    assert "store m in S1.xt" in made and "order S2.d, S2.x" in made


def test_windows_of_few_are_no_vectors() -> None:
    """Where lines are no help: a loop of at most five is left to the compiler, even if it may be shorter."""
    assert "S2.d" not in plan("unsigned char", "real src[n][2 * n], real dst[n][n]", window("2 * (x + d)"))


@pytest.mark.parametrize("real, apart", [("double", True), ("int", False)])
def test_sums_that_compilers_turn_into_vectors_share_what_they_read(real: str, apart: bool) -> None:
    inner = "k = A[i][j] > k ? A[i][j] : k; s += A[i][j];"
    body = f"{OVER(v='i')}{{ real k = A[i][0], s = 0; {OVER(v='j')}{{ {inner} }} x[i] = k; y[i] = s; }}"
    made = plan(real, "real A[n][n], real x[n], real y[n]", body)
    assert any(word in made for word in ("product", "interleave", "store")) is apart


def test_steps_over_time_keep_their_tiles_in_any_order() -> None:
    """Each update of a field is a sum into it; freed of their order, the steps would be no band for tiles."""
    waves = "E[i] -= 0.5 * (H[i] - H[i - 1]);", "H[i] -= 0.7 * (E[i + 1] - E[i]);"
    body = OVER(v="t") + "{ " + " ".join(f"for (int i = 1; i < n - 1; i++) {w}" for w in waves) + " }"
    text = f"void f(int n, double E[n], double H[n])\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    kept, free = (generate("in.c", text, replace(OPTIONS, reassociate=r)).plan for r in (False, True))
    assert "diamond" in kept and kept == free
