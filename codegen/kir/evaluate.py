"""Runs KernelIR on small sizes: what a tree means, by itself and beside the proofs. One thread; memory that nothing was
stored to holds nothing, and using it is an error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from codegen.kir.nodes import (
    Advance,
    Alloc,
    Assign,
    Bind,
    Block,
    Buffer,
    Copy,
    Decl,
    Expr,
    Fill,
    Float,
    For,
    Function,
    If,
    Int,
    Lane,
    Let,
    Load,
    Op,
    Stmt,
    Store,
    Sym,
    Var,
)

STEPS = 200_000  # statements after which a run is called endless


class Wrong(Exception):
    """A run that touches what is not there, uses what has no value, or does not end."""


class Place(NamedTuple):
    """An element of a piece of memory."""

    cells: dict[int, Any]
    size: int
    at: int


def number(op: str, *args: Any) -> Any:
    """Arithmetic of Python's numbers; quotients are rounded towards zero, as C does."""
    x, y = args[0], args[-1]
    return _NUMBERS[op](x, y)


_NUMBERS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1),
    "%": lambda x, y: abs(x) % abs(y) * (1 if x >= 0 else -1),
    "min": min,
    "max": max,
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
    "==": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
    "&&": lambda x, y: bool(x and y),
    "||": lambda x, y: bool(x or y),
    "neg": lambda x, _: -x,
    "not": lambda x, _: not x,
}
_LANES = {"add": "+", "sub": "-", "mul": "*", "min": "min", "max": "max"}


class Run:
    """One run of a function. `arithmetic` computes with elements; integers of loops are always numbers."""

    def __init__(self, arithmetic: Callable[..., Any] = number) -> None:
        self.arithmetic = arithmetic
        self.values: dict[Sym, Any] = {}
        self.memory: dict[Buffer, Place] = {}
        self.steps = 0

    def function(self, f: Function, args: Sequence[Any]) -> None:
        """Call a function: numbers for symbols, lists for buffers; a list holds what is stored to it afterwards."""
        lists = []
        for p, value in zip(f.params, args, strict=True):
            if isinstance(p, Sym):
                self.values[p] = value
            else:
                self.memory[p] = Place(dict(enumerate(value)), len(value), 0)
                lists.append((p, value))
        self.block(f.body)
        for p, value in lists:
            cells = self.memory[p].cells
            value[:] = [cells[k] for k in range(len(value))]

    def block(self, body: Sequence[Stmt]) -> None:
        """Run statements one after another."""
        for s in body:
            self.steps += 1
            if self.steps > STEPS:
                raise Wrong("it does not end")
            self._statement(s)

    def _statement(self, s: Stmt) -> None:
        if isinstance(s, (Let, Decl, Assign)):
            self.values[s.sym] = self.value(s.value)
        elif isinstance(s, Store):
            self._store(s)
        elif isinstance(s, Alloc):
            size = 1
            for n in s.buffer.shape:
                size *= n
            self.memory[s.buffer] = Place({}, size, 0)
        elif isinstance(s, Bind):
            self.memory[s.view] = self._place(s.of, (s.at,))
        elif isinstance(s, Advance):
            self.memory[s.view] = self._place(s.view, (s.by,))
        elif isinstance(s, Copy):
            to, source = self._place(s.to, (s.to_at,)), self._place(s.source, (s.source_at,))
            for n in range(s.count):
                _put(to, n, _get(source, n))
        elif isinstance(s, Fill):
            to = self._place(s.buffer, (s.at,))
            for n in range(s.count):
                _put(to, n, 0)
        elif isinstance(s, For):
            self._loop(s)
        elif isinstance(s, If):
            self.block(s.then if self.value(s.cond) else s.orelse)
        elif isinstance(s, Block):
            self.block(s.body)

    def _loop(self, s: For) -> None:
        x = self.value(s.lo)
        while x < self.value(s.hi):
            self.values[s.sym] = x
            self.block(s.body)
            step = self.value(s.step)
            if step < 1:
                raise Wrong("a loop without a step")
            x += step

    def _store(self, s: Store) -> None:
        place, value = self._place(s.buffer, s.index), self.value(s.value)
        for n, x in enumerate(value if s.lanes else [value]):
            _put(place, n, x)

    def _place(self, b: Buffer, index: tuple[Expr, ...]) -> Place:
        if b not in self.memory:
            raise Wrong(f"{b} is not there")
        place, at = self.memory[b], 0
        for n, e in enumerate(index):
            at = at * (b.shape[n] if b.shape else 1) + self.value(e)
        return place._replace(at=place.at + at)

    def value(self, e: Expr) -> Any:
        """The value of an expression; of a vector a list."""
        if isinstance(e, Int):
            return e.value
        if isinstance(e, Float):
            return float(e.text)
        if isinstance(e, Var):
            if e.sym not in self.values:
                raise Wrong(f"{e.sym} has no value")
            return self.values[e.sym]
        if isinstance(e, Load):
            place = self._place(e.buffer, e.index)
            return [_get(place, n) for n in range(e.lanes)] if e.lanes else _get(place, 0)
        if isinstance(e, Lane):
            return self._lane(e)
        if isinstance(e, Op):
            if e.op == "select":
                return self.value(e.args[1] if self.value(e.args[0]) else e.args[2])
            args = [self.value(x) for x in e.args]
            whole = all(isinstance(x, (int, bool)) for x in args)
            return number(e.op, *args) if whole else self.arithmetic(e.op, *args)
        raise Wrong(f"a call of {e.function}")

    def _lane(self, e: Lane) -> list[Any]:
        args = [self.value(x) for x in e.args]
        if e.op == "dup":
            return args * e.type.lanes
        if e.op == "set":
            return args + [0] * (e.type.lanes - len(args))
        each = [x if isinstance(x, list) else [x] * e.type.lanes for x in args]
        return [self._one(e.op.removesuffix("_n"), lane) for lane in zip(*each, strict=True)]

    def _one(self, op: str, args: Sequence[Any]) -> Any:
        if op in ("fma", "fms"):
            return self.arithmetic("+" if op == "fma" else "-", args[0], self.arithmetic("*", *args[1:]))
        if op not in _LANES:
            raise Wrong(f"an operation {op}")
        return self.arithmetic(_LANES[op], *args)


def _get(place: Place, n: int) -> Any:
    if place.at + n not in place.cells:
        raise Wrong(f"element {place.at + n} has no value")
    return place.cells[place.at + n]


def _put(place: Place, n: int, value: Any) -> None:
    if not 0 <= place.at + n < place.size:
        raise Wrong(f"there is no element {place.at + n}")
    place.cells[place.at + n] = value
