"""Subscripts with a choice in them that stay the same in all iterations of a loop: evaluated once, ahead of it.

Compilers do not take a choice out of a loop that is to become vectors, and then find no vectors: extend_model, whose
rows are clipped to those of a smaller grid, takes 2.2 of the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from codegen.ast.ctree import (
    Block,
    CExpr,
    CNode,
    Cond,
    Declare,
    For,
    If,
    Instance,
    Name,
    expr_kids,
    expr_names,
    node_kids,
)


def chosen_rows(node: For) -> tuple[CExpr, ...]:
    """Such subscripts of an innermost loop, each once."""
    return tuple(dict.fromkeys(_found(node.body, frozenset({node.var}))))


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


def with_names(node: CNode, names: dict[CExpr, Name]) -> CNode:
    """The tree with names in place of subscripts."""
    if isinstance(node, Instance):
        return _instance(node, names)
    if isinstance(node, Block):
        return Block(tuple(with_names(c, names) for c in node.children))
    if isinstance(node, If):
        orelse = None if node.orelse is None else with_names(node.orelse, names)
        return If(node.cond, with_names(node.then, names), orelse)
    if isinstance(node, For):
        ahead = tuple(replace(x, at=_instance(x.at, names)) for x in node.ahead)
        return replace(node, body=with_names(node.body, names), ahead=ahead)
    return replace(node, body=with_names(node.body, names)) if isinstance(node, Declare) else node


def _instance(at: Instance, names: dict[CExpr, Name]) -> Instance:
    return replace(at, accesses=tuple(tuple(names.get(e, e) for e in a) for a in at.accesses))
