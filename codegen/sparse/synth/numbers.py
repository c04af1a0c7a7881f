"""Numbers for the positions of the destination: one method for each mechanism."""
from __future__ import annotations

from codegen.sparse.algebra.expr import Exp, call, num, var
from codegen.sparse.algebra.relation import equal
from codegen.sparse.ir.counting import Count, Distinct, Gather, Max, Number, Prefix
from codegen.sparse.ir.model import Alloc, Define, Loop, Require, Shrink, Sweep
from codegen.sparse.ir.nest import INDEX, For
from codegen.sparse.ir.sorting import SortSegments
from codegen.sparse.ir.statement import OnChange, Store
from codegen.sparse.synth.arrange import Arranged
from codegen.sparse.synth.bounds import linear, volume
from codegen.sparse.synth.mechanisms import RUN, owner_of
from codegen.sparse.synth.pair import REJECT, Place


class Numbered(Arranged):
    """Entries in order, and counts, tables and segments that tell their places."""

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
        owner, (f, local) = owner_of(self.p, place), pos.values[0]
        (_, top), (low, high) = self.need(owner), self.need(local)
        size = top + 1
        ptr = pos.ptr or "segment"
        seen = self.temp("seen", high - low + 1, INDEX, -1, each=True)
        self.add(Alloc(ptr, size + 1, INDEX, 0))
        found = f if pos.ptr else "found"
        total = self.total()
        self.add(Alloc(found, total))
        if not pos.ptr:
            self.temps += [ptr, found]
        at = self.at(local)
        note = f"find the distinct {self.named(local)} of each {self.named(owner)}"
        counted = pos.ptr or (self.p.policy == REJECT and pos.full)
        self.add(Distinct(self.stream.nest, self.at(owner), at, at - low, high - low + 1, seen, found, ptr,
                          "distinct" if counted else "", note), Sweep(ptr, size, "<="))
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
