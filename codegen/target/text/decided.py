"""Comparisons that the type of an element decides. A counter that has become a number shows them to compilers, which
warn."""

from __future__ import annotations

import operator

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


def _number(e: Expr, at: Instance) -> int | None:
    """The value of an expression of numbers, computed as an int."""
    value: int | None = None
    if isinstance(e, Lit) and e.text.isdigit() and (e.text == "0" or not e.text.startswith("0")):
        value = int(e.text)
    elif isinstance(e, Affine):
        given = at.values[e.value]
        if isinstance(given, Int):
            value = given.value
        elif isinstance(given, Neg) and isinstance(given.arg, Int):
            value = -given.arg.value
        if e.ctype.bits > 32 or (e.ctype.bits == 32 and not e.ctype.signed):
            return None
    elif isinstance(e, Binary) and e.op in ("+", "-", "*"):
        left, right = _number(e.left, at), _number(e.right, at)
        if left is not None and right is not None:
            value = left + right if e.op == "+" else left - right if e.op == "-" else left * right
    return value if value is not None and abs(value) < _LIMIT else None


def _ends(scop: Scop, e: Expr, s: Statement) -> tuple[int, int] | None:
    """The values that an element may have, of a type that becomes int in arithmetic."""
    if not isinstance(e, Ref):
        return None
    array = scop.arrays[s.accesses[e.access].array]
    if array.mixed or array.elem.enum:
        return None
    if array.elem.kind == "other" and array.elem.bits == 8 and array.part is None:  # _Bool, by whatever name
        return 0, 1
    return array.elem.range() if array.elem.is_int and array.elem.bits < 32 else None
