"""The C type of an expression in a region, where it is known, and which conversions keep every value."""

from __future__ import annotations

from dataclasses import replace

from pycparser import c_ast

from codegen.frontend.statements.body import BodyBuilder
from codegen.frontend.syntax.constants import int_constant
from codegen.frontend.syntax.purity import MATH_NAMES
from codegen.scop.types import INT, LONG, CType, common, promote

FLOAT = CType("float", "float", 32)
DOUBLE = CType("double", "float", 64)
LONG_DOUBLE = CType("long double", "float", 128)
_TRUTH = ("<", "<=", ">", ">=", "==", "!=", "&&", "||")
_DIGITS = {32: 24, 64: 53, 128: 64}  # of the significands


def value_type(node: c_ast.Node, b: BodyBuilder) -> CType | None:
    """The type of a value that `b` has accepted; None where it is not known, not a number, or complex."""
    if isinstance(node, c_ast.Constant):
        return literal_ctype(node)
    if isinstance(node, c_ast.ID):
        return _name(node, b)
    if isinstance(node, (c_ast.ArrayRef, c_ast.StructRef)) or (isinstance(node, c_ast.UnaryOp) and node.op == "*"):
        return as_value(b.shape_of(node).elem)
    if isinstance(node, c_ast.UnaryOp):
        return _unary(node, b)
    if isinstance(node, c_ast.BinaryOp):
        if node.op in _TRUTH:
            return INT
        return operation(node.op, value_type(node.left, b), value_type(node.right, b))
    if isinstance(node, c_ast.TernaryOp):
        return operation("?", value_type(node.iftrue, b), value_type(node.iffalse, b))
    if isinstance(node, c_ast.Cast):
        shape = b.names.types.shape(node.to_type)
        return None if shape.declarators else as_value(shape.elem)
    return _called(node, b) if isinstance(node, c_ast.FuncCall) else None


def as_value(t: CType) -> CType | None:
    """What reading an object of type `t` gives."""
    if t.kind == "other" and t.bits == 8:
        return INT  # a _Bool
    return t if t.kind in ("int", "float") and not t.enum else None


def operation(op: str, a: CType | None, b: CType | None) -> CType | None:
    """The type of `a op b` after C's usual arithmetic conversions."""
    if a is None or (b is None and op not in ("<<", ">>")):
        return None
    if op in ("<<", ">>"):
        return promote(a)
    assert b is not None
    floats = [t for t in (a, b) if t.kind == "float"]
    return max(floats, key=lambda t: t.bits) if floats else common(a, b)


def keeps(have: CType, to: CType) -> bool:
    """Does a conversion leave every value of the type as it is?"""
    if to.kind == "float":
        need = have.bits - have.signed if have.is_int else _DIGITS[have.bits]
        return need <= _DIGITS[to.bits]
    (low, high), (least, most) = have.range(), to.range()
    return have.is_int and least <= low and high <= most


def alike(a: CType, b: CType) -> bool:
    """Are the two the same type under any name?"""
    return a == b or (a.kind in ("int", "float") and replace(a, spelling="") == replace(b, spelling=""))


def literal_ctype(node: c_ast.Constant) -> CType | None:
    """The type of a constant."""
    text = node.value.lower()
    if node.type == "char":
        return INT
    number = int_constant(node)
    if number is None:
        known = {"float": FLOAT, "double": DOUBLE, "long double": LONG_DOUBLE}
        return known.get(node.type)
    if number >= 1 << 31:
        return None  # depends on its base and suffix
    if "u" in text:
        return CType("unsigned long long", "int", 64, False) if "l" in text else CType("unsigned", "int", 32, False)
    return LONG if "l" in text else INT


def _name(node: c_ast.ID, b: BodyBuilder) -> CType | None:
    name, frame = node.name, b.frame
    it = frame.iterator(name)
    if name in frame.bindings:
        return frame.bindings[name].ctype
    if it is not None:
        return it.ctype
    if name not in frame.locals and name in b.affiner.enums:
        return INT
    return as_value(b.shape_of(node).elem)


def _unary(node: c_ast.UnaryOp, b: BodyBuilder) -> CType | None:
    if node.op == "!":
        return INT
    if node.op not in ("+", "-", "~"):
        return None
    inner = value_type(node.expr, b)
    return None if inner is None else promote(inner)


def _called(node: c_ast.FuncCall, b: BodyBuilder) -> CType | None:
    name = getattr(node.name, "name", "")
    if name in b.names.functions:
        shape = b.names.types.shape(b.names.functions[name].decl.type.type)
        return None if shape.declarators else as_value(shape.elem)
    if name in b.names.pure or name not in MATH_NAMES:
        return None
    plain = name.removeprefix("__builtin_")
    return DOUBLE if MATH_NAMES[name] == plain else FLOAT if plain.endswith("f") else LONG_DOUBLE
