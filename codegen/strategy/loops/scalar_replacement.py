"""Profitability of scalar replacement: when keeping elements in registers from one iteration to the next pays.

A value that goes through memory comes back after a store and a load; one in a register is there at once. That counts
where the chain from value to value is what the loop waits for, and not where it waits for memory or for its units:
there the copies from register to register are only more to do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codegen.machine import Machine
from codegen.recognize.access.ctypes import type_of
from codegen.recognize.access.dereferenceable import always
from codegen.recognize.access.reuse import just_written, used_again
from codegen.recognize.access.strides import move
from codegen.recognize.stores import conditional
from codegen.record import record
from codegen.scop.expr import Cast, Ref, Ternary, walk
from codegen.scop.model import Scop, Statement
from codegen.scop.tree import FoundLoop, enclosing, statements
from codegen.scop.types import CType
from codegen.strategy.cost.cycles import bounds
from codegen.strategy.cost.latency import to_store
from codegen.transform.program import Program

WORTH = 1.3  # what the model has to promise: it is no better than that
WIDTH = 4.0  # instructions that start in a cycle, copies among them


@record
class ReplacementGain:
    """Cycles per iteration with values that go through memory, and with values in registers."""

    before: float
    after: float

    @property
    def pays(self) -> bool:
        return self.before > WORTH * self.after

    @property
    def text(self) -> str:
        """In words, for a remark."""
        return f"about {self.after:.2g} cycles an iteration, {self.before:.2g} with values that go through memory"


@record
class _Link:
    """A value that one statement of an iteration leaves in memory for a later one: by their positions, with the cycles
    from there to what the later one stores, and whether a store to another array, which a compiler cannot tell apart,
    lies between them."""

    before: int
    now: int
    cycles: float
    between: bool


def replacement_gain(p: Program, place: FoundLoop, machine: Machine) -> ReplacementGain | None:
    """What `scalar_replace` changes about an innermost loop; None where no value goes from one iteration to a later
    one."""
    names = statements(place.band)
    again = list(used_again(p.scop, place.band, enclosing(p.tree, names[0])))
    each = bounds(p, place, machine)
    body = [p.scop.statement(n) for n in names]
    waited = {s.accesses[s.target].array for s in body if not _rarely(s)}
    starts = [(u, names.index(u.stmt)) for u in again if u.written]
    starts = [(u, k) for u, k in starts if body[k].accesses[u.number].array in waited]
    if not starts or each is None:
        return None
    links = _links(p.scop, body, machine)
    far = float(machine.load_latency)
    registers = memory = 0.0
    for u, first in starts:
        start = _through(p.scop, body[first], u.number, machine)
        array = body[first].accesses[u.number].array
        ends = [k for k, s in enumerate(body) if s.accesses[s.target].array == array]
        registers = max(registers, _around({first: start}, links, ends, 0.0) / u.age)
        back = 0.0 if u.age == 1 and _forwarded(p.scop, body, first, u.number) else far
        memory = max(memory, (_around({first: start}, links, ends, far) + back) / u.age)
    copies = sum(u.age for u in again) / WIDTH
    rest = max(each.issue, each.fetch)
    return ReplacementGain(max(rest, memory), max(rest, registers, copies))


def hidden_sums(p: Program, names: Sequence[str]) -> bool:
    """Does the innermost loop fold into one element, in an order that is free, that a compiler leaves in memory because
    what is read may be that element for all it knows? Without a register for it there are no vectors either.
    sad-search: 8.6 times as fast."""
    around = enclosing(p.tree, names[0])
    body = [p.scop.statement(n) for n in names]
    for s in body:
        target = s.accesses[s.target]
        if target.array not in p.deps.folds or target.array in p.scop.origins.restricted:
            continue
        if not move(p.scop, s, target, around, len(around) - 1).still:
            continue
        others = {a.array for x in body for a in x.accesses} - {target.array}
        if any(_may_be(p.scop.arrays[target.array].elem, p.scop.arrays[a].elem) for a in others):
            return True
    return False


def _may_be(a: CType, b: CType) -> bool:
    """May an access to one type touch an object of the other (C11 6.5p7)? Characters may touch everything, and integers
    those that differ in their sign."""
    characters = any(t.kind == "int" and t.bits == 8 for t in (a, b))
    return characters or (a.kind, a.bits) == (b.kind, b.bits)


def _rarely(s: Statement) -> bool:
    """Does the statement leave its element as it is where a condition on data does not hold? Compilers branch, and a
    core goes ahead as if it did not, without waiting for the last value: extremes, 0.85 of gcc's speed in registers."""
    if not isinstance(s.rhs, Ternary) or s.op != "=":
        return False
    target = s.accesses[s.target]
    sides = [s.accesses[e.access] for e in (s.rhs.yes, s.rhs.no) if isinstance(e, Ref)]
    return any(a.array == target.array and a.relation.is_equal(target.relation) for a in sides)


