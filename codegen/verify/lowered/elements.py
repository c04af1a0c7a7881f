"""Computes the elements that the lanes of a vector touch, and those that the plain loop touches some iterations further
on, in a form in which they can be compared; tells whether two may be the same. Raises Wrong."""

from __future__ import annotations

from dataclasses import replace

from codegen.ast.ctree import Block, CExpr, CNode, For, Instance, expr_names
from codegen.ast.lowered import Backwards, Contiguous, Each, Index, Lanes, One, Picked, Place
from codegen.ast.normal_forms import Form, form, forms, plus, shifted
from codegen.recognize.lanes import in_row, same
from codegen.record import record
from codegen.scop.model import AccessStep, Scop, Statement

Element = tuple[
    str, tuple[AccessStep, ...], tuple[Form, ...]
]  # an array, the way to a part of its elements, subscripts
Offsets = tuple[int, ...]  # iterations from the first on, for each loop of a box


class Wrong(Exception):
    """A form that does not stand for its loop; the text says how."""


@record
class Dim:
    """A loop of which `size` consecutive iterations run at once; `free` if they may run in any order."""

    var: str
    size: int
    free: bool


Box = tuple[Dim, ...]


def moved(e: CExpr, box: Box, by: Offsets) -> Form:
    """An expression some iterations further on."""
    known: tuple[Box, Form, tuple[int, ...]] | None = e.__dict__.get("_steps")
    if known is None or known[0] is not box:  # asked for every point of a box
        known = e.__dict__["_steps"] = box, form(e), _steps(e, box)
    _, (terms, constant), steps = known
    if not steps:
        return shifted(e, {d.var: k for d, k in zip(box, by, strict=True)})
    return terms, constant + sum([c * k for c, k in zip(steps, by, strict=True)])


def _steps(e: CExpr, box: Box) -> tuple[int, ...]:
    """How far an expression moves in one iteration of each loop; empty where it does not move evenly."""
    factors = dict(form(e)[0])
    even = all(isinstance(t, str) for t in factors) or expr_names(e).isdisjoint(d.var for d in box)
    return tuple(factors.get(d.var, 0) for d in box) if even else ()


def wanted(s: Statement, at: Instance, number: int, box: Box, by: Offsets) -> Element:
    """The element that an access of the plain loop touches some iterations further on."""
    a = s.accesses[number]
    return a.array, a.path, tuple(moved(e, box, by) for e in at.accesses[number])


def at_index(s: Statement, number: int, index: Index) -> Element:
    a = s.accesses[number]
    return a.array, a.path, forms(index)


def further(e: Element, by: int) -> Element:
    """The element so much further on in the row."""
    return e[0], e[1], (*e[2][:-1], plus(e[2][-1], by))


def found_at(scop: Scop, s: Statement, number: int, place: Place, lanes: Lanes | None, count: int) -> list[Element]:
    """The elements at a place, one for each lane."""
    if isinstance(place, One):
        return [at_index(s, number, place.at)] * count
    if isinstance(place, Each):
        if len(place.at) != count:
            raise Wrong("has not as many elements as lanes")
        return [at_index(s, number, x) for x in place.at]
    assert isinstance(place, (Contiguous, Backwards, Picked)) and lanes is not None
    if count != lanes.count:
        raise Wrong("has vectors of another length")
    index = place.at[0] if isinstance(place, Picked) else place.at
    _check_row(scop, s, number, lanes, len(index))
    if isinstance(place, Picked):
        two = both(s, number, place, count)
        if len(place.places) != count or not all(0 <= k < 2 * count for k in place.places):
            raise Wrong("picks from beyond two vectors")
        return [two[k] for k in place.places]
    row = [further(at_index(s, number, place.at), k) for k in range(count)]
    return row[::-1] if isinstance(place, Backwards) else row


def both(s: Statement, number: int, place: Picked, count: int) -> list[Element]:
    """All elements of the two vectors that some are picked from."""
    return [further(at_index(s, number, x), k) for x in place.at for k in range(count)]


def _check_row(scop: Scop, s: Statement, number: int, lanes: Lanes, subscripts: int) -> None:
    """Neighbours by the last subscript are neighbours in memory, of the type that the vectors have."""
    a = s.accesses[number]
    array = scop.arrays[a.array]
    if array.inside or array.mixed or not in_row(a, subscripts) or not same(array.elem, lanes.elem):
        raise Wrong(f"takes elements of `{a.array}` for neighbours that are none")


def spans(e: Element, low: Element, high: Element) -> bool:
    """Does the element lie between two others of one row?"""
    if not (e[:2] == low[:2] == high[:2] and e[2][:-1] == low[2][:-1] == high[2][:-1]):
        return False
    last = [x[2][-1] for x in (e, low, high)]
    return len({x[0] for x in last}) == 1 and last[1][1] <= last[0][1] <= last[2][1]


def shifted_by(e: Element, var: str, by: int) -> Element:
    """The element where a loop's variable is so much larger."""
    return e[0], e[1], tuple(_later(f, var, by) for f in e[2])


def _later(f: Form, var: str, by: int) -> Form:
    if any(not isinstance(term, str) and _mentions(term, var) for term, _ in f[0]):
        raise Wrong("keeps an element that moves in no simple way")
    return f[0], f[1] + by * sum(c for term, c in f[0] if term == var)


def _mentions(term: object, var: str) -> bool:
    if isinstance(term, (tuple, frozenset)):
        return any(_mentions(x, var) for x in term)
    return term == var


def may_meet(a: Element, b: Element) -> bool:
    """Can two elements of an array be one? Not if a subscript differs by a constant."""
    return a[1] != b[1] or not any(x[0] == y[0] and x[1] != y[1] for x, y in zip(a[2], b[2], strict=True))


def constant_apart(elements: list[Element]) -> bool:
    """Are all of them different for certain: by constants in their subscripts?"""
    terms = {(e[:2], tuple(f[0] for f in e[2])) for e in elements}
    return len(terms) == 1 and len({tuple(f[1] for f in e[2]) for e in elements}) == len(elements)


def same_code(a: CNode, b: CNode) -> bool:
    """Loops may be asked to have no vectors of their own, and to keep nothing."""
    return a == (_bare(b, a.loop.width) if isinstance(a, For) and isinstance(b, For) else _bare(b))


def _bare(node: CNode, width: int | None = None) -> CNode:
    if isinstance(node, Block):
        return Block(tuple(map(_bare, node.children)))
    if not isinstance(node, For):
        return node
    loop = node.loop if width is None else replace(node.loop, width=width)
    return replace(node, carried=(), loop=loop, body=_bare(node.body))
