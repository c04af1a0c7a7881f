"""Grids as directives: printed, read again, checked, and proven on the loops that come of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from codegen.ast.generate import generate as generate_ast
from codegen.cli.main import main
from codegen.diagnostics import InputError
from codegen.gpu.plan.order import device_order
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.region_model import model_region
from codegen.scop.tree import GRID, loops
from codegen.source_file import open_source
from codegen.transform.mark import set_loop
from codegen.transform.program import Program
from codegen.verify.proofs import CHECKS, prove
from codegen.verify.races import parallel_race
from tests.corpus import KERNELS
from tests.gpu.programs import build, needs_cxx

SHIFT = """void f(int n, double a[n][n], double b[n][n])
{
#pragma scop
  for (int i = 0; i < n - 1; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = a[i + 1][j] + b[i][j];
#pragma endscop
}
"""


def program(text: str) -> Program:
    source = open_source("f.c", text, GenOptions(target="cuda"))
    model = model_region(source.slices[0], GenOptions(target="cuda"))
    assert model is not None
    return model.program


def test_the_plan_can_be_used_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["gen", "--target", "cuda", str(KERNELS / "gemver.c"), "--no-banner"]
    assert main([*words, "-o", "a/", "--emit", "c,plan"]) == 0
    assert {p.name for p in Path("a").iterdir()} == {"gemver.tw.c", "gemver.tw.cu", "gemver.tw.h", "gemver.plan"}
    assert main([*words, "-o", "b/", "--plan", "a/gemver.plan"]) == 0
    for ending in ("c", "cu", "h"):
        assert Path(f"a/gemver.tw.{ending}").read_text() == Path(f"b/gemver.tw.{ending}").read_text()


def planned(directives: str, text: str = SHIFT) -> str:
    plan = f"region 1\n  {directives}\n"
    made = generate("f.c", text, GenOptions(target="cuda", stem="f", plan_text=plan))
    return " ".join(made.extra.file(".tw.cu").split())


def test_blocks_by_the_plan() -> None:
    assert "dim3(128), n, i, a, b);" in planned("grid j:128")
    assert "for (long i = 0; i < (long)n - 1; i++)" in planned("order j, i\n  grid j:128")


@pytest.mark.parametrize(
    ("directives", "why"),
    [
        ("grid i:64", "is carried by loop `i`, so its iterations cannot be threads of one grid"),
        ("grid i:4, j:64", "is carried by loop `i`"),
        ("grid j:64, i:4", "is carried by loop `i`"),
        ("grid j:64\n  grid j:64", "loop `j` is grid already"),
        ("grid j:0", "1 to 1024 threads"),
        ("grid k:64", "there is no loop k"),
        ("parallel j", "`parallel`: the target cuda runs iterations on the threads of a grid"),
        ("vector j", "`vector`: the target cuda has plain loops"),
    ],
)
def test_a_plan_that_is_refused(directives: str, why: str) -> None:
    with pytest.raises(InputError) as error:
        planned(directives)
    assert why in error.value.message


def test_more_threads_than_a_block_has() -> None:
    text = SHIFT.replace("a[i + 1][j]", "b[j][i]")
    assert "dim3(64, 16)" in planned("grid i:16, j:64", text)
    with pytest.raises(InputError, match="a block up to 1024 threads"):
        planned("grid i:32, j:64", text)


def test_threads_that_share_an_element_are_found_by_the_proof() -> None:
    """Whoever marks a loop past all tests of the directive; without the proof nobody would notice before it runs."""
    p = program(SHIFT)
    place = next(q for q in loops(p.tree) if q.loop.name == "i")
    marked = set_loop(p.tree, place, replace(place.loop, kind=GRID, factor=64))
    code = generate_ast(p.scop, marked, peel=False)
    assert [f.check for f in prove(p.scop, p.deps, code)] == ["race"]
    assert prove(p.scop, p.deps, code, [c for c in CHECKS if c is not parallel_race]) == ()


IMPERFECT = """void f(int n, int m, double A[n][m], double x[m], double y[m], double t[n])
{
#pragma scop
  for (int j = 0; j < m; j++) y[j] = 0;
  for (int i = 0; i < n; i++) {
    t[i] = 0;
    for (int j = 0; j < m; j++) t[i] += A[i][j] * x[j];
    for (int j = 0; j < m; j++) y[j] += A[i][j] * t[i];
  }
#pragma endscop
}
"""


def test_nests_are_taken_apart_for_threads() -> None:
    """Rows of one product and columns of the other; what sets an element joins what adds to it."""
    tree = device_order(program(IMPERFECT))
    found = [[lp.name for lp in q.band.loops if lp.coincident] for q in loops(tree) if q.loop.coincident]
    assert found == [["j"], ["i"], ["j"]]


def test_a_launch_has_threads_for_every_iteration() -> None:
    """The proof takes no count that is too small, also where a loop is shorter in other iterations."""
    from codegen.ast.ctree import Bin, For, Int, walk
    from codegen.gpu.kernels import enough
    from codegen.verify.readback import runs

    p = program("""void f(int n, double a[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = i; j < n; j++)
      a[i][j] = 0;
#pragma endscop
}
""")
    code = generate_ast(p.scop, p.tree, peel=False)
    outer, inner = (x for x in walk(code) if isinstance(x, For))
    at = runs(p.scop, code)[0].point
    assert enough(outer, outer.upper, at) and enough(inner, inner.upper, at)
    assert not enough(outer, Bin("-", outer.upper, Int(1)), at) and not enough(inner, Bin("-", inner.upper, Int(1)), at)


@needs_cxx
def test_more_blocks_than_a_grid_has(tmp_path: Path, emulator: Path) -> None:
    text = """#include <stdio.h>
#include <stdlib.h>
static void f(int n, double a[n][2])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 2; j++)
      a[i][j] = 2 * a[i][j] + i;
