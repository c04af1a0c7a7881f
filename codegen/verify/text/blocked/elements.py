"""Puts arrays of the tool's own in place of the elements that a product's text reads and updates, wherever these lie in
the user's memory: `tw_element0[row][depth]` for `a[b*n*m + row*m + depth]`. What a text does with elements does not
depend on that, so that all products of one form are one text, which is proven once (`in_rows`).

Sure is: with each such array read as the element it stands for, the new text and the new claim are the old ones. How
the values of coordinates are found is a guess, which is tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import NamedTuple

from codegen.verify.poly import ONE, ZERO, Poly, total, var
from codegen.verify.text.blocked.claim import Claim
from codegen.verify.text.compare import COLUMN, DEPTH, ROW
from codegen.verify.text.facts import Facts
from codegen.verify.text.integers import Integers
from codegen.verify.text.read import Node, Unread, nodes

COORDINATES = (ROW, COLUMN, DEPTH)
PREFETCH = "__builtin_prefetch"
_OWN = {"i": ("tw_l",), "j": ("tw_l", "tw_over"), "k": ("tw_ahead",)}  # in all texts
Own = Mapping[str, frozenset[str]]  # names that a coordinate's values are made of


class Element(NamedTuple):
    """What stands for it, its array, and its subscripts: the product of each coordinate with a factor, and the rest."""

    name: str
    base: Node
    factors: tuple[Mapping[str, Poly], ...]
    rests: tuple[Poly, ...]

    @property
    def coordinates(self) -> tuple[str, ...]:
        return tuple(c for c in COORDINATES if any(f[c] != ZERO for f in self.factors))

    def subscripts(self, at: Mapping[str, Poly]) -> list[Poly]:
        """Those of the element at values of coordinates."""
        return [r + total(f[c] * at[c] for c in at) for f, r in zip(self.factors, self.rests, strict=True)]


def in_rows(block: Node, c: Claim) -> tuple[Node, Claim]:
    """A product's text and what is claimed of it, with such arrays for all elements; both as they are where one of the
    elements does not allow that, or the text has others of their arrays."""
    try:
        elements = _elements(block, c)
        own = {
            x: frozenset((*(f"{c.names[n]}{part}" for part in "bptr"), *_OWN[n]))
            for n, x in zip("ijk", COORDINATES, strict=True)
        }
        text = _written(block, elements, own)
    except Unread:
        return block, c
    bases = {e.base for e in elements}
    if not elements or not bases.isdisjoint(nodes(text)):
        return block, c
    plain = {x: frozenset((x,)) for x in COORDINATES}

    def claimed(values: Sequence[Node]) -> tuple[Node, ...]:
        return tuple(_written(v, elements, plain) for v in values)

    left, right = (replace(side, values=claimed(side.values)) for side in (c.left, c.right))
    return text, replace(c, left=left, right=right, target=claimed((c.target,))[0])


def _elements(block: Node, c: Claim) -> list[Element]:
    """The elements that a claim speaks of. Raises Unread where one of them may lie anywhere, or a name in it means
    something else in the text."""
    local = {n.text for n in nodes(block) if n.kind == "declare"}
    found = dict.fromkeys(e for v in (*c.left.values, *c.right.values, c.target) for e in _accesses(v))
    if c.tables or c.target not in found:
        raise Unread("elements behind tables")
    elements: list[Element] = []
    for e in found:
        if not local.isdisjoint(n.text for n in nodes(e)):
            raise Unread("a local hides what is meant")
        elements.append(_element(f"tw_element{len(elements)}", e))
        if e == c.target and not _in_lines(elements[-1]):
            raise Unread("a target whose columns are not neighbours in memory")
    return elements


def _accesses(node: Node) -> Iterator[Node]:
    """The elements of arrays in an expression that coordinates choose."""
    if node.kind == "index" and any(n.text in COORDINATES for n in nodes(node)):
        yield node
    else:
        for k in node.kids:
            yield from _accesses(k)


def _element(name: str, access: Node) -> Element:
    """An element whose subscripts are sums of multiples of coordinates. Raises Unread for others."""
    base, subscripts = _apart(access, Facts())
    factors = tuple({c: p.part(c) for c in COORDINATES} for p in subscripts)
    rests = tuple(p - total(f[c] * var(c) for c in COORDINATES) for p, f in zip(subscripts, factors, strict=True))
    free = [*rests, *(x for f in factors for x in f.values())]
    if any(n.text in COORDINATES for n in nodes(base)) or any(not x.isidentifier() for p in free for x in p.names):
        raise Unread("an element that is found through others")
    if any(x in COORDINATES for p in free for x in p.names):
        raise Unread("elements lie at no fixed distance")
    return Element(name, base, factors, rests)


def _in_lines(target: Element) -> bool:
    """Do its rows lie at a fixed distance, and the elements of each side by side?"""
    last, *others = [f[COLUMN] for f in reversed(target.factors)]
    return target.coordinates == (ROW, COLUMN) and last == ONE and all(x == ZERO for x in others)


def _apart(access: Node, facts: Facts) -> tuple[Node, list[Poly]]:
    """The array of an element, and its subscripts."""
    found: list[Poly] = []
    while access.kind == "index":
        found.insert(0, Integers(facts, {}).value(access.kids[1]))
        access = access.kids[0]
    return access, found


def _written(node: Node, elements: Sequence[Element], own: Own) -> Node:
    """A text with elements by what stands for them."""
    if node.kind == "index":
        here = _stands_for(node, elements, own)
        if here is not None:
            return here
    kids = tuple(_written(k, elements, own) for k in node.kids)
    return node if kids == node.kids else node._replace(kids=kids)


def _stands_for(access: Node, elements: Sequence[Element], own: Own) -> Node | None:
    root = access
    while root.kind == "index":
        root = root.kids[0]
    if all(e.base != root for e in elements):
        return None
    base, subscripts = _apart(access, Facts())
    for e in elements:
        at = _coordinates(e, subscripts, own) if e.base == base and len(e.rests) == len(subscripts) else None
        if at is not None:
            found = Node("name", e.name)
            for p in at:
                found = Node("index", "", (found, p))
            return found
    return None


def _coordinates(e: Element, subscripts: Sequence[Poly], own: Own) -> list[Node] | None:
    """The values of coordinates at which an element has these subscripts, as text."""
    at = {}
    for c in e.coordinates:
        factor, there = next((f[c], q) for f, q in zip(e.factors, subscripts, strict=True) if f[c] != ZERO)
        names = there.names & own[c]
        if not names or any(there.part(x) != factor for x in names):
            return None
        at[c] = total(map(var, names))
    for factors, here, there in zip(e.factors, e.subscripts(at), subscripts, strict=True):
        for c, further in [(c, _times(there - here, factors[c])) for c in at]:
            if further:
                at[c] = at[c] + further
                break
    return [_sum(p) for p in at.values()] if e.subscripts(at) == list(subscripts) else None


def _times(p: Poly, factor: Poly) -> int:
    """How many times a factor it is; 0 where that is no whole number."""
    n = next((p.terms.get(m, 0) // c for m, c in factor.terms.items()), 0)
    return n if p == factor * n else 0


def _sum(p: Poly) -> Node:
    """A sum of names and a number as an expression. The names of one coordinate differ in their last letter, so that
    their order does not depend on the user's."""
    parts = [Node("name", x) for x in sorted(p.names, key=lambda x: x[-1])]
    if p.constant:
        parts.append(Node("number", str(p.constant)))
    return reduce(lambda x, y: Node("binary", "+", (x, y)), parts)
