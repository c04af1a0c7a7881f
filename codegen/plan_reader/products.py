"""Reads the `product` directive as a `Multiply` record: a blocked product, a matrix-vector product, or nests in a given
order of loops for products of given sizes."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.diagnostics import Loc
from codegen.plan.model import Directive, Multiply
from codegen.plan_reader.reader import MOST, PlanReader
from codegen.scop.product import Blocking, Exact, MatrixVector, Nested

LONGEST = 1 << 20  # iterations of a loop of a nest; the ways to cut it are gone through


def multiply(r: PlanReader, at: Loc) -> Directive:
    stmt = r.word("a statement").text
    r.take("rows")
    rows = r.names()
    columns = r.names() if r.accept("columns") else ()
    r.take("depth")
    depth = r.names()
    r.take("isa")
    isa = r.word("an instruction set").text
    bits = r.size("bits")
    if r.peek() == "form":
        return Multiply(stmt, rows, columns, depth, _matvec(r, isa, bits), at)
    if r.peek() == "nest":
        return Multiply(stmt, rows, columns, depth, Nested(isa, bits, (_exact(r), *_others(r))), at)
    mr, nv = r.size("tile"), r.size("by")
    r.take("vectors")
    spread = r.accept("spread")
    r.take(",")
    mc, kc, nc = r.size("block"), r.size("by"), r.size("by")
    run = r.size("run") if r.peek() == "run" else 0
    r.take(",")
    direct, threads = r.size("direct"), r.size("threads")
    how = Blocking(isa, bits, mr, nv, mc, kc, nc, direct, threads, spread, tuple(_others(r)), run)
    return Multiply(stmt, rows, columns, depth, how, at)


def _others(r: PlanReader) -> Iterator[Exact]:
    while r.accept("or"):
        yield _exact(r)


def _exact(r: PlanReader) -> Exact:
    """A nest for products of the sizes that it covers; where elements lie apart, with their distances."""
    r.take("nest")
    loops = [_nested_loop(r)]
    more = r.accept(",")
    while more and r.peek() != "left":
        loops.append(_nested_loop(r))
        more = r.accept(",")
    return Exact(tuple(loops), tuple(_strides(r)) if more else ())


def _strides(r: PlanReader) -> Iterator[tuple[tuple[str, int], ...]]:
    for side in ("left", "right", "target"):
        r.take(side)
        part = [_pair(r)]
        while r.more() and r.peek(1) == ":":
            part.append(_pair(r))
        if side != "target":
            r.take(",")
        yield tuple(part)


def _nested_loop(r: PlanReader) -> tuple[str, int, int, str]:
    name, size = _pair(r, LONGEST)
    rest = r.number() if r.accept("+") else 0
    threads = "T" if r.accept("threads") else ""
    pack = ""
    if r.accept("pack"):
        found = [x for word, x in (("left", "A"), ("right", "B")) if r.accept(word)]
        if not found:
            r.take("left")
        pack = "".join(found)
    return name, size, rest, pack + threads


def _pair(r: PlanReader, most: int = MOST) -> tuple[str, int]:
    name = r.word("a loop").text
    return name, r.size(":", most)


def _matvec(r: PlanReader, isa: str, bits: int) -> MatrixVector:
    r.take("form")
    form = r.word("a form").text
    streams, vectors = r.size("streams"), r.size("by")
    r.take("vectors")
    r.take(",")
    pair = period = ways = 0
    if r.peek() == "pair":
        pair = r.size("pair")
        r.take(",")
    if r.peek() == "period":
        period, ways = r.size("period"), r.size("ways")
        r.take(",")
    block, shared, ahead = r.size("block"), r.size("shared"), r.size("ahead")
    r.take(",")
    near, close = r.size("near"), r.size("close")
    r.take(",")
    direct, threads = r.size("direct"), r.size("threads")
    sizes = (streams, vectors, block, shared, ahead, near, close, direct, threads, period, ways)
    return MatrixVector(form, isa, bits, *sizes, pair=pair)
