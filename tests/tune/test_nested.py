"""Plans that keep the order of a tree: text, legality, generated code, and the way back."""

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from codegen.diagnostics import InputError
from codegen.isa.load import load
from codegen.options import GenOptions
from codegen.pipeline import Generated, generate
from codegen.plan.model import Multiply
from codegen.plan.text import show_directive
from codegen.plan_reader.parse import parse as parse_plan
from codegen.scop.product import Nested
from codegen.transform.apply import apply_plan
from codegen.tune.actions import ACTION_SETS, allowed
from codegen.tune.contraction import parse as parse_problem
from codegen.tune.plans.bases import Base
from codegen.tune.plans.contractions import nest_for, trees_of
from codegen.tune.region import open_file
from codegen.tune.tree import Tree, parse, start

PROBLEM = parse_problem("f32 C[i,j] += A[i,k] * B[k,j] : i=20 k=18 j=22 A(18,1,0) B(0,24,1) C(24,0,1)")
GENERIC = load("generic")
ARRAYS = "float A[20][18], B[18][24], C[40][24];\n"
LOOPS = """void f1(void)
{
#pragma scop
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 22; j++)
      for (int k = 0; k < 18; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
MAIN = """#include <stdio.h>
int main(void)
{
  for (int n = 0; n < 20 * 18; n++) A[n / 18][n % 18] = (float)(n * 7 % 13 - 6);
  for (int n = 0; n < 18 * 24; n++) B[n / 24][n % 24] = (float)(n * 5 % 11 - 5);
  CALLS
  for (int n = 0; n < 20 * 24; n++) printf("%g\\n", C[n / 24][n % 24]);
  return 0;
}
"""


def planned(source: str, *nests: str) -> Generated:
    """Each region with a nest of its own."""
    blocks = [f"region {n}\n  schedule {{ loop i, k, j {{ S1 }} }}\n{text}" for n, text in enumerate(nests, 1)]
    return generate("in.c", source, GenOptions(plan_text="\n".join(blocks), plan_name="p.plan", timeout=60.0))


def lines(tree: Tree) -> str:
    how = Nested(GENERIC.name, GENERIC.bits, (nest_for(tree),))
    return "".join(f"  {line}\n" for line in show_directive(Multiply("S1", ("i",), ("j",), ("k",), how), None))


def kept(tree: Tree) -> bool:
    """Not every tree keeps the order of its sums."""
    return tree.compute[-1].var in PROBLEM.c


def walks(count: int) -> list[Tree]:
    rng, found = random.Random(11), [parse("j1+6 i3+2[B] k18 i6 j16", PROBLEM)]
    while len(found) < count:
        tree = start(PROBLEM)
        for _ in range(10):
            tree = allowed(tree, rng.choice(ACTION_SETS["v2"]), lanes=1) or tree
        found += [tree] if kept(tree) else []
    return found


def output(folder: Path, name: str, text: str, calls: int) -> str:
    main = MAIN.replace("CALLS", " ".join(f"f{n}();" for n in range(1, calls + 1)))
    (folder / f"{name}.c").write_text(text + main)
    compiler = shutil.which("clang") or "cc"
    flags = ("-O1", "-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-psabi", "-Wno-unknown-pragmas")
    subprocess.run([compiler, *flags, "-o", folder / name, folder / f"{name}.c"], check=True)
    return subprocess.run([folder / name], check=True, capture_output=True, text=True).stdout


def test_random_trees_as_plans_compute_the_same(tmp_path: Path) -> None:
    trees = walks(5)
    source = ARRAYS + "".join(LOOPS.replace("f1", f"f{n}") for n in range(1, len(trees) + 1))
    made = planned(source, *map(lines, trees))
    assert made.text.count("by a kernel for these sizes") == len(trees)
    assert output(tmp_path, "tuned", made.text, len(trees)) == output(tmp_path, "plain", source, len(trees))


def test_there_and_back() -> None:
    (subject,) = open_file("in.c", ARRAYS + LOOPS, GenOptions(machine="generic")).subjects
    program = subject.model.program
    for tree in walks(20):
        text = f"region 1\n  schedule {{ loop i, k, j {{ S1 }} }}\n{lines(tree)}"
        (plan,) = parse_plan(text, "p.plan", {1: program.scop})
        (back,) = trees_of(Base("again", plan, apply_plan(program, plan)))
        assert back.compute == tree.compute
        assert dict(back.problem.sizes) == dict(PROBLEM.sizes)


def test_rows_of_unknown_length_are_looked_at_when_the_code_runs() -> None:
    source = LOOPS.replace("(void)", "(int n, float A[20][n], float B[18][24], float C[20][24])")
    made = planned(source, lines(parse("i5 j22 k18 i4", PROBLEM)))
    assert "if (&A[1][0] - &A[0][0] == 18" in made.text
    assert "C[i][j] += A[i][k] * B[k][j];" in made.text.rpartition("} else {")[2]


def test_what_does_not_move_is_looked_at_too() -> None:
    """A nest that says that the left operand stays while k grows is right for a product in which it does."""
    source = LOOPS.replace("(void)", "(int n, float A[20][n], float B[18][24], float C[20][24])")
    nest = lines(parse("i5 j22 k18 i4", PROBLEM)).replace("left i:18 k:1", "left i:18")
    assert "&A[0][1] - &A[0][0] == 0" in planned(source, nest).text


GOOD = lines(parse("i5 k18 i4 j22", PROBLEM))


@pytest.mark.parametrize(
    ("source", "plan", "message"),
    [
        (LOOPS.replace("i < 20", "i < 19"), GOOD, "are i:19, k:18, j:22"),
        (LOOPS.replace("(void)", "(int n)").replace("k < 18", "k < n"), GOOD, "no constant sizes"),
        (LOOPS.replace("k < 18", "k <= i"), GOOD, "no constant sizes"),
        (LOOPS, GOOD.replace("k:18, i:4", "k:17, i:4"), "are i:20, k:18, j:22"),
        (LOOPS, GOOD.replace("left i:18", "left i:20"), "left of S1 lie otherwise"),
        (LOOPS, GOOD.replace("left i:18 k:1", "left i:18 j:1"), "does not move with j"),
        (LOOPS, GOOD.replace("nest i:5, k:18, i:4, j:22", "nest i:20, j:22, k:18"), "another order than the source"),
        (LOOPS, GOOD.replace("i:4, j:22", "i:4 + 9, j:22"), "no shorter than its step"),
        (LOOPS, GOOD.replace("bits 128", "bits 96"), "vectors of 96 bits"),
        (LOOPS.replace("A[i][k] *", "2 * A[i][k] *"), GOOD, "no plain sum of products"),
        (LOOPS.replace("B[k][j]", "C[k + 19][j]"), GOOD, "would read `C` before"),
        (LOOPS, GOOD.replace("nest i:5", "nest i:5 pack"), "expected 'left'"),
    ],
)
def test_what_is_refused(source: str, plan: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        planned(ARRAYS + source, plan)


def test_sums_over_two_loops_keep_their_order() -> None:
    source = "float A[8][4][6], B[4][6][12], C[8][12];\n" + LOOPS.replace("i < 20", "i < 8").replace(
        "j < 22", "j < 12"
    ).replace("k < 18; k++)", "k < 4; k++)\n      for (int l = 0; l < 6; l++)").replace("[k]", "[k][l]")
    plan = """  product S1 rows i columns j depth k, l
    isa generic bits 128 nest i:2, k:4, l:6, i:4, j:12,
    left i:24 k:6 l:1, right k:72 l:12 j:1, target i:12 j:1
"""
    both = "region 1\n  schedule { loop i, k, l, j { S1 } }\n"
    good = generate("in.c", source, GenOptions(plan_text=both + plan, plan_name="p.plan"))
    assert "in the order i2 k4 l6 i4 j12" in good.text
    with pytest.raises(InputError, match="another order"):
        bad = plan.replace("k:4, l:6", "l:6, k:4")
        generate("in.c", source, GenOptions(plan_text=both + bad, plan_name="p.plan"))
