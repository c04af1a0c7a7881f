"""Emits the steps of an optimised sparse conversion that number the destination's positions (counts, prefix sums,
tables, segments, runs): class `Numbered` has one method for each mechanism that `mechanisms.py` chooses."""
from __future__ import annotations

from collections.abc import Callable

from codegen.sparse.algebra.expr import Exp, call, num, var
from codegen.sparse.algebra.relation import equal
from codegen.sparse.ir.counting import Count, Distinct, Gather, Max, Number, Prefix
from codegen.sparse.ir.model import Alloc, Define, Loop, Require, Shrink, Sweep
from codegen.sparse.ir.nest import INDEX, For
from codegen.sparse.ir.sorting import SortSegments
from codegen.sparse.ir.statement import OnChange, Store
from codegen.sparse.synth.arrange import Arranged
from codegen.sparse.synth.bounds import linear, volume
from codegen.sparse.synth.mechanisms import RUN, owner_of, owns_counts
from codegen.sparse.synth.model import Position, Stair
from codegen.sparse.synth.pair import REJECT, Place


class Numbered(Arranged):
    """Entries in order, and counts, tables and segments that tell their places."""

    def number_full(self, place: Place) -> None:
        pos = place.pos
        if self.plan.move == "scatter":
            part = self.plan.order[0]
            low, high = self.need(part)
            size, index = high - low + 1, self.at(part) - low
            owns = owns_counts(self.p, place, part)
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
        self.add(Count(self.stream.nest, start, group, size, "entries of each group"))
        self.counted(place, lambda g: call(start, g + 2))
        if not pos.ptr:
            self.add(Max(pos.size, start, size))
        if pos.stair:
            self.diagonals(pos, pos.stair, size, lambda g: call(start, g + 2))

    def diagonals(self, pos: Position, stair: Stair, rows: Exp, count: Callable[[Exp], Exp]) -> None:
        """Starts of jagged diagonals. Rows have ever fewer entries: diagonal s is as long as there are rows of more
        than s, and the last of these rows tells how many."""
        x, n = var("x"), var(pos.size)
        self.add(Alloc(stair.ptr, n + 1, INDEX, 0),
                 Loop((For("x", num(0), rows),), (Store(stair.ptr, count(x), x + 1, "max"),),
                      "the last row of each length", True),
                 Loop((For("x", num(1), n),), (Store(stair.ptr, n - x, call(stair.ptr, n - x + 1), "max"),),
                      "rows that are longer", True),
                 Loop((For("x", num(0), num(1)),), (Store(stair.ptr, x, num(0)),), "the first one", True),
                 Loop((For("x", num(1), n + 1),), (Store(stair.ptr, x, call(stair.ptr, x - 1), "+="),),
                      "diagonals one after the other", True),
                 Define(stair.size, call(stair.ptr, n)))

    def counted(self, place: Place, count: Callable[[Exp], Exp]) -> None:
        """Arrays that follow from how many numbers each group takes: their counts, or the starts of segments."""
        pos = place.pos
        spans = tuple(self.need(g)[1] + 1 for g in pos.group)
        loops = tuple(For(f"g{n}", num(0), s) for n, s in enumerate(spans))
        at = tuple(var(x.var) for x in loops)
        if pos.counts:
            args = tuple(at[pos.group.index(e)] for e in self.above(place))
            store = Store(pos.counts, linear(self.sizes[pos.counts], args), count(linear(spans, at)))
            self.add(Alloc(pos.counts, volume(self.sizes[pos.counts]), INDEX, 0),
                     Loop(loops, (store,), f"fill {pos.counts} with how many there are", True))
        elif pos.ptr:
            args = tuple(at[pos.group.index(e)] for e in self.above(place))
            sizes, x = self.sizes[pos.ptr], var("x")
            after = linear(sizes, (*args[:-1], args[-1] + 1))
            self.add(Alloc(pos.ptr, volume(sizes), INDEX, 0),
                     Loop(loops, (Store(pos.ptr, after, count(linear(spans, at)), "max"),),
                          "the longest of each segment", True),
                     Loop((For("x", num(1), volume(sizes)),), (Store(pos.ptr, x, call(pos.ptr, x - 1), "+="),),
                          "segments one after the other", True),
                     Define(pos.size, call(pos.ptr, volume(sizes) - 1)))

    def above(self, place: Place) -> tuple[Exp, ...]:
        """The variables that count segments, as coordinates of the destination."""
        resolved = dict(self.t.resolved)
        return tuple(resolved[u] for u in place.pos.segment.above)

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
        owner, (f, local) = self.owner(place), pos.values[0]
        (_, top), (low, high) = self.need(owner), self.need(local)
        size = top + 1
        ptr = "segment" if pos.group else pos.ptr
        seen = self.temp("seen", high - low + 1, INDEX, -1, each=True)
        self.add(Alloc(ptr, size + 1, INDEX, 0))
        found = "found" if pos.group else f
        total = self.total()
        self.add(Alloc(found, total))
        if pos.group:
            self.temps += [ptr, found]
        at = self.at(local)
        note = f"find the distinct {self.named(local)} of each {self.named(owner)}"
        counted = not pos.group or (self.p.policy == REJECT and pos.full)
        self.add(Distinct(self.stream.nest, self.at(owner), at, at - low, high - low + 1, seen, found, ptr,
                          "distinct" if counted else "", note), Sweep(ptr, size, "<="))
        if not place.order.free:
            self.add(SortSegments(found, ptr, size))
        if self.p.policy == REJECT and pos.full:
            self.add(Require(equal(var("distinct"), total), "DUPLICATE"))
        if pos.group:
            self.counted(place, lambda g: call(ptr, g + 1) - call(ptr, g))
        if not pos.group:
            self.add(Define(pos.size, var("distinct")), Shrink(f, var("distinct")))
        elif not pos.ptr:
            self.widest(pos.size, ptr, size)

    def owner(self, place: Place) -> Exp:
        found = owner_of(self.p, place)
        assert found is not None  # segments are only chosen for what has an owner
        return found

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
