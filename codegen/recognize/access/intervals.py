"""Bounds the values of an expression by interval arithmetic (`interval`), from the types and constants in it and from
bounds that the caller has for what it reads; None where there are no bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Union

from codegen.recognize.access.ctypes import type_of
from codegen.scop.expr import Affine, Binary, Call, Cast, Expr, Gather, Lit, Ref, Sym, Ternary, Unary
from codegen.scop.model import Scop, Statement
from codegen.scop.types import CType

Number = Union[int, float]
Interval = tuple[Number, Number]
Leaf = Callable[[Expr], "Interval | None"]

_TRUTHS = ("<", "<=", ">", ">=", "==", "!=", "&&", "||")
_ROUNDING: dict[str, Callable[[float], int]] = {"floor": math.floor, "ceil": math.ceil, "trunc": math.trunc}
_LEAST, _MOST = ("min", "fmin", "MIN", "imin"), ("max", "fmax", "MAX", "imax")


def interval(scop: Scop, s: Statement, e: Expr, leaf: Leaf) -> Interval | None:
    """Bounds of the values that `e` can have, with those that `leaf` gives for what is read; None where there are none.

    C does not define what happens where signed numbers overflow, unless the compiler was told that they wrap around;
    unsigned ones may then have any value of their type.
    """
    kind, found = type_of(scop, s, e), _interval(scop, s, e, leaf)
    cut = kind is not None and kind.is_int and (found is None or not kind.signed or scop.dialect.wraps)
    return _converted(found, kind) if cut else found


def _interval(scop: Scop, s: Statement, e: Expr, leaf: Leaf) -> Interval | None:
    if isinstance(e, (Ref, Gather, Affine, Sym)):
        return leaf(e)
    if isinstance(e, Lit):
        return _literal(e.text)

    def of(x: Expr) -> Interval | None:
        return interval(scop, s, x, leaf)

    if isinstance(e, Ternary):
        return union(of(e.yes), of(e.no))
    if isinstance(e, Cast):
        return _converted(of(e.arg), e.ctype)
    if isinstance(e, Call):
        return _called(e.name, [of(x) for x in e.args])
    if isinstance(e, Unary):
        inner = of(e.arg)
        return (0, 1) if e.op == "!" else None if inner is None else _unary(e.op, inner)
    if not isinstance(e, Binary) or e.op in _TRUTHS:
        return (0, 1) if isinstance(e, Binary) else None
    left, right = of(e.left), of(e.right)
    whole = all(t is not None and t.is_int for t in (type_of(scop, s, e.left), type_of(scop, s, e.right)))
    return None if left is None or right is None else _binary(e.op, left, right, whole)


def union(a: Interval | None, b: Interval | None) -> Interval | None:
    return None if a is None or b is None else (min(a[0], b[0]), max(a[1], b[1]))


def _literal(text: str) -> Interval | None:
    low = text.lower()
    try:
        digits = low.rstrip("ul")
        octal = digits.isdigit() and digits.startswith("0")
        value: Number = int(digits, 8 if octal else 0)
    except ValueError:
        try:
            value = float(low.rstrip("fl"))
        except ValueError:
            return None
    return value, value


def _converted(have: Interval | None, to: CType | None) -> Interval | None:
    """After a conversion; what a narrower type does not hold may become any of its values."""
    if to is None or to.kind == "float" or to.kind == "other":
        return have if to is not None and to.kind == "float" else None
    if have is not None and all(map(math.isfinite, have)):
        cut = math.trunc(have[0]), math.trunc(have[1])
        low, high = to.safe_range()
        if low <= cut[0] and cut[1] <= high:
            return cut
    return to.range()


def _called(name: str, args: list[Interval | None]) -> Interval | None:
    plain = name.removeprefix("__builtin_")
    known = [a for a in args if a is not None]
    if len(known) != len(args):
        return None
    for stem in (plain, plain[:-1] if plain.endswith(("f", "l")) else plain):
        if stem in _ROUNDING and len(known) == 1:
            return _ROUNDING[stem](known[0][0]), _ROUNDING[stem](known[0][1])
        if stem in ("abs", "labs", "llabs", "fabs") and len(known) == 1:
            ends = [abs(x) for x in known[0]]
            return (0 if known[0][0] <= 0 <= known[0][1] else min(ends)), max(ends)
        if stem in _LEAST and len(known) == 2:
            return min(known[0][0], known[1][0]), min(known[0][1], known[1][1])
        if stem in _MOST and len(known) == 2:
            return max(known[0][0], known[1][0]), max(known[0][1], known[1][1])
    return None


def _unary(op: str, a: Interval) -> Interval | None:
    return {"-": (-a[1], -a[0]), "+": a}.get(op)


def _binary(op: str, a: Interval, b: Interval, whole: bool) -> Interval | None:
    if op == "+":
        return a[0] + b[0], a[1] + b[1]
    if op == "-":
        return a[0] - b[1], a[1] - b[0]
    if op == "*":
        ends = [x * y for x in a for y in b]
        return min(ends), max(ends)
    if op == "/" and not b[0] <= 0 <= b[1]:
        ends = [x / y for x in a for y in b]
        return (math.trunc(min(ends)) - 1, math.trunc(max(ends)) + 1) if whole else (min(ends), max(ends))
    if not whole or not all(isinstance(x, int) for x in (*a, *b)):
        return None
    return _bits(op, (int(a[0]), int(a[1])), (int(b[0]), int(b[1])))


def _bits(op: str, a: tuple[int, int], b: tuple[int, int]) -> Interval | None:
    """Remainders, masks and shifts of integers."""
    if op == "%" and b[0] > 0:
        most = b[1] - 1
        return (0 if a[0] >= 0 else -most), (min(most, a[1]) if a[0] >= 0 else most)
    if op == "&" and (b[0] >= 0 or a[0] >= 0):
        return 0, min(x[1] for x in (a, b) if x[0] >= 0)
    if op in ("|", "^") and a[0] >= 0 and b[0] >= 0:
        return 0, (1 << max(a[1], b[1]).bit_length()) - 1
    if op in ("<<", ">>") and a[0] >= 0 and b[0] >= 0 and b[1] < 64:
        return (a[0] << b[0], a[1] << b[1]) if op == "<<" else (a[0] >> b[1], a[1] >> b[0])
    return None
