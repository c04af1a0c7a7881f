"""The optimised chain: how each position gets its numbers, in which order entries must come, and the fill.

Mechanisms, chosen by what the constraints say and never by the format's name:

- full      one number for each entry, in the destination's order: as the entries come, or by counting into buckets
- rank      one number for each entry of a group: counting
- table     numbers for the distinct values of one bounded integer: mark, number, look up
- segment   numbers for distinct values within a parent of bounded range: a marker for each value, entries grouped
- run       numbers for runs of equal keys in sorted entries
"""
from __future__ import annotations

from dataclasses import replace

from codegen.record import record
from codegen.sparse.algebra.expr import Exp, call, num, subst, var
from codegen.sparse.algebra.relation import equal
from codegen.sparse.ir.model import (
    FLAG,
    INDEX,
    RECORD,
    VALUE,
    Alloc,
    Computation,
    Count,
    Define,
    For,
    Free,
    Gather,
    Let,
    Loop,
    Max,
    Number,
    Once,
    OnChange,
    Prefix,
    Radix,
    Recall,
    Reject,
    Require,
    Scatter,
    Shrink,
    SortSegments,
    Step,
    Stmt,
    Store,
    Sweep,
    Tick,
    Word,
)
from codegen.sparse.synth.bounds import bounds, is_key, linear, volume
from codegen.sparse.synth.layout import unsolved
from codegen.sparse.synth.pair import REJECT, Pair, Place, sizes, symbols
from codegen.sparse.synth.source import orders, scan, sorted_by
from codegen.sparse.synth.stream import Stream, of_arrays, of_scan

FULL, RANK, TABLE, SEGMENT, RUN = "full", "rank", "table", "segment", "run"


@record
class Plan:
    """What was decided: a mechanism for each place, the order entries must come in, how they get into it."""

    how: tuple[str, ...]
    order: tuple[Exp, ...]
    down: bool
    stream: Stream
    move: str
    log: tuple[str, ...]


def choose(p: Pair) -> Plan:
    """The plan for a pair."""
    how = tuple(_mechanism(p, place) for place in p.places)
    if any(h in (RUN, FULL) and place.order.parts for h, place in zip(how, p.places, strict=True)):
        how = tuple(RUN if h == TABLE else h for h in how)  # sorted anyway, so runs cost less than a table
    if RUN in how:
        how = tuple(RUN if h == SEGMENT else h for h in how)
    wanted = [_wanted(p, place, h) for place, h in zip(p.places, how, strict=True)]
    order = max(wanted, key=len, default=())
    for w, place in zip(wanted, p.places, strict=True):
        if order[:len(w)] != w:
            raise unsolved(p.target.desc, f"{place.pos.var} needs an order of its own")
    down = any(place.order.down for place in p.places if place.order.parts)
    log = tuple(f"position {place.pos.var}: {h}, keyed on {', '.join(str(_in_source(p, k)) for k in place.pos.key)}"
                for place, h in zip(p.places, how, strict=True))
    want = tuple(_in_source(p, e) for e in order)
    for o in orders(p.source):
        s = scan(p.source, o)
        if sorted_by(p.source, s, want, down):
            note = f"order {_text(want)} already holds; no permutation, loops {', '.join(o)}"
            return Plan(how, order, down, of_scan(s), "none", (*log, note))
    stream = of_scan(scan(p.source))
    counting = len(order) == 1 and not is_key(order[0]) and not down
    direct = counting and all(h in (FULL, RANK, TABLE) for h in how)
    move = "scatter" if direct else "count" if counting else "radix"
    words = {"scatter": "counting, entries go straight to their places", "count": "counting into temporaries",
             "radix": "radix sort on precomputed keys"}
    return Plan(how, order, down, stream, move, (*log, f"permutation by {_text(want)}: {words[move]}"))


def _in_source(p: Pair, e: Exp) -> Exp:
    return subst(e, {t: var(s) for t, s in zip(p.target.coords, p.source.coords, strict=True)})


def _limits(p: Pair, e: Exp) -> tuple[Exp, Exp] | None:
    return bounds(e, {x: var(n) for x, n in zip(p.target.coords, p.shape, strict=True)})


