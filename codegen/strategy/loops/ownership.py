"""Writes the remarks about ownership in the program that a plan leads to: which product's target stays in registers,
and which arrays are owned by the threads of a loop, so that they need no lock.

Only the tests on subscripts are asked here; `inspect` shows the whole table, with the exact test as the judge.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from codegen.diagnostics import Diagnostic, Severity
from codegen.machine import Machine
from codegen.recognize.ownership.extract import BlockedNest, frame
from codegen.recognize.ownership.linear import linear
from codegen.recognize.ownership.model import NestFrame, Reference, ThreadAxis
from codegen.scop.product import Blocking
from codegen.scop.tree import THREADED, Band, FoundLoop, Loop, enclosing, loops, statements, walk
from codegen.transform.program import Program


def owner_remarks(p: Program, machine: Machine) -> tuple[Diagnostic, ...]:
    """One remark for each product that keeps its target in registers, and for each loop whose threads own an array."""
    return (*_products(p, machine), *_threads(p))


def _products(p: Program, machine: Machine) -> Iterator[Diagnostic]:
    for _, node in walk(p.tree):
        if not isinstance(node, Band) or node.product is None or not isinstance(node.product.how, Blocking):
            continue
        (name,) = statements(node)
        what, how = node.product.what, node.product.how
        around = enclosing(p.tree, name)[: -len(node.loops)]
        f = frame(p.scop, BlockedNest((name,), around, node.loops))
        order = dict(zip(what.inner, node.loops, strict=True))
        grid = tuple(f.axis(order[d].name) for d in (*what.rows, *what.columns))
        target = f.references[p.scop.statement(name).target]
        if not _owned(f, target, grid):
            continue
        columns = how.nv * machine.lanes(p.scop.arrays[target.array].elem.bytes)
        left = Fraction(how.mr + columns, how.mr * columns)
        text = (
            f"{target.text} belongs to one {' and '.join(x.name for x in grid)}: a tile of {how.mr} x {columns} of it "
            f"stays in registers over {', '.join(order[d].name for d in what.depth)}, which leaves "
            f"{float(left):.2g} of 4 memory accesses per step"
        )
        yield Diagnostic(Severity.REMARK, "ownership", text, p.scop.statement(name).loc, kind="analysis")


def _threads(p: Program) -> Iterator[Diagnostic]:
    for place in loops(p.tree):
        if place.loop.kind not in THREADED:
            continue
        names = statements(place.band)
        inner = _counted(p, place)
        if inner is None:
            continue
        f = frame(p.scop, BlockedNest(names, (), (inner,)))
        written = sorted({r.array for r in f.references if r.write and not p.scop.arrays[r.array].inside})
        owned = [a for a in written if all(_owned(f, r, f.inner) for r in f.references if r.array == a)]
        if owned:
            shown = ", ".join(p.scop.arrays[a].base for a in owned)
            text = f"threads over {place.loop.name} share no element of {shown}: equal elements mean equal {inner.name}"
            yield Diagnostic(Severity.REMARK, "ownership", text, p.scop.statement(names[0]).loc, kind="analysis")


def _counted(p: Program, place: FoundLoop) -> Loop | None:
    """The loop whose iterations the threads share out: itself, or the one whose tiles it counts."""
    if not place.loop.tile:
        return place.loop
    exprs = {}
    for n in statements(place.band):
        found = next((lp for lp in enclosing(p.tree, n) if lp.name == place.loop.of and not lp.tile), None)
        if found is None:
            return None
        exprs[n] = found.exprs[n]
    return Loop(place.loop.of, exprs)


def _owned(f: NestFrame, ref: Reference, threads: Sequence[ThreadAxis]) -> bool:
    return all(linear(ref, other, threads) for other in f.others(ref))
