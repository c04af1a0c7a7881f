"""Decides comparisons of a number with an element that are constant by the element's type (true, false, or None where
they are not); `body.py` prints 0 or 1 instead, since compilers warn of them once a counter is a number."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

from codegen.ast.ctree import Instance, Int, Neg
from codegen.scop.expr import Affine, Binary, Expr, Lit, Ref
from codegen.scop.model import Scop, Statement

_ORDER = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_LIMIT = 1 << 31


def decided(scop: Scop, e: Binary, s: Statement, at: Instance) -> bool | None:
    """What a comparison of a number with an element of a narrow type gives, whatever the element is; else None."""
    if e.op not in _TURNED:
        return None
    for number, element, op in ((e.left, e.right, e.op), (e.right, e.left, _TURNED[e.op])):
        value, ends = _number(number, at), _ends(scop, element, s)
        if value is None or ends is None:
            continue
        if op in ("==", "!="):
            return None if ends[0] <= value <= ends[1] else op == "!="
        found = {_ORDER[op](value, x) for x in ends}
        return found.pop() if len(found) == 1 else None
    return None


def truth_value(scop: Scop, e: Expr, s: Statement) -> bool:
    """Is it an element of type _Bool, by whatever name?"""
    if not isinstance(e, Ref):
        return False
    array = scop.arrays[s.accesses[e.access].array]
    return array.elem.kind == "other" and array.elem.bits == 8 and array.part is None and not array.mixed


def _number(e: Expr, at: Instance) -> int | None:
    """The value of an expression of numbers, computed in a signed type."""
    value: int | None = None
    if isinstance(e, Lit) and e.text.isdigit() and (e.text == "0" or not e.text.startswith("0")):
        value = int(e.text)
    elif isinstance(e, Affine):
        given = at.values[e.value]
        if isinstance(given, Int):
            value = given.value
        elif isinstance(given, Neg) and isinstance(given.arg, Int):
            value = -given.arg.value
        if e.ctype.bits >= 32 and not e.ctype.signed:
            return None
    elif isinstance(e, Binary) and e.op in _COMPUTED:
        left, right = _number(e.left, at), _number(e.right, at)
        if left is not None and right is not None and (right or e.op not in ("/", "%")):
            value = _COMPUTED[e.op](left, right)
    return value if value is not None and abs(value) < _LIMIT else None


def _quotient(x: int, y: int) -> int:
    """C rounds towards zero."""
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


_COMPUTED: Mapping[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _quotient,
    "%": lambda x, y: x - _quotient(x, y) * y,
}


def _ends(scop: Scop, e: Expr, s: Statement) -> tuple[int, int] | None:
    """The values that an element may have, of a type that becomes int in arithmetic."""
    if truth_value(scop, e, s):
        return 0, 1
    if not isinstance(e, Ref):
        return None
    array = scop.arrays[s.accesses[e.access].array]
    if array.mixed or array.elem.enum:
        return None
    return array.elem.range() if array.elem.is_int and array.elem.bits < 32 else None
