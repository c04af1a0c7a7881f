"""Symbolic trace of unrolled and vectorized statements, lane by lane: which iterations run, in which order, on which
elements.

Every statement of the plain body has to run once in each iteration of a box. Iterations that differ in a loop that may
run in any order need no order among each other: that loop carries no dependence, which is shown elsewhere. All others
have to meet in memory as they do in the plain loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from itertools import product

from codegen.ast.ctree import Instance
from codegen.ast.lowered import (
    Braces,
    Contiguous,
    Do,
    InVariable,
    Item,
    Load,
    Move,
    Picked,
    PutBoth,
    StoreValue,
    Value,
    Work,
    Zip,
)
from codegen.ast.normal_forms import forms
from codegen.recognize.access.dereferenceable import certain
from codegen.recognize.lanes import LoopStrides, computes, in_row
from codegen.recognize.stores import conditional, without_branches
from codegen.record import mutable
from codegen.scop.expr import Gather, Ref, is_code, walk
from codegen.scop.model import Statement
from codegen.verify.lowered.elements import (
    Box,
    Element,
    Offsets,
    Wrong,
    at_index,
    both,
    found_at,
    further,
    may_meet,
    moved,
    spans,
    wanted,
)
from codegen.verify.lowered.variables import (
    BodyContext,
    Instead,
    MemoryUse,
    Partial,
    Variable,
    VariableCopy,
    VariableValue,
)


@mutable
class Trace:
    """A body as it runs."""

    at: BodyContext
    plain: Sequence[Instance]
    box: Box
    variables: dict[str, Variable]
    clock: int = 0
    stored: list[tuple[int, Offsets]] = field(default_factory=list)
    events: list[MemoryUse] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._where = {
            (p.stmt, tuple(moved(e, self.box, by) for e in p.iterators)): (k, by)
            for k, p in enumerate(self.plain)
            for by in self.points()
        }
        self._written = {self._statement(p).accesses[self._statement(p).target].array for p in self.plain}

    def points(self) -> Iterable[Offsets]:
        return product(*(range(d.size) for d in self.box))

    def run(self, items: Iterable[Item]) -> None:
        for x in items:
            self.clock += 1
            if isinstance(x, Braces):
                self.run(x.body)
            elif isinstance(x, Load):
                self.variables[x.name] = self._load(x)
            elif isinstance(x, Move):
                self.variables[x.name] = self.variables[x.source]
            elif isinstance(x, Zip):
                self.variables[x.name] = self._zip(x)
            elif isinstance(x, Value):
                self.variables[x.name] = VariableValue(tuple(self._compute(x.work)))
            elif isinstance(x, StoreValue):
                self._put(x.work, x.name)
            elif isinstance(x, PutBoth):
                self._put_both(x)
            elif isinstance(x, Do):
                self._store(x.work, self._compute(x.work))
            else:
                raise Wrong("has a loop where there is none")

    def finish(self) -> None:
        """Everything has run once, and in order."""
        every = [(k, by) for k in range(len(self.plain)) for by in self.points()]
        if sorted(self.stored) != every:
            raise Wrong("does not run every statement once in each iteration")
        groups: dict[object, list[tuple[tuple[Offsets, int], MemoryUse]]] = {}
        for x in self.events:
            apart = tuple(o for d, o in zip(self.box, x.by, strict=True) if d.free)
            order = tuple(o for d, o in zip(self.box, x.by, strict=True) if not d.free), x.k
            groups.setdefault((x.element[0], apart), []).append((order, x))
        for events in groups.values():
            for i, (first, x) in enumerate(events):
                for second, y in events[:i]:
                    if (x.write or y.write) and may_meet(x.element, y.element) and not _in_order(first, second, x, y):
                        raise Wrong(f"changes the order in which `{x.element[0]}` is used")

    # -- statements -------------------------------------------------------------------------------

    def _compute(self, w: Work) -> list[tuple[int, Offsets]]:
        """The value of a statement: where it comes from."""
        lanes = self._iterations(w)
        s = self._statement(w.at)
        for number in _reads(s):
            self._check_read(s, w, number, lanes)
        for n, value in enumerate(w.at.values):
            for k, by in lanes:
                if moved(self.plain[k].values[n], self.box, by) != forms((value,))[0]:
                    raise Wrong(f"has another value in {s.name} (`{s.source}`)")
        self._check_lanes(s, w, lanes)
        return lanes

    def _iterations(self, w: Work) -> list[tuple[int, Offsets]]:
        """Which iterations the lanes are."""
        first = self._where.get((w.at.stmt, forms(w.at.iterators)))
        if first is None:
            raise Wrong(f"runs an iteration of {w.at.stmt} that is none of the block")
        k, by = first
        if w.count == 1:
            return [first]
        if self.at.lanes is None or w.count != self.at.lanes.count or not w.places:
            raise Wrong("has vectors of another length")
        place = next((n for n, d in enumerate(self.box) if d.var == self.at.var and d.free), None)
        if place is None:
            raise Wrong("has lanes along a loop that runs in order")
        out = [(k, (*by[:place], by[place] + lane, *by[place + 1 :])) for lane in range(w.count)]
        if out[-1][1][place] >= self.box[place].size:
            raise Wrong(f"has lanes beyond the iterations of `{self.at.var}` that are there")
        return out

    def _check_read(self, s: Statement, w: Work, number: int, lanes: Sequence[tuple[int, Offsets]]) -> None:
        array = s.accesses[number].array
        elements, time = self._found(s, w, number)
        first = tuple(0 for _ in self.box)
        for (k, by), got in zip(lanes, elements, strict=True):
            if got != wanted(s, self.plain[k], number, self.box, by):
                # What the first iteration reads in place of others is read when the first one reads it.
                if (s.name, number) not in self.at.alike or got != wanted(s, self.plain[k], number, self.box, first):
                    raise Wrong(f"reads another element of `{array}` in {s.name} (`{s.source}`)")
                by = first
            self._event(k, by, got, False, time)

    def _found(self, s: Statement, w: Work, number: int) -> tuple[Sequence[Element], int | None]:
        """The elements whose values the lanes get, and when they were read."""
        if not w.places:
            self._check_memory(s.accesses[number].array)
            return [at_index(s, number, w.at.accesses[number])], self.clock
        place = w.places[number]
        if not isinstance(place, InVariable):
            self._check_memory(s.accesses[number].array)
            found = found_at(self.at.scop, s, number, place, self.at.lanes, w.count)
            if isinstance(place, Picked):
                self._check_there(s, both(s, number, place, w.count))
            return found, self.clock
        var = self.variables.get(place.name)
        if isinstance(var, (VariableCopy, Instead)):
            return var.elements, var.time if isinstance(var, VariableCopy) else self.clock
        if isinstance(var, Partial) and var.stmt == s.name and number in (s.target, *_old_values(s)):
            return [at_index(s, number, w.at.accesses[number])] * w.count, None
        raise Wrong(f"uses variable {place.name} where it has no such value")

    def _store(self, w: Work, lanes: Sequence[tuple[int, Offsets]]) -> None:
        """The value of a statement goes to its target."""
        s = self._statement(w.at)
        place = w.places[s.target] if w.places else None
        var = self.variables.get(place.name) if isinstance(place, InVariable) else None
        if isinstance(var, Partial) and var.stmt == s.name:
            self.stored += lanes
            return
        if conditional(s) or is_code(s.rhs):
            raise Wrong(f"stores where {s.name} (`{s.source}`) may leave its target alone")
        if isinstance(place, InVariable):
            if not isinstance(var, Instead):
                raise Wrong(f"stores to variable {place.name}, which is not there for that")
            elements: Sequence[Element] = var.elements
        elif place is None:
            elements = [at_index(s, s.target, w.at.accesses[s.target])]
        else:
            if isinstance(place, Picked):
                raise Wrong("stores more than it has")
            elements = found_at(self.at.scop, s, s.target, place, self.at.lanes, w.count)
        if not isinstance(var, Instead):
            self._check_memory(s.accesses[s.target].array)
        self._to(s, lanes, elements)

    def _to(self, s: Statement, lanes: Sequence[tuple[int, Offsets]], elements: Sequence[Element]) -> None:
        array = s.accesses[s.target].array
        for (k, by), got in zip(lanes, elements, strict=True):
            if got != wanted(s, self.plain[k], s.target, self.box, by):
                raise Wrong(f"stores to another element of `{array}` in {s.name} (`{s.source}`)")
            self._event(k, by, got, True, self.clock)
        self.stored += lanes

    def _put(self, w: Work, name: str) -> None:
        lanes, s = self._iterations(w), self._statement(w.at)
        self._check_value(s, lanes, name)
        self._store(w, lanes)

    def _put_both(self, x: PutBoth) -> None:
        """Two vectors in turn: the elements from the first target on."""
        for w, name in zip((x.first, x.second), x.names, strict=True):
            self._check_value(self._statement(w.at), self._iterations(w), name)
        s, q = self._statement(x.first.at), self._statement(x.second.at)
        start = at_index(s, s.target, x.first.at.accesses[s.target])
        found_at(self.at.scop, s, s.target, _whole(x.first, s), self.at.lanes, x.first.count)  # neighbours in memory
        row = [further(start, k) for k in range(2 * x.first.count)]
        self._check_memory(s.accesses[s.target].array)
        if conditional(s) or conditional(q):
            raise Wrong(f"stores where {s.name} or {q.name} may leave its target alone")
        self._to(s, self._iterations(x.first), row[0::2])
        self._to(q, self._iterations(x.second), row[1::2])

    def _check_value(self, s: Statement, lanes: Sequence[tuple[int, Offsets]], name: str) -> None:
        """Is what the variable has the value of the statement in these iterations?"""
        var = self.variables.get(name)
        if not isinstance(var, VariableValue) or len(var.of) != len(lanes):
            raise Wrong(f"stores variable {name}, which has no such value")
        for (k, by), (j, there) in zip(lanes, var.of, strict=True):
            # Iterations that read the same elements, and are free to run in any order: nobody writes these.
            apart = any(d.free and a != b for d, a, b in zip(self.box, by, there, strict=True))
            alike = by == there or (apart and self._reads(s, k, by) == self._reads(s, k, there))
            if k != j or not alike:
                raise Wrong(f"stores the value of another iteration in {s.name} (`{s.source}`)")

    def _reads(self, s: Statement, k: int, by: Offsets) -> object:
        """Everything that the value of a statement depends on."""
        at, own = self.plain[k], [n for n in _reads(s) if (s.name, n) not in self.at.alike]
        found = tuple(wanted(s, at, n, self.box, by) for n in own)
        return found, tuple(moved(v, self.box, by) for v in at.values)

    def _check_lanes(self, s: Statement, w: Work, lanes: Sequence[tuple[int, Offsets]]) -> None:
        """Can vectors compute what the statement does?"""
        if w.count == 1:
            return
        assert self.at.lanes is not None
        two = [[wanted(s, self.plain[k], n, self.box, by) for k, by in lanes[:2]] for n in range(len(s.accesses))]
        steps = tuple(_step(a, b, in_row(s.accesses[n], len(a[2]))) for n, (a, b) in enumerate(two))
        strides = LoopStrides(steps, tuple(False for _ in s.values), tuple(x[0][2] for x in two))
        gathers = w.places and isinstance(w.places[s.target], InVariable)
        if not computes(self.at.scop, without_branches(s) if gathers else s, strides, self.at.lanes.elem):
            raise Wrong(f"has {s.name} (`{s.source}`) in lanes, which cannot compute it")

    # -- variables --------------------------------------------------------------------------------

    def _load(self, x: Load) -> VariableCopy:
        s = self.at.scop.statement(x.stmt)
        self._check_memory(s.accesses[x.access].array)
        elements = found_at(self.at.scop, s, x.access, x.place, self.at.lanes, x.count)
        self._check_there(s, elements)
        return VariableCopy(tuple(elements), self.clock)

    def _zip(self, x: Zip) -> VariableCopy:
        a, b = (self.variables.get(n) for n in x.of)
        if not isinstance(a, VariableCopy) or not isinstance(b, VariableCopy) or a.time is None or b.time is None:
            raise Wrong(f"turns vectors for {x.stmt} that are not there")
        half = len(a.elements) // 2
        part = slice(half, None) if x.second else slice(0, half)
        pairs = zip(a.elements[part], b.elements[part], strict=True)
        return VariableCopy(tuple(e for pair in pairs for e in pair), min(a.time, b.time))

    def _check_there(self, s: Statement, elements: Sequence[Element]) -> None:
        """Is each element one that the block reads for certain, or between two of those in a row?"""
        there = [e for e in self.certain() if e[0] == elements[0][0]]
        for e in elements:
            if e not in there and not any(spans(e, a, b) for a in there for b in there):
                raise Wrong(f"reads elements of `{e[0]}` that may not be there")

    def certain(self) -> set[Element]:
        """What the statements of the block touch, whatever the data."""
        known: set[Element] | None = self.__dict__.get("_certain")
        if known is None:
            known = self.__dict__["_certain"] = {
                wanted(s, p, n, self.box, by)
                for p in self.plain
                for s in (self._statement(p),)
                for n in range(len(s.accesses))
                if certain(self.at.scop, s, n)
                for by in self.points()
            }
        return known

    def _check_memory(self, array: str) -> None:
        """Memory is out of date where variables are used instead of it."""
        if any(isinstance(v, Instead) and v.elements[0][0] == array for v in self.variables.values()):
            raise Wrong(f"uses `{array}` in memory while variables have it")

    def _event(self, k: int, by: Offsets, element: Element, write: bool, time: int | None) -> None:
        array = element[0]
        if time is None and array in self.at.written and not self._gathered(k, array):
            raise Wrong(f"keeps elements of `{array}`, which is written meanwhile")
        if time is not None and array in self._written:
            self.events.append(MemoryUse(k, by, element, write, time))

    def _gathered(self, k: int, array: str) -> bool:
        names = {v.stmt for v in self.variables.values() if isinstance(v, Partial)}
        s = self._statement(self.plain[k])
        return s.name in names and s.accesses[s.target].array == array

    def _statement(self, at: Instance) -> Statement:
        return self.at.scop.statement(at.stmt)


def _reads(s: Statement) -> list[int]:
    """The accesses that the value of a statement comes from."""
    named = {e.access for e in walk(s.rhs) if isinstance(e, (Ref, Gather))}
    return sorted(named | ({s.target} if s.op != "=" else set()))


def _in_order(first: tuple[Offsets, int], second: tuple[Offsets, int], x: MemoryUse, y: MemoryUse) -> bool:
    """Do two uses of memory, at two places of the plain order, come at times in the same order? At one place what is
    read comes first."""
    if first == second:
        return x.write == y.write or (y.time <= x.time if x.write else x.time <= y.time)
    return x.time != y.time and (first < second) == (x.time < y.time)


def _old_values(s: Statement) -> list[int]:
    """The reads of what a statement then writes."""
    target = s.accesses[s.target]
    return [n for n, a in enumerate(s.accesses) if not a.write and (a.array, a.path) == (target.array, target.path)]


def _whole(w: Work, s: Statement) -> Contiguous:
    return Contiguous(w.at.accesses[s.target])


def _step(a: Element, b: Element, row: bool) -> int | None:
    """From one lane to the next, in elements of a row; None where it leaves the row."""
    if a == b:
        return 0
    if not row or a[2][:-1] != b[2][:-1] or a[2][-1][0] != b[2][-1][0]:
        return None
    return b[2][-1][1] - a[2][-1][1]
