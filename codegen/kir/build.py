"""Short ways to write KernelIR: numbers, symbols and expressions alike become expressions, and sums fold constants."""

from __future__ import annotations

from typing import Union

from codegen.kir.nodes import SEQ, Buffer, Exec, Expr, For, Int, Load, Op, Stmt, Store, Sym, Var

Value = Union[int, Sym, Expr]


def expr(x: Value) -> Expr:
    """An expression for a number or a symbol; others as they are."""
    return Int(x) if isinstance(x, int) else Var(x) if isinstance(x, Sym) else x


def op(name: str, *args: Value) -> Op:
    """An operation as it is."""
    return Op(name, tuple(map(expr, args)))


def add(x: Value, y: Value) -> Expr:
    """A sum, without a zero, and with one constant at its end."""
    left, right = expr(x), expr(y)
    if isinstance(left, Int) and isinstance(right, Int):
        return Int(left.value + right.value)
    if isinstance(left, Int):
        left, right = right, left
    if isinstance(right, Int) and isinstance(left, Op) and left.op == "+" and isinstance(left.args[1], Int):
        return add(left.args[0], left.args[1].value + right.value)
    return left if right == Int(0) else Op("+", (left, right))


def mul(x: Value, y: Value) -> Expr:
    """A product, without a one."""
    left, right = expr(x), expr(y)
    if isinstance(left, Int) and isinstance(right, Int):
        return Int(left.value * right.value)
    return left if right == Int(1) else right if left == Int(1) else Op("*", (left, right))


def load(buffer: Buffer, *index: Value, lanes: int = 0) -> Load:
    """An element, or some neighbours as a vector."""
    return Load(buffer, tuple(map(expr, index)), lanes)


def store(buffer: Buffer, index: Value, value: Value, lanes: int = 0) -> Store:
    """A new value of an element of a buffer with one dimension."""
    return Store(buffer, (expr(index),), expr(value), lanes)


def loop(sym: Sym, lo: Value, hi: Value, body: tuple[Stmt, ...], exec: Exec = SEQ, note: str = "") -> For:
    """A loop in steps of one."""
    return For(sym, expr(lo), expr(hi), Int(1), body, exec, note)
