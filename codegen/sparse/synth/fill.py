"""Part of the optimised lowering (fast.py): adds the steps that allocate the destination's arrays, and the loops that
give every element its value."""
from __future__ import annotations

from codegen.sparse.algebra.expr import Exp, call, div, num, var
from codegen.sparse.algebra.terms import calls
from codegen.sparse.formats.model import Function
from codegen.sparse.ir.counting import Count, Scatter
from codegen.sparse.ir.model import Alloc, Loop, Step, Sweep
from codegen.sparse.ir.nest import FLAG, INDEX, VALUE, For, Let, Tick
from codegen.sparse.ir.statement import OnChange, Recall, Reject, Stmt, Store
from codegen.sparse.synth.bounds import linear, volume
from codegen.sparse.synth.mechanisms import FULL, RANK, RUN, SEGMENT
from codegen.sparse.synth.model import Layout
from codegen.sparse.synth.numbers import Numbered
from codegen.sparse.synth.pair import REJECT, Place


class Filled(Numbered):
    """The chain up to its end."""

    def allocate(self) -> None:
        have = {s.array for s in self.steps if isinstance(s, Alloc)}
        for f in self.t.desc.functions:
            if f.name not in have:
                self.add(Alloc(f.name, self.room(f.name), INDEX, first_value(self.t, f)))
        data = self.t.desc.data
        full = self.t.full
        holes = self.t.desc.fill or self.summed or not full or self.t.desc.access != var(full.at[0])
        self.add(Alloc(data, self.sizes[data][0], VALUE, 0 if holes else None))
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
                self.env[pos.var] = var(pos.var) + self.first(place)
                if pos.stair:
                    self.env[pos.stair.var] = call(pos.stair.ptr, self.env[pos.var]) + self.at(pos.group[0])
                loops += self.stores(place)
            elif how == SEGMENT:
                head.append(self.recall(place))
                if pos.group:
                    rank = var("q") - call("segment", self.at(self.owner(place)))
                    head.append(Let(pos.var, rank + self.first(place)))
                self.env[pos.var] = var(pos.var)
                loops += self.stores(place) if pos.group else []
                carried = True
            elif how == RUN:
                carried = True
                self.env[pos.var] = var(pos.var)
                inner = tuple(s for body, _ in self.stores(place) for s in body)
                if pos.ptr:
                    inner = (*inner, Store(pos.ptr, self.end_of(place), var(pos.var) + 1))
                    if pos.parent in dict(self.t.resolved):
                        sweeps.append(Sweep(pos.ptr, self.room(pos.ptr) - 1, "<="))
                head.append(OnChange(pos.var, self.keys(place), inner))
        index = self.at(self.t.desc.access)
        value: tuple[Stmt, ...] = (Store(self.t.desc.data, index, self.stream.value, "+=" if self.summed else "="),)
        if self.p.policy == REJECT and self.t.unique:
            value = (Reject("taken", index), *value)
        loops.append((value, "copy the values"))
        self.emit_fill(tuple(head), loops, carried)
        self.add(*sweeps)
        self.ends()

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
        found = next(c for con in self.t.desc.map.cons if con.equal for c in calls(con.exp) if c.id == f)
        return tuple(self.at(a) for a in found.args)

    def recall(self, place: Place) -> Stmt:
        pos = place.pos
        owner, (f, local) = self.owner(place), pos.values[0]
        ptr, found = ("segment", "found") if pos.group else (pos.ptr, f)
        at, (low, high) = self.at(owner), self.need(local)
        return Recall("q" if pos.group else pos.var, "seen", found, at, call(ptr, at), call(ptr, at + 1),
                      self.at(local) - low, high - low + 1)

    def place_full(self, place: Place, head: list[Stmt], loops: list[tuple[tuple[Stmt, ...], str]],
                   sweeps: list[Step]) -> None:
        pos = place.pos
        if self.plan.move == "scatter" or self.stream.position is None:
            self.env[pos.var] = var(pos.var)
        else:
            self.env[pos.var] = self.stream.position
        loops += self.stores(place)
        if pos.ptr and not (self.plan.move == "scatter" and self.counter == pos.ptr):
            loops.append(((Store(pos.ptr, self.end_of(place), self.env[pos.var] + 1),), f"fill {pos.ptr}"))
            if pos.parent in dict(self.t.resolved):
                sweeps.append(Sweep(pos.ptr, self.room(pos.ptr) - 1, "<="))

    def end_of(self, place: Place) -> Exp:
        """Where the array of starts has the end of the entry's segment: the element after its start."""
        above = tuple(self.at(var(u)) for u in place.pos.segment.above)
        return linear(self.sizes[place.pos.ptr], (*above[:-1], above[-1] + 1))

    def first(self, place: Place) -> Exp:
        """The first number of the entry's segment, for positions that are counted within it."""
        if not place.pos.ptr:
            return num(0)
        above = tuple(self.at(var(u)) for u in place.pos.segment.above)
        return call(place.pos.ptr, linear(self.sizes[place.pos.ptr], above))

    def ends(self) -> None:
        """Ends of segments that have an array of their own: each is the next one's start."""
        for segment in (q.pos.segment for q in self.p.places):
            if segment.low and not segment.chained:
                size, x = volume(self.sizes[segment.high]), var("x")
                self.add(Loop((For("x", num(0), size),), (Store(segment.high, x, call(segment.low, x + 1)),),
                              f"fill {segment.high}"))

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
            recalled = next((s for s in head if isinstance(s, Recall)), None)
            group = recalled.key if recalled and not any(isinstance(s, OnChange) for s in head) else None
            self.add(Loop(nest, (*head, *body), "every entry in turn", carried, grouped=group,
                          follow=group is not None))
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


def first_value(t: Layout, f: Function) -> int | None:
    """What the elements of a function's array hold at first; None where each gets its value from an entry."""
    if f.fill is not None:
        return f.fill
    pointer = any(f.name in (q.segment.low, q.segment.high) for q in t.positions)
    beyond = any(q.counts and f.name in dict(q.values) for q in t.positions)  # what no count speaks of
    return 0 if pointer or beyond else None


def div8(e: Exp) -> Exp:
    return div(e + 7, 8)
