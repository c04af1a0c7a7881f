"""Deliberately illegal plans: each is refused with a sentence about the source's own lines."""

from __future__ import annotations

import re

import pytest

from codegen.diagnostics import InputError
from codegen.options import GenOptions
from codegen.pipeline import generate

PREFIX = """\
void f(int n, double A[n], double B[n][n])
{
#pragma scop
    for (int i = 1; i < n; i++)
        A[i] = A[i - 1] + 1.0;
#pragma endscop
}
"""
SEIDEL = """\
void f(int t, int n, double A[n][n])
{
#pragma scop
    for (int s = 0; s < t; s++)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                A[i][j] = (A[i - 1][j] + A[i][j - 1] + A[i][j] + A[i][j + 1] + A[i + 1][j]) / 5.0;
#pragma endscop
}
"""
ANTIDIAGONAL = """\
void f(int n, double A[n][n])
{
#pragma scop
    for (int i = 1; i < n; i++)
        for (int j = 0; j < n - 1; j++)
            A[i][j] = A[i - 1][j + 1] + 1.0;
#pragma endscop
}
"""
TWO_PARTS = """\
void f(int n, double A[n], double B[n])
{
#pragma scop
    for (int i = 1; i < n; i++) {
        A[i] = B[i - 1] + 1.0;
        B[i] = A[i] * 2.0;
    }
#pragma endscop
}
"""
ROW = """\
void f(int n, double A[n], double B[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double t;
        t = A[i] * 2.0;
        B[i] = t + 1.0;
    }
#pragma endscop
}
"""
SUM = """\
void f(int n, double A[n], double *s)
{
#pragma scop
    for (int i = 0; i < n; i++)
        *s += A[i];
#pragma endscop
}
"""

# source, plan, what the sentence says about lines and variables
ILLEGAL = {
    "reverse a carried dependence": (PREFIX, "reverse i", ("`A`", "line 5", "backwards")),
    "parallel recurrence": (PREFIX, "parallel i", ("`A`", "line 5", "cannot be parallel")),
    "vector recurrence": (PREFIX, "vector i", ("`A`", "line 5", "cannot be vector")),
    "parallel sum without leave to reassociate": (SUM, "parallel i", ("`s`", "line 5", "cannot be parallel")),
    "tile gauss-seidel without skewing": (SEIDEL, "tile s:8, i:8, j:8", ("`A`", "line 7", "backwards")),
    "tile two loops of gauss-seidel": (SEIDEL, "tile s:8, i:8", ("`A`", "line 7", "backwards")),
    "skew too little": (SEIDEL, "skew i by s\n  tile s:8, i:8, j:8", ("`A`", "line 7", "backwards")),
    "skew the wrong way": (
        SEIDEL,
        "skew i by -1*s\n  skew j by -2*s\n  tile s:8, i:8, j:8",
        ("`A`", "line 7", "backwards"),
    ),
    "pipeline that runs into the iterations before it": (
        SEIDEL,
        "pipeline s along i",
        ("`A`", "line 7", "is not behind it along `i`", "cannot be a pipeline"),
    ),
    "pipeline across an antidiagonal": (ANTIDIAGONAL, "pipeline i along j", ("`A`", "line 6", "cannot be a pipeline")),
    "pipeline of a sum": (
        SUM.replace("i++)\n", "i++)\n        for (int j = 0; j < n; j++)\n"),
        "pipeline i along j",
        ("`s`", "line 6", "cannot be a pipeline"),
    ),
    "diamonds where points wait for neighbours of the same step": (
        SEIDEL,
        "skew i by s\n  diamond s, i by 8",
        ("`A`", "line 7", "backwards"),
    ),
    "diamonds of a loop that is skewed too little": (
        SEIDEL.replace("A[i + 1][j]", "A[i + 1][j] + (i < n - 2 ? A[i + 2][j] : 0.0)"),
        "skew i by s\n  diamond s, i by 8",
        ("`A`", "line 7", "backwards"),
    ),
    "interchange across an antidiagonal": (ANTIDIAGONAL, "order j, i", ("`A`", "line 6", "backwards")),
    "tile across an antidiagonal": (ANTIDIAGONAL, "tile i:4, j:4", ("`A`", "line 6", "backwards")),
    "unroll does not reorder, reverse does": (
        ANTIDIAGONAL,
        "unroll j by 4\n  reverse i",
        ("`A`", "line 6", "backwards"),
    ),
    "distribute a cycle": (TWO_PARTS, "distribute i", ("line 6", "line 5", "backwards")),
    "swap two parts": (TWO_PARTS, "schedule { loop i { S2 S1 } }", ("`A`", "line 5", "line 6", "backwards")),
    "fuse by a wrong shift": (TWO_PARTS, "schedule { loop i = {S1: i; S2: i - 1} { S2 S1 } }", ("line 5", "line 6")),
}


