"""Which statements share loops: by the model, by option and by hint; and what it says."""

from __future__ import annotations

import pytest

from codegen.diagnostics import InputError
from codegen.options import GenOptions
from codegen.pipeline import Generated, generate

CHAIN = """
void f(int n, double a[n][n], double b[n][n], double c[n][n])
{
%s#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      b[i][j] = 2 * a[i][j];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      c[i][j] = b[i][j] + a[i][j];
#pragma endscop
}
"""
# Fused, the second statement lags a row behind the first, and no loop over rows is parallel any more.
BLUR = CHAIN.replace("c[i][j] = b[i][j] + a[i][j]", "c[i][j] = i > 0 ? b[i][j] + b[i - 1][j] : 0")


def made(text: str, fusion: str = "auto", hint: str = "") -> Generated:
    return generate("in.c", text % hint, GenOptions(fusion=fusion))


def loops(found: Generated) -> int:
    return found.plan.count("loop i")


def said(found: Generated) -> str:
    return next((d.message for d in found.diagnostics if d.id == "fusion"), "")


def test_what_is_used_again_is_fused() -> None:
    found = made(CHAIN)
    assert loops(found) == 1
    assert "S1, S2 share loop j for `a`, `b` (smart: about " in said(found) and " with none" in said(found)


@pytest.mark.parametrize(("way", "count"), [("none", 2), ("smart", 1), ("max", 1)])
def test_given_by_option_or_hint(way: str, count: int) -> None:
    by_option, by_hint = made(CHAIN, way), made(CHAIN, hint=f"#pragma tilewright fusion({way})\n")
    assert loops(by_option) == loops(by_hint) == count
    assert f"--fusion={way}" in by_option.text
    assert said(by_option).endswith(f"(as --fusion={way} asks)")


def test_parallel_rows_are_worth_more_than_what_is_near() -> None:
    assert "parallel" in made(BLUR).plan


def test_unknown_way_is_a_bad_hint() -> None:
    with pytest.raises(InputError) as error:
        made(CHAIN, hint="#pragma tilewright fusion(some)\n")
    assert error.value.id == "bad-hint" and "fusion(auto|none|smart|max)" in str(error.value.hint)
