"""Random affine integer expressions with the range of values they take and the C type they have.

The ranges are exact enough to keep every subscript inside its array and every loop short, whatever the sizes.
`wraps` marks values that C's unsigned arithmetic may have wrapped: they may decide an `if`, but never be a
bound or a subscript.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random


@dataclass(frozen=True)
class IntType:
    """A C integer type."""

    text: str
    bits: int
    signed: bool

    def range(self) -> tuple[int, int]:
        """Smallest and largest value."""
        half = 1 << (self.bits - 1)
        return (-half, half - 1) if self.signed else (0, 2 * half - 1)


INT = IntType("int", 32, True)
UNSIGNED = IntType("unsigned", 32, False)
LONG = IntType("long", 64, True)
SIZE = IntType("size_t", 64, False)
SHORT = IntType("short", 16, True)
BYTE = IntType("unsigned char", 8, False)


def promote(t: IntType) -> IntType:
    return INT if t.bits < 32 else t


def common(a: IntType, b: IntType) -> IntType:
    """C's usual arithmetic conversions."""
    a, b = promote(a), promote(b)
    if a.bits != b.bits:
        return a if a.bits > b.bits else b
    return b if a.signed else a


@dataclass(frozen=True)
class Value:
    """An expression: its text (safe as an operand), the values it takes, its type."""

    text: str
    lo: int
    hi: int
    ctype: IntType = INT
    wraps: bool = False


def constant(k: int) -> Value:
    return Value(str(k) if k >= 0 else f"({k})", k, k)


def _result(text: str, lo: int, hi: int, ctype: IntType, *parts: Value) -> Value:
    wraps = any(p.wraps for p in parts)
    if not ctype.signed:
        wraps = wraps or lo < 0 or any(p.lo < 0 for p in parts)
    return Value(text, lo, hi, ctype, wraps)


def add(a: Value, b: Value) -> Value:
    return _result(f"({a.text} + {b.text})", a.lo + b.lo, a.hi + b.hi, common(a.ctype, b.ctype), a, b)


def sub(a: Value, b: Value) -> Value:
    return _result(f"({a.text} - {b.text})", a.lo - b.hi, a.hi - b.lo, common(a.ctype, b.ctype), a, b)


def scale(k: int, a: Value) -> Value:
    ends = (k * a.lo, k * a.hi)
    text = a.text if k == 1 else f"({k} * {a.text})" if k >= 0 else f"({a.text} * ({k}))"
    v = _result(text, min(ends), max(ends), promote(a.ctype), a)
    return replace(v, wraps=v.wraps or (k < 0 and not v.ctype.signed))


def plus(a: Value, k: int) -> Value:
    """a + k, printed without a pair of signs."""
    if k == 0:
        return a
    return add(a, constant(k)) if k > 0 else sub(a, constant(-k))


def divide(a: Value, k: int) -> Value:
    """a / k for k > 0, towards zero as in C."""
    ends = [_quotient(a.lo, k), _quotient(a.hi, k)]
    return _result(f"({a.text} / {k})", min(ends), max(ends), promote(a.ctype), a)


def _quotient(x: int, k: int) -> int:
    return abs(x) // k * (1 if x >= 0 else -1)


def modulo(a: Value, k: int) -> Value:
    lo = -(k - 1) if a.lo < 0 else 0
    return _result(f"({a.text} % {k})", lo, k - 1, promote(a.ctype), a)


def around(a: Value, size: Value) -> Value:
    """a % (size + k), which is always positive."""
    by = plus(size, max(1, 2 - size.lo))
    lo = -(by.hi - 1) if a.lo < 0 else 0
    lo, hi = max(lo, a.lo), min(by.hi - 1, max(a.hi, 0))
    return _result(f"({a.text} % {by.text})", lo, hi, common(a.ctype, by.ctype), a, by)


def extreme(rng: Random, word: str, a: Value, b: Value) -> Value:
    """The smaller or larger of two values, as macro, function or conditional."""
    ctype = common(a.ctype, b.ctype)
    pick = min if word == "min" else max
    sign = "<" if word == "min" else ">"
    form = rng.choice(("macro", "ternary", "call" if ctype == INT else "macro"))
    text = {"macro": f"{word.upper()}({a.text}, {b.text})", "call": f"i{word}({a.text}, {b.text})",
            "ternary": f"({a.text} {sign} {b.text} ? {a.text} : {b.text})"}[form]
    return _result(text, pick(a.lo, b.lo), pick(a.hi, b.hi), ctype, a, b)


def cast(a: Value, to: IntType) -> Value:
    return _result(f"({to.text}){a.text}", a.lo, a.hi, to, a)


def linear(rng: Random, names: Sequence[Value], params: Sequence[Value], most: int = 2) -> Value:
    """A sum of a few terms."""
    total: Value | None = None
    for v in rng.sample(list(names), min(len(names), rng.randint(0, most))):
        term = scale(rng.choice((1, 1, 1, 1, 2, 3)), v)
        total = term if total is None else add(total, term) if rng.random() < 0.75 else sub(total, term)
    if params and rng.random() < 0.3:
        p = rng.choice(list(params))
        total = p if total is None else add(total, p) if rng.random() < 0.4 else sub(p, total)
    c = rng.choice((0, 0, 0, 1, -1, 2, -2, 3, 5))
    return constant(abs(c)) if total is None else plus(total, c)


def affine(rng: Random, names: Sequence[Value], params: Sequence[Value]) -> Value:
    """A sum, or a quotient, remainder, minimum or maximum of sums."""
    v = linear(rng, names, params)
    roll = rng.random()
    if roll < 0.06:
        v = divide(v, rng.choice((2, 3, 4)))
    elif roll < 0.14:
        v = modulo(v, rng.choice((2, 3, 5)))
    elif roll < 0.20:
        v = extreme(rng, rng.choice(("min", "max")), v, linear(rng, names, params, 1))
    elif roll < 0.23 and v.ctype.signed:
        v = cast(v, LONG)
    elif roll < 0.26 and v.lo >= 0:
        v = _result(f"({v.text} >> 1)", v.lo >> 1, v.hi >> 1, promote(v.ctype), v)
    elif roll < 0.28 and v.lo >= 0:
        v = _result(f"({v.text} & 3)", 0, 3, promote(v.ctype), v)
    elif roll < 0.284 and params:
        v = around(v, rng.choice(list(params)))
    return plus(v, rng.choice((1, -1, 2))) if roll < 0.28 and rng.random() < 0.3 else v


def comparison(rng: Random, names: Sequence[Value], params: Sequence[Value]) -> str:
    a, b = affine(rng, names, params), linear(rng, names, params, 1)
    return f"{a.text} {rng.choice(('<', '<=', '>', '>=', '==', '!='))} {b.text}"


def condition(rng: Random, names: Sequence[Value], params: Sequence[Value], depth: int = 2) -> str:
    """A random affine condition."""
    roll = rng.random()
    if depth == 0 or roll < 0.55:
        return comparison(rng, names, params)
    if roll < 0.65:
        return f"!({condition(rng, names, params, depth - 1)})"
    if roll < 0.70:
        return affine(rng, names, params).text
    left, right = (condition(rng, names, params, depth - 1) for _ in range(2))
    return f"({left}) {rng.choice(('&&', '||'))} ({right})"