def _mechanism(p: Pair, place: Place) -> str:
    pos = place.pos
    if not place.dedup:
        return RANK if pos.group else FULL
    if not pos.ptr and not pos.group and len(place.order.parts) == 1 and _limits(p, place.order.parts[0]):
        return TABLE
    resolved = dict(p.target.resolved)
    grouped = (pos.ptr and pos.parent in resolved) or len(pos.group) == 1
    limits = _limits(p, pos.values[0][1])
    small = limits is not None and limits[0] == num(0) and len(pos.values) == 1
    return SEGMENT if grouped and small and not place.order.down else RUN


def _wanted(p: Pair, place: Place, how: str) -> tuple[Exp, ...]:
    if how in (FULL, RUN):
        if how == RUN and place.pos.group:
            raise unsolved(p.target.desc, f"{place.pos.var} counts within groups and needs sorting too")
        return place.order.parts
    return (_owner(p, place),) if how == SEGMENT else ()


def _owner(p: Pair, place: Place) -> Exp:
    """What a segment belongs to."""
    return place.pos.group[0] if place.pos.group else dict(p.target.resolved)[place.pos.parent]


def as_they_come(p: Pair, place: Place) -> bool:
    """Are keys that only differ in what nobody promises numbered as they are met? Both chains must agree on it."""
    return bool(place.order.free) and choose(p).how[p.places.index(place)] == SEGMENT


def lower(p: Pair, sorted_input: bool = False) -> Computation:
    """The chain of steps for a pair; `sorted_input`: as if the entries came in the order the destination needs."""
    plan = choose(p)
    if sorted_input:
        order = tuple(_in_source(p, e) for e in plan.order)
        plan = replace(plan, move="none", log=(*plan.log[:-1], f"entries come in order of {_text(order)}"))
    return _Chain(p, plan).run()


def _text(parts: tuple[Exp, ...]) -> str:
    return f"[{', '.join(map(str, parts))}]"


def may_be_sorted(p: Pair) -> tuple[Stream, tuple[Exp, ...]] | None:
    """Where entries must be moved, but a look at their integer keys may show that they need not be."""
    plan = choose(p)
    loops = [x for x in plan.stream.nest if isinstance(x, For)]
    if plan.move == "none" or plan.down or len(loops) != 1 or any(is_key(e) for e in plan.order):
        return None
    return plan.stream, tuple(plan.stream.at(p.target, e) for e in plan.order)