def _refused(source: str, plan: str, number: int = 1) -> InputError:
    with pytest.raises(InputError) as caught:
        generate("in.c", source, GenOptions(plan_text=f"region {number}\n  {plan}\n", plan_name="p.plan"))
    return caught.value


@pytest.mark.parametrize("name", ILLEGAL)
def test_illegal_plan(name: str) -> None:
    source, plan, words = ILLEGAL[name]
    error = _refused(source, plan)
    assert error.id == "illegal-plan" and error.hint
    assert error.loc.file == "p.plan"
    assert error.loc.line == 1 + len(plan.split("\n")), "the last directive is the illegal one"
    for word in words:
        assert word in error.message
    assert not re.search(r"\bS\d+\b|\bc\d+\b", error.message), "the sentence speaks of the source, not of the model"


def test_the_witness_is_a_real_pair_of_iterations() -> None:
    message = _refused(PREFIX, "reverse i").message
    first, second = (int(v) for v in re.findall(r"i = (\d+)", message))
    assert second == first + 1 and first >= 1


@pytest.mark.parametrize(
    "source, plan",
    [
        (SEIDEL, "skew i by s\n  skew j by 2*s\n  skew j by i\n  tile s:8, i:8, j:8"),
        (ANTIDIAGONAL, "skew j by i\n  tile i:4, j:4"),
        (ANTIDIAGONAL, "skew j by i\n  pipeline i along j"),
        (SEIDEL, "skew i by s\n  pipeline s along i"),
        (SEIDEL, "pipeline i along j"),
        (ANTIDIAGONAL, "vector j"),
        (PREFIX, "tile i:16"),
        (PREFIX, "unroll i by 4"),
        (ROW, "tile i:16\n  distribute i\n  store t in it [i - it: 16]"),
    ],
)
def test_the_legal_counterparts_are_carried_out(source: str, plan: str) -> None:
    made = generate("in.c", source, GenOptions(plan_text=f"region 1\n  {plan}\n"))
    assert made.regions[0].transformed
    assert not [d for d in made.diagnostics if d.severity.value in ("error", "warning")]


def test_a_buffer_that_is_too_small() -> None:
    error = _refused(ROW, "tile i:16\n  distribute i\n  store t in it [i - it: 4]")
    assert error.id == "illegal-plan" and "`t` would be accessed outside its storage of 4 elements" in error.message


def test_storage_that_does_not_live_long_enough() -> None:
    error = _refused(ROW, "tile i:16\n  distribute i\n  store t in it")
    assert error.id == "illegal-plan" and "`t` would be overwritten before its last use" in error.message


def test_storage_that_threads_would_share() -> None:
    error = _refused(ROW, "tile i:16\n  parallel i\n  store t in it")
    assert error.id == "illegal-plan"
    assert "`t` would be shared by the iterations of the parallel loop `i`" in error.message


@pytest.mark.parametrize(
    "plan, words",
    [
        ("reverse k", "no loop k"),
        ("tile i:8, i:8", "named twice"),
        ("order i, i", "named twice"),
        ("skew i by 2*j", "does not enclose"),
        ("distribute i", "no sequence"),
        ("store A in i", "not a variable of the region"),
        ("pipeline i along j", "is not directly inside"),
        ("diamond i, j by 8", "not directly nested"),
    ],
)
def test_directives_that_mean_nothing(plan: str, words: str) -> None:
    error = _refused(PREFIX, plan)
    assert error.id == "illegal-plan" and words in error.message


@pytest.mark.parametrize("plan", ["vector i\n  parallel j", "parallel j\n  vector i"])
def test_no_threads_inside_vectors(plan: str) -> None:
    """OpenMP forbids it, and compilers refuse the code (random program 710356)."""
    free = ANTIDIAGONAL.replace("A[i - 1][j + 1] + 1.0", "1.0")
    error = _refused(free, plan)
    assert error.id == "illegal-plan" and "on threads inside the vector loop `i`" in error.message
    assert generate("in.c", free, GenOptions(plan_text="region 1\n  parallel i\n  vector j\n")).regions[0].transformed
