"""Results have a way of their own for few threads where products share a matrix: both give the bits of the source."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from codegen.ast.ctree import ByThreads
from codegen.hosts.few_threads import with_few_threads
from codegen.machine.load import load_for
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.region import make
from codegen.region_model import model_region
from codegen.source_file import open_source
from codegen.target.emit import Surroundings, region_text
from codegen.target.region_views import region_views
from codegen.targets.base import RegionJob
from codegen.verify.loops.region import read_region
from codegen.verify.text.read import Unread
from tests.compilers import quick

BOTH = """
void both(int n, int m, double A[n][m], double x[m], double y[n], double p[m], double q[n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      x[j] += A[i][j] * y[i];
      q[i] += A[i][j] * p[j];
    }
#pragma endscop
}
"""
# Products that share no loop cannot take turns.
APART = BOTH.replace("x[j] += A[i][j] * y[i];", "x[j] += A[i][j] * y[i]; }\n  for (int i = 0; i < n; i++)\n"
                     "    for (int j = 0; j < m; j++) {")  # fmt: skip
ONE_AFTER_THE_OTHER = """
void both(int n, int m, double A[n][m], double x[m], double y[n], double p[m])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++)
      y[i] += A[i][j] * p[j];
    for (int j = 0; j < m; j++)
      x[j] += A[i][j] * y[i];
  }
