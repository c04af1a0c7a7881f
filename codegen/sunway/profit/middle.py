"""Counts the iterations of a loop when the loops around it are half through, for estimates: evaluates C expressions at
given values, and chooses typical values of parameters."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from codegen.ast.ctree import Bin, CExpr, Cond, For, Fun, Int, Name, Neg
from codegen.scop.model import Scop

TYPICAL = 1000  # values of parameters of which nothing is known

Values = Mapping[str, int]


def sizes_of(scop: Scop, size: int = TYPICAL) -> dict[str, int]:
    """A value for every parameter: `size`, or the nearest that what is known of them allows."""
    left = scop.context
    out = {}
    for p in scop.params:
        at = left.find_dim_by_name(isl.dim_type.param, p.name)
        out[p.name] = size
        if at >= 0:
            values = left.move_dims(isl.dim_type.set, 0, isl.dim_type.param, at, 1) if left.is_params() else left
            out[p.name] = _nearest(values, size)
            left = left.fix_val(isl.dim_type.param, at, isl.Val(out[p.name]))
    return out


def _nearest(values: isl.Set, size: int) -> int:
    free = values.project_out(isl.dim_type.param, 0, values.dim(isl.dim_type.param))
    if free.is_empty():
        return size
    low, high = free.dim_min_val(0), free.dim_max_val(0)
    if low.is_int() and int(low.to_str()) > size:
        return int(low.to_str())
    return int(high.to_str()) if high.is_int() and int(high.to_str()) < size else size


def value(e: CExpr, at: Values) -> int:
    """What an expression is worth; names that nobody knows count as zero."""
    if isinstance(e, Int):
        return e.value
    if isinstance(e, Name):
        return at.get(e.name, 0)
    if isinstance(e, Neg):
        return -value(e.arg, at)
    if isinstance(e, Cond):
        return value(e.yes if value(e.cond, at) else e.no, at)
    if isinstance(e, Fun):
        args = [value(a, at) for a in e.args]
        return min(args) if e.name == "min" else max(args) if e.name == "max" else args[0] // max(1, args[1])
    return _binary(e, value(e.left, at), value(e.right, at))


def _binary(e: Bin, a: int, b: int) -> int:
    if e.op in ("+", "-", "*"):
        return a + b if e.op == "+" else a - b if e.op == "-" else a * b
    if e.op in ("/", "%"):
        return (a // b if e.op == "/" else a % b) if b else 0
    truth = {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b,
             "&&": bool(a and b), "||": bool(a or b)}  # fmt: skip
    return int(truth[e.op])


def trips(node: For, at: Values) -> tuple[int, int]:
    """How often a loop runs, and its variable half through."""
    low, high = value(node.lower, at), value(node.upper, at)
    count = max(0, -(-(high - low + (node.op == "<=")) // node.step))
    return count, low + node.step * (max(0, count - 1) // 2)
