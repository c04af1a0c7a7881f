"""Plans that would copy parts of a union as if they were one number are illegal."""

from __future__ import annotations

import pytest

from codegen.diagnostics import InputError
from codegen.options import GenOptions
from codegen.pipeline import generate

SOURCE = """typedef union { float f; unsigned u; } bits;
void f(int n, bits *restrict p, float (*restrict A)[64], float (*restrict B)[64])
{
  bits b;
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      b.f = A[i][j] + p[j].f;
      B[i][j] = (float)(b.u >> 9);
      p[i].u = (unsigned)(p[j].f * 2);
    }
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        ("expand b over i, j limit 1000000", "parts of `b` are used, as several types"),
        ("copy c[j: n] = p[j] for S1", "elements of `p` are more than one number"),
    ],
)
def test_parts_are_not_copied(plan: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        generate("mixed.c", SOURCE, GenOptions(plan_text=f"region 1\n  {plan}\n"))


def test_core_groups_refuse_them() -> None:
    free = SOURCE.replace("      p[i].u = (unsigned)(p[j].f * 2);\n", "").replace(" + p[j].f", "")
    made = generate("mixed.c", free, GenOptions(target="sunway"))
    notes = [(n.id, n.message) for d in made.diagnostics for n in d.notes]
    assert notes == [("sunway-array", "`b` is a struct or union of which parts are used")]


def test_rows_side_by_side_have_no_variables_of_a_union() -> None:
    text = """typedef union { unsigned u; unsigned char b[4]; } bits;
void f(int n, bits (*restrict p)[64])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 1; j < 64; j++)
      p[i][j].u = p[i][j - 1].u - 1;
#pragma endscop
}
"""
    with pytest.raises(InputError, match="to elements that have one type"):
        generate("rows.c", text, GenOptions(target="c", plan_text="region 1\n  jam i by 4\n"))
