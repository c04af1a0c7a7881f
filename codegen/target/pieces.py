"""What views are made of: the view itself, names that are free, and statements side by side."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from codegen.ast.ctree import Instance
from codegen.record import record
from codegen.scop.model import Statement
from codegen.target.body import BodyPrinter
from codegen.target.jam import Statements, shifted
from codegen.target.lane_printer import LanePrinter
from codegen.target.matvec import MatvecView
from codegen.target.product_view import NestsView, ProductView


@record
class View:
    """kind: for, if, stmt, decl, block, product, matvec, nested. The template uses only the fields its kind needs."""

    kind: str
    head: str = ""
    comment: str = ""
    pragma: str = ""
    body: tuple["View", ...] = ()
    orelse: tuple["View", ...] = ()
    product: ProductView | None = None
    matvec: MatvecView | None = None
    nested: NestsView | None = None
    stmt: str = ""  # the statement that it carries out


def fresh(name: str, taken: frozenset[str], endings: tuple[str, ...] = ()) -> str:
    """`name`, or the first of name2, name3, ... that is not taken, nor is it with one of the endings."""
    number = 1
    while True:
        found = name if number == 1 else f"{name}{number}"
        if taken.isdisjoint({found, *(found + x for x in endings)}):
            return found
        number += 1


def side_by_side(
    printer: BodyPrinter,
    found: Statements,
    var: str,
    n: int,
    taken: frozenset[str],
    times: int = 1,
    alike: Collection[tuple[str, int]] = (),
) -> tuple[View, ...]:
    """Each statement for `n` iterations, and `times` vectors in each: all values first, so that the compiler may keep
    what they share. Reads in `alike` find the same value in all of them, so the first one's does."""
    vector = printer if isinstance(printer, LanePrinter) else None
    first = fresh("v", taken, tuple(map(str, range(2 * n * times))))

    def rows_of(s: Statement, at: Instance) -> list[Instance]:
        rows = [_sharing(s, at, shifted(at, var, k), alike) for k in range(n)]
        if vector is not None:
            rows = [shifted(x, vector.var, k * vector.lanes.count) for k in range(times) for x in rows]
        return rows

    out: list[View] = []
    left = list(found)
    while left:
        (s, at), left = left[0], left[1:]
        rows = rows_of(s, at)
        order = vector.pair((s, at), left[0]) if vector is not None and left else None
        if vector is not None and order is not None:
            lines = _in_turn(vector, ((s, rows), (left[0][0], rows_of(*left[0]))), order, first)
            left = left[1:]
            out.extend(lines if len(found) == 2 else (View("block", body=lines),))
            continue
        values, stores = zip(*(printer.parts(s, x) for x in rows), strict=True)
        if len(rows) == 1 and not (vector is not None and vector.apart(s, at)):
            out.append(View("stmt", f"{stores[0]} = {values[0]};", stmt=s.name))
            continue
        kind = vector.lanes.type if vector else printer.scop.arrays[s.accesses[s.target].array].elem.spelling
        own = {v: f"{first}{values.index(v)}" for v in values}
        texts = (text for x, v in zip(rows, values, strict=True) for text in printer.put(s, x, own[v]))
        lines = (
            *(View("stmt", f"const {kind} {name} = {v};", stmt=s.name) for v, name in own.items()),
            *(View("stmt", text, stmt=s.name) for text in texts),
        )
        out.extend(lines if len(found) == 1 else (View("block", body=lines),))
    return tuple(out)


def _in_turn(
    vector: LanePrinter, both: tuple[tuple[Statement, list[Instance]], ...], order: tuple[int, int], first: str
) -> tuple[View, ...]:
    """Two statements whose elements lie in turn: the values of both, and whole vectors of them."""
    kind, out = vector.lanes.type, []
    names = [[f"{first}{len(both[0][1]) * k + r}" for r in range(len(both[0][1]))] for k in (0, 1)]
    for (s, rows), own in zip(both, names, strict=True):
        for x, name in zip(rows, own, strict=True):
            out.append(View("stmt", f"const {kind} {name} = {vector.parts(s, x)[0]};", stmt=s.name))
    s, rows = both[order[0]]
    for r, x in enumerate(rows):
        values = names[order[0]][r], names[order[1]][r]
        out += [View("stmt", text, stmt=s.name) for text in vector.put_both(s, x, values)]
    return tuple(out)


def _sharing(s: Statement, first: Instance, at: Instance, alike: Collection[tuple[str, int]]) -> Instance:
    """An instance that reads some of what it reads where the first one does."""
    if not any(name == s.name for name, _ in alike):
        return at
    reads = ((first if (s.name, n) in alike else at).accesses[n] for n in range(len(at.accesses)))
    return replace(at, accesses=tuple(reads))
