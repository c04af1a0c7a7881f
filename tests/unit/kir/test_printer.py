"""What the printer prints, read again, is the tree that it printed: kernels, and random trees."""

from __future__ import annotations

import random

import pytest

from codegen.kir.build import load
from codegen.kir.nodes import (
    F64,
    LONG,
    SEQ,
    VOID,
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
    Hint,
    If,
    Int,
    Let,
    Op,
    Prefetch,
    Stmt,
    Store,
    Sym,
    Var,
)
from codegen.kir.visit import alike
from codegen.kir.wellformed import check
from codegen.print.printer import print_function
from tests.kir.reader import read_function
from tests.unit.kir.test_nests import NESTS, kernel


def same(f: Function, g: Function) -> bool:
    """Whether two functions are equal up to names and notes."""
    return alike((f.params, f.body, f.target, f.linkage), (g.params, g.body, g.target, g.linkage))


def unnoted(f: Function) -> Function:
    """Without comments, which the reader leaves out."""

    def plain(s: Stmt) -> Stmt:
        if isinstance(s, For):
            return For(s.sym, s.lo, s.hi, s.step, tuple(map(plain, s.body)), s.exec)
        if isinstance(s, Block):
            return Block(tuple(map(plain, s.body)))
        return s

    return Function(f.sym, f.params, tuple(map(plain, f.body)), f.linkage, f.target, f.marks)


@pytest.mark.parametrize("isa", ["avx2", "avx512"])
@pytest.mark.parametrize("name", NESTS)
def test_kernels_are_read_back(name: str, isa: str) -> None:
    table, _, f = kernel(name, isa)
    text = print_function(f, table)
    assert same(read_function(text, table), unnoted(f)), text


class Random:
    """Random trees that keep the rules."""

    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)
        self.names = ("i", "n", "x", "t", "buf")  # few, so that they meet

    def function(self) -> Function:
        params = (Sym("n", LONG, "param"), Buffer("a", F64, "param"), Buffer("b", F64, "param", const=True))
        self.numbers, self.values, self.variables = [params[0]], list[Sym](), list[Sym]()
        self.buffers = [x for x in params if isinstance(x, Buffer)]
        self.moving: list[Buffer] = []
        body = self.body(3)
        return Function(Sym("f", VOID, "user"), params, body)

    def body(self, depth: int) -> tuple[Stmt, ...]:
        kept = (len(self.numbers), len(self.values), len(self.variables), len(self.buffers), len(self.moving))
        found = tuple(self.statement(depth) for _ in range(self.r.randint(1, 4)))
        for names, n in zip((self.numbers, self.values, self.variables, self.buffers, self.moving), kept, strict=True):
            del names[n:]  # type: ignore[attr-defined]
        return found

    def statement(self, depth: int) -> Stmt:
        pick, hint = self.r.randrange(12 if depth else 9), self.r.choice(self.names)
        if pick == 0:
            value = self.number()
            sym = Sym(hint, LONG)
            self.numbers.append(sym)
            return Let(sym, value)
        if pick == 1:
            value = self.value()
            sym = Sym(hint, F64)
            self.values.append(sym)
            self.variables.append(sym)
            return Decl(sym, value)
        if pick == 2 and self.variables:
            return Assign(self.r.choice(self.variables), self.value())
        if pick == 3:
            of = self.r.choice([b for b in self.buffers if b.rank == 1])
            at, moves = self.number(), self.r.random() < 0.5
            view = Buffer(hint, F64, "view", const=of.const)
            self.buffers.append(view)
            self.moving += [view] if moves else []
            return Bind(view, of, at, moves)
        if pick == 4 and self.moving:
            return Advance(self.r.choice(self.moving), self.number())
        if pick == 5:
            shape = tuple(self.r.randint(1, 9) for _ in range(self.r.randint(1, 2)))
            buffer = Buffer(hint, F64, "stack", shape)
            self.buffers.append(buffer)
            return Alloc(buffer)
        if pick == 6:
            return self.copies()
        if pick == 7:
            return self.r.choice([Hint("TW_KEEP_ORDER"), Prefetch(self.buffers[0], self.number())])
        if pick <= 8 or not depth:
            buffer = self.r.choice([b for b in self.buffers if not b.const])
            return Store(buffer, self.index(buffer), self.value())
        if pick == 9:
            return Block(self.body(depth - 1))
        if pick == 10:
            return If(self.condition(), self.body(depth - 1), self.body(depth - 1) if self.r.random() < 0.5 else ())
        lo, hi, step = self.number(), self.number(), Int(self.r.randint(1, 4))
        sym = Sym(hint, LONG)
        self.numbers.append(sym)
        body = self.body(depth - 1)
        self.numbers.remove(sym)
        return For(sym, lo, hi, step, body, SEQ)

    def copies(self) -> Stmt:
        to = self.r.choice([b for b in self.buffers if not b.const and b.rank == 1])
        source = self.r.choice([b for b in self.buffers if b.rank == 1])
        if self.r.random() < 0.5:
            return Fill(to, self.number(), self.r.randint(1, 5))
        return Copy(to, self.number(), source, self.number(), self.r.randint(1, 5))

    def index(self, b: Buffer) -> tuple[Expr, ...]:
        return tuple(self.number() for _ in range(b.rank))

    def number(self, depth: int = 3) -> Expr:
        pick = self.r.randrange(8 if depth else 3)
        if pick < 2:
            return Var(self.r.choice(self.numbers))
        if pick == 2:
            return Int(self.r.randint(-3, 99))
        if pick == 3:
            return negated(self.number(depth - 1)) if self.r.random() < 0.5 else self.selected(depth)
        op = self.r.choice(["+", "-", "*", "/", "%", "min", "max"])
        return Op(op, (self.number(depth - 1), self.number(depth - 1)))

    def selected(self, depth: int) -> Expr:
        return Op("select", (self.condition(depth - 1), self.number(depth - 1), self.number(depth - 1)))

    def condition(self, depth: int = 2) -> Expr:
        if depth > 0 and self.r.random() < 0.4:
            return Op(self.r.choice(["&&", "||"]), (self.condition(depth - 1), self.condition(depth - 1)))
        if depth > 0 and self.r.random() < 0.2:
            return Op("not", (self.condition(depth - 1),))
        op = self.r.choice(["<", "<=", ">", ">=", "==", "!="])
        return Op(op, (self.number(1), self.number(1)))

    def value(self, depth: int = 3) -> Expr:
        pick = self.r.randrange(6 if depth else 3)
        if pick == 0 and self.values:
            return Var(self.r.choice(self.values))
        if pick <= 1:
            buffer = self.r.choice(self.buffers)
            return load(buffer, *self.index(buffer))
        if pick == 2:
            return Float(self.r.choice(["0.5", "-1.25", "3e7"]), F64)
        if pick == 3:
            return negated(self.value(depth - 1))
        return Op(self.r.choice(["+", "-", "*", "/"]), (self.value(depth - 1), self.value(depth - 1)))


def negated(e: Expr) -> Expr:
    """A value with the other sign; constants have one of their own."""
    return e if isinstance(e, (Int, Float)) else Op("neg", (e,))


@pytest.mark.parametrize("part", range(4))
def test_random_trees_are_read_back(part: int) -> None:
    for seed in range(part * 100, part * 100 + 100):
        f = Random(seed).function()
        check(f)
        text = print_function(f)
        assert same(read_function(text), f), f"seed {seed}\n{text}"
