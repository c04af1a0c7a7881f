"""Writes copies of neighbours in memory out as loops: `__builtin_memcpy(tw_to, &element, n * sizeof *tw_to)`, where the
elements of the array and of the buffer have one type, is n stores of n elements whose last subscripts follow each
other. Other copies stay as they are, and nobody reads them."""

from __future__ import annotations

from collections.abc import Set

from codegen.verify.text.blocked.claim import Claim
from codegen.verify.text.blocked.state import NOUGHT
from codegen.verify.text.read import Node, nodes

_TO, _LANE = Node("name", "tw_to"), Node("name", "tw_l")  # what is declared as the first points to packed elements
_EACH = Node("sizeof", "", (Node("unary", "*", (_TO,)),))
_FIRST = Node("declare", _LANE.text, (Node("type", "long"), Node("sizes"), NOUGHT))


def copies_as_loops(block: Node, c: Claim) -> Node:
    """A product's text with loops in place of copies from the arrays of its operands."""
    operands = ((side.values, c.elements[side.area]) for side in (c.left, c.right))
    return _written(block, {_root(v) for values, kind in operands if kind == c.packed for v in values})


def _root(e: Node) -> Node:
    """The array of an element."""
    while e.kind == "index":
        e = e.kids[0]
    return e


def _written(node: Node, arrays: Set[Node]) -> Node:
    loop = _loop(node.kids[0], arrays) if node.kind == "do" and node.kids[0].text == "__builtin_memcpy" else None
    if loop is not None:
        return loop
    kids = tuple(_written(k, arrays) for k in node.kids)
    return node if kids == node.kids else node._replace(kids=kids)


def _loop(call: Node, arrays: Set[Node]) -> Node | None:
    if call.kind != "call" or len(call.kids) != 3 or _LANE in nodes(call):
        return None
    to, source, size = call.kids
    count, each = size.kids if size[:2] == ("binary", "*") else (NOUGHT, NOUGHT)
    if to != _TO or each != _EACH or count.kind != "number" or not count.text.isdigit():
        return None
    if source[:2] != ("unary", "&") or source.kids[0].kind != "index" or _root(source.kids[0]) not in arrays:
        return None
    array, last = source.kids[0].kids
    value = Node("index", "", (array, Node("binary", "+", (last, _LANE))))
    store = Node("do", "", (Node("assign", "=", (Node("index", "", (to, _LANE)), value)),))
    return Node("for", "", (_FIRST, Node("binary", "<", (_LANE, count)), Node("after", "++", (_LANE,)), store))
