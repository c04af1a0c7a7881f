"""Storage of variables of the region: one object has one place, for all of its life."""
from __future__ import annotations

from dataclasses import replace

import islpy as isl
import pytest

from codegen.ast.ctree import Block, CNode, Declare, For
from codegen.machine import load
from codegen.options import GenOptions
from codegen.region import make
from codegen.region_model import model_region
from codegen.source_file import open_source
from codegen.verify.proofs import prove
from codegen.verify.storage import _apart

SOURCE = """void f(int n, const {0} *a, const {0} *b, {0} *c)
{{
#pragma scop
  for (int i = 0; i < n; i++) {{
    {0} t = a[i];
    t += b[i];
    c[i] = t;
  }}
#pragma endscop
}}
"""


def in_parts(node: CNode, cut: int) -> CNode:
    """The declaration around a block repeated around its two halves."""
    if isinstance(node, For):
        return replace(node, body=in_parts(node.body, cut))
    assert isinstance(node, Declare) and isinstance(node.body, Block)
    parts = node.body.children
    return Block((Declare(node.slots, Block(parts[:cut])), Declare(node.slots, Block(parts[cut:]))))


@pytest.mark.parametrize("cut", [1, 2])
@pytest.mark.parametrize("elem", ["unsigned", "double"])  # additions to the first may be reordered
def test_parts_of_one_life_share_one_place(elem: str, cut: int) -> None:
    options = GenOptions()
    model = model_region(open_source("t.c", SOURCE.format(elem), options).slices[0], options)
    assert model is not None
    assert ("t" in model.program.deps.folds) == (elem == "unsigned")
    made = make(model, options, load("generic"))
    scop, deps = model.program.scop, model.program.deps
    assert prove(scop, deps, made.code) == ()
    assert {f.check for f in prove(scop, deps, in_parts(made.code, cut))} == {"storage"}


@pytest.mark.parametrize(("longer", "apart"), [("[2, 1, j]", False), ("[4, 1, j]", True)])
def test_iterations_around_others_keep_no_cells_apart(longer: str, apart: bool) -> None:
    """A place that an iteration of the outer loop uses is not free for those of a loop in it."""
    outer, inner = isl.Set("[n] -> { [i] : 0 <= i <= 3 }"), isl.Set(f"[n] -> {{ {longer} : 0 <= j < n }}")
    assert _apart({1: outer, 3: inner}) == apart


def test_one_place_for_the_objects_of_an_inner_loop() -> None:
    """`t` has one place in all of `j`'s iterations; with the sum behind the loop it would be gone."""
    text = """void f(int n, const double a[n][n], double c[n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double t = a[i][j] * 2;
      c[i] += t;
    }
#pragma endscop
}
"""
    options = GenOptions()
    model = model_region(open_source("t.c", text, options).slices[0], options)
    assert model is not None
    made = make(model, options, load("generic"))
    scop, deps = model.program.scop, model.program.deps
    assert prove(scop, deps, made.code) == ()
    apart = _cut_last(made.code)
    assert apart != made.code
    assert {f.check for f in prove(scop, deps, apart)} >= {"storage"}


def _cut_last(node: CNode) -> CNode:
    """The innermost loop cut in two, the second with the last statement, inside of one declaration."""
    if isinstance(node, For) and isinstance(node.body, Declare) and isinstance(node.body.body, Block):
        slots, parts = node.body.slots, node.body.body.children
        return Declare(slots, Block(tuple(replace(node, body=p) for p in parts)))
    return replace(node, body=_cut_last(node.body)) if isinstance(node, (For, Declare)) else node
