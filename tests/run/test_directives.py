"""Directives of OpenMP that are in the source already: dropped with a remark where they share out a loop."""

from __future__ import annotations

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.run.sources import run

DIRECTIVES = (
    "omp parallel for",
    "omp parallel for private(j) schedule(static, 4)",
    "omp for simd collapse(1) nowait",
    "omp simd aligned(A : 64)",
    "omp target teams distribute parallel for map(tofrom : A[0:n])",
    "acc parallel loop",
    "GCC ivdep",
)


def source(directive: str, inner: str = "GCC ivdep", last: str = "omp atomic") -> str:
    return f"""
void f(int n, double A[restrict n][n], double *restrict s)
{{
#pragma scop
#pragma {directive}
  for (int i = 0; i < n; i++) {{
#pragma {inner}
    for (int j = 0; j < n; j++)
      A[i][j] += 1;
  }}
  for (int i = 0; i < n; i++)
#pragma {last}
    *s += A[i][0];
#pragma endscop
}}
"""


@pytest.mark.parametrize("directive", DIRECTIVES)
def test_dropped(directive: str) -> None:
    made = generate("in.c", source(directive), GenOptions())
    assert made.regions[0].transformed
    remarks = [d for d in made.diagnostics if d.id == "own-directives"]
    assert len(remarks) == 1 + (not directive.startswith("GCC"))


def test_agree() -> None:
    # Atomic stores of the original would not be seen as stores.
    assert run(source("omp parallel for schedule(static, 4)", "omp simd", "omp critical")).ok


@pytest.mark.parametrize("directive", ["omp parallel", "omp task", "omp barrier", "omp parallel sections"])
def test_those_with_more_meaning_stay_out(directive: str) -> None:
    made = generate("in.c", source(directive), GenOptions())
    assert [n.id for d in made.diagnostics for n in d.notes] == ["foreign-pragma"]
