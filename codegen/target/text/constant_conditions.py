"""Conditions that are constant by the types of parameters are simplified: compilers warn of such tests."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.ast.ctree import Bin, CExpr, Cond, Int, Name, Neg
from codegen.scop.model import Param

_TESTS = ("<", "<=", ">", ">=", "==")
Ends = tuple[int, int]


def settled(e: CExpr, params: Mapping[str, Param]) -> CExpr:
    """A condition or a choice without what the types decide; Int(1) or Int(0) where nothing is left of it."""
    if isinstance(e, Cond):
        cond = settled(e.cond, params)
        if isinstance(cond, Int):
            return settled(e.yes if cond.value else e.no, params)
        return Cond(cond, settled(e.yes, params), settled(e.no, params))
    if not isinstance(e, Bin):
        return e
    if e.op in ("&&", "||"):
        sides = [settled(x, params) for x in (e.left, e.right)]
        open_ = [x for x in sides if not isinstance(x, Int)]
        ends = [bool(x.value) for x in sides if isinstance(x, Int)]
        if (e.op == "||") in ends:
            return Int(int(e.op == "||"))
        return Bin(e.op, *open_) if len(open_) == 2 else open_[0] if open_ else Int(int(e.op == "&&"))
    if e.op in _TESTS:
        known = _known(e, params)
        return e if known is None else Int(int(known))
    return e


def _known(e: Bin, params: Mapping[str, Param]) -> bool | None:
    left, right = (_ends(x, params) for x in (e.left, e.right))
    if left is None or right is None:
        return None
    below, above = left[1] < right[0], left[0] > right[1]  # by all their values
    if e.op == "==":
        same = left == right and left[0] == left[1]
        return True if same else False if below or above else None
    if e.op in ("<", ">="):
        less = True if below else False if left[0] >= right[1] else None
        return less if e.op == "<" or less is None else not less
    more = True if above else False if left[1] <= right[0] else None
    return more if e.op == ">" or more is None else not more


def _ends(e: CExpr, params: Mapping[str, Param]) -> Ends | None:
    """The values that an expression of numbers and parameters may have."""
    if isinstance(e, Int):
        return e.value, e.value
    if isinstance(e, Name):
        kind = params[e.name].ctype if e.name in params else None
        return None if kind is None or kind.enum or not kind.is_int else kind.range()
    if isinstance(e, Neg):
        arg = _ends(e.arg, params)
        return None if arg is None else (-arg[1], -arg[0])
    if not isinstance(e, Bin) or e.op not in ("+", "-", "*"):
        return None
    left, right = (_ends(x, params) for x in (e.left, e.right))
    if left is None or right is None:
        return None
    if e.op == "-":
        return left[0] - right[1], left[1] - right[0]
    if e.op == "+":
        return left[0] + right[0], left[1] + right[1]
    corners = [x * y for x in left for y in right]
    return min(corners), max(corners)
