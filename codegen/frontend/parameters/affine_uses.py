"""`not_plain` returns those of some names (macros) that a region uses as stride, divisor or mask in a loop head,
condition or subscript, or in an array's declared size. The others stand in affine positions only, and may be
parameters."""

from __future__ import annotations

from collections.abc import Iterable

from pycparser import c_ast

_FACTORS = ("*", "/", "%", "<<", ">>", "&", "|", "^")


def not_plain(statements: Iterable[c_ast.Node], names: Iterable[str]) -> frozenset[str]:
    """Names whose values shape the region: as stride, divisor or mask of an index, or as an array's extent in it."""
    wanted = frozenset(names)
    return frozenset[str]().union(*(_shaping(s, wanted, False) for s in statements))


def _shaping(node: c_ast.Node | None, names: frozenset[str], index: bool) -> frozenset[str]:
    """`index`: what stands here must be affine."""
    if node is None:
        return frozenset()
    if isinstance(node, c_ast.ArrayDecl) or (index and _is_factor(node)):
        return _named(node, names)
    if isinstance(node, c_ast.For):
        heads = (_shaping(n, names, True) for n in (node.init, node.cond, node.next))
        return _shaping(node.stmt, names, False).union(*heads)
    if isinstance(node, c_ast.If):
        return _shaping(node.cond, names, True).union(*(_shaping(n, names, False) for n in (node.iftrue, node.iffalse)))
    if isinstance(node, c_ast.ArrayRef):
        return _shaping(node.name, names, index) | _shaping(node.subscript, names, True)
    return frozenset[str]().union(*(_shaping(child, names, index) for child in node))


def _is_factor(node: c_ast.Node) -> bool:
    """A product, unless with a constant, a quotient, or an operation on bits."""
    if isinstance(node, c_ast.BinaryOp) and node.op in _FACTORS:
        return not (node.op == "*" and any(isinstance(x, c_ast.Constant) for x in (node.left, node.right)))
    return isinstance(node, c_ast.UnaryOp) and node.op in ("~", "sizeof")


def _named(node: c_ast.Node, names: frozenset[str]) -> frozenset[str]:
    if isinstance(node, c_ast.ID):
        return names & {node.name}
    return frozenset[str]().union(*(_named(child, names) for child in node))
