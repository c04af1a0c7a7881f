"""Builds the loop nest that visits the stored entries of a sparse format (`Scan`: loops, guards, the coordinates and
the value of an entry), in the order of the format's tuple or with its loops in another order."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import lru_cache

from codegen.record import record
from codegen.sparse.algebra.affine import implied
from codegen.sparse.algebra.expr import Call, Code, Exp, Name, as_name, var
from codegen.sparse.algebra.relation import Constraint
from codegen.sparse.algebra.terms import calls, coefficient, names, solve, subst
from codegen.sparse.ir.nest import For, Guard, Let, Level, Nest
from codegen.sparse.synth.members import let_facts, shape_facts, stored_calls
from codegen.sparse.synth.model import Layout, unsolved


@record
class Scan:
    """A format's entries as a nest. `coords`: dense coordinates as printed; `raw`: in loop variables and functions."""

    nest: Nest
    loops: tuple[str, ...]
    coords: tuple[Exp, ...]
    raw: tuple[Exp, ...]
    value: Exp
    count: Exp | None
    position: str | None
    env: dict[str, Exp] = field(default_factory=dict)


@lru_cache(maxsize=256)
def scan(lay: Layout, order: tuple[str, ...] | None = None) -> Scan:
    """The nest in the order of the tuple, or with its loops in another order."""
    return _Scanner(lay).run(order)


class _Scanner:
    """Variables become defined one after the other: by an equality as soon as there is one, else by a loop."""

    def __init__(self, lay: Layout) -> None:
        self.lay, self.d = lay, lay.desc
        self.rel = lay.desc.map
        self.shown: dict[str, Exp] = {}
        self.raw: dict[str, Exp] = {}
        self.levels: list[Level] = []
        self.loops: list[str] = []
        self.facts: list[Constraint] = list(let_facts(lay))
        self.pending = list(dict.fromkeys((*self.rel.cons, *shape_facts(lay))))
        # Without padding every stored thing is an entry, so its coordinates are in range and its code is theirs.
        self.padded = lay.desc.fill or any(f.fill is not None for f in lay.desc.functions)

    def run(self, order: tuple[str, ...] | None) -> Scan:
        self.settle()
        while True:
            todo = [v for v in (order or self.rel.ins) if v not in self.raw]
            if not todo:
                break
            for v in todo:
                if self.loop(v):
                    break
            else:
                raise unsolved(self.d, f"{todo[0]} cannot be scanned: it has no bounds that are known in time")
            self.settle()
        value = Exp(((Call(self.d.data, (self.show(self.d.access),)), 1),))
        if skips_zeros(self.lay, self.loops):
            self.levels.append(Guard((), value))
        return self.result(value)

    def result(self, value: Exp) -> Scan:
        full = self.lay.full
        plain = not any(isinstance(x, Guard) for x in self.levels)
        counted = full is not None and bool(full.covers or full.stair) and plain
        position = full.at[0] if full and counted and as_name(self.d.access) == full.at[0] else None
        coords = tuple(self.shown[x] for x in self.rel.outs)
        return Scan(tuple(self.levels), tuple(self.loops), coords, tuple(self.raw[x] for x in self.rel.outs), value,
                    var(full.at[1]) if full and counted else None, position, dict(self.shown))

    def show(self, e: Exp) -> Exp:
        return subst(e, self.shown)

    def loop(self, v: str) -> bool:
        low: list[Exp] = []
        high: list[Exp] = []
        for c in self.rel.cons:
            sign = 0 if c.equal else coefficient(c.exp, Name(v))
            bound = solve(c.exp, Name(v)) if sign else None
            if bound is None or not self.defined(bound):
                continue
            (low if sign > 0 else high).append(bound if sign > 0 else bound + 1)
        if not low or not high:
            return False
        first, last = (next((b for b in side if calls(b)), side[0]) for side in (low, high))
        self.levels.append(For(v, self.show(first), self.show(last)))
        self.loops.append(v)
        self.raw[v] = self.shown[v] = var(v)
        for e in (var(v) - subst(first, self.raw), subst(last, self.raw) - var(v) - 1):
            self.facts.append(Constraint(e))
            self.range_facts(e)
        return True

    def defined(self, e: Exp) -> bool:
        return all(n in self.raw or n not in (*self.rel.ins, *self.rel.outs) for n in names(e))

    def settle(self) -> None:
        """Everything that equalities give now, then the guards that can be tested now."""
        while self.step():
            pass
        ready = [c for c in self.pending if self.defined(c.exp)]
        self.pending = [c for c in self.pending if c not in ready]
        kept = [Constraint(self.show(c.exp), c.equal) for c in ready
                if (self.padded or not (self.in_shape(c) or stored_code(c))) and not self.implied(c)]
        if kept and self.loops:
            self.levels.append(Guard(tuple(dict.fromkeys(kept))))

    def in_shape(self, c: Constraint) -> bool:
        """Does a constraint only say that a coordinate lies within its extent?"""
        return Constraint(subst(c.exp, dict(self.lay.resolved)), c.equal) in shape_facts(self.lay)

    def implied(self, c: Constraint) -> bool:
        return implied(self.facts, Constraint(subst(c.exp, self.raw), c.equal))

    def step(self) -> bool:
        for v in (*self.rel.ins, *self.rel.outs):
            if v in self.raw:
                continue
            for c in (c for c in self.rel.cons if c.equal):
                value = solve(c.exp, Name(v))
                if value is not None and self.defined(value):
                    self.define(v, value)
                    return True
        return False

    def define(self, v: str, value: Exp) -> None:
        self.raw[v] = subst(value, self.raw)
        self.range_facts(self.raw[v])
        shown = self.show(value)
        if as_name(shown) or not shown.terms:
            self.shown[v] = shown
            return
        self.levels.append(Let(v, shown))
        self.shown[v] = var(v)

    def range_facts(self, e: Exp) -> None:
        """What the descriptor says about the values of the functions inside."""
        for call in calls(e):
            f = self.d.function(call.id)
            assert f is not None  # descriptors are checked to declare what they use
            at = {f.range.ins[0]: Exp(((call, 1),))}
            self.facts += [Constraint(subst(c.exp, at), c.equal) for c in f.range.cons]


def stored_code(c: Constraint) -> bool:
    """Does a condition say that something stored is the code of numbers?"""
    return c.equal and any(isinstance(a, Code) for a, _ in c.exp.terms)


def skips_zeros(lay: Layout, loops: Sequence[str]) -> bool:
    """Can padding only be told by its value? A function with a fill tells, where it is asked in every loop."""
    filled = {f.name for f in lay.desc.functions if f.fill is not None}
    asked = [frozenset().union(*(names(a) for a in k.args)) for k in stored_calls(lay) if k.id in filled]
    told = [x | {u for q in lay.positions if q.var in x for u in q.segment.above} for x in asked]
    return lay.desc.fill and not any(set(loops) <= x for x in told)
