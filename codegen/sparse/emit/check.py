"""Prints the C of a conversion that checks untrusted input arrays against what the source's descriptor promises
(ranges, segments, orders), and returns RANGE or UNSORTED where they break a promise."""
from __future__ import annotations

from codegen.sparse.algebra.expr import Call, Exp, call, single, var
from codegen.sparse.algebra.relation import Constraint
from codegen.sparse.algebra.terms import subst
from codegen.sparse.emit.cexpr import false_condition, size_exp
from codegen.sparse.emit.steps import StepPrinter
from codegen.sparse.ir.nest import For
from codegen.sparse.synth.bounds import volume
from codegen.sparse.synth.model import Layout, Position, Stair
from codegen.sparse.synth.pair import sizes
from codegen.sparse.synth.scan import Scan, scan, stored_code


def check_input(p: StepPrinter, lay: Layout, given: tuple[str, ...]) -> None:
    """Leave with RANGE or UNSORTED unless the arrays keep their format's promises. Later checks rely on earlier ones.

    `given`: the extents.
    """
    p.w.comment("the input is not trusted: everything its format promises is checked")
    p.fail(" || ".join(f"{n} < 0" for n in (*given, *lay.counted)), "RANGE")
    room = sizes(lay)
    p.fail(" || ".join(f"(!{a} && {size_exp(volume(room[a]), p.extents)} > 0)" for a in room), "RANGE")
    for f in lay.desc.functions:
        _range(p, lay, f.name)
    for q in lay.positions:
        if q.segment.chained:
            _segments(p, lay, q)
        if q.stair:
            _diagonals(p, q.stair, q.size)
    for quantifier in lay.desc.quantifiers:
        a = single(quantifier.key)
        if isinstance(a, Call) and a.args == (var(quantifier.variable),):
            _monotonic(p, lay, a, quantifier.sign)
    _entries(p, lay, given)


def _range(p: StepPrinter, lay: Layout, name: str) -> None:
    f = lay.desc.function(name)
    assert f is not None
    value = call(name, var("x"))
    tests = [Constraint(subst(c.exp, {f.range.ins[0]: value})) for c in f.range.cons]
    if not tests:
        return
    p.w.open(f"for (int64_t x = 0; x < {p.c(volume(sizes(lay)[name]))}; x++)")
    p.fail(" || ".join(false_condition(t, {}) for t in tests), "RANGE")
    p.w.close()


def _segments(p: StepPrinter, lay: Layout, q: Position) -> None:
    last = volume(sizes(lay)[q.ptr]) - 1
    if len(q.segment.above) == 1:
        p.fail(f"{q.ptr}[0] != 0 || {p.c(call(q.ptr, last))} != {q.size}", "RANGE")
    else:
        end = p.c(call(q.ptr, last))
        p.fail(f"{p.c(last)} >= 0 ? {q.ptr}[0] != 0 || {end} != {q.size} : {q.size} > 0", "RANGE")
    p.w.open(f"for (int64_t x = 0; x < {p.c(last)}; x++)")
    p.fail(f"{q.ptr}[x + 1] < {q.ptr}[x]", "UNSORTED")
    p.w.close()
    if len(q.segment.above) > 1:  # a row of pointers ends where the next one begins
        row = sizes(lay)[q.ptr][-1]
        p.w.open(f"for (int64_t x = {p.c(row)}; x < {p.c(last)}; x += {p.c(row)})")
        p.fail(f"{q.ptr}[x] != {q.ptr}[x - 1]", "RANGE")
        p.w.close()


def _diagonals(p: StepPrinter, stair: Stair, count: str) -> None:
    """They begin where the one before ends, and none is longer than the one before."""
    ptr = stair.ptr
    p.fail(f"{ptr}[0] != 0 || {ptr}[{count}] != {stair.size}", "RANGE")
    p.w.open(f"for (int64_t x = 0; x < {count}; x++)")
    p.fail(f"{ptr}[x + 1] < {ptr}[x]", "UNSORTED")
    p.fail(f"x > 0 && {ptr}[x + 1] - {ptr}[x] > {ptr}[x] - {ptr}[x - 1]", "UNSORTED")
    p.w.close()


def _monotonic(p: StepPrinter, lay: Layout, a: Call, sign: str) -> None:
    if lay.desc.function(a.id) is None or len(a.args) != 1 or any(q.ptr == a.id for q in lay.positions):
        return
    wrong = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}[sign]
    p.w.open(f"for (int64_t x = 0; x < {p.c(sizes(lay)[a.id][0] - 1)}; x++)")
    p.fail(f"{a.id}[x] {wrong} {a.id}[x + 1]", "UNSORTED")
    p.w.close()


def _entries(p: StepPrinter, lay: Layout, given: tuple[str, ...]) -> None:
    """Coordinates within the extents, and entries in the order of the format's numbers."""
    s = scan(lay)
    full = lay.full
    order = full.order if full else None
    words: list[str] = []
    if full and order and order.parts and not full.group:
        s = _by_position(lay, full)
        at = dict(zip(lay.coords, s.coords, strict=True))
        down = "~" if order.down else ""
        words = [f"{down}({w})" for e in order.parts for w in p.word(subst(e, at))]
    ranged = [f"{p.c(e)} < 0 || {p.c(e)} >= {n}" for e, n in zip(s.coords, given, strict=True) if not _loop(s.nest, e)]
    ranged += [false_condition(Constraint(subst(c.exp, s.env), True), p.extents)
               for c in lay.desc.map.cons if stored_code(c)]
    if not words and not ranged:
        return
    # Segments with ends of their own may lie anywhere: where an order of entries is promised, positions have to rise
    # from entry to entry, too.
    anywhere = full is not None and bool(full.segment.low) and not full.segment.chained
    position = p.c(s.env[full.var]) if full and words and anywhere and _promises(lay) else ""
    p.w.open("")
    if words:
        p.w.line(f"uint64_t last[{len(words)}] = {{0}};")
    if position:
        p.w.line("int64_t before = -1;")

    def body() -> None:
        if ranged:
            p.fail(" || ".join(ranged), "RANGE")
        if words:
            p.w.line(f"const uint64_t now[] = {{{', '.join(words)}}};")
            p.fail(f"tw_below(now, last, {len(words)})", "UNSORTED")
            p.w.line("memcpy(last, now, sizeof last);")
        if position:
            p.fail(f"{position} <= before", "UNSORTED")
            p.w.line(f"before = {position};")

    p.nest(s.nest, body)
    p.w.close()


def _promises(lay: Layout) -> bool:
    """Whether the format promises an order of entries, besides those of arrays."""
    keys = ((single(q.key), var(q.variable)) for q in lay.desc.quantifiers)
    return any(not (isinstance(a, Call) and a.args == (x,) and lay.desc.function(a.id)) for a, x in keys)


def _by_position(lay: Layout, full: Position) -> Scan:
    """The entries in the order of their position: as they are read where only the loops around its segments stand
    around it, else with its loop outermost."""
    s = scan(lay)
    around, todo = set[str](), [full.var]
    while todo:
        above = {a for q in lay.positions if q.var == todo[-1] for a in q.segment.above} - around
        todo = [*todo[:-1], *above]
        around |= above
    if full.var not in s.loops or set(s.loops[: s.loops.index(full.var)]) <= around:
        return s
    return scan(lay, (full.var, *(v for v in lay.desc.map.ins if v != full.var)))


def _loop(nest: tuple[object, ...], e: Exp) -> bool:
    """A loop over the extent itself cannot leave it."""
    return any(isinstance(x, For) and e == var(x.var) for x in nest)
