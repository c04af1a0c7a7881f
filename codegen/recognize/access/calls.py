"""Calls of mathematical functions in loops that are to have vectors: which functions are square roots, which vectors
can be written for, and of which compilers make none."""

from __future__ import annotations

from collections.abc import Iterable

from codegen.scop.expr import Call, Expr, walk
from codegen.scop.model import Scop

ROOTS = {"sqrt": 64, "sqrtf": 32}  # bits of their values
# Neither gcc nor clang has vectors of these unless it may forget errno, or how results are rounded.
_SCALAR = frozenset((
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "erf", "erfc", "exp", "exp2",
    "expm1", "fmod", "hypot", "ldexp", "lgamma", "log", "log10", "log1p", "log2", "logb", "nextafter", "pow",
    "remainder", "scalbln", "scalbn", "sin", "sinh", "tan", "tanh", "tgamma",
))  # fmt: skip


def plain_name(name: str) -> str:
    """A function of the library without what marks it as the compiler's own."""
    return name.removeprefix("__builtin_")


def is_root(e: Expr, bits: int) -> bool:
    """Whether it is a square root in a floating type of so many bits."""
    return isinstance(e, Call) and ROOTS.get(plain_name(e.name)) == bits and len(e.args) == 1


def scalar_calls(scop: Scop, stmts: Iterable[str]) -> tuple[str, ...]:
    """Functions that the statements call of which compilers make no vectors."""
    found = {
        plain_name(e.name) for n in stmts for e in walk(scop.statement(n).rhs) if isinstance(e, Call)
    }
    return tuple(sorted(n for n in found if _is_scalar(scop, n)))


def _is_scalar(scop: Scop, name: str) -> bool:
    if name in ROOTS:
        return scop.dialect.math_errno
    return any(x in _SCALAR for x in (name, name.removesuffix("f"), name.removesuffix("l")))
