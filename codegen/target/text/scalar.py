"""Prints a lane expression, such as the step of a product, as a scalar C expression for one element; integer operations
wrap around as lanes do."""

from __future__ import annotations

from collections.abc import Callable

from codegen.isa.model import C_TYPES, bits_of
from codegen.scop.lanes import Lane

_INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "and": "&",
    "or": "|",
    "xor": "^",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "eq": "==",
    "ne": "!=",
    "mand": "&&",
    "mor": "||",
}
_WRAPPING = {"add": "+", "sub": "-", "mul": "*", "neg": "-"}
_PREFIX = {"neg": "-", "not": "~", "mnot": "!"}
_WRAPS = {"wrap8": "int8_t", "wrapu8": "uint8_t", "wrap16": "int16_t", "wrapu16": "uint16_t"}


def scalar(e: Lane, elem: str, leaf: Callable[[Lane], str]) -> str:
    """C text of the step, in parentheses where it has an operator."""
    if not e.args:
        return str(e.index) if e.op == "number" else leaf(e)
    args = [scalar(x, elem, leaf) for x in e.args]
    if elem[0] != "f" and e.op in _WRAPPING:
        # Lanes wrap around; in C, signed numbers must not overflow, and narrow ones are computed in int.
        wide = C_TYPES[f"u{max(32, bits_of(elem))}"]
        operands = [f"({wide}){x}" for x in (args if len(args) > 1 else ("0", *args))]
        return f"(({C_TYPES[elem]})({operands[0]} {_WRAPPING[e.op]} {operands[1]}))"
    if e.op in _INFIX:
        return f"({args[0]} {_INFIX[e.op]} {args[1]})"
    if e.op in _PREFIX:
        return f"({_PREFIX[e.op]}{args[0]})"
    if e.op in _WRAPS:
        return f"(({C_TYPES[elem]})({_WRAPS[e.op]})({args[0]}))"
    if e.op == "select":
        return f"({args[0]} ? {args[1]} : {args[2]})"
    if e.op in ("fmin", "fmax"):
        return f"__builtin_{e.op}{'f' if elem == 'f32' else ''}({args[0]}, {args[1]})"
    sign = "<" if e.op.endswith("min") else ">"
    return f"({args[0]} {sign} {args[1]} ? {args[0]} : {args[1]})"
