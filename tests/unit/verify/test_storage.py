"""Storage of variables that the region folds into: one object has one place, for all of its life."""
from __future__ import annotations

from dataclasses import replace

import pytest

from codegen.ast.ctree import Block, CNode, Declare, For
from codegen.machine import load
from codegen.options import GenOptions
from codegen.region import make
from codegen.region_model import model_region
from codegen.source_file import open_source
from codegen.verify.proofs import prove

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
