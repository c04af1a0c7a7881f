"""Compares printed C with a wanted expression, up to the names at its place in the text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codegen.verify.poly import ONE, ZERO, Poly
from codegen.verify.text.facts import Facts
from codegen.verify.text.integers import Integers
from codegen.verify.text.read import Node, Unread, nodes

Names = dict[str, Any]
ROW, COLUMN, DEPTH = "tw_I", "tw_J", "tw_K"  # coordinates in what is wanted


def same(printed: Node, wanted: Node, at: Mapping[str, Poly], names: Mapping[str, Any], facts: Facts) -> bool:
    """The same expression, with subscripts compared as polynomials. `at` are the values of coordinates in the wanted
    one, `names` what the text's own variables are."""
    if wanted.kind == "name" and wanted.text in at:
        return _same_number(printed, wanted, at, names, facts)
    if wanted.kind == "name" and wanted.text in names:
        return False  # a local of the generated code hides what is meant
    if wanted.kind == "index":
        bases = printed.kind == "index" and same(printed.kids[0], wanted.kids[0], at, names, facts)
        return bases and _same_number(printed.kids[1], wanted.kids[1], at, names, facts)
    alike = printed[:2] == wanted[:2] and len(printed.kids) == len(wanted.kids)
    if alike and all(same(p, w, at, names, facts) for p, w in zip(printed.kids, wanted.kids, strict=True)):
        return True
    # The value of an iterator may be a sum of several names.
    mentions = any(n.kind == "name" and n.text in at for n in nodes(wanted))
    plain = not any(n.kind in ("index", "call", "member") for n in nodes(wanted))
    return mentions and plain and _same_number(printed, wanted, at, names, facts)


def _same_number(printed: Node, wanted: Node, at: Mapping[str, Poly], names: Mapping[str, Any], facts: Facts) -> bool:
    if any(n.kind == "name" and n.text in names and n.text not in at for n in nodes(wanted)):
        return False
    try:
        mine = Integers(facts, names).value(printed)
        theirs = Integers(facts, dict(at)).value(wanted)
    except Unread:
        return printed == wanted
    return facts.expand(mine - theirs) == ZERO


def distances(element: Node, coordinate: str, facts: Facts) -> list[Poly]:
    """By how much each subscript of an element moves from one value of a coordinate to the next, the last one first.
    Raises Unread where that differs from place to place, or the element has no subscripts."""
    found, x, e = [], facts.fresh(coordinate), element
    while e.kind == "index":
        here, next_ = (Integers(facts, {coordinate: v}).value(e.kids[1]) for v in (x, x + 1))
        found.append(next_ - here)
        if facts.mentions(found[-1], (str(x), ROW, COLUMN, DEPTH)):
            raise Unread("elements lie at no fixed distance")
        e = e.kids[0]
    if not found or any(n.text == coordinate for n in nodes(e)):
        raise Unread("an element that coordinates do not choose")
    return found


def neighbours(element: Node, coordinate: str, facts: Facts) -> bool:
    """Do elements lie side by side along a coordinate?"""
    last, *others = distances(element, coordinate, facts)
    return last == ONE and all(x == ZERO for x in others)


def where_several(node: Node, count: Node) -> Node:
    """An expression where a number of lines is more than one."""
    if node == Node("cast", "long", (Node("binary", ">", (count, Node("number", "1"))),)):
        return Node("number", "1")
    return node._replace(kids=tuple(where_several(x, count) for x in node.kids))
