"""Reads plan directives about loops: tile, grid, registers, balance, diamond, skew, unskew, parallel, pipeline, unroll,
jam and vector. Each function reads what follows the keyword, and returns the directive's record of `plan/model.py`."""

from __future__ import annotations

from codegen.diagnostics import InputError, Loc
from codegen.plan.model import (
    Balance,
    Diamond,
    Directive,
    Grid,
    Jam,
    LoopRef,
    Parallel,
    Pipeline,
    Registers,
    Skew,
    Tile,
    Unroll,
    Unskew,
    Vector,
)
from codegen.plan_reader.reader import PlanReader


def tile(r: PlanReader, at: Loc) -> Directive:
    items = []
    while True:
        ref = r.loop()
        r.take(":")
        loc, size = r.loc(), r.number()
        if size < 0:
            raise InputError("bad-plan", "a tile size cannot be negative", loc, "")
        items.append((ref, size))
        if not r.accept(","):
            return Tile(tuple(items), r.accept("full"), at)


def grid(r: PlanReader, at: Loc) -> Directive:
    items = []
    while True:
        ref = r.loop()
        r.take(":")
        loc, count = r.loc(), r.number()
        if not 0 < count <= 1024:
            raise InputError("bad-plan", "a block has 1 to 1024 threads along a loop", loc, "")
        items.append((ref, count))
        if not r.accept(","):
            return Grid(tuple(items), at)


def registers(r: PlanReader, at: Loc) -> Directive:
    """A tile of a product: elements of a thread, threads of a block, and the matrix unit."""
    first = _in_registers(r)
    r.take(",")
    second = _in_registers(r)
    loc, threads = r.loc(), (r.size("threads", 1024), r.size("by", 1024))
    if not 0 < threads[0] * threads[1] <= 1024:
        raise InputError("bad-plan", "a block has 1 to 1024 threads", loc, "")
    return Registers((first, second), threads, r.word("a matrix unit").text if r.accept("on") else "", at)


def _in_registers(r: PlanReader) -> tuple[LoopRef, int]:
    ref = r.loop()
    if not ref.stmt:
        raise InputError("bad-plan", f"a statement below loop `{ref.name}` is missing", r.loc(), f"write S1.{ref.name}")
    r.take(":")
    loc, count = r.loc(), r.number()
    if not 0 < count <= 64:
        raise InputError("bad-plan", "a thread has 1 to 64 elements along a loop in registers", loc, "")
    return ref, count


def balance(r: PlanReader, at: Loc) -> Directive:
    loop = r.loop()
    r.take("by")
    loc, size = r.loc(), r.number()
    if not 1 < size <= 65536:
        raise InputError("bad-plan", "threads take 2 to 65536 iterations at a time", loc, "")
    return Balance(loop, size, at)


def diamond(r: PlanReader, at: Loc) -> Directive:
    time = r.loop()
    r.take(",")
    space = r.loop()
    r.take("by")
    loc, size = r.loc(), r.number()
    if size < 2:
        raise InputError("bad-plan", "a diamond is at least 2 wide", loc, "")
    return Diamond(time, space, size, at)


def skew(r: PlanReader, at: Loc) -> Directive:
    loop = r.loop()
    r.take("by")
    negative = r.accept("-")
    factor = 1
    if r.peek().isdigit():
        factor = r.number()
        r.take("*")
    return Skew(loop, -factor if negative else factor, r.loop(), at)


def unskew(r: PlanReader, at: Loc) -> Directive:
    loop = r.loop()
    r.take("as")
    return Unskew(loop, r.word("an iterator").text, at)


def parallel(r: PlanReader, at: Loc) -> Directive:
    loop = r.loop()
    also = r.loop() if r.accept("with") else None
    if not r.accept("by"):
        return Parallel(loop, also, loc=at)
    loc, by = r.loc(), r.number()
    if not 0 < by <= 4096:
        raise InputError("bad-plan", "a thread takes 1 to 4096 iterations at a time", loc, "")
    return Parallel(loop, also, by, at)


def pipeline(r: PlanReader, at: Loc) -> Directive:
    loop = r.loop()
    r.take("along")
    return Pipeline(loop, r.loop(), at)


def unroll(r: PlanReader, at: Loc) -> Directive:
    return Unroll(*_by_factor(r, "an unroll"), at)


def jam(r: PlanReader, at: Loc) -> Directive:
    return Jam(*_by_factor(r, "a jam"), at)


def vector(r: PlanReader, at: Loc) -> Directive:
    loop = r.loop()
    if not r.accept("by"):
        return Vector(loop, loc=at)
    loc, times = r.loc(), r.number()
    r.take("of")
    width = r.number()
    r.take("bytes")
    if not 1 <= times <= 16 or width not in (8, 16, 32, 64, 128):
        raise InputError("bad-plan", "vectors are 8, 16, 32, 64 or 128 bytes wide, 1 to 16 at a time", loc, "")
    return Vector(loop, width, times, at)


def _by_factor(r: PlanReader, what: str) -> tuple[LoopRef, int]:
    loop = r.loop()
    r.take("by")
    loc, factor = r.loc(), r.number()
    if not 1 < factor <= 64:
        raise InputError("bad-plan", f"{what} factor lies between 2 and 64", loc, "")
    return loop, factor