#pragma endscop
}
int main(void)
{
  double (*a)[2] = calloc(65540, sizeof *a), sum = 0;
  f(65540, a);
  for (int k = 0; k < 65540; k++)
    sum = sum * 0.5 + a[k][0] + a[k][1];
  printf("%.17g\\n", sum);
  return 0;
}
"""
    built = build("many", tmp_path, emulator, text, plan_text="region 1\n  grid i:1, j:2\n")
    assert built.agree().counts["launches"] == 2


def test_sequential_loops_stay_on_the_host() -> None:
    text = """void f(int t, int n, double a[n], double b[n])
{
#pragma scop
  for (int s = 0; s < t; s++) {
    for (int i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i + 1];
    for (int i = 1; i < n - 1; i++) a[i] = b[i];
  }
#pragma endscop
}
"""
    made = generate("f.c", text, GenOptions(target="cuda", stem="f"))
    launcher = made.extra.file(".tw.cu").split('extern "C"')[-1]
    assert launcher.count("TW_LAUNCH_STEP(") == 2 and "for (long s = 0; s < t; s++) {" in launcher


def test_a_counter_of_the_host_and_one_of_a_kernel_may_have_one_name() -> None:
    text = """void f(int n, double a[n][n], double b[n], double s)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) a[i][j] = 0;
    for (int j = 1; j < n; j++) b[j] = b[j] * s + b[0];
    b[0] = b[1];
  }
#pragma endscop
}
"""
    device = " ".join(generate("f.c", text, GenOptions(target="cuda", stem="f")).extra.file(".tw.cu").split())
    assert "f_r1_1(const int n, double *__restrict__ a, const long tw_first_y)" in device


@pytest.mark.parametrize(
    ("value", "ahead"),
    [("y[i] || (A[i][j] && x[j])", False), ("y[i] < A[i][j] + x[j] ? y[i] : A[i][j] + x[j]", True),
     ("y[i] + (A[i][j] && A[i][j] > 3)", True)],
)  # fmt: skip
def test_loads_ahead_where_no_value_decides_about_them(value: str, ahead: bool) -> None:
    """Iterations that may not read an element are branches: many of them side by side made the compiler spill."""
    text = f"""void f(int n, int m, int A[n][m], int x[m], int y[n]) {{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++)
      y[i] = {value};
#pragma endscop
}}
"""
    assert ("TW_AHEAD\n" in generate("f.c", text, GenOptions(target="cuda", stem="f")).extra.file(".tw.cu")) is ahead