def _forwarded(scop: Scop, body: Sequence[Statement], first: int, number: int) -> bool:
    """Does a compiler take a value of the iteration before from its register by itself (partial redundancy elimination
    along the back edge)? One that is always read, and that the last store into memory has left there, for all the
    compiler knows. Neoverse N1, of gcc's speed in registers of ours: edit distances 0.85, running sums of f32 0.96;
    lcs, which reads it under a condition, 2.1, and dtw-banded, where one of three numbers of f64 is chosen, 1.08."""
    read = body[first].accesses[number]
    chosen = any(isinstance(e, Ternary) for e in walk(body[first].rhs))
    if chosen and scop.arrays[read.array].elem.kind == "float":
        return False
    if not any(isinstance(e, Ref) and e.access == number for e in always(body[first].rhs)):
        return False
    elem = scop.arrays[read.array].elem
    stored = [scop.arrays[s.accesses[s.target].array] for s in body]
    seen = [k for k, a in enumerate(stored) if not a.inside and _may_be(elem, a.elem)]
    if [stored[k].name for k in seen] != [read.array]:
        return False
    last = body[seen[0]]
    return not conditional(last) and not _converted(scop, last, elem)


def _converted(scop: Scop, s: Statement, elem: CType) -> bool:
    """Is what a statement stores computed in a type of another width? Then the value that comes back is none that a
    register holds: edit distances in `uint16_t`, computed in `int`, 1.06 of gcc's speed in registers of ours."""
    value = s.rhs
    while isinstance(value, Cast):
        value = value.arg
    kind = type_of(scop, s, value)
    return kind is None or kind.bits != elem.bits


def _through(scop: Scop, s: Statement, number: int, machine: Machine) -> float:
    """Cycles from this access of a statement to its store."""
    return to_store(scop, s, lambda k: k == number, machine) or 0.0


def _links(scop: Scop, body: Sequence[Statement], machine: Machine) -> list[_Link]:
    """In the order of the statements that read the values."""
    stored = [s.accesses[s.target].array for s in body]
    out = []
    for now, before, number in just_written(scop, body):
        array = body[now].accesses[number].array
        between = any(x != array for x in stored[before + 1 : now])
        out.append(_Link(before, now, _through(scop, body[now], number, machine), between))
    return out


def _around(start: Mapping[int, float], links: Sequence[_Link], ends: Sequence[int], far: float) -> float:
    """Cycles from the read of an earlier value to what takes its place in one of the `ends`: the longest way through
    the statements of an iteration, from one that stores so many cycles after the read. A link with a store to another
    array between its ends takes `far` longer."""
    at = dict(start)
    for link in links:
        if link.before in at:
            way = at[link.before] + link.cycles + (far if link.between else 0.0)
            at[link.now] = max(at.get(link.now, 0.0), way)
    return max((at[k] for k in ends if k in at), default=max(start.values()))
