"""codegen.generate and plan objects."""
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import codegen
from codegen.report.html.highlight import highlight
from tests.report.pages import Reader

ROOT = Path(__file__).parents[2]
GEMM = ROOT / "examples" / "quickstart" / "gemm.c"
NEST = """\
void scale(int n, double a[n][n], double b[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = F * b[j][i];
#pragma endscop
}
"""
REFUSED = """\
void scatter(int n, int p[n], double a[n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[p[i]] = 0;
#pragma endscop
}
"""


def test_the_call_gives_what_the_command_gives() -> None:
    made = codegen.generate(GEMM, target="c", context="n >= 8")
    words = [sys.executable, "-m", "codegen", "gen", str(GEMM), "--target", "c", "--context", "n >= 8"]
    assert made.text == subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert made.transformed and [r.line for r in made.regions] == [5]
    assert {d.kind for d in made.remarks} <= {"passed", "missed", "analysis"} and made.remarks


def test_text_macros_and_messages() -> None:
    made = codegen.generate(NEST, define={"F": "2.0", "UNUSED": None}, name="scale.c")
    assert "2.0" not in made.text.split("scop")[0] and made.transformed and "scale.c" in repr(made)
    left = codegen.generate(REFUSED)
    assert not left.transformed and left.text.endswith(REFUSED.split("{", 1)[1])
    assert "<string>:5:" in left.messages() and "a[p[i]] = 0;" in left.messages()


def test_unknown_options_and_bad_input() -> None:
    with pytest.raises(TypeError, match="unknown option 'machin'; did you mean 'machine'"):
        codegen.generate(NEST, machin="native")  # type: ignore[call-arg]
    with pytest.raises(codegen.InputError, match=r"unknown machine 'neoverse-n3'.*did you mean"):
        codegen.generate(NEST, machine="neoverse-n3")
    with pytest.raises(codegen.TilewrightError, match=r"cannot read nowhere\.c"):
        codegen.generate("nowhere.c")
    with pytest.raises(AttributeError):
        codegen.nothing  # noqa: B018


def test_saving_never_overwrites_what_it_did_not_write(tmp_path: Path) -> None:
    made = codegen.generate(GEMM)
    assert made.save(tmp_path / "out.c") and not made.save(tmp_path / "out.c")
    (tmp_path / "mine.c").write_text("int x;\n", encoding="utf-8")
    with pytest.raises(codegen.InputError, match="did not generate it"):
        made.save(tmp_path / "mine.c")


def test_sunway_gives_its_other_files() -> None:
    made = codegen.generate(GEMM, target="sunway", threads="2,8")
    assert set(made.files) == {"gemm_slave.c", "gemm_args.h"} and all(made.files.values())


@pytest.mark.parametrize("kernel", ["gemm", "jacobi-2d", "lu", "floyd-warshall", "gemver", "seidel-2d", "correlation"])
def test_plans_round_trip(kernel: str) -> None:
    source = ROOT / "examples" / "kernels" / f"{kernel}.c"
    made = codegen.generate(source, banner=False)
    printed = "".join(r.plan for r in made.regions)
    assert str(made.plan) == printed and codegen.Plan.parse(printed) == made.plan
    again = made.plan.apply(source, banner=False)
    assert (again.text, again.plan) == (made.text, made.plan)


def test_plans_are_cut_at_directives() -> None:
    text = ("# mine\nregion 2 digest abc  # f, line 9\n  schedule {\n    loop i { S1 }\n  }\n"
            "  product S2 rows i depth k\n    isa neon bits 128 form rows streams 4 by 1 vectors,\n"
            "    block 4 shared 1 ahead 0, near 1 close 1,\n    direct 5 threads 6\n  vector j # lanes\n"
            "region 1 tile i:4\n")
    plan = codegen.Plan.parse(text)
    assert [(r.region, r.digest, r.comment, len(r.directives)) for r in plan.regions] == [
        (2, "abc", "f, line 9", 3), (1, "", "", 1)]
    assert plan[2].directives[2] == "vector j" and plan[1].directives == ("tile i:4",)
    assert codegen.Plan.parse(str(plan)) == plan
    with pytest.raises(KeyError, match="no plan for region 7"):
        plan[7]
    for bad in ("tile i:4\n", "region 1\nregion 1\n", "region 1 tile i:4 region 2 tile j:4\n"):
        with pytest.raises(codegen.InputError):
            codegen.Plan.parse(bad)


def test_plans_by_hand(tmp_path: Path) -> None:
    plan = codegen.Plan.of({1: ["tile i:8, j:16", "parallel it", "vector j"]})
    made = plan.apply(NEST, define={"F": "3.0"})
    assert "tiles i:8 j:16" in made.regions[0].summary and made.plan[1].digest
    other = made.plan.with_directives(1, ["parallel i"])
    other.save(tmp_path / "p.plan")
    assert codegen.Plan.load(tmp_path / "p.plan") == other
    assert "tiles" not in codegen.generate(NEST, define={"F": "3.0"}, plan=tmp_path / "p.plan").regions[0].summary
    with pytest.raises(codegen.InputError, match=r"<plan>:2:3: unknown directive 'tilt'"):
        codegen.Plan.of({1: ["tilt i:8"]}).apply(NEST, define={"F": "3.0"})
    with pytest.raises(codegen.InputError, match="stale-plan"):
        made.plan.apply(NEST, define={"F": "4.0"})


def test_check() -> None:
    report = codegen.check(NEST, define={"F": "2.0"})
    assert report.ok and "region 1" in report.lines[0]


def test_what_a_notebook_shows() -> None:
    made = codegen.generate(NEST, define={"F": "(1 < 2 ? 2.0 : '<')"})
    left = codegen.generate(REFUSED)
    for html in (made._repr_html_(), left._repr_html_(), made.plan._repr_html_()):
        reader = Reader()
        reader.feed(html)
        reader.close()
        assert not reader.open and "script" not in html and "http" not in html
    assert "data-dependent-subscript" in left._repr_html_() and 'class="tw-k">for<' in made._repr_html_()
    frame = left.report()._repr_html_()
    assert frame.startswith("<iframe srcdoc=") and 'sandbox="allow-scripts"' in frame and frame.count('"') == 8


def test_highlighting_keeps_every_character() -> None:
    for name in ("tests/golden/gemm.out.c", "examples/sparse-matrix/sparse-matrix.c"):
        text = (ROOT / name).read_text(encoding="utf-8") + "'\"/* open"
        pieces = list(highlight(text))
        assert "".join(p for _, p in pieces) == text
        assert {k for k, _ in pieces} >= {"", "c", "k", "n"}
