"""Lowers a sparse format conversion (`Pair`) to a `Computation` without optimisation: one loop over the source's
entries for each statement of the derivation, sorted lists for the destination's positions.

A permutation is a list of key tuples that is filled (case 4), sorted by comparison and asked for the rank of an entry;
a position that entries share is a list without repeats, in which keys are searched. Every monotonic function is
filled by minimum and maximum (cases 2 and 3) and repaired by a sweep. Correct, slow, and kept as the reference.
"""
from __future__ import annotations

from codegen.sparse.algebra.expr import Exp, call, num, var
from codegen.sparse.algebra.relation import equal
from codegen.sparse.algebra.terms import subst
from codegen.sparse.ir.model import Alloc, Computation, Define, Free, Loop, Require, Step, Sweep
from codegen.sparse.ir.nest import FLAG, INDEX, VALUE, For, Let, Tick
from codegen.sparse.ir.sorting import NewList, SortList
from codegen.sparse.ir.statement import Find, Insert, Reject, Stmt, Store
from codegen.sparse.synth.bounds import linear, volume
from codegen.sparse.synth.fill import div8, first_value
from codegen.sparse.synth.inside import inside
from codegen.sparse.synth.mechanisms import as_they_come
from codegen.sparse.synth.model import Position, Stair
from codegen.sparse.synth.pair import REJECT, Pair, Place, room, sizes, symbols
from codegen.sparse.synth.scan import scan
from codegen.sparse.synth.stream import of_scan


def lower_naive(p: Pair) -> Computation:
    """The chain of single statements for a pair."""
    return _Naive(p).run()


