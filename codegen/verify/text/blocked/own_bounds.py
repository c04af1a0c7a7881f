"""Gives each coordinate of a product bounds of its own, where one name bounds several (`with_own_bounds`): a product of
square matrices is one of any matrices, which is proven once.

Sure is: with the old name in place of the new ones, the new text and the new claim are the old ones. So what is proven
for all values of the new names holds where some of them are equal. Which coordinate a name bounds at some place is a
guess, from the names around it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from codegen.verify.text.blocked.claim import Claim
from codegen.verify.text.blocks import BOUND
from codegen.verify.text.read import Node, Unread, nodes

_SIZES = {"i": "tw_rows", "j": "tw_columns", "k": "tw_depth"}
_OTHERS = {"i": (), "j": ("tw_over",), "k": ("tw_ahead",)}  # names in texts that stand for a coordinate's values
_COORDINATES = ("i", "j", "k")


def with_own_bounds(block: Node, c: Claim) -> tuple[Node, Claim]:
    """A product's text and what is claimed of it, with such names; both as they are where no name is shared, or one has
    another use, or stands where no coordinate can be told."""
    spans = list(zip(_COORDINATES, c.first, c.past, strict=True))
    uses = Counter(name for _, *ends in spans for name in {e.text for e in ends if e.kind == "name"})
    shared = {name for name, count in uses.items() if count > 1}
    if not shared or c.tables or not shared.isdisjoint(n.text for e in _elsewhere(c) for n in nodes(e)):
        return block, c
    marks = {mark: x for x in _COORDINATES for mark in _marks(c, x)}
    try:
        text = _Renaming(shared, marks).of(block, "")
    except Unread:
        return block, c
    return text, replace(c, first=_owned(c.first, shared), past=_owned(c.past, shared))


def _elsewhere(c: Claim) -> tuple[Node, ...]:
    """All texts in a claim but bounds."""
    return (*c.left.values, *c.right.values, c.target, *c.consts, *c.corners, c.step)


def _marks(c: Claim, x: str) -> tuple[str, ...]:
    return (_SIZES[x], *_OTHERS[x], *(f"{c.names[x]}{part}" for part in ("", *"bptr")))


def _owned(ends: tuple[Node, Node, Node], shared: set[str]) -> tuple[Node, Node, Node]:
    rows, columns, depth = ends
    return _own(rows, "i", shared), _own(columns, "j", shared), _own(depth, "k", shared)


def _own(e: Node, x: str, shared: set[str]) -> Node:
    """A name's own for a coordinate."""
    return Node("name", f"{BOUND}_{x}_{e.text}") if e.kind == "name" and e.text in shared else e


class _Renaming:
    """A text with names of a coordinate's own in place of shared ones. `marks` are names that tell a coordinate."""

    def __init__(self, shared: set[str], marks: Mapping[str, str]) -> None:
        self.shared = shared
        self.marks = marks
        self.found: dict[int, tuple[bool, frozenset[str]]] = {}  # by id: is a shared name below, and the coordinates

    def of(self, node: Node, around: str) -> Node:
        """`around` is the one coordinate that the smallest part around it tells, "" where that is none or several."""
        below, told = self._told(node)
        if not below:
            return node
        around = around if not told else next(iter(told)) if len(told) == 1 else ""
        if node.kind == "name" and node.text in self.shared:
            if not around:
                raise Unread(f"what {node.text} bounds")
            return _own(node, around, self.shared)
        if node.text in self.shared:
            raise Unread(f"{node.text} is something else")
        return node._replace(kids=tuple(self.of(k, around) for k in node.kids))

    def _told(self, node: Node) -> tuple[bool, frozenset[str]]:
        if id(node) not in self.found:
            parts = [self._told(k) for k in node.kids]
            mark = {self.marks[node.text]} if node.kind in ("name", "declare") and node.text in self.marks else set()
            below = node.text in self.shared or any(b for b, _ in parts)
            self.found[id(node)] = below, frozenset(mark).union(*(told for _, told in parts))
        return self.found[id(node)]
