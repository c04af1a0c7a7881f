"""Loops in blocks, what lies beyond them, and the products that makes of factorizations."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl
import pytest

from codegen.diagnostics import InputError
from codegen.machine import load
from codegen.options import GenOptions
from codegen.pipeline import Generated, generate
from codegen.plan.model import StripMine
from codegen.plan.text import show
from codegen.plan_reader.parse import parse
from codegen.region_model import model_region
from codegen.scop.dependences import domain
from codegen.scop.tree import Band, Leaf, Node, Seq
from codegen.source_file import open_source
from codegen.strategy.orders.isl_schedule import isl_schedule
from codegen.strategy.orders.reshape import innermost_unit_stride, separate
from codegen.strategy.orders.row_loops import rows_innermost
from codegen.strategy.products.selection import in_panels
from codegen.transform.apply import apply
from codegen.transform.program import Program, violation

PARAMS = "int n, int m, double A[n][n], double B[n][m], double L[n][n], double v[n]"
LU = """
for (int i = 0; i < n; i++) {
  for (int j = 0; j < i; j++) {
    for (int k = 0; k < j; k++)
      A[i][j] -= A[i][k] * A[k][j];
    A[i][j] /= A[j][j];
  }
  for (int j = i; j < n; j++)
    for (int k = 0; k < i; k++)
      A[i][j] -= A[i][k] * A[k][j];
}"""
RIGHT_LOOKING = """
for (int k = 0; k < n; k++)
  for (int i = k + 1; i < n; i++) {
    A[i][k] /= A[k][k];
    for (int j = k + 1; j < n; j++)
      A[i][j] -= A[i][k] * A[k][j];
  }"""
LOWER = """
for (int i = 0; i < n; i++)
  for (int j = 0; j < m; j++) {
    for (int k = 0; k < i; k++)
      B[i][j] -= L[i][k] * B[k][j];
    B[i][j] /= L[i][i];
  }"""
SOLVE = """
for (int i = 0; i < n; i++) {
  for (int j = 0; j < i; j++)
    v[i] -= L[i][j] * v[j];
  v[i] /= L[i][i];
}"""
# k runs from the diagonal outwards while rows are finished from the last one on: blocks would add in another order.
UPPER = """
for (int i = n - 1; i >= 0; i--)
  for (int j = 0; j < m; j++) {
    for (int k = i + 1; k < n; k++)
      B[i][j] -= L[i][k] * B[k][j];
    B[i][j] /= L[i][i];
  }"""
# The first statement looks at what lies beyond the block while the block runs.
WATCHED = """
for (int k = 0; k < n; k++) {
  v[k] = A[n - 1][n - 1];
  for (int i = k + 1; i < n; i++) {
    A[i][k] /= A[k][k];
    for (int j = k + 1; j < n; j++)
      A[i][j] -= A[i][k] * A[k][j];
  }
}"""


def source(body: str) -> str:
    return f"void f({PARAMS})\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"


def program(body: str) -> Program:
    model = model_region(open_source("in.c", source(body), GenOptions()).slices[0], GenOptions())
    assert model is not None
    return model.program


def planned(body: str, *lines: str) -> Generated:
    text = "region 1\n" + "".join(f"  {line}\n" for line in lines)
    return generate("in.c", source(body), GenOptions(plan_text=text, plan_name="p.plan"))


def block(p: Program, text: str) -> StripMine:
    (plan,) = parse(f"region 1\n  {text}\n", "p.plan", {1: p.scop})
    (d,) = plan.directives
    assert isinstance(d, StripMine)
    return d


def spelled(node: Node) -> str:
    if isinstance(node, Leaf):
        return node.stmt
    if isinstance(node, Seq):
        return "; ".join(map(spelled, node.children))
    assert isinstance(node, Band)
    return f"{', '.join(lp.name for lp in node.loops)}({spelled(node.child)})"


def test_instances_get_new_names_one_by_one() -> None:
    p = program(RIGHT_LOOKING)
    d = block(p, "block kb = {S1: k; S2: k} by 4 split {S1: i; S2: i, j}")
    q = apply(p, d)
    # S1 inside and beyond; S2 inside, columns beyond, rows beyond, both: nothing lies before its block.
    assert [s.name for s in q.scop.statements] == ["S1", "S2", "S3", "S4", "S5", "S6"]
    assert all(s.iterators[-1] == "kb" for s in q.scop.statements)
    where = {"n": 10, "m": 1}

    def count(x: Program) -> int:
        fixed = domain(x.scop)
        for name, value in where.items():
            fixed = fixed.intersect_params(
                isl.Set.read_from_str(isl.DEFAULT_CONTEXT, f"[{name}] -> {{ : {name} = {value} }}")
            )
        found: list[isl.Set] = []
        fixed.foreach_set(found.append)
        return sum(int(s.count_val().to_str()) for s in found)

    assert count(p) == count(q) > 0
    assert not violation(q)
    assert len(q.deps.all) == len(p.deps.all)
    assert spelled(q.tree) == "k(i(S1; S3; j(S2; S4; S5; S6)))"


def test_text_of_a_block_can_be_read_back() -> None:
    p = program(LU)
    text = "block kb = {S1: k; S2: j; S3: k} by 64 split {S1: i, j; S2: i; S3: i, j}"
    (plan,) = parse(f"region 1\n  {text}\n", "p.plan", {1: p.scop})
    assert show((plan,), {1: p.scop}).splitlines()[1] == f"  {text}"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("block kb = {S1: k; S7: k} by 4", "no statement S7"),
        ("block kb = {S1: q} by 4", "not an affine value of S1"),
        ("block kb = {S1: k} by 0", "at least one iteration"),
        ("block kb = {S1: k} by -1", "a size cannot be negative"),
    ],
)
def test_blocks_that_make_no_sense_are_refused(line: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        planned(RIGHT_LOOKING, line)


@pytest.mark.parametrize(
    ("body", "tree", "products"),
    [
        (
            LU,
            "kb(k(i(S2); i, j(S1); i, j(S3)); i, k(S6; j(S4)); jb(k(i, j(S7))); i, k, j(S5); i, k, j(S8))",
            ["S5", "S8"],
        ),
        (RIGHT_LOOKING, "kb(k(i(S1); i, j(S2)); i, k(S3; j(S5)); jb(k(i, j(S4))); i, k, j(S6))", ["S6"]),
        (LOWER, "kb(jb(k(j(S2); i, j(S1))); i, k, j(S3))", ["S3"]),
    ],
)
def test_what_a_block_leaves_is_a_product(body: str, tree: str, products: list[str]) -> None:
    found = in_panels(program(body), load("neoverse-n1"), "smart")
    assert found is not None
    q, blocks, what = found
    assert blocks[0].size == 64
    assert spelled(q.tree) == tree
    assert [d.stmt for d in what.directives] == products
    assert not violation(q)


@pytest.mark.parametrize("body", [UPPER, WATCHED])
def test_what_the_block_needs_itself_is_not(body: str) -> None:
    assert in_panels(program(body), load("neoverse-n1"), "smart") is None


@pytest.mark.parametrize(
    ("cores", "tree", "sizes"),
    [
        (1, "ib(i, j(S3); j(S2; i(S1)))", [40]),
        (2, "ib(i, j(S3); ic(i, j(S4); j(S2; i(S1))))", [120, 40]),
        (16, "ib(i, j(S3); ic(i, j(S4); j(S2; i(S1))))", [200, 40]),
    ],
)
def test_rows_of_wide_blocks_are_for_threads_and_the_triangle_is_cut_again(
    cores: int, tree: str, sizes: list[int]
) -> None:
    made = in_panels(program(SOLVE), replace(load("generic"), cores=cores), "smart")
    assert made is not None
    q, blocks, found = made
    assert spelled(found.tree) == tree
    assert [d.size for d in blocks if isinstance(d, StripMine)] == sizes
    assert not violation(q)


def test_a_product_of_something_still_to_be_written_is_refused() -> None:
    how = "isa generic bits 128 tile 4 by 3 vectors, block 128 by 384 by 1536, direct 2500 threads 80000"
    plan = [
        "block kb = {S1: k; S2: k} by 8 split {S1: i; S2: j}",
        "schedule { loop kb { loop k { loop i { S1 S3 } loop i, j { S2 } } loop i, k, j { S4 } } }",
        f"product S4 rows i columns j depth k {how}",
    ]
    with pytest.raises(InputError, match=r"S4 .* would read `A` before it has written it"):
        planned(RIGHT_LOOKING, *plan)
    plan[0] = "block kb = {S1: k; S2: k} by 8 split {S1: i; S2: i, j}"
    plan[1] = (
        "schedule { loop kb { loop k { loop i { S1 } loop i, j { S2 } loop i { S3 } loop i, j { S5 } loop i, j { S4 } }"
        " loop i, k, j { S6 } } }"
    )
    plan[2] = plan[2].replace("S4", "S6")
    assert "A product of rows i and columns j over k" in planned(RIGHT_LOOKING, *plan).text


def test_loops_along_lines_go_inside() -> None:
    """All columns are independent, so the scheduler puts them outside; rows inside would jump from line to line."""
    jordan = """
for (int k = 0; k < n; k++) {
  for (int j = 0; j < m; j++)
    B[k][j] /= L[k][k];
  for (int i = 0; i < n; i++)
    if (i != k)
      for (int j = 0; j < m; j++)
        B[i][j] -= L[i][k] * B[k][j];
}"""
    p = program(jordan)
    p = innermost_unit_stride(separate(p.with_tree(isl_schedule(p.scop, p.deps, p.tree, "smart"))))
    assert spelled(p.tree) == "j, k(S1; i(S2))"
    q = rows_innermost(p)
    assert spelled(q.tree) == "k(j(S1); i, j(S2))"
    assert not violation(q)
    assert rows_innermost(q) == q
