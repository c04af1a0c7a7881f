"""Chooses short names for the bound expressions of a printed product, which keep its polynomials small, and puts them
in place of these. Raises Unread where a size is not the distance of its bounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from codegen.verify.text.facts import Facts
from codegen.verify.text.integers import Integers
from codegen.verify.text.read import Node, Unread, nodes, read_expression

BOUND = "tw_bound"  # what the names begin with


def bounds(block: Node, ranges: Iterable[tuple[str, str, str]], numbers: bool) -> dict[Node, Node]:
    """Names for bounds that are expressions: how they come about matters to no loop. Sizes are told by them. A range is
    its first value, the one past its last, and its size. With `numbers`, large numbers get names, too, and numbers one
    less are told by them, so that a text is that for variables in their place."""
    local = {n.text for n in nodes(block) if n.kind == "declare"}
    short: dict[Node, Node] = {}
    for first, past, size in ranges:
        pair = [read_expression(first), read_expression(past)]
        for e in pair:
            plain = e.kind == "name" or (e.kind == "number" and not (numbers and len(e.text) > 1))
            if not plain and local.isdisjoint(n.text for n in nodes(e)):
                name = short.setdefault(e, Node("name", f"{BOUND}{len(short)}"))
                if e.kind == "number":
                    short.setdefault(e._replace(text=f"{e.text}L"), name)
        whole = read_expression(size)
        if not any(_apart(whole, pair[0], pair[1], names) for names in (dict[Node, Node](), short)):
            raise Unread(f"{size} is not from {first} to {past}")
        if all(e.kind in ("name", "number") for e in pair) and _apart(whole, pair[0], pair[1], short):
            continue  # names in place of numbers alone: a text as for sizes that are variables
        if pair[0] in short or pair[1] in short:
            low, high = (short.get(e, e) for e in pair)
            short.setdefault(whole, high if low == Node("number", "0") else Node("binary", "-", (high, low)))
    for e, name in [(e, name) for e, name in short.items() if e.kind == "number" and e.text.isdigit()]:
        last = Node("binary", "-", (Node("cast", "long", (name,)), Node("number", "1")))
        short.setdefault(Node("number", f"{int(e.text) - 1}L"), last)
    return short


def _apart(size: Node, first: Node, past: Node, short: Mapping[Node, Node]) -> bool:
    """Are the bounds so far apart, with names for some expressions?"""
    ints = Integers(Facts(), {})
    try:
        low, high, count = (ints.value(renamed(e, short)) for e in (first, past, size))
    except Unread:
        return False
    return count == high - low


def renamed(node: Node, short: Mapping[Node, Node]) -> Node:
    """With names in place of expressions. Numbers that are chosen for the processor stay."""
    if node in short:
        return short[node]
    if node.kind == "call" and node.text == "TW_SIZE":
        return node
    kids = tuple(renamed(k, short) for k in node.kids)
    return node if kids == node.kids else node._replace(kids=kids)