#pragma endscop
}
"""
DRIVER = """
#include <stdlib.h>
#include <string.h>
static double *filled(int n)
{
  double *x = malloc(sizeof(double) * (size_t)n);
  for (int i = 0; i < n; i++)
    x[i] = (i * 7 + n) % 101 / 100.0;
  return x;
}
static int differs(int n, int m)
{
  double *p[2][5];
  for (int k = 0; k < 10; k++)
    p[k / 5][k % 5] = filled(k % 5 == 0 ? n * m : k % 5 % 2 ? m : n);
  old_both(n, m, (void *)p[0][0], p[0][1], p[0][2], p[0][3], p[0][4]);
  new_both(n, m, (void *)p[1][0], p[1][1], p[1][2], p[1][3], p[1][4]);
  int wrong = memcmp(p[0][1], p[1][1], sizeof(double) * (size_t)m);
  wrong |= memcmp(p[0][4], p[1][4], sizeof(double) * (size_t)n);
  for (int k = 0; k < 10; k++)
    free(p[k / 5][k % 5]);
  return wrong;
}
int main(void)
{
  const int sizes[] = { 1, 3, 8, 16, 17, 33, 130, 257, 600 };
  for (int i = 0; i < 9; i++)
    for (int j = 0; j < 9; j++)
      if (differs(sizes[i], sizes[j]))
        return 1;
  return 0;
}
"""
FOLLOW = "if (tw_max_threads() >= 2 && tw_max_threads() <= 4 && "
TEST = "if (tw_max_threads() <= 1 && (double)m * n > TW_SIZE(TW_VECTOR_BYTES > 16 ? 262144 : 131072)) {"


@cache
def text_of(source: str, options: GenOptions) -> str:
    return generate("in.c", source, options).text


def test_few_threads_take_strips() -> None:
    made = generate("in.c", BOTH, GenOptions())
    few, many = made.text.partition(TEST)[2].split("\n    } else {\n", 1)
    assert re.search(r"for \(tw_index \w+ = 0; \w+ < n; \w+ \+= 16\)", few) and "+= 16" not in many
    assert any(d.id == "few-threads" and "strips of 16 lines" in d.message for d in made.diagnostics)


@pytest.mark.parametrize("source", [BOTH, APART], ids=["a loop is shared", "no loop is shared"])
def test_a_few_threads_follow_each_other(source: str) -> None:
    made = generate("in.c", source, GenOptions())
    few = made.text.replace("\n", " ")
    few = re.sub(" +", " ", few).partition(FOLLOW)[2]
    assert all(f"{x} >= TW_SIZE(200) * tw_max_threads()" in few.partition("{")[0] for x in "mn")
    few = few.partition("#pragma omp parallel")[2].partition("tw_follow(tw_line, it_turn, TW_LAST);")[0]
    assert "it_turn += tw_team_size()" in few and re.search(r"tw_follow\(tw_line, it_turn, jt\d?\);", few)
    assert few.count("_pair_") == 1 and "tw_team" not in few.partition("tw_team_size()")[2]
    assert any(d.id == "few-threads" and "up to 4 threads" in d.message for d in made.diagnostics)


@pytest.mark.parametrize(
    "source, options",
    [
        (BOTH, GenOptions(target="c")),
        (BOTH, GenOptions(plan_text="region 1\n")),
        (BOTH.replace("q[i] += A[i][j] * p[j];", ""), GenOptions()),
        (BOTH.replace("A[i][j] * p[j]", "A[i][j] * x[j]"), GenOptions()),
    ],
    ids=["no threads", "a plan", "one product", "one needs the other"],
)
def test_no_pair_to_follow(source: str, options: GenOptions) -> None:
    told = generate("in.c", source, options).diagnostics
    assert not any("follow each other along lines" in d.message for d in told)


def test_a_few_threads_share_strips() -> None:
    """Where one product needs the other, lines are read by both of them while they are near."""
    text = re.sub(r"\s+", " ", text_of(ONE_AFTER_THE_OTHER, GenOptions()))
    test, few = text.partition(FOLLOW)[2].split(") {", 1)
    assert "m >= TW_SIZE(500) * tw_max_threads()" in test and "? 2097152 : 1048576" in test
    few = few.partition("} else { if (")[0]
    assert "it += 64" in few and "it += 16" not in few and few.count("#pragma omp parallel num_threads") == 2


@pytest.mark.parametrize(
    "source, options",
    [
        (APART, GenOptions()),
        (BOTH, GenOptions(target="c")),
        (BOTH, GenOptions(plan_text="region 1\n")),
        (BOTH.replace("q[i] += A[i][j] * p[j];", ""), GenOptions()),
    ],
    ids=["no loop is shared", "no threads", "a plan", "one product"],
)
def test_one_way_is_enough(source: str, options: GenOptions) -> None:
    assert TEST not in text_of(source, options)


@pytest.mark.parametrize("source", [BOTH, APART], ids=["a loop is shared", "no loop is shared"])
@pytest.mark.parametrize("threads", ["1", "2", "3", "5"])
def test_same_bits(source: str, threads: str, tmp_path: Path) -> None:
    old, new = (x.replace("void both(", "void %s_both(") for x in (source, text_of(source, GenOptions())))
    (tmp_path / "t.c").write_text(old.replace("%s", "old") + new.replace("%s", "new") + DRIVER)
    flags = ["-O1", "-fopenmp", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas"]
    checks = [
        "-DTW_SIZE(n)=1",
        "-DTW_PARALLEL_MIN=0",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
        *quick("cc"),
    ]
    subprocess.run(["cc", *flags, *checks, "-o", tmp_path / "t", tmp_path / "t.c"], check=True)
    ran = subprocess.run([tmp_path / "t"], capture_output=True, text=True, env={"OMP_NUM_THREADS": threads})
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize(
    "old, new",
    [
        ("threads() <= 1", "threads() <= 3"),
        ("(double)m * n", "(double)m++ * n"),
        ("+= 16", "+= 17"),
        ("    } else {\n", "    }\n"),
        ("threads() >= 2 && ", ""),
        ("+= 256", "+= 257"),
        ("tw_follow(tw_line, it_turn, jt);", "tw_follow(tw_line, it_turn, jt - 1);"),
    ],
    ids=[
        "another number",
        "another test",
        "another strip",
        "one way after the other",
        "more threads",
        "another block",
        "too early",
    ],
)
def test_damaged_texts_are_refused(old: str, new: str) -> None:
    options, machine = GenOptions(), load_for("generic", "")
    (s,) = open_source("in.c", BOTH, options).slices
    model = model_region(s, options)
    assert model is not None
    made = with_few_threads(RegionJob(s, model, "", options, machine, 0), make(model, options, machine))
    assert isinstance(made.code, ByThreads)
    views, around = region_views(made.program.scop, made.code, True), Surroundings("", "  ", "this")
    text = region_text(views, around)
    read_region(views, text, around)
    assert old in text.plain
    with pytest.raises(Unread):
        read_region(views, replace(text, plain=text.plain.replace(old, new, 1)), around)
