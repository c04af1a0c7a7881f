"""Products whose elements take different numbers of steps are proven from their text; damaged text is refused."""

from __future__ import annotations

import pytest

from codegen.verify.poly import poly, var
from codegen.verify.text.blocked.product import wrong_products
from codegen.verify.text.check import wrong_text
from codegen.verify.text.facts import Facts
from codegen.verify.text.linear import never
from tests.unit.verify.text.blocked.test_product import changed, printed

BAND = """void f(int n, int m, double A[n][n], double B[n][m], double C[n][m])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = i - 20 > 0 ? i - 20 : 0; k <= i; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""


HESSENBERG = """void f(int n, double A[n][n], double X[n][n], double B[n][n], double C[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = i; k <= j; k++)
        C[i][j] += A[i][k] * B[k][j] - X[i][k] * B[k][j];
#pragma endscop
}
"""


CHANGED_ONLY = """void f(int n, double A[n][n], double B[n][n], double C[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k <= i; k++)
        if (A[i][k] > 0) C[i][j] -= A[i][k] * B[k][j];
#pragma endscop
}
"""


NARROW = """void f(int n, short A[n][n], short B[n][n], int C[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = i; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""


@pytest.mark.parametrize("source", [BAND, HESSENBERG, CHANGED_ONLY, NARROW], ids=["band", "both", "changed", "narrow"])
@pytest.mark.parametrize("target", ["c", "openmp"])
def test_products_cut_in_depth_are_proven(target: str, source: str) -> None:
    emitted = printed(target, source)
    assert emitted.products
    assert wrong_text(emitted) == ""


# What is damaged, the text, what stands there instead, and which of several places (-1: all).
STEPS = {
    "the kernel begins a step too early": ("ib + it - 20 + 5)", "ib + it - 20 + 4)", 0),
    "the kernel ends a step too late": ("tw_min(kb + tw_k, ib + it + 1))", "tw_min(kb + tw_k, ib + it + 2))", 0),
    "the kernel may begin past its end": ("tw_to = tw_max(tw_from,", "tw_to = (", 0),
    "the kernel may begin past the block": ("tw_from = tw_min(", "tw_from = tw_max(", 0),
    "the first steps are lost": (
        "kr = tw_max(kb, ib + it - 20)",
        "kr = tw_max(kb, ib + it)",
        0,
    ),
    "first steps of the block before": ("kr = tw_max(kb, ib", "kr = tw_max(kb - 1, ib", 0),
    "the last steps are lost": ("for (long kr = tw_to; kr < tw_end;", "for (long kr = tw_to; kr < tw_end - 1;", 0),
    "a last step twice": ("for (long kr = tw_to; kr", "for (long kr = tw_to - 1; kr", 0),
    "an end before the last element's": ("ib + it + 1 + 5)", "ib + it + 5)", 0),
    "an end past the block": ("tw_end = tw_max(kb, tw_min(", "tw_end = tw_max(kb, tw_max(", 0),
    "a step that an element does not take": (
        "0 - (ib + it + ir) + kr + 20 >= 0)",
        "0 - (ib + it + ir) + kr + 21 >= 0)",
        0,
    ),
    "a step that is left out": ("if (ib + it + ir - kr >= 0 &&", "if (ib + it + ir - kr >= 1 &&", 0),
    "steps of all elements": ("if (ib + it + ir - kr >= 0 && 0 - (ib + it + ir) + kr + 20 >= 0)", "", 1),
    "the left operand at the next depth": (
        "tw_left[(it * tw_k + (kr - kb) * 6) + ir]",
        "tw_left[(it * tw_k + (kr - kb + 1) * 6) + ir]",
        0,
    ),
    "the right operand of the next column": ("(kr - kb) * 8) + jr]", "(kr - kb) * 8) + jr + 1]", 0),
    "the right operand of the first tile": (
        "tw_right[(jt * tw_k + (kr - kb) * 8) + jr]",
        "tw_right[(kr - kb) * 8 + jr]",
        1,
    ),
    "a step takes the operand from memory": ("tw_right[(jt * tw_k + (kr - kb) * 8) + jr]", "B[kr][jb + jt + jr]", 0),
    "a step adds to another element": ("(double)C[ib + it + ir][jb + jt + jr]", "(double)C[ib + it][jb + jt + jr]", 0),
    "a step goes to another element": (
        "C[ib + it + ir][jb + jt + jr] = (double)",
        "C[ib + it + ir][jb + jt] = (double)",
        1,
    ),
    "a step subtracts": ("+ (tw_left[", "- (tw_left[", 0),
    "the kernel's operand begins a depth later": ("(tw_from - kb) * 6)", "(tw_from - kb + 1) * 6)", 0),
    "the kernel's operands begin with the block": ("+ (tw_from - kb) * 8)", ")", 0),
    "the kernel takes all steps of the block": ("tw_steps = tw_to - tw_from", "tw_steps = tw_k", 0),
    "a row too many": ("ir < tw_m;", "ir < 6;", 0),
}
OTHERS = {
    "the other value": (HESSENBERG, "+ 1 * 5 + ir", "+ ir", 0),
    "half of the depth": (HESSENBERG, "(kr - kb) * 5) * 2", "(kr - kb) * 5)", 0),
    "tiles are passed over of which some belongs": (HESSENBERG, "+ (8 - 1) >= 0))", "+ (8 - 2) >= 0))", 0),
    "another element is compared": (
        CHANGED_ONLY,
        "tw_was = C[ib + it + ir][jb + jt + jr]",
        "tw_was = C[ib + it][jb + jt + jr]",
        0,
    ),
    "a part of an element is compared": (CHANGED_ONLY, "sizeof tw_now", "sizeof(char)", 0),
    "a step is stored in any case": (
        CHANGED_ONLY,
        "if (__builtin_memcmp(&tw_was, &tw_now, sizeof tw_now)) C[",
        "C[",
        0,
    ),
    "what was is stored": (CHANGED_ONLY, "= tw_now;", "= tw_was;", 0),
    "a value loses digits": (CHANGED_ONLY, "const double tw_was = C", "const float tw_was = C", 0),
}


@pytest.mark.parametrize("what", STEPS)
def test_damaged_products_of_a_band_are_refused(what: str) -> None:
    emitted = printed("c", BAND)
    assert wrong_products(changed(emitted.plain, *STEPS[what]), emitted.products)


@pytest.mark.parametrize("what", OTHERS)
def test_other_damaged_products_cut_in_depth_are_refused(what: str) -> None:
    source, *change = OTHERS[what]
    emitted = printed("c", source)
    assert wrong_products(changed(emitted.plain, *change), emitted.products)


def test_isl_says_never_only_where_that_is_so() -> None:
    facts = Facts()
    x, y, n = var("x"), var("y"), var("n")
    facts.learn(n - 1)
    least, most = facts.minimum(x, y), facts.maximum(x, n)
    assert never([x - y, y - x - 1], facts)
    assert never([least - x - 1], facts) and never([x - least - 1, y - least - 1], facts)
    assert not never([x - least - 1], facts)
    assert never([-most], facts) and not never([poly(1) - most], facts)
    assert not never([x * y - 1, -x], facts)  # a product may have any value
    assert never([2 * x - 1, poly(1) - 2 * x, x - y, y - x, x + y - 3], facts)
