"""Directives that the code cannot carry out are told, and the summary says what was done."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.diagnostics import InputError
from codegen.options import CppOptions, GenOptions
from codegen.pipeline import generate
from codegen.source.write import read_source
from codegen.targets.registry import target_named, target_names
from tests.corpus import KERNELS

SUM = """\
void f(int n, double x[n], double y[n], double s[1])
{
#pragma scop
    for (int i = 0; i < n; i++)
        s[0] += x[i] * y[i];
#pragma endscop
}
"""
SCALE = """\
void f(int n, double A[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            A[i][j] *= 2.0;
#pragma endscop
}
"""


def planned(plan: str, **options: object) -> GenOptions:
    return replace(GenOptions(), plan_text=f"region 1\n  {plan}\n", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "plan, line, words",
    [
        ("jam i by 4", 2, "the loop inside begins or ends elsewhere"),
        ("parallel i\n  vector j by 2 of 8 bytes", 3, "a vector holds less than two"),
    ],
)
def test_a_users_plan_is_carried_out_or_refused(plan: str, line: int, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        generate("in.c", SCALE, planned(plan))
    assert caught.value.id == "illegal-plan" and caught.value.loc.line == line


ROWS = """\
void f(int n, int m, double A[n][m], double B[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            B[i][j] = A[i][j] * 2.0;
#pragma endscop
}
"""
DOT = """\
double f(int n, double x[n], double y[n], double s)
{
#pragma scop
    for (int i = 0; i < n; i++)
        s += x[i] * y[i];
#pragma endscop
    return s;
}
"""
FIRSTS = """\
void f(int n, int m, double A[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double t = A[i][0];
        for (int j = 1; j < m; j++)
            A[i][j] += t;
    }
#pragma endscop
}
"""
# A directive of each kind, for loops that the region has or not: what a target has no word for is told first.
LINES = {
    "balance": "balance i by 16", "diamond": "diamond i, j by 16", "grid": "grid i:4, j:64",
    "interleave": "interleave j", "jam": "jam i by 4", "parallel": "parallel i", "parallel by": "parallel i by 4",
    "parallel with": "parallel i with j", "pipeline": "pipeline i along j", "ranks": "ranks S1.i",
    "registers": "registers S1.i:4, S1.j:4 threads 8 by 8",
    "stage shared": "stage A in shared at S1.j:16 stages 2", "scalar_replace": "scalar_replace j",
    "stay": "stay A from S1 by 2", "stage": "stage A in S1", "mesh": "mesh S1",
    "lanes": "lanes S1.j", "steps": "steps S1.i by 4 of 32, 32", "unroll": "unroll j by 4",
    "vector": "vector j",
    "product": "product S1 rows i columns j depth j isa neon bits 128 nest i:4, j:4",
}  # fmt: skip


@pytest.mark.parametrize("target", target_names())
def test_what_a_target_has_no_word_for_is_an_error(target: str) -> None:
    """Each of these directives is said to be beyond the target, as the table of the documentation says."""
    cannot = target_named(target).cannot
    assert set(cannot) <= set(LINES)
    for word in sorted(cannot):
        with pytest.raises(InputError, match=f"`{word.split()[0]}`: the target {target} ") as caught:
            generate("in.c", ROWS, planned(LINES[word], target=target))
        assert caught.value.id == "illegal-plan" and caught.value.loc.line == 2
    pages = (Path(__file__).parents[2] / "docs" / "plans.md").read_text(encoding="utf-8")
    rows = [r for r in pages.splitlines() if r.startswith("| `") and f"`{target}`" in r.split("|")[1]]
    listed = {w.replace(" ...", "") for w in re.findall(r"`([^`]+)`", rows[-1].split("|")[2].partition(";")[0])}
    assert listed == set(cannot)


@pytest.mark.parametrize(
    "source, plan, target, said",
    [
        (ROWS, "parallel i", "c", "`parallel i`: the loop runs on one thread"),
        (ROWS, "balance i by 16\n  tile i:16", "c", "`balance i`: its tiles run on one thread"),
        (SCALE, "parallel i with j", "openmp", "iterations of loop j are not shared out"),
        (DOT, "vector i", "c", "no directive for compilers names what the loop gathers"),
        (ROWS, "ranks S1.i\n  vector j", "mpi", "directives but `ranks` are for one rank"),
    ],
)
def test_a_directive_without_effect_is_a_remark(source: str, plan: str, target: str, said: str) -> None:
    made = generate("in.c", source, planned(plan, target=target, reassociate=True))
    (remark,) = [d for d in made.diagnostics if d.id == "not-obeyed"]
    assert said in remark.message and remark.loc.line in (2, 3)
    assert "with j */" not in made.text


@pytest.mark.parametrize(
    "source, plan, target, words",
    [
        (FIRSTS, "store t in j", "c", "no such loop is around all its uses"),
        (ROWS, "balance i by 16", "openmp", "has no tiles"),
        (ROWS, "tile i:8, j:8\n  parallel it\n  parallel jt\n  parallel i", "sunway", "at most two loops"),
    ],
)
def test_a_directive_that_the_region_prevents_is_an_error(source: str, plan: str, target: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        generate("in.c", source, planned(plan, target=target, stem="in"))


def test_the_tools_own_plan_says_what_was_done() -> None:
    """Zeros in a row: compilers write them as well as anybody. The plan that is printed can be given back."""
    path = KERNELS / "fixed-globals.c"
    options = replace(GenOptions(), machine="neoverse-n1", cpp=CppOptions(args=(f"-I{path.parent}",)))
    text = read_source(str(path))
    made = generate(path.name, text, options)
    assert "  vector S1.i\n" in made.plan
    assert any(d.id == "not-vector" and "stores one value in all lanes" in d.message for d in made.diagnostics)
    again = generate(path.name, text, replace(options, plan_text=made.plan))
    assert again.plan.split("\n", 1)[1] == made.plan.split("\n", 1)[1]


def test_the_summary_says_what_was_done() -> None:
    """Plain C has no threads; and nothing tells a compiler of sums in an element of an array."""
    both = generate("in.c", SCALE, planned("parallel i\n  vector j"))
    assert "region 1 of f: threads over i; vectors along j */" in both.text
    alone = generate("in.c", SCALE, planned("parallel i\n  vector j", target="c"))
    assert "region 1 of f: vectors along j */" in alone.text
    lanes = generate("in.c", SUM, planned("vector i by 2 of 16 bytes", reassociate=True))
    assert "region 1 of f: vectors along i */" in lanes.text


OUTER = """\
static double a[101];
void f(int n, int m)
{
#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = n - i - 1; i > j; j += 2)
            for (int k = 0; k < 9; k++)
                a[i + 2] *= 0.125;
#pragma endscop
}
"""


def test_compilers_are_not_told_to_make_vectors_along_outer_loops() -> None:
    """clang does not, and warns, which -Werror makes an error."""
    plan = "schedule {\n loop jk = (4j + k), j, i {\n S1\n }\n }\n tile S1.i:128, S1.j:0\n vector S1.i"
    got = generate("in.c", OUTER, planned(plan))
    assert re.search(r"for \(tw_index i[^{}]*for \(tw_index j", got.text) and "simd" not in got.text, got.text
    assert any("with loops inside" in d.message for d in got.diagnostics if d.id == "not-obeyed")
