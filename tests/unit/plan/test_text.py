"""Plans as text: what is printed can be read back, and replaying it gives the same code."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from codegen.diagnostics import Loc
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.plan.model import (
    Balance,
    Diamond,
    Distribute,
    Forward,
    Interleave,
    Jam,
    LoopRef,
    Multiply,
    Order,
    Parallel,
    Pipeline,
    Plan,
    Reverse,
    ScalarReplace,
    Schedule,
    Skew,
    StoreIn,
    Tile,
    Unroll,
    Unskew,
    Vector,
)
from codegen.plan.text import show, show_directive
from codegen.plan_reader.parse import parse, planned_regions
from codegen.region_model import model_region
from codegen.scop.model import Scop
from codegen.scop.product import Blocking
from codegen.source.write import read_source
from codegen.source_file import open_source

SRC = Path(__file__).parents[2] / "golden" / "src"
NAMES = sorted(p.stem for p in SRC.glob("*.c") if p.stem != "refused")


# Known to fail for skewed and reversed loops: read from a plan, they lose the comment that says so.
@pytest.mark.parametrize("name", NAMES)
def test_replay(name: str) -> None:
    text = read_source(str(SRC / f"{name}.c"))
    made = generate(f"{name}.c", text, GenOptions(banner=False))
    again = generate(f"{name}.c", text, GenOptions(banner=False, plan_text=made.plan, plan_name="p.plan"))
    assert again.text == made.text
    assert again.plan == made.plan


@pytest.mark.parametrize("digest", ["0123456789ab", "abcdef012345", "1e5e5e5e5e5e", "000000000000"])
def test_digests_of_any_form_are_read(digest: str) -> None:
    """A digest is hexadecimal: it may begin with a digit and hold letters."""
    (plan,) = parse(f"region 1 digest {digest}\n  parallel i\n", "p", {1: scop()})
    assert plan.digest == digest
    assert [type(d) for d in plan.directives] == [Parallel]


def scop() -> Scop:
    text = (
        "void f(int n, double A[n][n])\n{\n#pragma scop\n    for (int i = 0; i < n; i++)\n"
        "        for (int j = 0; j < n; j++) {\n            double t = A[i][j];\n            A[i][j] = t + 1.0;\n"
        "        }\n#pragma endscop\n}\n"
    )
    model = model_region(open_source("in.c", text, GenOptions()).slices[0], GenOptions())
    assert model is not None
    return model.program.scop


i, j, sj = LoopRef("i"), LoopRef("j"), LoopRef("j", "S2")


@pytest.mark.parametrize(
    "directive, text",
    [
        (Tile(((i, 32), (sj, 0))), "tile i:32, S2.j:0"),
        (Tile(((i, 8),), True), "tile i:8 full"),
        (Balance(i, 16), "balance i by 16"),
        (Diamond(i, sj, 32), "diamond i, S2.j by 32"),
        (Order((j, i)), "order j, i"),
        (Reverse(sj), "reverse S2.j"),
        (Skew(j, 2, i), "skew j by 2*i"),
        (Skew(j, -1, i), "skew j by -1*i"),
        (Distribute(j), "distribute j"),
        (Parallel(i), "parallel i"),
        (Vector(j), "vector j"),
        (Vector(sj, 32, 4), "vector S2.j by 4 of 32 bytes"),
        (Unroll(j, 4), "unroll j by 4"),
        (Jam(i, 4), "jam i by 4"),
        (Interleave(sj), "interleave S2.j"),
        (Pipeline(i, sj), "pipeline i along S2.j"),
        (ScalarReplace(sj), "scalar_replace S2.j"),
        (Unskew(sj, "k"), "unskew S2.j as k"),
        (StoreIn("t", i, (("j", "jt", 16),)), "store t in i [j - jt: 16]"),
        (StoreIn("t", j, ()), "store t in j"),
        (Forward("t"), "forward t"),
    ],
)
def test_directives(directive: object, text: str) -> None:
    assert show_directive(directive, None) == [text]  # type: ignore[arg-type]
    (plan,) = parse(f"region 1\n  {text}  # a comment\n", "p", {1: scop()})
    (read,) = plan.directives
    assert read.loc == Loc("p", 2, 3)
    assert show_directive(read, None) == [text]


def test_schedules() -> None:
    text = (
        "region 1  # f, line 3\n  schedule {\n    loop i = (2i), i_j = {S1: i + j; S2: 3 + i + j} {\n      S1\n"
        "      S2\n    }\n  }\n"
    )
    s = scop()
    (plan,) = parse(text, "p", {1: s})
    (d,) = plan.directives
    assert isinstance(d, Schedule)
    again = show((Plan(1, plan.directives),), {1: s})
    assert show(parse(again, "p", {1: s}), {1: s}) == again
    assert "loop i = (2i), i_j = {S1: i + j; S2: 3 + i + j}" in again


def test_other_regions_are_passed_over() -> None:
    text = "region 2\n  tile q:4\nregion 1\n  parallel i\n"
    assert [p.region for p in parse(text, "p", {1: scop()})] == [1]
    assert planned_regions(text, "p") == ((2, Loc("p", 1, 8)), (1, Loc("p", 3, 8)))


def test_variables_named_region_begin_no_block() -> None:
    text = "region 2\n  store region in q\n  parallel region\nregion 1\n  parallel i\n"
    assert [p.region for p in parse(text, "p", {1: scop()})] == [1]
    assert [number for number, _ in planned_regions(text, "p")] == [2, 1]


@pytest.mark.parametrize("spread", [False, True])
@pytest.mark.parametrize("rows, columns, depth", [(("i",), ("j",), ("k",)), (("a", "b"), ("c",), ("k", "l"))])
def test_products(rows: tuple[str, ...], columns: tuple[str, ...], depth: tuple[str, ...], spread: bool) -> None:
    d = Multiply("S1", rows, columns, depth, Blocking("neon", 128, 6, 4, 120, 256, 2048, 2500, 80000, spread))
    text = "\n".join(show_directive(d, None))
    (plan,) = parse(f"region 1\n  {text}\n", "p", {1: scop()})
    (read,) = plan.directives
    assert isinstance(read, Multiply) and read.loc == Loc("p", 2, 3)
    assert (read.stmt, read.rows, read.columns, read.depth, read.how) == (d.stmt, d.rows, d.columns, d.depth, d.how)
    assert "\n".join(show_directive(read, None)) == text


GATHERED = """void f(int n, double A[n][n], double B[n][n], double C[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double s = 0;
      for (int k = 0; k < n; k++)
        s += A[i][k] * B[k][j];
      C[i][j] = s;
    }
#pragma endscop
}
"""


@pytest.mark.parametrize("machine", ["generic", "neoverse-n1", "haswell", "neoverse-v1"])
def test_a_plan_with_a_forwarded_product_is_replayed(machine: str) -> None:
    """The schedule after `forward` speaks of the region without the copy."""
    options = GenOptions(banner=False, machine=machine)
    made = generate("f.c", GATHERED, options)
    assert "forward s\n" in made.plan and "product S2 rows i columns j depth k\n" in made.plan
    again = generate("f.c", GATHERED, replace(options, plan_text=made.plan, plan_name="p.plan"))
    assert again.text == made.text and again.plan == made.plan
