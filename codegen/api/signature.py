"""The signature of a C function as callers with NumPy arrays need it: parameter types, extents, which arrays are
written."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from pycparser import c_ast

from codegen.api.writes import written
from codegen.frontend.expressions.affine import c_text
from codegen.frontend.syntax.constants import int_constant
from codegen.frontend.syntax.declarators import DeclaredType, TypeTable, build_type_table, enum_constants
from codegen.record import record


@record
class Parameter:
    """A scalar, or an array by its address.

    text     the C declaration
    dtype    NumPy's name of the scalar or element type
    extents  of an array, outermost first; None where C does not say
    const    whether the function only reads the elements
    flat     a bare pointer: any number of dimensions, one after the other in memory
    written  whether the function may store to it
    """

    name: str
    text: str
    dtype: str
    array: bool = False
    extents: tuple[c_ast.Node | None, ...] = ()
    const: bool = False
    flat: bool = False
    written: bool = True


@record
class Signature:
    """A function. `result` is a dtype, "" for void; `problem` says why it cannot be called from Python, if so."""

    name: str
    text: str
    parameters: tuple[Parameter, ...] = ()
    result: str = ""
    enums: Mapping[str, int] | None = None
    problem: str = ""


class Uncallable(Exception):
    """A type that has no counterpart in NumPy."""


def signature(ast: c_ast.FileAST, name: str) -> Signature:
    """The signature of a function that is defined in a parsed file."""
    node = next(e for e in ast.ext if isinstance(e, c_ast.FuncDef) and e.decl.name == name)
    types = build_type_table(ast)
    text = c_text(node.decl)
    if "static" in (node.decl.storage or ()):
        return Signature(name, text, problem="it is static, so nothing outside its file can call it")
    try:
        given = getattr(node.decl.type.args, "params", None) or ()
        if any(isinstance(p, c_ast.ID) for p in given):
            raise Uncallable("it is defined in the old style, without a prototype")
        stored = written(node.body)
        parameters = tuple(_parameter(p, types) for p in given if not _is_void(p))
        parameters = tuple(replace(p, written=not p.const and p.name in stored) for p in parameters)
        result = _result(node.decl.type.type, types)
    except Uncallable as error:
        return Signature(name, text, problem=str(error))
    return Signature(name, text, parameters, result, enum_constants(ast))


def _is_void(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.Typename) and c_text(node).strip() == "void"


def _parameter(node: c_ast.Node, types: TypeTable) -> Parameter:
    if not isinstance(node, c_ast.Decl) or not node.name:
        raise Uncallable(f"it has a parameter without a name (`{c_text(node)}`)")
    shape, text = types.shape(node.type), c_text(node)
    dtype = _dtype(shape, node.type, types)
    if not dtype:
        raise Uncallable(f"NumPy has no type for `{text}`")
    kinds = [declarator.kind for declarator in shape.declarators]
    if "pointer" in kinds[1:]:
        raise Uncallable(f"`{text}` is an array of pointers, and NumPy's arrays hold none")
    extents = tuple(declarator.dim for declarator in shape.declarators)
    return Parameter(node.name, text, dtype, bool(kinds), extents, _is_const(node.type), kinds == ["pointer"])


def _result(node: c_ast.Node, types: TypeTable) -> str:
    shape = types.shape(node)
    if shape.elem.spelling == "void" and not shape.declarators:
        return ""
    dtype = "" if shape.declarators else _dtype(shape, node, types)
    if not dtype or dtype.startswith("complex"):
        raise Uncallable("its result is no number that Python's foreign calls can return")
    return dtype


def _innermost(node: c_ast.Node, types: TypeTable) -> c_ast.Node:
    """The type of the elements, behind arrays, pointers and typedefs."""
    while not isinstance(node, (c_ast.IdentifierType, c_ast.Struct, c_ast.Union, c_ast.Enum)):
        node = node.type
    if isinstance(node, c_ast.IdentifierType) and len(node.names) == 1 and node.names[0] in types.typedefs:
        return _innermost(types.typedefs[node.names[0]], types)
    return node


def _dtype(shape: DeclaredType, node: c_ast.Node, types: TypeTable) -> str:
    elem = shape.elem
    words = getattr(_innermost(node, types), "names", [])
    if "_Complex" in words:
        return {"float": "complex64", "double": "complex128"}.get(" ".join(w for w in words if w != "_Complex"), "")
    if words == ["_Bool"]:
        return "bool"
    if elem.kind == "float":
        return {32: "float32", 64: "float64", 128: "longdouble"}[elem.bits]
    if elem.kind == "int" and not elem.enum:
        return f"{'' if elem.signed else 'u'}int{elem.bits}"
    return "int32" if elem.enum and not shape.declarators else ""


def _is_const(node: c_ast.Node) -> bool:
    while isinstance(node, (c_ast.ArrayDecl, c_ast.PtrDecl)):
        node = node.type
    return "const" in (getattr(node, "quals", None) or ())


def evaluate(node: c_ast.Node | None, names: Mapping[str, int]) -> int | None:
    """The value of an extent; None for what is not said by constants and integer parameters."""
    if isinstance(node, c_ast.Constant):
        return int_constant(node)
    if isinstance(node, c_ast.ID):
        return names.get(node.name)
    if isinstance(node, c_ast.Cast):
        return evaluate(node.expr, names)
    if isinstance(node, c_ast.UnaryOp) and node.op in ("+", "-"):
        value = evaluate(node.expr, names)
        return None if value is None else value if node.op == "+" else -value
    if not isinstance(node, c_ast.BinaryOp):
        return None
    a, b = evaluate(node.left, names), evaluate(node.right, names)
    if a is None or b is None or (node.op in "/%" and b == 0):
        return None
    return _OPERATORS[node.op](a, b) if node.op in _OPERATORS else None


def _quotient(a: int, b: int) -> int:
    """C rounds towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_OPERATORS: Mapping[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _quotient,
    "%": lambda a, b: a - b * _quotient(a, b),
}
