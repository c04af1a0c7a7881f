"""Plain nests of products over triangles, bands and the like: bounds in place of tests, and the proof that they run
what the product itself does."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

import codegen
from codegen.ast.ctree import Bin, CNode, If, Instance, Int, Name, ProductNode, walk, with_kids
from codegen.ast.plain_nest import opened, plain_nest
from codegen.machine import load
from codegen.options import GenOptions
from codegen.region import ProvenRegion, make
from codegen.region_model import model_region
from codegen.source_file import open_source
from codegen.verify.proofs import prove

PRODUCT = """void f(int n, double A[n][n], double B[n][n], double C[n][n])
{{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = {j}; j++)
      for (int k = {k}; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}}
"""
TRIANGLE = PRODUCT.format(j="0; j <= i", k="0; k < n")
SHAPES = {
    TRIANGLE: ("i = 0; i < n", "k = 0; k < n", "j = 0; j < tw_min(n, i + 1)"),
    PRODUCT.format(j="0; j < n", k="i; k < n"): ("i = 0; i < n", "k = tw_max(0, i); k < n", "j = 0; j < n"),
    PRODUCT.format(j="0; j < n", k="0; k <= j"): ("i = 0; i < n", "k = 0; k < n", "j = tw_max(0, k); j < n"),
    PRODUCT.format(j="i; j < n", k="i; k <= j"): (
        *("i = 0; i < n", "k = tw_max(0, i); k < n", "j = tw_max3(0, k, i); j < n"),
    ),
}


@pytest.mark.parametrize("text", SHAPES)
def test_conditions_are_bounds(text: str) -> None:
    out = codegen.generate(text, name="in.c").text
    nest = out.partition("too small to be worth packing")[2].partition("}")[0]
    heads = re.findall(r"for \(tw_index (\w+ = [^;]*; [^;]*);", nest)
    assert tuple(heads) == SHAPES[text] and "if (" not in nest, nest


def result() -> ProvenRegion:
    options = GenOptions()
    model = model_region(open_source("in.c", TRIANGLE, options).slices[0], options)
    assert model is not None
    return make(model, options, load("neoverse-n1"))


def changed(tree: CNode, product: ProductNode, other: ProductNode) -> CNode:
    return other if tree is product else with_kids(tree, lambda x: changed(x, product, other))


def test_larger_steps_stay_tests() -> None:
    (product,) = (n for n in walk(result().code) if isinstance(n, ProductNode))
    loops, instance, _ = opened(product.body)
    rows, _, columns = (Name(lp.var) for lp in loops)
    odd = Bin("-", rows, Bin("*", Int(2), columns))
    body: CNode = If(Bin("&&", Bin(">=", odd, Int(0)), Bin(">=", Bin("-", rows, columns), Int(0))), instance)
    for lp in reversed(loops):
        body = replace(lp, body=body)
    made, stays, rest = opened(plain_nest(replace(product, body=body)))
    assert isinstance(stays, Instance) and rest == (odd,)
    assert made[2].upper != loops[2].upper and made[:2] == tuple(
        replace(lp, body=inner) for lp, inner in zip(loops, (made[1], made[2]), strict=False)
    )


def test_a_product_over_more_than_its_plain_nest_is_refused() -> None:
    made = result()
    p = made.program
    (product,) = (n for n in walk(made.code) if isinstance(n, ProductNode))
    assert prove(p.scop, p.deps, made.code) == ()
    loops, instance, _ = opened(product.body)
    box: CNode = instance
    for lp in reversed(loops):
        box = replace(lp, body=box)
    other = replace(product, body=box)
    other.__dict__["_plain"] = plain_nest(product)
    assert [f.check for f in prove(p.scop, p.deps, changed(made.code, product, other))] == ["operand"]
