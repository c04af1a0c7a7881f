"""Proof of the run-time overlap test between arrays, read back from its text: the ranges that it compares hold every
element that is touched.

Where elements lie is read from accesses as the expression printer prints them. Memory behind further pointers, and what
subscripts that depend on data reach, is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import islpy as isl

from codegen.ast.ctree import Bin, Instance, Name
from codegen.scop.model import Access, Scop, Statement
from codegen.target.guards.alias import may_overlap
from codegen.target.text.body import BodyPrinter
from codegen.target.text.cexpr import IntPrinter
from codegen.verify.guards import Parameters
from codegen.verify.readback import TreePoint
from codegen.verify.text.read import Node, Unread, nodes, read_expression

_TEST = re.compile(r"(tw_apart|tw_rows_apart)\((\d+), (\d+), \((tw_span|tw_table)\[\]\)\{ (.*) \}\)", re.S)
_INDEX = "tw_index_"
SET, PARAM = isl.dim_type.set, isl.dim_type.param


class ComparedMemory(NamedTuple):
    """Elements of a pointer, or rows of `stride` elements, from one on and below another, where a condition holds."""

    pointer: Node
    first: Node
    past: Node
    stride: Node | None
    when: Node | None


class AccessedElement(NamedTuple):
    """Where an access finds its element: behind one of these pointers, by an index of the model, in rows of `stride`
    elements."""

    pointers: tuple[Node, ...]
    number: int
    stride: Node | None


def wrong_overlap(scop: Scop, text: str, trust: bool) -> str:
    """What a printed test leaves out; empty where nothing is. With `trust`, only arrays that the function sets from one
    another may overlap."""
    m = _TEST.fullmatch(text)
    if m is None:
        return "the test is of another form"
    entries = read_expression(f"tw_list({m[5]})").kids
    if len(entries) != int(m[3]) or int(m[2]) > len(entries):
        return "the test compares more or fewer parts of memory than it has"
    found = [_memory(e) for e in entries]
    asked = {name for pair in may_overlap(scop, trust) if all(_plain(scop, n) for n in pair) for name in pair}
    p = Parameters(scop)
    for s, number, a in _uses(scop):
        if a.array not in asked:
            continue
        try:
            problem = _wrong_use(p, s, number, (found, int(m[2])))
        except (Unread, KeyError, isl.Error):
            continue  # a form that is not read
        if problem:
            return problem
    return ""


def _plain(scop: Scop, name: str) -> bool:
    array = scop.arrays[name]
    return not (array.inside or array.opaque or array.scattered or array.place == "buffer")


def _uses(scop: Scop) -> Iterator[tuple[Statement, int, Access]]:
    return ((s, k, a) for s in scop.statements for k, a in enumerate(s.accesses) if _plain(scop, a.array))


def _memory(e: Node) -> ComparedMemory | None:
    """An entry of the test's list; None for rows behind a table of pointers."""
    if e.kind == "call" and e.text == "tw_line" and len(e.kids) == 1:
        return _memory(e.kids[0])
    if e.kind == "choose":
        inner = _memory(e.kids[1])
        nowhere = e.kids[2] in (Node("name", "TW_NOWHERE"), Node("call", "tw_line", (Node("name", "TW_NOWHERE"),)))
        return inner._replace(when=e.kids[0]) if inner is not None and inner.when is None and nowhere else None
    if e.kind == "call" and e.text == "TW_SPAN" and len(e.kids) == 3:
        return ComparedMemory(*e.kids, None, None)
    if e.kind == "call" and e.text == "TW_ROWS" and len(e.kids) == 4:
        return ComparedMemory(*e.kids[:3], _bare(e.kids[3]), None)
    return None


def _bare(e: Node) -> Node:
    return e.kids[0] if e.kind == "cast" else e


def _wrong_use(
    p: Parameters, s: Statement, number: int, test: tuple[Sequence[ComparedMemory | None], int]
) -> str:
    """What the test leaves out of an access to an array that has to be in it."""
    scop, a = p.scop, s.accesses[number]
    at = _element(scop, s, number)
    mine = [k for k, x in enumerate(test[0]) if x is not None and x.pointer in at.pointers]
    touched = a.relation.intersect_domain(s.domain)
    if touched.is_empty():
        return ""
    if not mine:
        return f"`{a.array}` is not in the test"
    x = test[0][mine[0]]
    assert x is not None
    if len(mine) != 1 or x.stride != at.stride:
        return f"`{a.array}` is compared by rows of another length"
    if a.write and mine[0] >= test[1]:
        return f"`{a.array}` is written, and not compared with all others"
    known = p.ranges.intersect(scop.context.align_params(p.ranges.get_space()))
    if at.number < 0:
        return "" if (x.first, x.past) == (Node("number", "0"), Node("number", "1")) else f"`{a.array}` is one element"
    line = touched.range()
    rank = line.dim(SET)
    line = line.project_out(SET, at.number + 1, rank - at.number - 1).project_out(SET, 0, at.number).reset_tuple_id()
    line = line.align_params(p.ranges.get_space()).intersect_params(known)
    here = TreePoint(isl.Set.universe(line.get_space()), ("\0x",), (), (), ())
    element = Name("\0x")
    inside = here.condition(
        Bin("&&", Bin("<=", p.value(x.first), element), Bin("<", element, p.value(x.past)))
    )
    if not line.is_subset(inside):
        return f"`{a.array}` is touched where the test does not look"
    if x.when is not None and not line.is_subset(here.condition(p.value(x.when))):
        return f"`{a.array}` is touched where the test does not look at all"
    return ""


def _element(scop: Scop, s: Statement, number: int) -> AccessedElement:
    """Where an access finds its element, from its printed text with a name for each index. Raises Unread."""
    a = s.accesses[number]
    rank = a.index.dim(isl.dim_type.out)
    names = {f"\0{k}": f"{_INDEX}{k}" for k in range(rank)}
    ints = IntPrinter({p.name: p for p in scop.params}, names, set())
    accesses = tuple(tuple(Name(f"\0{k}") for k in range(rank)) if n == number else () for n in range(len(s.accesses)))
    e = read_expression(BodyPrinter(scop, ints, {}).access(s, Instance(s.name, (), accesses, ()), number))
    if not _indexed(e):
        return AccessedElement(tuple(_holders(e)), -1, None)
    while _indexed(e.kids[0]):
        e = e.kids[0]
    if e.kind != "index":
        raise Unread("an element of another form")
    pointer, at = e.kids
    if at.kind == "name" and at.text.startswith(_INDEX):
        return AccessedElement((pointer,), int(at.text.removeprefix(_INDEX)), None)
    while at.kind == "binary" and at.text == "+":
        at = at.kids[0]
    first = _bare(at.kids[0]) if at.kind == "binary" and at.text == "*" else at
    if first.kind != "name" or not first.text.startswith(_INDEX) or at.kind != "binary":
        raise Unread("an element of another form")
    return AccessedElement((pointer,), int(first.text.removeprefix(_INDEX)), _bare(at.kids[1]))


def _holders(e: Node) -> Iterator[Node]:
    """Pointers to a place without subscripts, and to the objects that it is a member of."""
    while True:
        if (e.text == "*" and e.kind == "unary") or (e.text == "->" and e.kind == "member"):
            yield e.kids[0]
            return
        yield Node("unary", "&", (e,))
        if e.kind != "member":
            return
        e = e.kids[0]


def _indexed(e: Node) -> bool:
    return any(n.kind == "index" for n in nodes(e))