class _Chain:
    def __init__(self, p: Pair, plan: Plan) -> None:
        self.p, self.plan, self.t = p, plan, p.target
        self.stream = plan.stream
        self.sizes = sizes(p.target)
        self.steps: list[Step] = []
        self.env: dict[str, Exp] = {}
        self.counter = ""
        self.entries: Exp | None = plan.stream.count
        self.temps: list[str] = []

    def run(self) -> Computation:
        t = self.t
        for n, e in t.desc.lets:
            self.add(Define(n, e))
        self.arrange()
        self.env = {v: self.at(e) for v, e in t.resolved}
        for place, how in zip(self.p.places, self.plan.how, strict=True):
            getattr(self, f"number_{how}")(place)
        self.allocate()
        self.fill()
        for temp in self.temps:
            self.add(Free(temp))
        live = frozenset({*t.desc.shape, *symbols(t), *self.sizes})
        return Computation(tuple(self.steps), live, self.plan.log)

    def add(self, *steps: Step) -> None:
        self.steps += steps

    def at(self, e: Exp) -> Exp:
        """Destination coordinates as the stream has them, destination variables as far as they are known."""
        return subst(self.stream.at(self.t, e), self.env)

    def named(self, e: Exp) -> str:
        """An expression in the source's names, for people."""
        return str(_in_source(self.p, e))

    def temp(self, name: str, size: Exp, kind: str = INDEX, fill: int | None = None) -> str:
        self.add(Alloc(name, size, kind, fill))
        self.temps.append(name)
        return name

    def total(self) -> Exp:
        """How many entries there are, counted when nobody knows."""
        if self.entries is None:
            self.add(Define("entries", num(0)),
                     Loop(self.stream.nest, (Store("entries", None, num(1), "+="),), "count the entries"),
                     Define("entries", var("entries")))
            self.entries = var("entries")
        return self.entries

    # --- order -------------------------------------------------------------------------------------------------

    def arrange(self) -> None:
        if self.plan.move == "count":
            self.by_counting()
        elif self.plan.move == "radix":
            self.by_radix()

    def by_counting(self) -> None:
        part = self.plan.order[0]
        low, high = self.need(part)
        size, index = high - low + 1, self.stream.at(self.t, part) - low
        start = self.temp("start", size + 2, INDEX, 0)
        total = self.total()
        self.add(Count(self.stream.nest, start, index, size, f"entries for each {self.named(part)}"))
        self.add(Prefix(start, size))
        # One record for each entry: one place to write, not one in every array.
        to = self.temp("to", total, f"{RECORD}{self.t.desc.rank}")
        arrays, values = tuple(f"{to}[].x{d}" for d in range(self.t.desc.rank)), f"{to}[].v"
        stores = tuple(Store(a, var("o"), c) for a, c in zip(arrays, self.stream.coords, strict=True))
        body = (*stores, Store(values, var("o"), self.stream.value))
        note = f"entries grouped by {self.named(part)}"
        self.add(Scatter(self.stream.nest, "o", start, index, size, body, note))
        self.stream = of_arrays(arrays, values, total)

    def by_radix(self) -> None:
        total = self.total()
        words = []
        for part in self.plan.order:
            low, high = _limits(self.p, part) or (num(0), num(-1))
            words.append(Word(self.stream.at(self.t, part), low, high, self.plan.down))
        arrays = tuple(self.temp(f"to{d}", total) for d in range(self.t.desc.rank))
        values = self.temp("to", total, VALUE)
        note = f"entries sorted by {', '.join(map(self.named, self.plan.order))}"
        self.add(Radix(self.stream.nest, tuple(words), self.stream.coords, tuple(var(n) for n in self.p.shape),
                       self.stream.value, arrays, values, total,
                       note, self.stream.position))
        self.stream = of_arrays(arrays, values, total)

    def need(self, e: Exp) -> tuple[Exp, Exp]:
        found = _limits(self.p, e)
        assert found is not None  # counting is only chosen for bounded keys
        return found

    # --- numbers -----------------------------------------------------------------------------------------------

    def number_full(self, place: Place) -> None:
        pos = place.pos
        if self.plan.move == "scatter":
            part = self.plan.order[0]
            low, high = self.need(part)
            size, index = high - low + 1, self.at(part) - low
            owns = pos.ptr and low == num(0) and part == dict(self.t.resolved).get(pos.parent) \
                and self.sizes[pos.ptr] == (size + 1,)
            self.counter = pos.ptr if owns else "start"
            if owns:
                self.add(Alloc(pos.ptr, size + 2, INDEX, 0))
            else:
                self.temp("start", size + 2, INDEX, 0)
            self.add(Count(self.stream.nest, self.counter, index, size, f"entries for each {self.named(part)}"),
                     Prefix(self.counter, size), Define(pos.size, self.entries or call(self.counter, size + 1)))
        else:
            self.add(Define(pos.size, self.total()))

    def number_rank(self, place: Place) -> None:
        pos = place.pos
        group = self.groups(pos.group)
        size = volume(tuple(high + 1 for _, high in (self.need(g) for g in pos.group)))
        start = self.temp("start", size + 2, INDEX, 0)
        self.counter = start
        self.add(Count(self.stream.nest, start, group, size, "entries of each group"), Max(pos.size, start, size))

    def groups(self, group: tuple[Exp, ...]) -> Exp:
        return linear(tuple(self.need(g)[1] + 1 for g in group), tuple(self.at(g) for g in group))

    def number_table(self, place: Place) -> None:
        pos = place.pos
        (part,) = place.order.parts
        low, high = self.need(part)
        size = high - low + 1
        table = self.temp(f"{pos.var}_of", size, INDEX, 0)
        note = f"mark which {self.named(part)} there are"
        self.add(Loop(self.stream.nest, (Store(table, self.at(part) - low, num(1)),), note),
                 Number(table, size, pos.size, place.order.down))
        (f, _), *_ = pos.values
        self.add(Alloc(f, volume(self.sizes[f])), Gather(f, table, size, low))
        self.env[pos.var] = call(table, self.at(part) - low)

    def number_segment(self, place: Place) -> None:
        pos = place.pos
        owner, (f, local) = _owner(self.p, place), pos.values[0]
        (_, top), (low, high) = self.need(owner), self.need(local)
        size = top + 1
        ptr = pos.ptr or "segment"
        seen = self.temp("seen", high - low + 1, INDEX, -1)
        self.add(Alloc(ptr, size + 1, INDEX, 0))
        found = f if pos.ptr else "found"
        total = self.total()
        self.add(Alloc(found, total))
        if not pos.ptr:
            self.temps += [ptr, found]
        at = self.at(local)
        body = Once(seen, at - low, self.at(owner), (
            Store(found, var("distinct"), at),
            Store("distinct", None, num(1), "+="),
            Store(ptr, self.at(owner) + 1, var("distinct")),
        ))
        note = f"find the distinct {self.named(local)} of each {self.named(owner)}"
        self.add(Define("distinct", num(0)), Loop(self.stream.nest, (body,), note, True),
                 Sweep(ptr, size, "<="))
        if not place.order.free:
            self.add(SortSegments(found, ptr, size))
        if self.p.policy == REJECT and pos.full:
            self.add(Require(equal(var("distinct"), total), "DUPLICATE"))
        if pos.ptr:
            self.add(Define(pos.size, var("distinct")), Shrink(f, var("distinct")))
        else:
            self.widest(pos.size, ptr, size)

    def widest(self, name: str, ptr: str, size: Exp) -> None:
        x = var("x")
        self.add(Define(name, num(0)), Loop((For("x", num(0), size),),
                 (Store(name, None, call(ptr, x + 1) - call(ptr, x), "max"),), "the longest group", True))

    def number_run(self, place: Place) -> None:
        """All runs are counted in one loop, when the last of them comes."""
        last = [q for q, h in zip(self.p.places, self.plan.how, strict=True) if h == RUN][-1]
        if place is not last:
            return
        runs = [q for q, h in zip(self.p.places, self.plan.how, strict=True) if h == RUN]
        body = tuple(OnChange(q.pos.var, self.keys(q), ()) for q in runs)
        self.add(Loop(self.stream.nest, body, "count the runs", True))
        self.add(*(Define(q.pos.size, var(q.pos.var) + 1) for q in runs))
        if self.p.policy == REJECT and last.pos.full:
            self.add(Require(equal(var(last.pos.size), self.total()), "DUPLICATE"))

    def keys(self, place: Place) -> tuple[Exp, ...]:
        return tuple(self.at(k) for k in place.pos.key)

    # --- arrays and their elements -----------------------------------------------------------------------------

    def allocate(self) -> None:
        have = {s.array for s in self.steps if isinstance(s, Alloc)}
        for f in self.t.desc.functions:
            if f.name not in have:
                ptr = any(q.pos.ptr == f.name for q in self.p.places)
                fill = f.fill if f.fill is not None else 0 if ptr else None
                self.add(Alloc(f.name, volume(self.sizes[f.name]), INDEX, fill))
        data = self.t.desc.data
        self.add(Alloc(data, self.sizes[data][0], VALUE, 0 if self.t.desc.fill or self.summed else None))
        if self.p.policy == REJECT and self.t.unique:
            self.temp("taken", div8(self.sizes[data][0]), FLAG, 0)

    @property
    def summed(self) -> bool:
        return self.p.adds and (self.t.unique or any(q.pos.full and q.dedup for q in self.p.places))

    def fill(self) -> None:
        loops: list[tuple[tuple[Stmt, ...], str]] = []
        head: list[Stmt] = []
        sweeps: list[Step] = []
        carried = False
        for place, how in zip(self.p.places, self.plan.how, strict=True):
            pos = place.pos
            if how == FULL:
                self.place_full(place, head, loops, sweeps)
            elif how == RANK:
                self.env[pos.var] = var(pos.var)
                loops += self.stores(place)
            elif how == SEGMENT:
                head.append(self.recall(place))
                if not pos.ptr:
                    head.append(Let(pos.var, var("q") - call("segment", self.at(_owner(self.p, place)))))
                self.env[pos.var] = var(pos.var)
                loops += self.stores(place) if not pos.ptr else []
                carried = True
            elif how == RUN:
                carried = True
                self.env[pos.var] = var(pos.var)
                inner = tuple(s for body, _ in self.stores(place) for s in body)
                if pos.ptr:
                    above = self.at(var(pos.parent)) + 1
                    inner = (*inner, Store(pos.ptr, above, var(pos.var) + 1))
                    if pos.parent in dict(self.t.resolved):
                        sweeps.append(Sweep(pos.ptr, self.sizes[pos.ptr][0] - 1, "<="))
                head.append(OnChange(pos.var, self.keys(place), inner))
        index = self.at(self.t.desc.access)
        value: tuple[Stmt, ...] = (Store(self.t.desc.data, index, self.stream.value, "+=" if self.summed else "="),)
        if self.p.policy == REJECT and self.t.unique:
            value = (Reject("taken", index), *value)
        loops.append((value, "copy the values"))
        self.emit_fill(tuple(head), loops, carried)
        self.add(*sweeps)

    def stores(self, place: Place) -> list[tuple[tuple[Stmt, ...], str]]:
        out: list[tuple[tuple[Stmt, ...], str]] = []
        for f, e in place.pos.values:
            d = self.t.desc.function(f)
            assert d is not None
            args = self.arguments(f)
            out.append(((Store(f, linear(self.sizes[f], args), self.at(e)),), f"fill {f} with {self.named(e)}"))
        return out

    def arguments(self, f: str) -> tuple[Exp, ...]:
        """The arguments the map calls a function with."""
        from codegen.sparse.algebra.expr import calls

        found = next(c for con in self.t.desc.map.cons if con.equal for c in calls(con.exp) if c.id == f)
        return tuple(self.at(a) for a in found.args)

    def recall(self, place: Place) -> Stmt:
        pos = place.pos
        owner, (f, local) = _owner(self.p, place), pos.values[0]
        ptr, found = pos.ptr or "segment", f if pos.ptr else "found"
        at, low = self.at(owner), self.need(local)[0]
        return Recall(pos.var if pos.ptr else "q", "seen", found, at, call(ptr, at), call(ptr, at + 1),
                      self.at(local) - low)

    def place_full(self, place: Place, head: list[Stmt], loops: list[tuple[tuple[Stmt, ...], str]],
                   sweeps: list[Step]) -> None:
        pos = place.pos
        if self.plan.move == "scatter" or self.stream.position is None:
            self.env[pos.var] = var(pos.var)
        else:
            self.env[pos.var] = self.stream.position
        loops += self.stores(place)
        if pos.ptr and not (self.plan.move == "scatter" and self.counter == pos.ptr):
            loops.append(((Store(pos.ptr, self.at(var(pos.parent)) + 1, self.env[pos.var] + 1),), f"fill {pos.ptr}"))
            if pos.parent in dict(self.t.resolved):
                sweeps.append(Sweep(pos.ptr, self.sizes[pos.ptr][0] - 1, "<="))

    def emit_fill(self, head: tuple[Stmt, ...], loops: list[tuple[tuple[Stmt, ...], str]], carried: bool) -> None:
        full = next((q for q, h in zip(self.p.places, self.plan.how, strict=True) if h == FULL), None)
        body = tuple(s for b, _ in loops for s in b)
        if self.counter:
            place = full or next(q for q, h in zip(self.p.places, self.plan.how, strict=True) if h == RANK)
            count = next(s for s in self.steps if isinstance(s, Count) and s.counter == self.counter)
            self.add(Scatter(self.stream.nest, place.pos.var, self.counter, count.index, count.size, (*head, *body),
                             "every entry to its place", full is None))
            return
        nest = self.stream.nest
        if full and self.stream.position is None:
            self.add(Loop((*nest, Tick(full.pos.var)), (*head, *body), "every entry in turn", True))
            return
        if head:
            self.add(Loop(nest, (*head, *body), "every entry in turn", carried))
            return
        flat = sum(isinstance(x, For) for x in nest) == 1
        # Entries of one segment store to one pointer; only a loop over the segments keeps them on one thread.
        pointers = {q.pos.ptr for q in self.p.places if q.pos.ptr}
        for body_, note in loops:
            shared = next((x for x in body_ if isinstance(x, Store) and x.target in pointers), None)
            summed = any(isinstance(x, Store) and x.op == "+=" for x in body_)
            if shared is not None and flat:
                self.add(Loop(nest, body_, note, grouped=shared.index, follow=True))
            elif summed and flat and self.t.unique:
                self.add(Loop(nest, body_, note, grouped=self.stream.coords[0]))
            else:
                self.add(Loop(nest, body_, note))


def div8(e: Exp) -> Exp:
    from codegen.sparse.algebra.expr import div

    return div(e + 7, 8)