class _Naive:
    def __init__(self, p: Pair) -> None:
        self.p, self.t = p, p.target
        self.stream = of_scan(scan(p.source))
        self.nest = self.stream.nest
        self.sizes = sizes(p.target)
        self.env = {v: self.stream.at(self.t, e) for v, e in p.target.resolved}
        self.steps: list[Step] = []
        self.finds: tuple[Stmt, ...] = ()
        self.place = Tick("e")

    def run(self) -> Computation:
        for n, e in self.t.desc.lets:
            self.steps.append(Define(n, e))
        self.steps += inside(self.p, self.stream)
        for place in self.p.places:
            self.position(place)
        self.allocate()
        for place in self.p.places:
            self.functions(place)
        self.values()
        if self.p.policy == REJECT and self.t.unique:
            self.steps.append(Free("taken"))
        return Computation(tuple(self.steps), frozenset({*self.t.desc.shape, *symbols(self.t), *self.sizes}))

    def at(self, e: Exp) -> Exp:
        return subst(self.stream.at(self.t, e), self.env)

    def loop(self, body: tuple[Stmt, ...], note: str) -> None:
        self.steps.append(Loop((*self.nest, self.place), (*self.finds, *body), note, True))

    def position(self, place: Place) -> None:
        """Fill and sort the list of a position; from then on its variable is known in every loop."""
        pos, name = place.pos, f"list_{place.pos.var}"
        parts = (*pos.group, *place.order.parts)
        if place.dedup:
            parts = (*parts, *(k for k in pos.key if k not in parts))
        words = tuple(self.key(place, e) for e in parts) or (num(0),)
        self.steps.append(NewList(name, words))
        self.loop((Insert(name, words),), f"insert the keys of {pos.var}")
        if self.p.policy == REJECT and pos.full:
            self.steps.append(Define("entries", var(f"{name}.size")))
        grouped = bool(pos.group)
        free = place.order.free if as_they_come(self.p, place) else 0  # coordinates, each a word
        self.steps.append(SortList(name, place.dedup, "" if grouped else pos.size, free))
        if self.p.policy == REJECT and pos.full:
            self.steps.append(Require(equal(var(f"{name}.size"), var("entries")), "DUPLICATE"))
        searched = place.dedup and not free
        find: Stmt = Find(pos.var, name, words) if searched else Let(pos.var, call(f"{name}.map", var("e")))
        if grouped:
            # The rank within a group: the rank in the list less that of the group's first key.
            first = (*words[:len(pos.group)], *(num(0) for _ in words[len(pos.group):]))
            rank = Find("rank", name, words) if searched else Let("rank", call(f"{name}.map", var("e")))
            self.counted(pos, (rank, Find("first", name, first)))
        else:
            self.finds = (*self.finds, find)
        self.env[pos.var] = var(pos.var)

    def counted(self, pos: Position, finds: tuple[Stmt, ...]) -> None:
        """A position that is counted anew for each group, within its segment where it has one."""
        place, rank = Let(pos.var, var("rank") - var("first")), self.finds
        self.finds = (*rank, *finds, place)
        if not pos.ptr:
            self.steps.append(Define(pos.size, num(0)))
            self.loop((Store(pos.size, None, var(pos.var) + 1, "max"),), f"find {pos.size} by maximum (case 3)")
        if pos.stair:
            self.diagonals(pos, pos.stair)
        if pos.segment.high:
            at = tuple(self.at(var(u)) for u in pos.segment.above)
            index = linear(self.sizes[pos.segment.high], at)
            self.steps.append(Alloc(pos.segment.high, volume(self.sizes[pos.segment.high]), INDEX, 0))
            self.loop((Store(pos.segment.high, index + int(bool(pos.ptr)), var(pos.var) + 1, "max"),),
                      f"fill {pos.segment.high} by maximum (case 3)")
        if pos.ptr:
            last, x = volume(self.sizes[pos.ptr]) - 1, var("x")
            self.steps += [Loop((For("x", num(1), last + 1),), (Store(pos.ptr, x, call(pos.ptr, x - 1), "+="),),
                                "segments one after the other", True), Define(pos.size, call(pos.ptr, last))]
            first = call(pos.ptr, linear(self.sizes[pos.ptr], tuple(self.at(var(u)) for u in pos.segment.above)))
            self.finds = (*rank, *finds, Let(pos.var, var("rank") - var("first") + first))

    def diagonals(self, pos: Position, stair: Stair) -> None:
        """Jagged diagonals are as long as the last row that has an entry there says."""
        s, x, (row,) = var(pos.var), var("x"), (self.at(g) for g in pos.group)
        self.steps.append(Alloc(stair.ptr, var(pos.size) + 1, INDEX, 0))
        self.loop((Store(stair.ptr, s + 1, row + 1, "max"),), f"fill {stair.ptr} by maximum (case 3)")
        add = Store(stair.ptr, x, call(stair.ptr, x - 1), "+=")
        self.steps += [Loop((For("x", num(1), var(pos.size) + 1),), (add,), "diagonals one after the other", True),
                       Define(stair.size, call(stair.ptr, var(pos.size)))]
        self.env[stair.var] = call(stair.ptr, s) + row

    def key(self, place: Place, e: Exp) -> Exp:
        out = self.at(e)
        return call("DOWN", out) if place.order.down and e in place.order.parts else out

    def allocate(self) -> None:
        have = {s.array for s in self.steps if isinstance(s, Alloc)}
        for f in (f for f in self.t.desc.functions if f.name not in have):
            self.steps.append(Alloc(f.name, room(self.t, self.sizes, f.name), INDEX, first_value(self.t, f)))
        data = self.t.desc.data
        self.steps.append(Alloc(data, self.sizes[data][0], VALUE, 0))
        if self.p.policy == REJECT and self.t.unique:
            self.steps.append(Alloc("taken", div8(self.sizes[data][0]), FLAG, 0))

    def functions(self, place: Place) -> None:
        from codegen.sparse.algebra.terms import calls

        pos = place.pos
        for f, e in pos.values:
            found = next(c for con in self.t.desc.map.cons if con.equal for c in calls(con.exp) if c.id == f)
            index = linear(self.sizes[f], tuple(self.at(a) for a in found.args))
            self.loop((Store(f, index, self.at(e)),), f"fill {f} (case 1)")
        if pos.ptr and not pos.group:
            at = linear(self.sizes[pos.ptr], tuple(self.at(var(u)) for u in pos.segment.above))
            self.loop((Store(pos.ptr, at, var(pos.var), "min"),), f"fill {pos.ptr} by minimum (case 2)")
            self.loop((Store(pos.ptr, at + 1, var(pos.var) + 1, "max"),), f"fill {pos.ptr} by maximum (case 3)")
            self.steps.append(Sweep(pos.ptr, room(self.t, self.sizes, pos.ptr) - 1, "<="))
            if not pos.segment.chained:
                x, size = var("x"), volume(self.sizes[pos.segment.high])
                self.steps.append(Loop((For("x", num(0), size),), (Store(pos.segment.high, x, call(pos.ptr, x + 1)),),
                                       f"fill {pos.segment.high}", True))

    def values(self) -> None:
        index = self.at(self.t.desc.access)
        store: Stmt = Store(self.t.desc.data, index, self.stream.value, "+=" if self.p.adds else "=")
        body = (Reject("taken", index), store) if self.p.policy == REJECT and self.t.unique else (store,)
        self.loop(body, "copy the values")

