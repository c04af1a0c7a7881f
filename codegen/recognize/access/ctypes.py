"""Finds the C type of an expression by the usual arithmetic conversions (`type_of`), None where it is not known; and
the name of a type in vector lanes, such as f64 (`element_name`)."""

from __future__ import annotations

from codegen.recognize.access.calls import plain_name
from codegen.scop.expr import Affine, Binary, Call, Cast, Expr, Gather, Lit, Ref, Sym, Ternary, Unary
from codegen.scop.model import Scop, Statement
from codegen.scop.types import INT, LONG, CType, common, promote

DOUBLE = CType("double", "float", 64)
FLOAT = CType("float", "float", 32)
_UINT = CType("unsigned int", "int", 32, False)
_ULONG = CType("unsigned long long", "int", 64, False)
_COMPARE = ("<", "<=", ">", ">=", "==", "!=", "&&", "||")
# Functions of <math.h> whose result has the type of their name.
_DOUBLES = ("fmin", "fmax", "fabs", "sqrt", "exp", "log", "sin", "cos", "tanh", "pow", "fma", "floor", "ceil")


def type_of(scop: Scop, s: Statement, e: Expr) -> CType | None:
    """The type C gives the expression, or None when that is not known."""
    if isinstance(e, Lit):
        return _literal(e.text)
    if isinstance(e, (Sym, Affine, Cast, Gather)):
        return e.ctype if e.ctype is not None and _known(e.ctype) else None
    if isinstance(e, Ref):
        elem = scop.arrays[s.accesses[e.access].array].elem
        return elem if _known(elem) else None
    if isinstance(e, Unary):
        inner = type_of(scop, s, e.arg)
        return INT if e.op == "!" else None if inner is None else promote(inner)
    if isinstance(e, Binary):
        return _binary(e.op, type_of(scop, s, e.left), type_of(scop, s, e.right))
    if isinstance(e, Ternary):
        return arithmetic(type_of(scop, s, e.yes), type_of(scop, s, e.no))
    return _call(e) if isinstance(e, Call) else None


def _known(t: CType) -> bool:
    return t.kind in ("int", "float") and not t.enum


def _binary(op: str, left: CType | None, right: CType | None) -> CType | None:
    if op in _COMPARE:
        return INT
    if op in ("<<", ">>"):
        return None if left is None else promote(left)
    return arithmetic(left, right)


def arithmetic(a: CType | None, b: CType | None) -> CType | None:
    """C's usual arithmetic conversions."""
    if a is None or b is None:
        return None
    floats = [t for t in (a, b) if t.kind == "float"]
    if floats:
        return max(floats, key=lambda t: t.bits)
    return common(a, b)


def _call(e: Call) -> CType | None:
    name = plain_name(e.name)
    if name in _DOUBLES:
        return DOUBLE
    if name.endswith("f") and name[:-1] in _DOUBLES:
        return FLOAT
    return INT if name == "abs" else LONG if name == "labs" else None


def _literal(text: str) -> CType | None:
    low = text.lower()
    if low.startswith("'"):
        return INT
    if low.startswith("sizeof"):
        return _ULONG
    hexadecimal = low.startswith("0x")
    if ("p" in low) if hexadecimal else ("." in low or "e" in low):
        return FLOAT if low.endswith("f") else None if low.endswith("l") else DOUBLE
    digits = low.rstrip("ul")
    suffix = low[len(digits) :]
    try:
        value = int(digits, 8 if digits.startswith("0") and digits.isdigit() and len(digits) > 1 else 0)
    except ValueError:
        return None
    unsigned = "u" in suffix
    if "l" in suffix or value > 0xFFFFFFFF or (value > 0x7FFFFFFF and not (hexadecimal or unsigned)):
        return _ULONG if unsigned else LONG
    return _UINT if unsigned or value > 0x7FFFFFFF else INT


def element_name(t: CType) -> str | None:
    """The lanes' name of a type: f64, i16, ...; None for types that vectors do not have."""
    if t.kind == "float":
        return {64: "f64", 32: "f32"}.get(t.bits)
    if t.kind != "int" or t.bits not in (8, 16, 32, 64) or t.plain_char or t.enum:
        return None
    return f"{'i' if t.signed else 'u'}{t.bits}"
