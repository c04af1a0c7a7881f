"""Parses printed integer expressions of a core's kernel into expressions of the C tree, brings those into a normal form
(polynomials), and tells whether two of them are surely equal."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.ast.ctree import Bin, CExpr, Cond, Fun, Int, Name, Neg
from codegen.verify.poly import Poly, poly, var
from codegen.verify.text.read import Node, Unread

_FUNCTIONS = {"tw_min": "min", "tw_max": "max", "tw_floord": "floord"}
_WHOLE = frozenset(("long", "int"))


def integer(e: Node, names: Mapping[str, CExpr]) -> CExpr:
    """An integer expression; `names` has the value of each name."""
    if e.kind == "number" and e.text.rstrip("L").isdigit():
        return Int(int(e.text.rstrip("L")))
    if e.kind == "name" and e.text in names:
        return names[e.text]
    if e.kind == "cast" and e.text in _WHOLE:
        return integer(e.kids[0], names)
    kids = [integer(k, names) for k in e.kids]
    if e.kind == "unary" and e.text == "-":
        return Neg(kids[0])
    if e.kind == "binary" and e.text in ("+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "&&", "||"):
        return Bin(e.text, kids[0], kids[1])
    if e.kind == "choose":
        return Cond(kids[0], kids[1], kids[2])
    if e.kind == "call" and e.text in _FUNCTIONS:
        return Fun(_FUNCTIONS[e.text], tuple(kids))
    raise Unread(f"no integer: {e.kind} `{e.text}`")


def polynomial(e: CExpr) -> Poly:
    """The normal form: equal polynomials have equal values."""
    if isinstance(e, Int):
        return poly(e.value)
    if isinstance(e, Name):
        return var(e.name)
    if isinstance(e, Neg):
        return -polynomial(e.arg)
    if isinstance(e, Bin) and e.op in ("+", "-", "*"):
        left, right = polynomial(e.left), polynomial(e.right)
        return left + right if e.op == "+" else left - right if e.op == "-" else left * right
    if isinstance(e, Fun):
        return var(f"{e.name}({', '.join(_operands(e))})")
    if isinstance(e, Cond):
        return var(f"({polynomial(e.cond)} ? {polynomial(e.yes)} : {polynomial(e.no)})")
    assert isinstance(e, Bin)
    return var(f"({polynomial(e.left)} {e.op} {polynomial(e.right)})")


def _operands(e: Fun) -> list[str]:
    """The values among which the least or greatest is taken, however deep they stand and in whichever order."""
    if e.name == "floord":
        return [str(polynomial(a)) for a in e.args]
    found: list[str] = []
    for a in e.args:
        found += _operands(a) if isinstance(a, Fun) and a.name == e.name else [str(polynomial(a))]
    return sorted(set(found))


def same(a: CExpr, b: CExpr) -> bool:
    """Are two expressions surely equal?"""
    return a == b or polynomial(a) == polynomial(b)
