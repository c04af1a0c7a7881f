"""Integer constant expressions of C: their values and types, by C's conversions. None for what overflows, divides by
zero, or has parts that are not known."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from pycparser import c_ast

from codegen.scop.types import INT, LONG, CType, common, promote

Constant = tuple[int, CType]
TypeOf = Callable[[c_ast.Node], CType | None]  # of the type of a cast or of `sizeof`; None where it is no integer
UINT = CType("unsigned", "int", 32, False)
ULONG = CType("unsigned long long", "int", 64, False)
MOST_DIGITS = 66  # 64 bits, written as 0b
_ESCAPES = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, "\\": 92, "'": 39, '"': 34, "?": 63}
_COMPARED: Mapping[str, Callable[[int, int], bool]] = {
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
}  # fmt: skip
_COMPUTED: Mapping[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "&": lambda a, b: a & b,
    "|": lambda a, b: a | b, "^": lambda a, b: a ^ b, "/": lambda a, b: _quotient(a, b),
    "%": lambda a, b: a - b * _quotient(a, b),
}  # fmt: skip


def _quotient(a: int, b: int) -> int:
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def int_constant(node: c_ast.Constant) -> int | None:
    """The value of an integer or character literal; None for what no type of C can hold."""
    if node.type == "char":
        return _character(node.value[1:-1]) if node.value.startswith("'") else None
    if "int" not in node.type and "long" not in node.type:
        return None
    digits = node.value.lower().rstrip("ul")
    if len(digits) > MOST_DIGITS:
        return None
    if digits.startswith("0x"):
        return int(digits, 16)
    if digits.startswith("0b"):
        return int(digits, 2)
    return int(digits, 8) if digits.startswith("0") and digits != "0" else int(digits)


def _character(body: str) -> int | None:
    """The value of what stands between the quotes, if it is the same whether char is signed or not."""
    if len(body) == 1:
        value = ord(body)
    elif len(body) == 2 and body[0] == "\\" and body[1] in _ESCAPES:
        value = _ESCAPES[body[1]]
    elif re.fullmatch(r"\\[0-7]{1,3}", body):
        value = int(body[1:], 8)
    elif re.fullmatch(r"\\x[0-9a-fA-F]+", body):
        value = int(body[2:], 16)
    else:
        return None
    return value if value < 128 else None


def literal_type(node: c_ast.Constant, number: int) -> CType:
    """The type of a literal: the first that holds it of those that its suffix and base allow. Literals that the tool
    itself makes may be negative."""
    text = node.value.lower()
    if node.type == "char":
        return INT
    if "u" in text:
        return ULONG if "l" in text or number >> 32 else UINT
    if text.startswith("0") and number >> 31:  # hexadecimal, octal or binary
        return ULONG if number >> 63 else LONG if number >> 32 or "l" in text else UINT
    return LONG if "l" in text or number.bit_length() > 31 else INT


def constant(node: c_ast.Node, names: Mapping[str, int], type_of: TypeOf = lambda _: None) -> Constant | None:
    """The value of a constant expression and its type; `names` are enumerators of type int."""
    if isinstance(node, c_ast.Constant):
        value = int_constant(node)
        return None if value is None or value.bit_length() > 64 else (value, literal_type(node, value))
    if isinstance(node, c_ast.ID):
        known = names.get(node.name)
        return None if known is None else (known, INT)
    if isinstance(node, c_ast.UnaryOp):
        return _unary(node, names, type_of)
    if isinstance(node, c_ast.BinaryOp):
        left, right = constant(node.left, names, type_of), constant(node.right, names, type_of)
        return _binary(node.op, left, right)
    if isinstance(node, c_ast.TernaryOp):
        parts = [constant(x, names, type_of) for x in (node.cond, node.iftrue, node.iffalse)]
        cond, yes, no = parts
        if cond is None or yes is None or no is None:
            return None
        return _converted((yes if cond[0] else no)[0], common(yes[1], no[1]))
    if isinstance(node, c_ast.Cast):
        inner, to = constant(node.expr, names, type_of), type_of(node.to_type)
        return None if inner is None or to is None else _converted(inner[0], to)
    return None


def _unary(node: c_ast.UnaryOp, names: Mapping[str, int], type_of: TypeOf) -> Constant | None:
    if node.op == "sizeof" and isinstance(node.expr, c_ast.Typename):
        of = type_of(node.expr)
        return None if of is None else (of.bits // 8, ULONG)
    inner = constant(node.expr, names, type_of) if node.op in ("+", "-", "~", "!") else None
    if inner is None:
        return None
    value, t = inner[0], promote(inner[1])
    if node.op == "!":
        return int(not value), INT
    return _exact({"+": value, "-": -value, "~": ~value}[node.op], t)


def _binary(op: str, left: Constant | None, right: Constant | None) -> Constant | None:
    if left is None or right is None:
        return None
    (a, at), (b, bt) = left, right
    if op in ("&&", "||"):
        return int(bool(a and b) if op == "&&" else bool(a or b)), INT
    if op in ("<<", ">>"):
        t = promote(at)
        if not 0 <= b < t.bits or (a < 0 and op == "<<"):
            return None
        return _exact(a << b if op == "<<" else a >> b, t)
    t = common(at, bt)
    x, y = _converted(a, t), _converted(b, t)
    if x is None or y is None or (op in ("/", "%") and not y[0]):
        return None
    if op in _COMPARED:
        return int(_COMPARED[op](x[0], y[0])), INT
    return _exact(_COMPUTED[op](x[0], y[0]), t) if op in _COMPUTED else None


def _exact(value: int, t: CType) -> Constant | None:
    """The result of an operation: unsigned ones wrap around, signed ones must not."""
    low, high = t.range()
    if not t.signed:
        return value & high, t
    return (value, t) if low <= value <= high else None


def _converted(value: int, t: CType) -> Constant | None:
    """A value as another type; what is not the same on every machine is not known."""
    low, high = t.safe_range()
    if low <= value <= high:
        return value, t
    if t.plain_char:
        return None
    value &= (1 << t.bits) - 1
    return (value - (1 << t.bits) if t.signed and value >> (t.bits - 1) else value), t
