"""Reductions on ranks: each gathers what its block has, and all of it is joined where any order is allowed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import islpy as isl

from codegen.mpi.messages import Exchange
from codegen.mpi.phase_program import outer_names
from codegen.mpi.prove import wrong_totals
from codegen.mpi.trees import transfers
from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.mpi.programs import SMALL, compiled, for_ranks, needs_mpi, on_ranks
from tests.mpi.test_predict import shared

PROGRAM = """#include <stdio.h>
static double dot(int n, double x[n], double y[n])
{
  double s = 1;
#pragma scop
  for (int i = 0; i < n; i++)
    s += x[i] * y[i];
#pragma endscop
  return s;
}
static int top(int n, int x[n])
{
  int best = -5;
#pragma scop
  for (int i = 0; i < n; i++)
    if (x[i] > best)
      best = x[i];
#pragma endscop
  return best;
}
/* Sums that begin with what ranks have computed, along a triangle; their order of loops leaves no other to share. */
static void sums(int n, int k, int a[n][n], int y[n], int z[n])
{
#pragma scop
  for (int j = 0; j < n; j++)
    y[j] = 2 * j;
  for (int i = 1; i < n; i++)
    for (int t = 0; t < i; t++)
      y[t + k] += a[i][t];
  for (int i = 0; i < n; i++)
    z[i] = y[i] + y[n - 1 - i];
#pragma endscop
}
int main(void)
{
  enum { N = 13 };
  double x[N], y[N];
  int h[N], a[N][N], b[N], z[N], sum = 0;
  for (int i = 0; i < N; i++) {
    x[i] = i, y[i] = 2 * i + 1, h[i] = (i * 7) % 11;
    for (int j = 0; j < N; j++)
      a[i][j] = i * j + 1;
  }
  sums(N, 0, a, b, z);
  for (int i = 0; i < N; i++)
    sum = 31 * sum + z[i] + 7 * b[i];
  printf("%g %d %d\\n", dot(N, x, y), top(N, h), sum);
  return 0;
}
"""
SUM = """unsigned sum(int n, unsigned x[n])
{
  unsigned s = 0;
#pragma scop
  for (int i = 0; i < n; i++)
    s += x[i];
#pragma endscop
  return s;
}
"""


@needs_mpi
def test_what_ranks_gather_is_joined(tmp_path: Path) -> None:
    made = for_ranks("in.c", PROGRAM, reassociate=True)
    assert "tw_total(0, MPI_DOUBLE, MPI_SUM);" in made and "tw_total(0, MPI_INT32_T, MPI_MAX);" in made
    one = compiled("cc", PROGRAM, tmp_path / "one", ("-Wno-unknown-pragmas",))
    many = compiled("mpicc", made, tmp_path / "many", (*SMALL, "-fopenmp"))
    want = subprocess.run([str(one)], capture_output=True, text=True, timeout=60).stdout
    for ranks in (2, 3, 15):
        done = on_ranks(many, ranks)
        assert (done.returncode, set(done.stdout.splitlines())) == (0, set(want.splitlines())), done.stderr


def test_the_order_of_sums_is_kept_without_permission() -> None:
    made = generate("in.c", SUM.replace("unsigned", "double"), GenOptions(target="mpi"))
    assert "MPI_Allreduce" not in made.text and "replicated" in {d.id for d in made.diagnostics}


def test_what_is_not_joined_is_found() -> None:
    x = shared(SUM)
    (q,) = x.ranked.cut.shared
    assert wrong_totals(x.program, q, x.totals[q.name]) == ""
    none = {a: isl.Set.empty(t.made.scop.statements[0].domain.set_tuple_name(a).get_space())
            for t in x.totals[q.name] for a in (t.array,)}  # fmt: skip
    faulty = transfers(x.program, x.ranked.cut, Exchange(q.name, outer_names(q), none), x.ranked.blocks)
    assert "do not join all" in wrong_totals(x.program, q, faulty)
