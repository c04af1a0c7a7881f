"""The lowering pass over a C tree: gives each loop the form that its plan asks for, if it has one (unroll-and-jam,
interleaving, vectors, vector reductions, vectors of an outer loop, scalar replacement); of other loops it moves
invariant loads, conditions and subscripts ahead.

A pure pass over the tree, ahead of the proofs: it writes forms (`ast/lowered.py`) into loops and changes nothing else.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from codegen.ast.ctree import CNode, For, ProductNode, with_kids, with_loop
from codegen.ast.lowered import Form
from codegen.lower.conditions import asked_ahead
from codegen.lower.counters import int_counter
from codegen.lower.invariant_loads import read_ahead
from codegen.lower.lanes import in_lanes
from codegen.lower.matrix_vector import opened
from codegen.lower.outer_vectors import outer_lanes
from codegen.lower.reductions import reduction_strips
from codegen.lower.shift import runs_for_sure
from codegen.lower.subscripts import with_lets
from codegen.lower.unroll_and_jam import interleaved, jammed
from codegen.scop.model import Scop
from codegen.scop.product import MatrixVector
from codegen.scop.tree import THREADED, VECTOR

if TYPE_CHECKING:
    from codegen.lower.nest.kernel import NestKernel


def lowered(scop: Scop, node: CNode, wider: bool = False) -> CNode:
    """The tree whose loops have the forms that they ask for. With `wider`, vectors may be longer than they ask for:
    the compiler's macros choose."""
    if isinstance(node, For):
        return _loop(scop, node, wider)
    if isinstance(node, ProductNode):
        product = opened(node.product) if wider else node.product
        return replace(node, product=product, body=lowered(scop, node.body, wider), exact=_kernels(scop, node))
    return with_kids(node, partial(lowered, scop, wider=wider))


def _kernels(scop: Scop, node: ProductNode) -> tuple[NestKernel, ...]:
    """Kernels for certain sizes, with what stays in registers."""
    if isinstance(node.product.how, MatrixVector) or not node.product.how.exact:
        return ()
    from codegen.lower.nest.exact import exact_kernels  # only then: start-up time counts in a build

    return exact_kernels(scop, node.product)


def _loop(scop: Scop, node: For, wider: bool) -> For:
    rows = jammed(scop, node, wider)
    if rows is not None:
        return replace(node, form=rows)
    form: Form | None = interleaved(scop, node) or in_lanes(scop, node, wider)
    if form is None and not node.carried:
        form = reduction_strips(scop, node, wider) or outer_lanes(scop, node, wider)
    if form is not None:
        return replace(node, form=form)
    if not node.carried:
        node = with_lets(node)
    inside = lowered(scop, node.body, wider)
    asked = asked_ahead(scop, node)
    ahead = read_ahead(scop, node, len(asked))
    alone = in_lanes(scop, with_loop(node, kind=VECTOR), wider) if node.loop.kind in THREADED else None
    sure = bool(ahead or node.carried or asked) and runs_for_sure(node)
    made = replace(node, body=inside, form=None, alone=alone, ahead=ahead, sure=sure, asked=asked)
    made = replace(made, narrow=int_counter(scop, made))
    if not node.carried:
        return made
    from codegen.lower.scalar_replacement import scalar_replacement

    return replace(made, form=scalar_replacement(scop, node, ahead))
