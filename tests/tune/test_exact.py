"""Loops for certain sizes: plans that carry a loop tree out exactly, and the blocked product at all other sizes."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.cli.main import main
from codegen.diagnostics import InputError
from codegen.options import CppOptions, GenOptions
from codegen.plan_reader.parse import parse
from codegen.transform.apply import apply_plan
from codegen.tune.contraction import show as show_problem
from codegen.tune.plans.bases import Base
from codegen.tune.plans.contractions import planned, sole_product, trees_of
from codegen.tune.plans.space import space_of
from codegen.tune.region import Subject, open_file
from codegen.tune.tree import parse as parse_tree
from tests.corpus import some
from tests.tune.sources import PRODUCT

OPTIONS = GenOptions(machine="generic", cpp=CppOptions(enabled=False))
RECTANGLE = """\
void mm(int n, int m, int p, int lda, double C[n][m], double A[n][lda], double B[p][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int k = 0; k < p; k++)
                C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
BLOCKS = """\
region 1
  schedule { loop i, k, j { S1 } }
  product S1 rows i columns j depth k
    isa generic bits 128 tile 4 by 2 vectors, block 64 by 64 by 64,
    direct 100 threads 100000
"""


def opened(source: str = PRODUCT) -> Subject:
    (subject,) = open_file("in.c", source, OPTIONS).subjects
    return subject


def test_rows_that_are_longer_than_the_loops() -> None:
    source = """float A[20][18], B[18][24], C[20][24];
void f(void)
{
#pragma scop
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 22; j++)
      for (int k = 0; k < 18; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
    subject = opened(source)
    base = space_of(subject, 1).bases[0]
    sole = sole_product(base, {})
    assert sole is not None
    assert show_problem(sole.problem).endswith(" : i=20 k=18 j=22 A(18,1,0) B(0,24,1) C(24,0,1)")
    tree = parse_tree("i5 k18 i4 j22", sole.problem)
    text = base.text(planned(base, sole, tree), subject.model.digest)
    assert "nest i:5, k:18, i:4, j:22,\n    left i:18 k:1, right k:24 j:1, target i:24 j:1\n" in text
    outcome = subject.carried_out(text)
    assert outcome.plan == text and outcome.text is not None and "in the order i5 k18 i4 j22" in outcome.text
    (plan,) = parse(text, "p.plan", {1: subject.model.program.scop})
    again = Base("again", plan, apply_plan(subject.model.program, plan))
    assert trees_of(again)[0].compute == tree.compute


def test_trees_and_plans_both_ways() -> None:
    subject = opened()
    base = space_of(subject, 1).bases[0]
    sole = sole_product(base, {"n": 48})
    assert sole is not None
    assert show_problem(sole.problem) == "f32 C[i,j] += A[i,k] * B[k,j] : i=48 j=48 k=48"
    tree = parse_tree("i12 j3 k48 i4 j16", sole.problem)
    plan = planned(base, sole, tree)
    text = base.text(plan, subject.model.digest)
    assert "or nest i:12, j:3, k:48, i:4, j:16\n" in text
    outcome = subject.carried_out(text)
    assert outcome.plan == text and outcome.text is not None and "(tw_index)n == 48" in outcome.text
    scop = subject.model.program.scop
    again = parse(text, "<plan>", {scop.region: scop})[0]
    back = Base("again", again, apply_plan(subject.model.program, again))
    assert trees_of(back) == (tree,)
    other = parse_tree("i48 k48 j48", sole.problem)
    assert "or nest i:48, k:48, j:48\n" in base.text(planned(back, sole_product(back, {"n": 48}) or sole, other), "")


@pytest.mark.parametrize(
    "loops",
    [
        *("i:1 + 2, k:9 pack left, j:3, i:5, j:8", "k:3, i:7, k:3, j:3, j:8", "j:24, k:9, i:7"),
        *("i:1 + 2 threads, k:9, i:5, j:24", "j:3 threads pack left right, i:7, k:9, j:8"),
    ],
)
def test_tails_and_packs_are_read_back(loops: str) -> None:
    subject = opened(RECTANGLE)
    text = subject.carried_out(f"{BLOCKS}    or nest {loops}\n").plan
    assert f"or nest {loops}\n" in text


@pytest.mark.parametrize(
    "line, complaint",
    [
        ("or nest i:7, k:9, x:12", "over i, k, j"),
        ("or nest i:7, j:24", "over i, k, j"),
        ("or nest i:1 + 4, k:9, j:24, i:3", "no shorter than its step"),
        ("or nest i:7, j:24, k:9", "sum in another order"),
    ],
)
def test_loops_that_cannot_be(line: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        opened(RECTANGLE).carried_out(f"{BLOCKS}    {line}\n")


def test_rows_anywhere_and_unfit_buffers_have_none() -> None:
    """The target must be in one piece, and what is copied must have room on the stack."""
    apart = RECTANGLE.replace("double C[n][m]", "double **C")
    with pytest.raises(InputError, match="no nest for S1"):
        opened(apart).carried_out(f"{BLOCKS}    or nest i:7, k:9, j:24\n")
    scaled = RECTANGLE.replace("+= A", "+= 2.0 * A")
    with pytest.raises(InputError, match="too much of the stack"):
        opened(scaled).carried_out(f"{BLOCKS}    or nest i:300, k:300, j:24\n")


def test_sums_that_run_backwards_have_none() -> None:
    """Elements of A and of a transposed B lie side by side along the sum, in whatever direction it runs."""
    source = RECTANGLE.replace("k = 0; k < p; k++", "k = p - 1; k >= 0; k--").replace("B[k][j]", "B[j][k]")
    plan = BLOCKS.replace("loop i, k, j", "loop i, k = (-k), j") + "    or nest i:7, k:9, j:24\n"
    subject = opened(source.replace("B[p][m]", "B[m][p]"))
    with pytest.raises(InputError, match="loop k of S1 runs backwards"):
        subject.carried_out(plan)
    assert sole_product(space_of(subject, 1).bases[0], {"n": 7, "m": 24, "p": 9, "lda": 9}) is None


OTHERS = {
    "scaled": RECTANGLE.replace("int lda,", "int lda, double s,").replace("+= A", "+= s * A"),
    "converted": RECTANGLE.replace("double B[p][m]", "float B[p][m]"),
    "rows anywhere": RECTANGLE.replace("double B[p][m]", "double **B"),
    "both": RECTANGLE.replace("A[i][k] * B[k][j]", "(A[i][k] - 1.5) * (B[k][j] * B[k][j])"),
    "from other places": RECTANGLE.replace("i = 0; i < n", "i = 1; i < n - 1").replace("k = 0; k < p", "k = 2; k < p")
    .replace("+= A", "+= 0.5 * A"),
}  # fmt: skip


@pytest.mark.parametrize("name", some(sorted(OTHERS), 0, 2))
def test_other_operands_are_computed_before(name: str, tmp_path: Path) -> None:
    subject = opened(OTHERS[name])
    base = space_of(subject, 1).bases[0]
    sole = sole_product(base, {"n": 9, "m": 24, "p": 11, "lda": 30})
    assert sole is not None
    rows, depth = (7, 9) if name == "from other places" else (9, 11)
    assert dict(sole.problem.sizes) == {"i": rows, "k": depth, "j": 24}
    plan = f"{BLOCKS}    or nest i:{rows // 4} + {rows % 4}, j:1 + 8, k:{depth}, i:4, j:16\n"
    text = subject.carried_out(plan).text
    assert text is not None and "operand, in the order of its loops" in text
    assert _check(tmp_path, plan, OTHERS[name]) == 0


def _check(tmp_path: Path, plan: str, source: str = RECTANGLE) -> int:
    (tmp_path / "in.c").write_text(source)
    (tmp_path / "in.plan").write_text(plan)
    return main(["check", str(tmp_path / "in.c"), "--plan", str(tmp_path / "in.plan")])


@pytest.mark.parametrize("blocks", [BLOCKS + "    or", BLOCKS.partition(" tile")[0]])
def test_check_runs_them(
    blocks: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """At their sizes results agree to the bit; where the code is broken on purpose, that is found."""
    plan = blocks + " nest i:1 + 3 pack left, j:1 + 8, k:9, i:4, j:16\n    or nest k:4, i:5 pack right, j:12\n"
    assert opened(RECTANGLE).carried_out(plan).plan.endswith(plan.partition("product")[2])
    assert _check(tmp_path, plan) == 0
    from codegen.target import nest_text as emit

    right = emit.nest_kernel
    monkeypatch.setattr(emit, "nest_kernel", lambda isa, k: right(isa, k).replace("{\n", "{\n  *c += 1;\n", 1))
    assert _check(tmp_path, plan) == 4
    assert "C[0][0] is" in capsys.readouterr().out
