"""Rows side by side (jam, abreast), loops that count plainly again, and tiles over time: legal, refused, and run."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.ast.ctree import Bin, Int, Name
from codegen.diagnostics import InputError
from codegen.lower.shift import simple
from codegen.options import GenOptions
from codegen.pipeline import generate

JACOBI = """\
void f(int t, int n, double A[n][n], double B[n][n])
{
#pragma scop
    for (int s = 0; s < t; s++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j]);
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                A[i][j] = B[i][j];
    }
#pragma endscop
}
"""
SEIDEL = """\
void f(int t, int n, double A[n][n], double B[n][n])
{
#pragma scop
    for (int s = 0; s < t; s++)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                A[i][j] = (A[i - 1][j + 1] + A[i][j - 1] + A[i][j] + A[i + 1][j]) / B[i][j];
#pragma endscop
}
"""
SCALE = """\
void f(int t, int n, double A[n][n], double B[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            A[i][j] += 2.0 * B[i][j];
            B[i][j] *= (double)(i + j) - A[i][j];
        }
#pragma endscop
}
"""
SWEEP = """\
void f(int t, int n, double A[n][n], double B[n][n])
{
#pragma scop
    for (int i = 1; i < n - 1; i++) {
        A[i][0] = 1.0;
        for (int j = 1; j < n - 1; j++) {
            B[i][j] = 1.0 / (2.0 + B[i][j - 1]);
            A[i][j] = (A[i][j] - A[i][j - 1]) * B[i][j];
        }
    }
    for (int i = 1; i < n - 1; i++)
        for (int j = n - 2; j > 0; j--)
            A[j][i] += A[j + 1][i] * B[i][j];
#pragma endscop
}
"""
ROWS = """\
void f(int t, int n, double A[n][n], double B[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 1; j < n; j++)
            B[i][j] = A[i][j] + 0.5 * B[i][j - 1];
#pragma endscop
}
"""
FILTER = """\
void f(int t, int n, double A[n][n], double B[n][n])
{
    double c, x, y;
#pragma scop
    c = 1.0 / (t + 2);
    for (int i = 0; i < n; i++) {
        x = 0;
        y = 0;
        for (int j = 0; j < n; j++) {
            B[i][j] = c * A[i][j] + x - 0.5 * y;
            x = A[i][j];
            y = B[i][j];
        }
    }
#pragma endscop
}
"""
TRIANGLE = SCALE.replace("j < n; j++) {", "j <= i; j++) {")


def planned(source: str, plan: str) -> str:
    """The text a plan leads to."""
    return generate("in.c", source, replace(GenOptions(), plan_text=f"region 1\n  {plan}\n")).text


SUMS = """
void f(int n, double A[n][n], double s[n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      s[i] += A[i][j];
#pragma endscop
}
"""


@pytest.mark.parametrize(
    "source, plan, words",
    [
        (SEIDEL, "jam i by 4", "is carried by loop `i`"),
        (SEIDEL, "interleave j", "is not inside small tiles"),
        (SEIDEL, "tile j:32\n  interleave j", "is not inside small tiles"),
        (SEIDEL, "tile j:8\n  interleave j", "is carried by loop `j`"),
        (SCALE, "jam j by 4", "no loop inside"),
        (SCALE, "tile i:4\n  interleave i", "is not innermost"),
        (FILTER, "tile S4.i:4\n  distribute S4.i\n  order S4.j, S4.i\n  interleave S4.i", "`x`"),
        (SCALE, "parallel i\n  jam i by 4", "is parallel already"),
        (SCALE, "jam i by 4\n  parallel i", "is jammed already"),
        (SCALE, "unskew i as k", "runs S1 and S2"),
        (SCALE, "pipeline i along j\n  vector i", "is pipelined already"),
        (SCALE, "pipeline i along j\n  parallel i", "is pipelined already"),
        (SCALE, "pipeline i along j\n  vector j", "is stage already"),
        (SEIDEL, "pipeline s along j", "is not directly inside"),
        (SCALE, "parallel i\n  pipeline i along j", "is parallel already"),
        (SEIDEL, "diamond s, i by 8", "is not skewed by loop s"),
        (SEIDEL, "skew s by 0*s\n  diamond s, j by 8", "does not enclose"),
        (SEIDEL, "unskew i as k", "no iterator k"),
        (SEIDEL, "unskew i as j", "a loop j already"),
        (SEIDEL, "skew j by 2*i\n  unskew i as s", "a loop s already"),
    ],
)
def test_refused(source: str, plan: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        planned(source, plan)
    assert caught.value.id == "illegal-plan" and words in caught.value.message


def test_jam_needs_inner_bounds_that_do_not_differ() -> None:
    assert "v3" in planned(SCALE, "jam i by 4")
    with pytest.raises(InputError, match="the loop inside begins or ends elsewhere in other iterations"):
        planned(TRIANGLE, "jam i by 4")


def test_values_come_before_stores() -> None:
    text = planned(SCALE, "jam i by 2\n  vector j")
    body = text[text.index("const double v0") :]
    assert body.index("v1 = A[i + 1][j] + (2.0 * B[i + 1][j])") < body.index("A[i][j] = v0;")


def test_constants_are_put_together() -> None:
    i = Name("i")
    assert simple(Bin("-", Bin("*", Int(2), Bin("+", i, Int(3))), Int(1))) == Bin("+", Bin("*", Int(2), i), Int(5))
    assert simple(Bin("-", Bin("+", i, Int(1)), Int(1))) == i
    assert simple(Bin("-", Int(4), Int(1))) == Int(3)


def test_multiples_of_one_term_are_put_together() -> None:
    k, i, lanes = Name("k"), Name("i"), Name("L")
    three = Bin("-", Bin("-", Bin("-", k, i), lanes), Bin("*", Int(2), lanes))
    assert simple(three) == Bin("-", Bin("-", k, i), Bin("*", Int(3), lanes))
    assert simple(Bin("+", Bin("-", k, lanes), lanes)) == k


DRIVER = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void fill(int n, double *x, int seed) { for (int k = 0; k < n * n; k++) x[k] = 1.0 + (k * 7 + seed) % 13; }
int main(void)
{
    static const int sizes[] = {0, 1, 2, 3, 5, 9, 17, 40, 131};
    for (int k = 0; k < 9; k++)
        for (int t = 0; t < 24; t += 23) {
            int n = sizes[k];
            size_t bytes = (size_t)n * n * sizeof(double) + 8;
            double *m[4];
            for (int q = 0; q < 4; q++) { m[q] = malloc(bytes); fill(n, m[q], q % 2); }
            old_f(t, n, (void *)m[0], (void *)m[1]);
            new_f(t, n, (void *)m[2], (void *)m[3]);
            for (int q = 0; q < 2; q++)
                if (memcmp(m[q], m[q + 2], (size_t)n * n * sizeof(double))) return printf("n = %d, t = %d\\n", n, t);
            for (int q = 0; q < 4; q++) free(m[q]);
        }
    return 0;
}
"""


@pytest.mark.parametrize(
    "source, plan, words",
    [
        (JACOBI, "", "4 at a time"),
        (SEIDEL, "", "_end - i == 8"),
        (SWEEP, "", "tiles i:8"),
        (FILTER, "", "if (TW_ABREAST && i_end - i == 4) {"),
        (FILTER.replace("[i][j]", "[j][i]"), "", "_Alignas(64) double y[256]"),
        (SCALE, "jam i by 3\n  vector j", "3 at a time"),
        (ROWS, "jam i by 2\n  scalar_replace j", "2 at a time"),
        (SCALE, "tile i:3, j:0\n  order j, i\n  interleave i", "i_end - i == "),
        (TRIANGLE, "tile i:4, j:0\n  order j, i\n  interleave i", "i_end - i == "),
    ],
    ids=["time tiles", "wavefront", "recurrence", "filter", "filter of columns", "jam", "jam and carry", "abreast",
         "abreast in a triangle"],
)
def test_results(source: str, plan: str, words: str, tmp_path: Path) -> None:
    text = planned(source, plan) if plan else generate("in.c", source, GenOptions()).text
    assert words in text
    run(build(source, text, tmp_path), {"OMP_NUM_THREADS": "3"})


def build(source: str, text: str, tmp_path: Path) -> Path:
    """A program that compares the source with the generated text."""
    old, new = source.replace("void f(", "void old_f("), text.replace("void f(", "void new_f(")
    (tmp_path / "t.c").write_text(old + new + DRIVER)
    flags = ["-O2", "-fopenmp", "-ffp-contract=off", "-DTW_PARALLEL_MIN=0", "-Wno-unknown-pragmas"]
    subprocess.run(["cc", *flags, "-o", tmp_path / "t", tmp_path / "t.c", "-lm"], check=True)
    return tmp_path / "t"


def run(program: Path, env: dict[str, str]) -> None:
    ran = subprocess.run([program], capture_output=True, text=True, env=env, timeout=100)
    assert ran.returncode == 0, ran.stdout


@pytest.mark.parametrize(
    "source, plan",
    [
        (JACOBI, ""),
        (SEIDEL, "skew i by s\n  tile s:2, i:3\n  pipeline st along it"),
        (SEIDEL, "skew j by i\n  pipeline i along j"),
    ],
    ids=["time tiles", "tiles", "rows"],
)
def test_threads_in_line(source: str, plan: str, tmp_path: Path) -> None:
    """However many threads there are, more than processors or fewer than were asked for."""
    text = planned(source, plan) if plan else generate("in.c", source, GenOptions()).text
    assert text.count("tw_follow(tw_line") == 2
    program = build(source, text, tmp_path)
    for threads in ("1", "2", "3", "64"):
        run(program, {"OMP_NUM_THREADS": threads})
    run(program, {"OMP_NUM_THREADS": "64", "OMP_THREAD_LIMIT": "2"})
    run(program, {"OMP_NUM_THREADS": "5", "OMP_DYNAMIC": "true"})


LINE = """\
void f(int t, int n, double A[n][n], double B[n][n])
{
#pragma scop
    for (int s = 0; s < t; s++) {
        for (int i = 1; i < n - 1; i++)
            B[0][i] = 0.3 * (A[0][i - 1] + A[0][i] + A[0][i + 1]);
        for (int i = 1; i < n - 1; i++)
            A[0][i] = 0.3 * (B[0][i - 1] + B[0][i] + B[0][i + 1]);
    }
#pragma endscop
}
"""
FIELDS = """\
void f(int t, int n, double A[n][n], double B[n][n])
{
#pragma scop
    for (int s = 0; s < t; s++) {
        for (int i = 1; i < n; i++)
            for (int j = 0; j < n; j++)
                A[i][j] = A[i][j] - 0.5 * (B[i][j] - B[i - 1][j]);
        for (int i = 0; i < n - 1; i++)
            for (int j = 0; j < n; j++)
                B[i][j] = B[i][j] - 0.7 * (A[i + 1][j] - A[i][j]);
    }
#pragma endscop
}
"""
ORDER = "schedule { loop s, q = {S1: 2s + i; S2: 1 + 2s + i} { S1 S2 } }"
DIAMONDS = "distribute S1.q\n  unskew S1.q as i\n  unskew S2.q as i\n  parallel S1.qm\n  vector S1.i\n  vector S2.i"


@pytest.mark.parametrize(
    "source, plan",
    [
        (LINE, f"{ORDER}\n  diamond s, q by 7\n  {DIAMONDS}"),
        (LINE, f"{ORDER}\n  diamond s, q by 32\n  {DIAMONDS}"),
        (
            JACOBI,
            "schedule { loop s, q = {S1: 2s + i; S2: 2s + i + 1}, r = {S1: 2s + j; S2: 2s + j + 1} { S1 S2 } }\n"
            "  tile S1.s:0, S1.q:0, S1.r:16\n  diamond s, q by 9\n  parallel S1.qm",
        ),
        (
            FIELDS,
            "schedule { loop s, q = {S1: s + i; S2: 1 + s + i}, j { S1 S2 } }\n  diamond s, q by 8\n  parallel S1.qm",
        ),
    ],
    ids=["line", "line of wide ones", "grid", "fields"],
)
def test_diamonds(source: str, plan: str, tmp_path: Path) -> None:
    text = planned(source, plan)
    assert "rows of diamonds" in text and "#pragma omp parallel for" in text
    run(build(source, text, tmp_path), {"OMP_NUM_THREADS": "3"})


def test_diamonds_for_many_threads(tmp_path: Path) -> None:
    """Chosen for processors of many cores, and only where they are legal."""
    text = generate("in.c", JACOBI, GenOptions(machine="neoverse-n1")).text
    assert "rows of diamonds" in text and "tw_follow" not in text
    run(build(JACOBI, text, tmp_path), {"OMP_NUM_THREADS": "5"})
    upwind = JACOBI.replace("A[i][j] = B[i][j];", "A[i][j] = B[i][j] + A[i - 1][j];")
    assert "rows of diamonds" not in generate("in.c", upwind, GenOptions(machine="neoverse-n1")).text


def test_a_line_of_one_stage_runs_in_order() -> None:
    """isl drops the loop over stages, and with it what threads would wait for."""
    text = planned(SCALE.replace("j < n;", "j < 1;"), "pipeline i along j")
    assert "tw_follow" not in text and "#pragma omp parallel" not in text


@pytest.mark.parametrize("value, at_once", [
    ("y[i] + a * y[n - 1 - i]", True),
    ("y[i] + c[0] * y[n - 1 - i]", False),  # c[0] would be read again behind every store
    ("y[i] + a * c[i]", False),  # nothing is turned
])  # fmt: skip
def test_turned_vectors_that_share_nothing_are_stored_at_once(value: str, at_once: bool) -> None:
    source = f"""\
void f(int n, double a, double y[n], double z[n], double c[n])
{{
#pragma scop
    for (int t = 0; t < n; t++) {{
        for (int i = 0; i < n; i++)
            z[i] = {value};
        for (int i = 0; i < n; i++)
            y[i] = z[i];
    }}
#pragma endscop
}}
"""
    text = generate("in.c", source, GenOptions(machine="neoverse-n1", banner=False)).text
    assert ("TW_F64X2U(z[i + 6]) = TW_F64X2U(y[i + 6])" in text) is at_once


def test_rows_that_read_far_from_each_other_end_by_twos() -> None:
    """clang gathers for all of them at once otherwise: sums along rows took twice the time."""
    plan = "tile i:8, j:0\n  order j, i\n  interleave i"
    text = planned(SUMS, plan)
    assert text.count("TW_NEXT_ROWS();") == 3
    assert "TW_NEXT_ROWS" not in planned(SUMS.replace("A[i][j]", "A[j][i]"), plan)
