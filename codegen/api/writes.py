"""Which array parameters a C function may write to, found in its syntax tree."""
from __future__ import annotations

from pycparser import c_ast


def written(body: c_ast.Node) -> frozenset[str]:
    """Names through which something is stored, or that go where that cannot be seen: into another pointer, a call."""
    found: set[str] = set()
    _look(body, found)
    return frozenset(found)


def _look(node: c_ast.Node, found: set[str]) -> None:
    """Reads of elements (`a[i]`, `*a`) leave no trace; every other mention of a name does."""
    if isinstance(node, c_ast.Assignment):
        _stored(node.lvalue, found)
        _look(node.rvalue, found)
    elif isinstance(node, c_ast.UnaryOp) and node.op in ("++", "--", "p++", "p--", "&"):
        _stored(node.expr, found)
    elif isinstance(node, c_ast.ArrayRef):
        _element(node, found)
    elif isinstance(node, c_ast.UnaryOp) and (node.op == "sizeof" or _plain_read(node)):
        pass
    elif isinstance(node, c_ast.ID):
        found.add(node.name)
    elif isinstance(node, c_ast.StructRef):
        _look(node.name, found)
    else:
        for _, child in node.children():
            _look(child, found)


def _plain_read(node: c_ast.UnaryOp) -> bool:
    return node.op == "*" and isinstance(node.expr, c_ast.ID)


def _element(node: c_ast.Node, found: set[str]) -> None:
    while isinstance(node, c_ast.ArrayRef):
        _look(node.subscript, found)
        node = node.name
    if not isinstance(node, c_ast.ID):
        _look(node, found)


def _stored(node: c_ast.Node, found: set[str]) -> None:
    """Every name on the way to the place that is stored to."""
    if isinstance(node, c_ast.ID):
        found.add(node.name)
    elif isinstance(node, c_ast.ArrayRef):
        _look(node.subscript, found)
        _stored(node.name, found)
    elif isinstance(node, c_ast.StructRef):
        _stored(node.name, found)
    else:
        for _, child in node.children():
            _stored(child, found)
