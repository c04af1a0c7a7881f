"""Checks that a loop's body consists of plain assignments, and reads which vectors the plan asks for."""

from __future__ import annotations

from codegen.ast.ctree import Block, CNode, For, Instance
from codegen.ast.lowered import Lanes
from codegen.lower.loop_strides import row_stride
from codegen.recognize.lanes import has_vectors
from codegen.recognize.stores import conditional
from codegen.scop.expr import is_code
from codegen.scop.model import Scop, Statement
from codegen.scop.tree import VECTOR

Statements = tuple[tuple[Statement, Instance], ...]
MOST = 1 << 30  # elements of a row of which nothing is known


def assignments(scop: Scop, body: CNode, inside: bool = False, perhaps: bool = False) -> Statements | None:
    """The plain assignments to arrays that a body consists of; None when there is something else in it. Variables of
    the region are arrays, too, if `inside`, and what is stored under a condition is plain if `perhaps`."""
    found = []
    for child in body.children if isinstance(body, Block) else (body,):
        if not isinstance(child, Instance):
            return None
        s = scop.statement(child.stmt)
        target = scop.arrays[s.accesses[s.target].array]
        if (target.inside and not inside) or target.mixed or (conditional(s) and not perhaps):
            return None  # a value of a mixed array has one of several types
        if is_code(s.rhs):
            return None  # data decide about the place, or how often it stores
        found.append((s, child))
    return tuple(found)


def lanes_asked(scop: Scop, node: For, found: Statements) -> Lanes | None:
    """The vectors that a loop asks for, where all its statements store elements of one type that has vectors."""
    lp = node.loop
    if lp.kind != VECTOR or not lp.width or node.step != 1:
        return None
    elems = {scop.arrays[s.accesses[s.target].array].elem for s, _ in found}
    if len(elems) != 1:
        return None
    (elem,) = elems
    count = lp.width // elem.bytes
    return Lanes(elem, count) if has_vectors(elem) and 1 < count <= shortest_row(scop, found, node.var) else None


def shortest_row(scop: Scop, found: Statements, var: str) -> int:
    """The fewest elements in rows that a loop goes along, as far as they are known. Longer vectors would never be
    stored, and compilers warn of stores that lie outside."""
    least = MOST
    for s, at in found:
        for number, access in enumerate(s.accesses):
            row = scop.arrays[access.array].extents[-1:]
            if row and row[0].isdigit() and row_stride(s, at, number, var):
                least = min(least, int(row[0]))
    return least


def written_in(found: Statements) -> frozenset[str]:
    """The arrays that statements write."""
    return frozenset(s.accesses[s.target].array for s, _ in found)
