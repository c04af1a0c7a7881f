"""Hoists loop-invariant conditional subscripts (`a[c ? i : j]`): returns the loop with a name for each, which is
evaluated once, ahead of the loop (`For.lets`).

Compilers do not take a choice out of a loop that is to become vectors, and then find no vectors: extend_model, whose
rows are clipped to those of a smaller grid, takes 2.2 of the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from codegen.ast.ctree import (
    CExpr,
    CNode,
    Cond,
    For,
    Instance,
    Name,
    ProductNode,
    expr_kids,
    expr_names,
    node_kids,
    with_kids,
)


def with_lets(node: For) -> For:
    """A loop with names for such subscripts."""
    rows = dict.fromkeys(_found(node.body, frozenset({node.var})))
    names = {e: Name(f"{node.var}.at{k}") for k, e in enumerate(rows)}
    if not names:
        return node
    return replace(node, body=_named(node.body, names), lets=tuple((x.name, e) for e, x in names.items()))


def _found(node: CNode, own: frozenset[str]) -> Iterator[CExpr]:
    if isinstance(node, Instance):
        for e in (e for a in node.accesses for e in a):
            if _chooses(e) and not expr_names(e) & own:
                yield e
    elif not isinstance(node, For):  # the loops inside are asked by themselves
        for k in node_kids(node):
            yield from _found(k, own)


def _chooses(e: CExpr) -> bool:
    return isinstance(e, Cond) or any(map(_chooses, expr_kids(e)))


def _named(node: CNode, names: dict[CExpr, Name]) -> CNode:
    """The tree with names in place of subscripts."""
    if isinstance(node, Instance):
        return _instance(node, names)
    return node if isinstance(node, ProductNode) else with_kids(node, lambda x: _named(x, names))


def _instance(at: Instance, names: dict[CExpr, Name]) -> Instance:
    return replace(at, accesses=tuple(tuple(names.get(e, e) for e in a) for a in at.accesses))
