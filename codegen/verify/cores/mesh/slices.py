"""Proof of operand slices in a mesh product: fetched one step ahead by half of the cores, there when that half
broadcasts them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from codegen.verify.cores.mesh.names import MeshScope, check_least, check_zero, conjuncts, statements
from codegen.verify.cores.mesh.sizes import MeshSizes, tests
from codegen.verify.cores.mesh.transfers import MatrixMove, check_rows, is_set, message_waited, move_of
from codegen.verify.poly import Poly, poly
from codegen.verify.text.facts import Facts
from codegen.verify.text.integers import ways
from codegen.verify.text.read import NOTHING, Node, Unread


class PanelSlice(NamedTuple):
    """What a core has fetched for a step: rows of a matrix, from this element on, with no space between them. Cores
    whose `side` is the half of the step hand it out."""

    region: str
    array: str
    reply: str
    sent: str  # tells that what was sent from there is gone, where slices are sent
    side: Poly
    row: Poly
    column: Poly
    rows: Poly
    columns: Poly

    def put(self, f: Facts, **values: Poly) -> PanelSlice:
        side, row, column, rows, columns = (f.put(p, values) for p in self[4:])
        return self._replace(side=side, row=row, column=column, rows=rows, columns=columns)


def fetched(x: MeshSizes, sc: MeshScope, s: Node, half: str, next_tile: Sequence[Poly]) -> list[PanelSlice]:
    """The slices that are fetched for the next step, of which `next_tile` says that there is one."""
    if s.kids[2] != NOTHING or not sc.whenever(sc.cond(s.kids[0]), next_tile):
        raise Unread("slices are fetched for other steps than there are")
    sc = sc.given(*next_tile)
    found: list[PanelSlice] = []
    for one in statements(s.kids[1]):
        if one.kind == "declare":
            sc = sc.declared(one)
        elif one.kind == "if" and one.kids[2] == NOTHING:
            found.append(_slice(x, sc, one, half))
        else:
            raise Unread(f"`{one.kind}` where slices are fetched")
    return found


def _slice(x: MeshSizes, sc: MeshScope, s: Node, half: str) -> PanelSlice:
    who, others = halves(sc, s.kids[0], half, "!=")
    body = statements(s.kids[1])
    sent = message_waited(x, body.pop(0)) if x.messages and body else ""
    if len(body) != 2:
        raise Unread("something else than a slice is fetched")
    m = move_of(x, sc, body[1])
    if m.put or m.local.copy or m.local.offset.terms or m.reply not in x.replies or not is_set(body[0], m.reply, "0"):
        raise Unread(f"a slice of `{m.name}` comes to another place, or nobody knows when it is there")
    rows, columns = _extents(sc, others, m)
    check_rows(sc, m, rows, columns)
    return PanelSlice(m.local.region, m.outside.array, m.reply, sent, who, m.row, m.column, rows, columns)


def _extents(sc: MeshScope, others: Sequence[Node], m: MatrixMove) -> tuple[Poly, Poly]:
    """How many rows and columns there are, from the test that there are any."""
    found = ways(tests(sc, others))
    if len(found) != 1 or len(found[0]) != 2:
        raise Unread(f"a slice of `{m.name}` is fetched by a test of another kind")
    one, two = (p + poly(1) for p in found[0])
    return (one, two) if m.block == two * 8 else (two, one)


def halves(sc: MeshScope, cond: Node, half: str, op: str) -> tuple[Poly, list[Node]]:
    """The test whether a core belongs to a half of them, `op` to the one that hands out, and what is tested beside."""
    parts = conjuncts(cond)
    mine = [e for e in parts if e.kind == "binary" and e.text == op and Node("name", half) in e.kids]
    if len(mine) != 1:
        raise Unread("cores of both halves fetch or hand out slices")
    (other,) = (k for k in mine[0].kids if k != Node("name", half))
    who = sc.value(other)
    check_least(sc.facts, "halves of the cores", who, 1 - who)
    return who, [e for e in parts if e is not mine[0]]


def agreed(
    sc: MeshScope, within: Sequence[PanelSlice], across: Sequence[PanelSlice], t: str, q: str
) -> list[PanelSlice]:
    """The slices of the present step, by what the step before it fetched: of the same turn, or of the one before."""
    if len(within) != len(across):
        raise Unread("slices of another turn")
    f, found = sc.facts, []
    for a, b in zip(within, across, strict=True):
        here = a.put(f, **{q: _before(q)})
        first, other = here.put(f, **{q: poly(0)}), b.put(f, **{t: _before(t)})
        for one, two in zip(first[4:], other[4:], strict=True):
            check_zero(f, f"the first slice of `{a.array}` in a turn", two, one)
        if first[:4] != other[:4]:
            raise Unread(f"the first slice of `{a.array}` in a turn comes to another place")
        found.append(here)
    return found


def _before(name: str) -> Poly:
    return poly(-1) + Poly({(name,): 1})
