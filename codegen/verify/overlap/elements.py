"""Parses the printed text of an access into its subscripts: the pointer behind which each stands, its index of the
model, and what that is multiplied by. Raises Unread for other forms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import islpy as isl

from codegen.ast.ctree import Instance, Name
from codegen.scop.model import Scop, Statement
from codegen.target.text.body import BodyPrinter
from codegen.target.text.cexpr import IntPrinter
from codegen.verify.text.read import Node, Unread, nodes, read_expression

_INDEX = "tw_index_"
ZERO, ONE = Node("number", "0"), Node("number", "1")


class Subscript(NamedTuple):
    """What a subscript stands behind, the index of the model that it begins with, and what that is multiplied by."""

    behind: Node
    number: int
    strides: tuple[Node, ...]


class AccessedElement(NamedTuple):
    """Subscripts of an access, the first one first; `holders` of a place without any."""

    subscripts: tuple[Subscript, ...]
    holders: tuple[Node, ...] = ()

    def first_row(self) -> Node:
        """The pointer that the last subscript stands behind, in row 0 of the one before."""
        one, two = self.subscripts[-2:]
        return _at_zero(two.behind, one.behind)


def element(scop: Scop, s: Statement, number: int) -> AccessedElement:
    """Raises Unread."""
    rank = s.accesses[number].index.dim(isl.dim_type.out)
    names = {f"\0{k}": f"{_INDEX}{k}" for k in range(rank)}
    ints = IntPrinter({p.name: p for p in scop.params}, names, set())
    accesses = tuple(tuple(Name(f"\0{k}") for k in range(rank)) if n == number else () for n in range(len(s.accesses)))
    e = read_expression(BodyPrinter(scop, ints, {}).access(s, Instance(s.name, (), accesses, ()), number))
    found: list[Subscript] = []
    if not _indexed(e):
        return AccessedElement((), tuple(holders(e)))
    while True:
        if e.kind == "index":
            found.append(_subscript(*e.kids))
            e = e.kids[0]
        elif e.kind in ("member", "unary") and _indexed(e.kids[0]):
            e = e.kids[0]
        elif _indexed(e):
            raise Unread("an element of another form")
        else:
            return AccessedElement(tuple(reversed(found)))


def _subscript(behind: Node, at: Node) -> Subscript:
    while at.kind == "binary" and at.text == "+":
        at = at.kids[0]
    parts = factors(at)
    mine = [x for x in parts if x.kind == "name" and x.text.startswith(_INDEX)]
    if len(mine) != 1:
        raise Unread("an element of another form")
    return Subscript(behind, int(mine[0].text.removeprefix(_INDEX)), tuple(x for x in parts if x is not mine[0]))


def index_of(e: Node) -> int | None:
    """The number of the index of the model that stands there."""
    return int(e.text.removeprefix(_INDEX)) if e.kind == "name" and e.text.startswith(_INDEX) else None


def factors(e: Node | None) -> tuple[Node, ...]:
    """What is multiplied with each other, in one order for all, without conversions."""
    if e is None:
        return ()
    if e.kind == "cast":
        return factors(e.kids[0])
    if e.kind == "binary" and e.text == "*":
        return tuple(sorted((*factors(e.kids[0]), *factors(e.kids[1]))))
    return (e,)


def holders(e: Node) -> Iterator[Node]:
    """Pointers to a place without subscripts, and to the objects that it is a member of."""
    while True:
        if (e.text == "*" and e.kind == "unary") or (e.text == "->" and e.kind == "member"):
            yield e.kids[0]
        yield Node("unary", "&", (e,))
        if e.kind != "member" or e.text == "->":
            return
        e = e.kids[0]


def _at_zero(e: Node, table: Node) -> Node:
    """An expression with the first entry of a table in place of any one."""
    if e.kind == "index" and e.kids[0] == table:
        return Node("index", "", (table, ZERO))
    return e._replace(kids=tuple(_at_zero(k, table) for k in e.kids)) if e.kind == "member" else e


def _indexed(e: Node) -> bool:
    return any(n.kind == "index" for n in nodes(e))
