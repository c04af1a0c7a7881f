"""Tests ahead of a region are read back: one that lets too much through, or looks too early, is refused."""

from __future__ import annotations

from functools import cache

import pytest

from codegen.machine.load import load_for
from codegen.options import GenOptions
from codegen.region import make
from codegen.region_model import model_region
from codegen.scop.model import Scop
from codegen.source_file import open_source
from codegen.target.emit import RegionText, Surroundings, emit_region
from codegen.verify.guards import wrong_ahead_of

SOURCES = {
    "wraps": """void f(int n, int m, long l, unsigned k, double *a, double *b)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (unsigned j = 0; j < k; j++)
      a[i * m + j] = b[i * m + j] * l;
#pragma endscop
}
""",
    "follows": """struct s { long m; double *a; };
void f(int n, struct s *p, double b[100][100])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (long j = 0; j < p->m; j++)
      b[i][j] += 2;
#pragma endscop
}
""",
    "follows another": """struct s { int ny, nx; double *a; };
void f(const struct s *p, const struct s *q, double by)
{
#pragma scop
  for (int j = 1; j < p->ny; j++)
    for (int i = 0; i < p->nx; i++)
      q->a[j * q->nx + i] = p->a[j * p->nx + i] + by;
#pragma endscop
}
""",
    "computes": """void f(int n, const int *q, double a[100][100], double b[100][100])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < q[0]; j++)
      a[i][j] = b[i][j] * 2;
#pragma endscop
}
""",
}


@cache
def printed(name: str) -> tuple[Scop, RegionText]:
    options = GenOptions(target="openmp")
    (s,) = open_source("in.c", SOURCES[name], options).slices
    model = model_region(s, options)
    assert model is not None
    made = make(model, options, load_for("generic", "generic"))
    return made.program.scop, emit_region(made.program.scop, made.code, Surroundings("x;"), True)


@pytest.mark.parametrize("name", SOURCES)
def test_tests_are_proven(name: str) -> None:
    scop, found = printed(name)
    assert found.guard or scop.computed
    assert wrong_ahead_of(scop, found.plain, found.guard, found.computed) == ""


# When q is followed, and what is asked of it then.
BEFORE = "p->ny >= 2 && p->nx >= 1"
AFTER = f"{BEFORE} && q->nx >= p->nx"

CHANGES = {
    "a test that is not there": ("wraps", "(long)m >= k", ""),
    "a weaker test": ("wraps", "(long)m >= k", "(long)m >= k - 1"),
    "a test of another size": ("wraps", "(long)m >= k", "(long)n >= k"),
    "a size that may be too large": ("follows", "tw_fits(p->m)", "n >= 1"),
    "a pointer that nobody may follow": ("follows", "n >= 1 && tw_fits(p->m)", "tw_fits(p->m) && n >= 1"),
    "a pointer that is followed too often": ("follows", "n >= 1 && ", ""),
    "the other pointer first": ("follows another", AFTER, f"q->nx >= p->nx && {BEFORE}"),
    "the other pointer amid": ("follows another", AFTER, "p->ny >= 2 && q->nx >= p->nx && p->nx >= 1"),
    "the other pointer in an empty loop": ("follows another", BEFORE, "p->ny >= 2"),
    "the other pointer before the choice": ("follows another", AFTER, f"((q->nx >= p->nx && {BEFORE}) || p->ny < 0)"),
    "evaluated too often": ("computes", "n >= 1 ?", "n >= 0 ?"),
    "always evaluated": ("computes", "n >= 1 ? q[0] : 0", "q[0]"),
    "evaluated too seldom": ("computes", "n >= 1 ?", "n >= 2 ?"),
    "another value": ("computes", "? q[0] :", "? q[1] :"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_damaged_tests_are_refused(name: str) -> None:
    source, old, new = CHANGES[name]
    scop, found = printed(source)
    assert old in found.plain, found.plain
    guard = found.guard.replace(old, new).removeprefix(" && ").removesuffix(" && ")
    assert wrong_ahead_of(scop, found.plain.replace(old, new), guard, found.computed)
