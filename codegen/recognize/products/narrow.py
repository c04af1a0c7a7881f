"""Integer products whose factors need only half the width of the sum (widening multiply-add): `narrow_of` returns that
narrower element type, or an empty text."""

from __future__ import annotations

from codegen.recognize.access.ctypes import type_of
from codegen.scop.expr import Cast, Expr
from codegen.scop.lanes import Lane
from codegen.scop.model import Scop, Statement
from codegen.scop.product import ProductStep


def narrow_of(scop: Scop, s: Statement, step: ProductStep) -> str:
    """The element type of half the width that holds all factors, where a step adds and subtracts products of them and
    nothing else; "" where there is none. The product of two such numbers fits into the sum's type."""
    kind, bits = step.elem[0], int(step.elem[1:])
    if kind == "f" or bits < 32 or not _sums(step.lane):
        return ""
    fit = all(_fits(scop, s, e, bits // 2, kind == "i") for e in (*step.left, *step.right))
    return f"{kind}{bits // 2}" if fit else ""


def _sums(x: Lane) -> bool:
    """acc, or such a sum and a product more."""
    if x.op == "acc":
        return True
    if x.op not in ("add", "sub"):
        return False
    one, other = x.args if x.op == "sub" or x.args[1].op == "mul" else x.args[::-1]
    return other.op == "mul" and {y.op for y in other.args} == {"a", "b"} and _sums(one)


def _fits(scop: Scop, s: Statement, e: Expr, bits: int, signed: bool) -> bool:
    """Does the narrower type hold every value of an operand? Casts to wider types do not change what it holds."""
    kind = type_of(scop, s, e)
    if kind is None or not kind.is_int:
        return False
    if kind.bits <= bits and kind.signed == signed:
        return True
    if kind.bits < bits and not kind.signed:
        return True
    return isinstance(e, Cast) and kind.bits > bits and _fits(scop, s, e.arg, bits, signed)
