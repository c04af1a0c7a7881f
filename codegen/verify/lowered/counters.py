"""Decides whether a loop may count in `int`: its first value and its end fit, whatever the parameters are, by the
parameters' types alone."""

from __future__ import annotations

from math import inf

from codegen.ast.ctree import CExpr, For, Fun, Int, Name, Neg
from codegen.scop.model import Scop
from codegen.scop.types import INT

Range = tuple[float, float]


def counts_in_int(scop: Scop, lp: For) -> bool:
    """Are the first value of a loop by single steps, and the one at which it ends, of type `int`? It passes no value
    beyond its end; what is computed with it has a type of its own."""
    low, high = INT.range()
    first, end = _range(scop, lp.lower), _range(scop, lp.upper)
    return lp.step == 1 and lp.op == "<" and low <= first[0] and first[1] <= high and end[1] <= high


def _range(scop: Scop, e: CExpr) -> Range:
    """Values that an expression may have, by the types of parameters alone."""
    if isinstance(e, Int):
        return e.value, e.value
    if isinstance(e, Name):
        found = next((p.ctype for p in scop.params if p.name == e.name), None)
        return (-inf, inf) if found is None or found.enum or not found.is_int else found.range()
    if isinstance(e, Neg):
        low, high = _range(scop, e.arg)
        return -high, -low
    if isinstance(e, Fun) and e.name in ("min", "max"):
        parts = [_range(scop, a) for a in e.args]
        choose = min if e.name == "min" else max
        return choose(p[0] for p in parts), choose(p[1] for p in parts)
    return -inf, inf
