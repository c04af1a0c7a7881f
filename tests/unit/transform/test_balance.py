"""Loops counted from a number that the run chooses, so that threads get equal parts."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.diagnostics import InputError
from codegen.options import GenOptions
from codegen.pipeline import generate

# The steps are read in the body, and begin at a number of the caller's.
STEPS = """\
void f(int from, int to, int n, double A[n], double B[n])
{
#pragma scop
    for (int s = from; s < to; s++) {
        for (int i = 1; i < n - 1; i++)
            B[i] = 0.3 * (A[i - 1] + A[i] + A[i + 1]) + s;
        for (int i = 1; i < n - 1; i++)
            A[i] = 0.3 * (B[i - 1] + B[i] + B[i + 1]) - 2 * s;
    }
#pragma endscop
}
"""
PLAN = """\
region 1
  schedule {
    loop s, s_i = {S1: 2s + i; S2: 1 + 2s + i} {
      S1
      S2
    }
  }
  balance S1.s by 5
  tile S1.s:5, S1.s_i:10
  pipeline S1.st along S1.s_it
"""
MAIN = """
#include <stdio.h>
#include <string.h>
static double a[40], b[40], c[40], d[40];
int main(void)
{
  for (int from = -7; from < 9; from += 3)
    for (int steps = 0; steps < 44; steps++)
      for (int n = 1; n < 40; n += 9) {
        for (int i = 0; i < 40; i++)
          a[i] = c[i] = i * i % 7, b[i] = d[i] = i % 5;
        f(from, from + steps, n, a, b);
        g(from, from + steps, n, c, d);
        if (memcmp(a, c, sizeof a) || memcmp(b, d, sizeof b))
          return printf("%d steps from %d, n = %d\\n", steps, from, n), 1;
      }
  return 0;
}
"""


def planned(plan: str, source: str = STEPS, target: str = "openmp") -> str:
    return generate("in.c", source, replace(GenOptions(), plan_text=plan, target=target)).text


def test_any_number_of_threads_and_steps(tmp_path: Path) -> None:
    text = planned(PLAN)
    assert "const tw_index s_ahead = tw_even_tiles(" in text
    plain = re.sub("#pragma.*", "", STEPS).replace("void f(", "static void g(")
    (tmp_path / "t.c").write_text(text + plain + MAIN)
    flags = ["-O2", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-fopenmp", "-ffp-contract=off",
             "-DTW_PARALLEL_MIN=0"]  # fmt: skip
    subprocess.run(["cc", *flags, "-o", tmp_path / "t", tmp_path / "t.c"], check=True)
    for threads in ("1", "2", "3", "7"):
        ran = subprocess.run([tmp_path / "t"], capture_output=True, text=True, env={"OMP_NUM_THREADS": threads})
        assert ran.returncode == 0, ran.stdout


EQUAL = """
#include <stdio.h>
int main(void)
{
  for (long steps = 0; steps < 500; steps++) {
    const long first = tw_even_tiles(steps, 16);
    long done[2] = {0, 0};
    for (long s = first; s < first + steps; s++)
      done[s / 16 % 2]++;
    if (first < 0 || first >= 16 || done[0] - done[1] > 1 || done[1] - done[0] > 1)
      return printf("%ld steps from %ld: %ld and %ld\\n", steps, first, done[0], done[1]), 1;
  }
  return tw_even_tiles(-3, 16) != 0;
}
"""


def test_two_threads_get_equal_parts(tmp_path: Path) -> None:
    """From one step to hundreds; and the number is always one that the proofs cover."""
    helpers = planned(PLAN).split("void f(")[0]
    (tmp_path / "t.c").write_text(helpers + EQUAL)
    subprocess.run(["cc", "-O1", "-fopenmp", "-w", "-o", tmp_path / "t", tmp_path / "t.c"], check=True)
    ran = subprocess.run([tmp_path / "t"], capture_output=True, text=True, env={"OMP_NUM_THREADS": "2"})
    assert ran.returncode == 0, ran.stdout


def test_one_thread_counts_from_zero() -> None:
    assert "const tw_index s_ahead = 0;" in planned(PLAN, target="c")


def test_nothing_is_left_where_another_order_follows() -> None:
    """`schedule` begins anew, and no tiles are left to balance: an error, and no variable that nobody reads."""
    plan = "region 1\n  balance S1.s by 5\n  schedule { loop s { loop i {S1} loop i {S2} } }\n"
    with pytest.raises(InputError, match=r"loop S1\.s has no tiles"):
        planned(plan)


def test_a_name_that_is_taken() -> None:
    text = planned(PLAN, STEPS.replace("to", "s_ahead"))
    assert "const tw_index s_aheadb = tw_even_tiles(" in text


@pytest.mark.parametrize(
    "plan, words",
    [
        ("balance S1.i by 4\n  balance i by 4", "several loops"),
        ("balance s by 1", "2 to 65536"),
        ("tile s:4\n  balance st by 4", "is one over tiles"),
        ("balance k by 4", "there is no loop k"),
    ],
)
def test_refused(plan: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        planned(f"region 1\n  {plan}\n")


def test_only_what_is_called_comes_along() -> None:
    """Tiles in equal parts need no pipeline."""
    nest = "for (int i = 0; i < n; i++)\n    A[i] *= 2;"
    text = f"void f(int n, double A[n])\n{{\n#pragma scop\n  {nest}\n#pragma endscop\n}}\n"
    made = generate("in.c", text, GenOptions(plan_text="region 1\n  balance i by 8\n  tile i:8\n  parallel it\n")).text
    assert "tw_even_tiles(" in made and "tw_follow" not in made and "tw_thread()" not in made


def test_an_offset_that_no_tile_begins_at_is_not_declared() -> None:
    """Compilers warn of a variable that stands in a clause alone."""
    loops = (
        "for (int i = n; i > 0; i = i - 2) for (int j = i + 1; j > 2; j--)"
        " A[j + 1] = (C[2 * ((j + 3 * i) * ld + j + 2)] + A[j]) ^ (A[j - 1] - 1);"
    )
    source = f"void f(int n, int ld, unsigned long *A, short *C)\n{{\n#pragma scop\n{loops}\n#pragma endscop\n}}\n"
    text = generate("in.c", source, GenOptions(banner=False)).text
    assert "tw_follow(tw_line" in text and "ahead" not in text
