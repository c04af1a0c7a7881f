"""Reads plan directives about data: forward, substitute, expand, block, copy, layout, store, stay, stage, mesh, steps
and lanes. Each function reads what follows the keyword, and returns the directive's record of `plan/model.py`."""

from __future__ import annotations

from contextlib import suppress

from codegen.diagnostics import InputError, Loc
from codegen.plan.model import (
    CopyReads,
    Directive,
    Expand,
    Forward,
    InLanes,
    OnMesh,
    Relayout,
    StageIn,
    StageShared,
    Stay,
    StoreIn,
    StripMine,
    Substitute,
    TimeSteps,
)
from codegen.plan_reader.reader import PlanReader
from codegen.plan_reader.schedule import affine, read_head
from codegen.recognize.privatize.expansion import NoExpansion
from codegen.recognize.privatize.expansion import expand as expanded
from codegen.recognize.products.forward import forwarded
from codegen.recognize.products.substitution import without_variable
from codegen.transform.block import blocked
from codegen.transform.copy_reads import with_copies
from codegen.transform.find import free_name
from codegen.transform.layout import with_layout


def store(r: PlanReader, at: Loc) -> Directive:
    variable = r.word("a variable").text
    r.take("in")
    loop = r.loop()
    dims = []
    while r.accept("["):
        it = r.word("an iterator").text
        r.take("-")
        start = r.word("a loop").text
        r.take(":")
        dims.append((it, start, r.number()))
        r.take("]")
    return StoreIn(variable, loop, tuple(dims), at)


def stage(r: PlanReader, at: Loc) -> Directive:
    array = r.word("an array").text
    if r.peek() == "in" and r.peek(1) == "shared":
        return _shared(r, array, at)
    if r.accept("in"):
        return StageIn(array, r.word("a statement").text, loc=at)
    r.take("at")
    ref = r.loop()
    if not ref.stmt:
        raise InputError("bad-plan", f"a statement below loop `{ref.name}` is missing", at, f"write S1.{ref.name}")
    return StageIn(array, ref.stmt, ref.name, bool(r.accept("ahead")), at)


def _shared(r: PlanReader, array: str, at: Loc) -> Directive:
    r.take("in")
    r.take("shared")
    r.take("at")
    ref = r.loop()
    if not ref.stmt:
        raise InputError("bad-plan", f"a statement below loop `{ref.name}` is missing", at, f"write S1.{ref.name}")
    size, loc = r.size(":", 1024), r.loc()
    stages = r.size("stages", 16)
    if not size or stages < 2:
        raise InputError("bad-plan", "there are two stages at least, of one iteration at least", loc, "")
    return StageShared(array, ref, size, stages, r.size("pad", 64) if r.peek() == "pad" else 0, at)


def mesh(r: PlanReader, at: Loc) -> Directive:
    return OnMesh(r.word("a statement").text, at)


def steps(r: PlanReader, at: Loc) -> Directive:
    loop = r.loop()
    count = r.size("by")
    sides = [r.size("of")]
    while r.accept(","):
        sides.append(r.number())
    threads = r.size("threads", 1024) if r.peek() == "threads" else 0
    return TimeSteps(loop, count, tuple(sides), threads, bool(threads and r.accept("stream")), at)


def lanes(r: PlanReader, at: Loc) -> Directive:
    loop = r.loop()
    vectors = r.size("by") if r.peek() == "by" else 1
    row = r.word("a loop").text if r.accept("with") else ""
    return InLanes(loop, vectors, row, r.size("by") if row else 1, at)


def stay(r: PlanReader, at: Loc) -> Directive:
    array = r.word("an array").text
    r.take("from")
    stmt = r.word("a statement").text
    return Stay(array, stmt, r.size("by"), at)


def forward(r: PlanReader, at: Loc) -> Directive:
    assert r.scop is not None
    name = r.word("a variable").text
    r.scop = forwarded(r.scop, name) or r.scop
    return Forward(name, at)


def substitute(r: PlanReader, at: Loc) -> Directive:
    assert r.scop is not None
    name = r.word("a variable").text
    r.scop = without_variable(r.scop, name) or r.scop
    return Substitute(name, at)


def expand(r: PlanReader, at: Loc) -> Directive:
    assert r.scop is not None
    name = r.word("a variable").text
    r.take("over")
    over = r.names()
    within = r.word("a loop").text if r.accept("in") else ""
    limit = r.size("limit", 1 << 40)
    with suppress(NoExpansion):  # the directive is refused when it is carried out
        r.scop = expanded(r.scop, name, over, limit, within).scop
    return Expand(name, over, limit, at, within)


def block(r: PlanReader, at: Loc) -> Directive:
    assert r.scop is not None
    head = read_head(r)
    size = r.size("by")
    if r.peek() == "apart":
        raise InputError("bad-plan", "`apart` is called `split` now", r.loc(), "write split in its place")
    places = _listed(r) if r.accept("split") else {}
    have = [s.name for s in r.scop.statements]
    for name in (*head.values, *places):
        if name not in have:
            raise InputError("bad-plan", f"there is no statement {name}", at, f"statements: {', '.join(have)}")
    for name in places:
        if name not in head.values:
            raise InputError("bad-plan", f"{name} is not counted in blocks", at, f"give it a value: `{name}: ...`")
    values = {n: affine(r.scop, n, text, at) for n, text in head.values.items()}
    apart = {n: tuple(affine(r.scop, n, text, at) for text in texts) for n, texts in places.items()}
    d = StripMine(head.name, values, size, apart, at)
    r.blocks[head.name] = size
    if size and free_name(r.scop, head.name, head.values):  # else the directive is refused when it is carried out
        r.scop = blocked(r.scop, d).scop
    return d


def copy_reads(r: PlanReader, at: Loc) -> Directive:
    assert r.scop is not None
    name = r.word("a name for the copies").text
    cells = []
    while r.accept("["):
        index = r.until(":")
        r.take(":")
        cells.append((index, r.until("]")))
        r.take("]")
    r.take("=")
    array = r.word("an array").text
    subscripts = []
    while r.accept("["):
        subscripts.append(r.until("]"))
        r.take("]")
    r.take("for")
    stmts = [r.word("a statement").text]
    while r.accept(","):
        stmts.append(r.word("a statement").text)
    d = CopyReads(name, array, tuple(subscripts), tuple(stmts), tuple(cells), at)
    r.scop = with_copies(r.scop, d)
    return d


def layout(r: PlanReader, at: Loc) -> Directive:
    assert r.scop is not None
    name = r.word("a name for the panels").text
    r.take("=")
    array, size = r.word("an array").text, r.size("by")
    d = Relayout(name, array, size, bool(r.accept("new")), at)
    r.scop = with_layout(r.scop, d)
    return d


def _listed(r: PlanReader) -> dict[str, tuple[str, ...]]:
    """`{S1: i, j; S2: i}`"""
    out: dict[str, tuple[str, ...]] = {}
    r.take("{")
    while not r.accept("}"):
        stmt = r.word("a statement").text
        r.take(":")
        items = [r.until(",", ";", "}")]
        while r.accept(","):
            items.append(r.until(",", ";", "}"))
        if stmt in out:
            raise InputError("bad-plan", f"{stmt} is listed twice", r.loc(), "list each statement once")
        out[stmt] = tuple(items)
        r.accept(";")
    return out
