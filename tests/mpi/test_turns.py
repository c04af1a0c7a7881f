"""Loops that hand values on: ranks run their blocks one after the other, and follow each other as a pipeline."""

from __future__ import annotations

import subprocess
from pathlib import Path

from codegen.mpi.messages import RankedProgram, in_turns
from codegen.mpi.prove import wrong_turns
from codegen.mpi.trees import transfers
from tests.corpus import KERNELS
from tests.mpi.programs import SMALL, compiled, for_ranks, needs_mpi, on_ranks, results
from tests.mpi.test_predict import shared
from tests.mpi.test_proofs import swapped, without_last

SEIDEL = """void seidel(int steps, int n, double a[n][n])
{
#pragma scop
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[i][j] = (a[i - 1][j] + a[i][j - 1] + a[i][j] + a[i + 1][j] + a[i][j + 1]) / 5;
#pragma endscop
}
"""
# A sum in the source's order, and running sums, of an array in blocks.
SUMS = """#include <stdio.h>
static double sum(int n, double x[n])
{
  double s = 0.1;
#pragma scop
  for (int i = 0; i < n; i++)
    s += x[i];
#pragma endscop
  return s;
}
static void running(int n, double x[n])
{
#pragma scop
  for (int i = 1; i < n; i++)
    x[i] += 0.7 * x[i - 1];
#pragma endscop
}
#ifndef TW_RANKS
static long tw_first(long n) { return n - n; }
static long tw_past(long n) { return n; }
#endif
int main(void)
{
  enum { N = 23 };
  static double x[N];
  for (long i = tw_first(N); i < tw_past(N); i++)
    x[i] = 1.0 / (i + 3);
  running(N, x);
  printf("%.17g\\n", sum(N, x));
  return 0;
}
"""


def test_what_ranks_hand_on_is_proven() -> None:
    x = shared(SEIDEL)
    (q,) = x.ranked.cut.shared
    assert q.ordered and q.shared is not None and q.shared.name == "i" and not x.early and not x.cyclic
    assert wrong_turns(x.ranked, q, x.turns[q.name]) == ""
    assert "not sent" in wrong_turns(x.ranked, q, ())
    p, found, blocks = x.program, x.ranked.cut, x.ranked.blocks
    for change in (without_last, swapped):
        e = in_turns(p, found, blocks, q)
        changed = {a: change(s) for a, s in e.elements.items()}
        faulty = transfers(p, found, type(e)(e.phase, e.outer, changed), blocks)
        assert wrong_turns(RankedProgram(p, found, blocks), q, faulty) != ""


@needs_mpi
def test_ranks_follow_each_other(tmp_path: Path) -> None:
    source = (KERNELS / "seidel-2d.c").read_text()
    one = compiled("cc", source, tmp_path / "one", ("-Wno-unknown-pragmas",))
    made = for_ranks(str(KERNELS / "seidel-2d.c"), source)
    many = compiled("mpicc", made, tmp_path / "many", (*SMALL, "-fopenmp", "-Wno-unknown-pragmas"))
    for sizes, ranks in ((("6", "20"), 3), (("3", "6"), 7)):
        want = subprocess.run([str(one), *sizes], capture_output=True, text=True, timeout=60).stdout
        done = on_ranks(many, ranks, sizes)
        assert done.returncode == 0, done.stderr
        assert results(done.stdout) == results(want), (ranks, sizes)


@needs_mpi
def test_sums_of_blocks_keep_their_order(tmp_path: Path) -> None:
    one = compiled("cc", SUMS, tmp_path / "one", ("-Wno-unknown-pragmas",))
    many = compiled("mpicc", for_ranks("in.c", SUMS, distribute="x: block"), tmp_path / "many", (*SMALL, "-fopenmp"))
    want = subprocess.run([str(one)], capture_output=True, text=True, timeout=60).stdout
    for ranks in (2, 5):
        done = on_ranks(many, ranks)
        assert (done.returncode, set(done.stdout.splitlines())) == (0, set(want.splitlines())), done.stderr
