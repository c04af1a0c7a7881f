"""Random expressions over array elements that never overflow a signed type, divide by zero or leave a type's range."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from tests.property.affine import BYTE, INT, LONG, SHORT, UNSIGNED, IntType, Value, common, promote

FLOAT, DOUBLE = IntType("float", 0, True), IntType("double", 1, True)
BOOL, ULONG = IntType("_Bool", 8, False), IntType("unsigned long", 64, False)
USHORT = IntType("unsigned short", 16, False)
ELEMENTS = (
    INT, UNSIGNED, LONG, ULONG, SHORT, USHORT, IntType("signed char", 8, True), BYTE, IntType("long long", 64, True),
    FLOAT, DOUBLE, FLOAT, DOUBLE, IntType("int8_t", 8, True), IntType("uint16_t", 16, False),
    IntType("int32_t", 32, True), IntType("uint64_t", 64, False), BOOL,
)
# Signed 32- and 64-bit variables stay below this: values below its half are stored, and additions are few and small.
SIGNED_LIMIT = 1 << 24


def is_float(t: IntType) -> bool:
    return t.bits < 2


def bound_of(t: IntType) -> int:
    """No variable of this type is ever larger in magnitude."""
    if is_float(t):
        return 0
    if t.bits >= 32:
        return SIGNED_LIMIT if t.signed else 1 << t.bits
    return 1 << t.bits


@dataclass(frozen=True)
class Data:
    """An expression with its type and the largest magnitude it can have (integers)."""

    text: str
    ctype: IntType
    bound: int


def literal(rng: Random, t: IntType) -> Data:
    if is_float(t):
        text = rng.choice(("0.5", "0.25", "1.5", "0.125", "-0.75"))
        return Data(text + ("f" if t == FLOAT else ""), t, 0)
    k = rng.randint(1, 9)
    return Data(str(k), INT, k)


def of_affine(v: Value) -> Data:
    return Data(v.text, v.ctype, 1 << v.ctype.bits if v.wraps or not v.ctype.signed else max(abs(v.lo), abs(v.hi)))


def small(d: Data, limit: int) -> Data:
    """`d` brought below `limit` by a remainder, if it is not there already."""
    if d.bound < limit or is_float(d.ctype):
        return d
    k = 101 if limit > 101 else 11
    return Data(f"({d.text} % {k})", promote(d.ctype), k)


def combine(rng: Random, op: str, a: Data, b: Data) -> Data:
    """`a op b`, its operands made small where a signed result could overflow."""
    if is_float(a.ctype) or is_float(b.ctype):
        t = DOUBLE if DOUBLE in (a.ctype, b.ctype) else FLOAT
        return Data(f"({a.text} {op if op in '+-*' else '+'} {b.text})", t, 0)
    t = common(a.ctype, b.ctype)
    if t.signed:
        room = (1 << 14) if op == "*" else 1 << 28
        a, b = small(a, room), small(b, room)
        t = common(a.ctype, b.ctype)
    bound = {"*": a.bound * b.bound}.get(op, 2 * max(a.bound, b.bound) + 1)
    return Data(f"({a.text} {op} {b.text})", t, bound if t.signed else 1 << t.bits)


def expression(rng: Random, leaf: Callable[[], Data], depth: int) -> Data:
    """A random tree over `leaf`."""
    if depth == 0 or rng.random() < 0.25:
        return leaf()
    a, b = expression(rng, leaf, depth - 1), expression(rng, leaf, depth - 1)
    roll = rng.random()
    if roll < 0.08:
        t = DOUBLE if is_float(a.ctype) or is_float(b.ctype) else common(a.ctype, b.ctype)
        if t.signed and not is_float(t):
            a, b = small(a, 1 << 28), small(b, 1 << 28)
        return Data(f"({a.text} > {b.text} ? {a.text} : {b.text})", t, max(a.bound, b.bound))
    if roll < 0.12 and not is_float(a.ctype):
        return Data(f"({a.text} {rng.choice('/%')} {rng.choice((2, 3, 7))})", promote(a.ctype), a.bound)
    if roll < 0.15 and not is_float(a.ctype):
        d = small(a, 1 << 28)
        return Data(f"(-{d.text})", promote(d.ctype), d.bound)
    return combine(rng, rng.choice(("+", "+", "+", "-", "-", "*", "^", "&")), a, b)


def extreme(rng: Random, target: str, value: Data) -> str:
    """The smaller or larger of the target and a value, in one of the ways to say so."""
    x, e = target, small(value, SIGNED_LIMIT >> 1).text
    op, turned = rng.choice((("<", ">"), ("<=", ">="), (">", "<"), (">=", "<=")))
    return rng.choice((
        f"{x} = {x} {op} {e} ? {x} : {e};",
        f"{x} = {e} {turned} {x} ? {x} : {e};",
        f"{x} = {e} {op} {x} ? {e} : {x};",
        f"if ({e} {op} {x}) {x} = {e};",
        f"if ({x} {turned} {e}) {{ {x} = {e}; }}",
    ))


def assignment(rng: Random, target: str, t: IntType, value: Data, literals: Callable[[], Data]) -> str:
    """A statement that stores into `target` without overflow."""
    if rng.random() < 0.08 and is_float(t) >= is_float(value.ctype):
        return extreme(rng, target, value)
    if is_float(t):
        op = rng.choice(("=", "=", "=", "+=", "-=", "*="))
        return f"{target} {op} {literals().text if op == '*=' else value.text};"
    if is_float(value.ctype):
        value = literals()
    wide = t.bits >= 32 and t.signed
    op = rng.choice(("=", "=", "=", "+=", "+=", "-=", "^=", "|=", "&=", "*=", "%=", "++"))
    if op == "++":
        return f"{target}{rng.choice(('++', '--'))};"
    if op == "%=":
        return f"{target} {rng.choice(('%=', '/='))} {rng.choice((2, 5, 7))};"
    if op == "*=":
        if wide:
            op = "="
        else:
            value = small(value, 1 << 8)
    if op == "=":
        value = small(value, SIGNED_LIMIT >> 1)
    elif op != "*=":
        # 12 also for the bit operations: an `|=` may round up what a later `+=` adds to.
        value = small(value, 12 if wide else 1 << 14)
    if not wide and rng.random() < 0.1 and op == "+=":
        return f"{target} = {value.text} + {target};"
    return f"{target} {op} {value.text};"


def punned(target: str, t: IntType, pun: str, value: Data) -> str:
    """A store to bytes that are read as a float elsewhere: whatever is stored, that float is an ordinary number."""
    whole = small(value, 101).text
    if pun == "float":
        scale = "0.25f" if t == FLOAT else "0.25"
        return f"{target} = ({t.text}){whole} * {scale};"
    word, bits = ("unsigned", "7u) + 124u) << 23") if pun == "bits32" else ("unsigned long", "7u) + 1020u) << 52")
    return f"{target} = ((({word}){whole} & {bits};"
