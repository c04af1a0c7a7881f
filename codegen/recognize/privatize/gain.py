"""Whether privatizing variables pays: it does where a loop then carries no dependence any more."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from codegen.scop.dependences import Dependences
from codegen.scop.isl_helpers import maps_of
from codegen.scop.tree import Node, enclosing, statements


def gains(tree: Node, old: Dependences, order: Node, new: Dependences, user: str, depth: int) -> bool:
    """Does one of the first `depth` loops around a statement carry nothing any more? `tree` and `old` are the region as
    it was, `order` and `new` as it would be."""
    return any(
        _carries(old, _below(tree, user, k), k) and not _carries(new, _below(order, user, k), k) for k in range(depth)
    )


def _below(tree: Node, user: str, depth: int) -> list[str]:
    """The statements in the loop at this depth around one of them."""
    loop = enclosing(tree, user)[depth]
    return [n for n in statements(tree) if loop in enclosing(tree, n)]


def _carries(deps: Dependences, names: Sequence[str], depth: int) -> bool:
    for m in maps_of(deps.must):
        if m.get_tuple_name(isl.dim_type.in_) in names and m.get_tuple_name(isl.dim_type.out) in names:
            for k in range(depth):
                m = m.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
            if not m.is_subset(m.equate(isl.dim_type.in_, depth, isl.dim_type.out, depth)):
                return True
    return False
