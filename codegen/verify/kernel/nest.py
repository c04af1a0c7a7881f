"""Proof of a contraction's kernel by symbolic execution of its tree: each loop once, for any of its iterations.
`wrong_nest` returns why the function is not the kernel that callers take it for, or the empty string; `cover.py` shows
that every point is run once.

Sums are taken into registers, get products added and are stored again; nobody else writes them meanwhile. What is read
of an operand belongs to a point of the contraction, directly or by way of a buffer that holds it. A node that is not
known here is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Union

from codegen.isa.model import Isa
from codegen.kir.nodes import (
    Advance,
    Alloc,
    Assign,
    Bind,
    Block,
    Buffer,
    Comment,
    Copy,
    Decl,
    Expr,
    For,
    Function,
    Hint,
    Int,
    Lane,
    Let,
    Load,
    Op,
    Parallel,
    Prefetch,
    Stmt,
    Store,
    Sym,
    Var,
    Vector,
    scalar,
)
from codegen.kir.visit import walk
from codegen.kir.wellformed import IllFormed, check
from codegen.lower.nest.contraction import TENSORS, Contraction
from codegen.verify.kernel.cover import Cover, Step, Turns, Update
from codegen.verify.kernel.packs import OperandElement, Pack
from codegen.verify.poly import Poly, Unread, poly, var


class PartialSum(NamedTuple):
    """An element of C, by its offset, with the steps that were taken up to a certain one."""

    at: Poly
    version: int


class Factors(NamedTuple):
    """Two elements that are multiplied."""

    left: OperandElement
    right: OperandElement


class Next(NamedTuple):
    """A sum and the product that is added to it."""

    sum: PartialSum
    factors: Factors


class Idle(NamedTuple):
    """A lane that no element belongs to."""


IDLE = Idle()
LaneValue = Union[OperandElement, PartialSum, Factors, Next, Idle]
Value = tuple[LaneValue, ...]  # of a scalar one


class _Place(NamedTuple):
    """An element of a parameter or an array of the function."""

    of: Buffer
    at: Poly


class _Opened(NamedTuple):
    """An element of C in a register: the newest of its sums, and the loops around."""

    version: int
    around: tuple[str, ...]


def wrong_nest(isa: Isa, problem: Contraction, f: Function) -> str:
    """Why a function is not the kernel of a contraction; empty when it is."""
    try:
        check(f)
        _check_types(isa, problem, f)
        run = _Run(f)
        run.block(f.body)
        if run.open:
            raise Unread("sums are left in registers")
        if run.loaded:
            raise Unread(f"elements are read that no point needs: {min(map(str, run.loaded))}")
        Cover(problem).check(run.steps)
    except (Unread, IllFormed) as error:
        return str(error)
    return ""


def _check_types(isa: Isa, problem: Contraction, f: Function) -> None:
    """Parameters are the three arrays, and vectors those of the instruction set."""
    elem = scalar(problem.elem)
    wanted = [(elem, t != "C") for t in TENSORS]
    if [(x.elem, x.const) for x in f.params if isinstance(x, Buffer)] != wanted or len(f.params) != len(wanted):
        raise Unread(f"it has the parameters {f.params}")
    full = isa.lanes_max(problem.elem)
    for x in walk(f):
        if isinstance(x, (Load, Store)) and x.lanes not in (0, full):
            raise Unread(f"a vector of {x.lanes}")
        if isinstance(x, Lane) and x.type != Vector(elem, full):
            raise Unread(f"a vector of type {x.type}")


class _Run:
    def __init__(self, f: Function) -> None:
        self.tensors = dict(zip(f.params, "abc", strict=True))
        self.values: dict[Sym, Value] = {}
        self.numbers: dict[Sym, Poly] = {}
        self.places: dict[Buffer, _Place] = {x: _Place(x, poly(0)) for x in f.params if isinstance(x, Buffer)}
        self.packs: dict[Buffer, Pack] = {}
        self.parts: dict[Buffer, Value] = {}  # arrays with the lanes of a vector of sums
        self.counts: dict[str, int] = {}  # iterations of the loops around, outermost first
        self.copying: list[str] = []  # those among them that fill buffers and do nothing else
        self.steps: list[Step] = []
        self.open: dict[Poly, _Opened] = {}
        self.loaded: set[OperandElement] = set()  # and not used so far
        self._version = self._loops = 0

    # -- statements ----------------------------------------------------------------------------------------

    def block(self, body: Sequence[Stmt]) -> None:
        """Run the statements of a block, and leave its buffers behind."""
        for s in body:
            self._statement(s)
        for s in body:
            if isinstance(s, Alloc):
                self.packs.pop(s.buffer).forget()
                self.parts.pop(s.buffer, None)

    def _statement(self, s: Stmt) -> None:
        if isinstance(s, (Comment, Hint, Prefetch)):
            return
        if isinstance(s, Block):
            self.block(s.body)
        elif isinstance(s, Alloc):
            if len(s.buffer.shape) != 1:
                raise Unread(f"{s.buffer} has {len(s.buffer.shape)} dimensions")
            self.packs[s.buffer] = Pack(s.buffer.sym.hint, s.buffer.shape[0])
            self.places[s.buffer] = _Place(s.buffer, poly(0))
        elif isinstance(s, Bind):
            self.places[s.view] = self._place(s.of, s.at)
        elif isinstance(s, Let):
            self.values[s.sym] = self._value(s.value)
        elif isinstance(s, Decl):
            self.values[s.sym] = self._opened(self._value(s.value))
        elif isinstance(s, Assign):
            self.values[s.sym] = self._stepped(self.values[s.sym], self._value(s.value))
        elif isinstance(s, Store):
            self._store(s)
        elif isinstance(s, Copy):
            self._copy(s)
        elif isinstance(s, For):
            self._loop(s)
        elif isinstance(s, Advance):
            old = self.places[s.view]
            self.places[s.view] = _Place(old.of, old.at + self._number(s.by))
        else:
            raise Unread(f"a statement of kind {s.__class__.__name__}")

    def _store(self, s: Store) -> None:
        (index,) = s.index
        where = self._place(s.buffer, index)
        value = (IDLE,) if s.value == Int(0) else self._value(s.value)
        if s.lanes and where.of in self.packs:
            pack = self.packs[where.of]
            if where.at != poly(0) or pack.size != s.lanes or pack.number:
                raise Unread(f"a vector is stored in {where.of}")
            self.parts[where.of] = value
            return
        for k, lane in enumerate(value):
            self._put(_Place(where.of, where.at + k), lane)

    def _put(self, where: _Place, value: LaneValue) -> None:
        """Store one element."""
        if self.tensors.get(where.of) == "c":
            known = self.open.pop(where.at, None)
            if known is None or value != PartialSum(where.at, known.version):
                raise Unread(f"C gets something else at {where.at}")
            self._check_around([known])
            return
        if where.of not in self.packs or where.of in self.parts or not isinstance(value, (Idle, OperandElement)):
            raise Unread(f"a store to {where.of}")
        if isinstance(value, OperandElement):
            if value.of not in ("a", "b"):
                raise Unread("a buffer is filled from another one")
            self.loaded.discard(value)
        counters = [(c, self.counts[c]) for c in self.copying]
        self.packs[where.of].put(where.at, value if isinstance(value, OperandElement) else None, counters)

    def _copy(self, s: Copy) -> None:
        """An element after the other."""
        to, source = self._place(s.to, s.to_at), self._place(s.source, s.source_at)
        tensor = self.tensors.get(source.of)
        if tensor not in ("a", "b"):
            raise Unread(f"a copy from {source.of}")
        counter = self._counter("copy", s.count)
        self.copying.append(counter)
        element = OperandElement(tensor, source.at + var(counter))
        self._put(_Place(to.of, to.at + var(counter)), element)
        self.copying.pop()
        self.counts.pop(counter)

    # -- loops -----------------------------------------------------------------------------------------------

    def _counter(self, name: str, count: int) -> str:
        self._loops += 1
        counter = f"{name}#{self._loops}"
        self.counts[counter] = count
        return counter

    def _loop(self, s: For) -> None:
        if s.lo != Int(0) or s.step != Int(1) or not isinstance(s.hi, Int) or s.hi.value < 1:
            raise Unread("a loop of another form")
        private = set(s.exec.private) if isinstance(s.exec, Parallel) else set()
        shared = isinstance(s.exec, Parallel)
        if (shared and self.counts) or not private <= set(self.packs):
            raise Unread("threads share an inner loop, or have something else for themselves")
        counter = self._counter(s.sym.hint, s.hi.value)
        self.numbers[s.sym] = var(counter)
        for b in private:
            self.packs[b].forget()
        copies = not any(isinstance(x, (Let, Decl, Assign)) for x in walk(s))
        before = {b: p.number for b, p in self.packs.items()}
        moving, views = self._moving(s.body, counter), dict(self.places)
        opened, steps = dict(self.open), self.steps
        self.steps = []
        self.copying += [counter] if copies else []
        self.block(s.body)
        self._after_iterations(moving, views, counter)
        if copies:
            self.copying.pop()
        if set(self.open) != set(opened):
            raise Unread(f"sums come and go in the loop over {s.sym}")
        self._packs_after(before, private, copies, shared)
        if copies and self.steps:
            raise Unread("a loop that copies computes something")
        self.steps = steps if copies else [*steps, Turns(counter, s.hi.value, tuple(self.steps), shared)]
        self.counts.pop(counter)

    def _packs_after(self, before: dict[Buffer, int], private: set[Buffer], copies: bool, shared: bool) -> None:
        """What buffers hold after a loop: nothing, where it filled them anew in each iteration."""
        for b, number in before.items():
            pack = self.packs[b]
            if pack.number != number and not copies:
                if number in pack.used or (shared and b not in private):
                    raise Unread(f"{b} is filled while others read it")
                pack.forget()
            if b in private:
                pack.forget()

    def _moving(self, body: Sequence[Stmt], counter: str) -> dict[Buffer, tuple[_Place, Poly]]:
        """Views that go on in each iteration: where each begins, and by how much it goes on."""
        found: dict[Buffer, tuple[_Place, Poly]] = {}
        for s in body:
            if isinstance(s, Advance):
                start, by = found.get(s.view, (self.places[s.view], poly(0)))
                found[s.view] = start, by + self._number(s.by)
        for view, (start, by) in found.items():
            self.places[view] = _Place(start.of, start.at + by * var(counter))
        return found

    def _after_iterations(
        self, moving: dict[Buffer, tuple[_Place, Poly]], views: dict[Buffer, _Place], counter: str
    ) -> None:
        """Views after all iterations. Those that were there before are where they were in the iteration, or went on."""
        for view, place in views.items():
            by = moving[view][1] if view in moving else poly(0)
            if self.places[view] != _Place(place.of, place.at + by):
                raise Unread(f"{view} goes on differently")
        self.places = views
        for view, (start, by) in moving.items():
            self.places[view] = _Place(start.of, start.at + by * self.counts[counter])

    # -- sums ------------------------------------------------------------------------------------------------

    def _opened(self, value: Value) -> Value:
        """A new register: sums begin with elements of C as they are."""
        found: list[LaneValue] = []
        for lane in value:
            if isinstance(lane, OperandElement) and lane.of == "c":
                self._check_around(list(self.open.values()))
                if any((lane.at - other).number in (None, 0) for other in self.open):
                    raise Unread(f"C at {lane.at} may be in two registers")
                self._version += 1
                self.open[lane.at] = _Opened(self._version, tuple(self.counts))
                lane = PartialSum(lane.at, self._version)
            elif isinstance(lane, (PartialSum, Next)):
                raise Unread("a sum is in two registers")
            found.append(lane)
        return tuple(found)

    def _check_around(self, known: Sequence[_Opened]) -> None:
        if any(x.around != tuple(self.counts) for x in known):
            raise Unread("C is written in a loop while some of it is in registers")

    def _stepped(self, old: Value, value: Value) -> Value:
        """A register after a step of its sums."""
        return tuple(self._step(was, lane) for was, lane in zip(old, value, strict=True))

    def _step(self, was: LaneValue, lane: LaneValue) -> LaneValue:
        if not isinstance(lane, Next):
            if was != IDLE or lane != IDLE:
                raise Unread("a register gets something else")
            return IDLE
        known = self.open.get(lane.sum.at)
        if was != lane.sum or known is None or known.version != lane.sum.version:
            raise Unread("a sum goes on in another register")
        a, b = sorted(map(self._operand, lane.factors), key=lambda x: str(x.of))
        if (a.of, b.of) != ("a", "b"):
            raise Unread(f"a product of {a.of} and {b.of}")
        self.steps.append(Update(a.at, b.at, lane.sum.at))
        self._version += 1
        self.open[lane.sum.at] = known._replace(version=self._version)
        return PartialSum(lane.sum.at, self._version)

    def _operand(self, x: OperandElement) -> OperandElement:
        """The operand's element, also where it is read from a buffer that holds it."""
        self.loaded.discard(x)
        return self.packs[x.of].element(x.at, self.counts) if isinstance(x.of, Buffer) else x

    # -- values ----------------------------------------------------------------------------------------------

    def _value(self, e: Expr) -> Value:
        if isinstance(e, Var) and e.sym in self.values:
            return self.values[e.sym]
        if isinstance(e, Load):
            (index,) = e.index
            where = self._place(e.buffer, index)
            return tuple(self._element(_Place(where.of, where.at + k)) for k in range(e.lanes or 1))
        if isinstance(e, Lane):
            return self._lane(e)
        raise Unread(f"a value of kind {e.__class__.__name__}")

    def _lane(self, e: Lane) -> Value:
        full = e.type.lanes
        if e.op == "dup":
            return (IDLE,) * full if e.args == (Int(0),) else self._value(e.args[0]) * full
        args = [self._value(x) for x in e.args]
        if e.op == "set":
            return (*(x for (x,) in args), *(IDLE,) * (full - len(args)))
        op = e.op.removesuffix("_n")
        return tuple(_operation(op, lane) for lane in zip(*(x if len(x) > 1 else x * full for x in args), strict=True))

    def _element(self, where: _Place) -> LaneValue:
        """What is read from memory."""
        if where.of in self.parts:
            at = where.at.number
            if at is None or not 0 <= at < len(self.parts[where.of]):
                raise Unread("a lane that is not there")
            return self.parts[where.of][at]
        tensor = self.tensors.get(where.of)
        found = OperandElement(tensor or where.of, where.at)
        if tensor is None:
            self.packs[where.of].check_filled(where.at, self.counts)
        elif tensor != "c":
            self.loaded.add(found)
        return found

    def _place(self, b: Buffer, at: Expr) -> _Place:
        if b not in self.places:
            raise Unread(f"{b} is not what it was in the iteration")
        known = self.places[b]
        return _Place(known.of, known.at + self._number(at))

    def _number(self, e: Expr) -> Poly:
        if isinstance(e, Int):
            return poly(e.value)
        if isinstance(e, Var) and e.sym in self.numbers:
            return self.numbers[e.sym]
        if isinstance(e, Op) and e.op in ("+", "*"):
            x, y = map(self._number, e.args)
            return x + y if e.op == "+" else x * y
        raise Unread(f"a number of kind {e.__class__.__name__}")


def _operation(op: str, args: Sequence[LaneValue]) -> LaneValue:
    """The only operation: a product is added to a sum. What is idle stays so."""
    if op == "fma" and len(args) == 3:
        return _operation("add", (args[0], _operation("mul", args[1:])))
    if len(args) != 2:
        raise Unread(f"an operation {op}")
    x, y = args
    if op == "mul":
        return Factors(x, y) if isinstance(x, OperandElement) and isinstance(y, OperandElement) else IDLE
    if op == "add" and isinstance(x, PartialSum) and isinstance(y, Factors):
        return Next(x, y)
    if op == "add" and x == IDLE:
        return IDLE
    raise Unread(f"an operation {op} on something else")
