"""Directives of OpenMP that are in the source already: dropped with a remark where they share out a loop."""

from __future__ import annotations

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.run.sources import run

DIRECTIVES = (
    "omp parallel for",
    "omp parallel for private(j) schedule(static, 4)",
    "omp simd aligned(A : 64)",
    "omp target teams distribute parallel for map(tofrom : A[0:n])",
    "acc parallel loop",
    "GCC ivdep",
)
# In front of a region they are read as its first lines.
IN_FRONT = """
void f(int n, double A[restrict n][n])
{
#pragma omp parallel for schedule(static)  /* all rows */
#pragma ivdep

#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      A[i][j] += %s;
#pragma endscop
}
"""
TEAM = """
void f(int n, double A[restrict n][n], const double *restrict b, int *last)
{
  double t;
  int i, j;
#pragma omp parallel %s
  {
    double own[20];
    own[0] = 1;
#pragma omp for %s
#pragma scop
    for (i = 1; i < n; i++)
      for (j = 1; j < n; j++) {
        t = b[j] + b[j - 1];
        A[j][i] += %s;
      }
#pragma endscop
    last[0] = own[0] > 0;
  }
}
"""


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


def test_in_front() -> None:
    made = generate("in.c", IN_FRONT % "1", GenOptions())
    assert made.regions[0].transformed
    assert "#pragma omp parallel for firstprivate(A, n)\n" in made.text and "schedule(static)" not in made.text
    assert run(IN_FRONT % "1").ok
    stays = generate("in.c", IN_FRONT % "rand()", GenOptions()).text
    assert "for schedule(static)  /* all rows */\n#pragma ivdep\n  for (int i" in stays


def test_a_team_shares_the_new_loops() -> None:
    source = TEAM % ("private(i, j)", "private(t) schedule(static)", "t * t")
    made = generate("in.c", source, GenOptions())
    assert made.regions[0].transformed
    new = made.text[made.text.index("/* tilewright: region") :]
    assert "#pragma omp barrier" in new and "#pragma omp for\n" in new and "omp parallel" not in new
    assert run(source).ok


@pytest.mark.parametrize(
    ("parallel", "clauses", "value"),
    [
        ("", "private(j, t) firstprivate(n)", "t"),  # a value that comes into each thread
        ("", "private(j) lastprivate(t)", "t"),
        ("private(b)", "private(j, t)", "t"),  # each thread has another array
        ("", "private(j, t)", "own[0]"),
    ],
)
def test_what_a_team_cannot_share_stays(parallel: str, clauses: str, value: str) -> None:
    made = generate("in.c", TEAM % (parallel, clauses, value), GenOptions())
    assert [n.id for d in made.diagnostics for n in d.notes] == ["foreign-pragma"]


@pytest.mark.parametrize(("around", "target"), [("parallel", "c"), ("single", "openmp"), ("", "openmp")])
def test_a_team_that_cannot_be_seen(around: str, target: str) -> None:
    source = TEAM % ("", "private(j, t)", "t")
    source = source.replace("#pragma omp parallel", f"#pragma omp {around}" if around else "")
    made = generate("in.c", source, GenOptions(target=target))
    assert [n.id for d in made.diagnostics for n in d.notes] == ["foreign-pragma"]
