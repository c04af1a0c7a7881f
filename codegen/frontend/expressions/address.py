"""`Address`: a pointer expression as base array plus offsets, in elements of one type; `element` turns it into a
subscript of that array. Also the types of lvalues and pointer expressions (`shape_of`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pycparser import c_ast

from codegen.frontend.expressions.affine import c_text
from codegen.frontend.syntax.constants import int_constant
from codegen.frontend.syntax.declarators import Declarator, DeclaredType, TypeTable
from codegen.frontend.syntax.members import find_member
from codegen.frontend.syntax.tree import STEPS, typename
from codegen.record import record

Offsets = tuple[tuple[int, c_ast.Node], ...]  # signs and values
_LONG = typename(["long"])
_EXACT = ("+", "-", "*")


@record
class Address:
    """`root` is an array or pointer, whose first element this is the address of before `offsets` are added; or one
    object (`single`). It holds `within` these loops alone."""

    root: c_ast.Node
    shape: DeclaredType
    offsets: Offsets = ()
    single: bool = False
    const: bool = False
    within: frozenset[int] = frozenset()


class ArrayRef(c_ast.ArrayRef):
    """An element of a row that a pointer led to. With the pointer the source could have left the row, which it must not
    in the model: whoever computes the index makes sure."""

    __slots__ = ("coord", "name", "subscript")  # said again for those who go through the parts of a node


def inner(shape: DeclaredType) -> DeclaredType | None:
    """What a subscript leads to."""
    if not shape.declarators:
        return None
    return DeclaredType(shape.declarators[1:], shape.elem, shape.struct, shape.function, shape.special)


def pointee(shape: DeclaredType) -> tuple[object, ...]:
    """What one subscript leads to, for comparing."""
    dims = tuple((la.kind, "" if la.dim is None else c_text(la.dim)) for la in shape.declarators[1:])
    e = shape.elem
    number = e.kind in ("int", "float")
    return (dims, e.kind, e.bits, e.signed, id(shape.struct), "" if number else e.spelling, bool(shape.declarators))


def shape_of(node: c_ast.Node, shapes: Mapping[str, DeclaredType], types: TypeTable) -> DeclaredType | None:
    """The type of a variable, element, member or pointer expression; None for numbers that are computed."""
    if isinstance(node, c_ast.ID):
        return shapes.get(node.name)
    if isinstance(node, c_ast.ArrayRef) or (isinstance(node, c_ast.UnaryOp) and node.op == "*"):
        outer = shape_of(node.name if isinstance(node, c_ast.ArrayRef) else node.expr, shapes, types)
        return None if outer is None else inner(outer)
    if isinstance(node, c_ast.StructRef):
        outer = shape_of(node.name, shapes, types)
        found = None if outer is None else find_member(types, outer.struct, node.field.name)
        return None if found is None else found.shape
    if isinstance(node, c_ast.UnaryOp) and node.op == "&":
        of = shape_of(node.expr, shapes, types)
        if of is None:
            return None
        return DeclaredType((Declarator("pointer"), *of.declarators), of.elem, of.struct, special=of.special)
    if isinstance(node, c_ast.Cast):
        return types.shape(node.to_type)
    if isinstance(node, c_ast.BinaryOp) and node.op in ("+", "-"):
        both = (shape_of(x, shapes, types) for x in (node.left, node.right))
        sides = [s for s in both if s is not None and s.declarators]
        return sides[0] if len(sides) == 1 else None
    if isinstance(node, c_ast.FuncCall) and is_aligned(node):
        return shape_of(node.args.exprs[0], shapes, types)
    if isinstance(node, c_ast.Assignment):
        return shape_of(node.lvalue, shapes, types)
    if isinstance(node, c_ast.UnaryOp) and node.op in STEPS:
        return shape_of(node.expr, shapes, types)
    return shape_of(node.iftrue, shapes, types) if isinstance(node, c_ast.TernaryOp) else None


def is_aligned(node: c_ast.FuncCall) -> bool:
    """Is it a promise about the address that it returns?"""
    return getattr(node.name, "name", "") == "__builtin_assume_aligned" and bool(getattr(node.args, "exprs", None))


def is_null(node: c_ast.Node) -> bool:
    """`NULL` or 0."""
    if isinstance(node, c_ast.Cast):
        return is_null(node.expr)
    return isinstance(node, c_ast.Constant) and int_constant(node) == 0


def element(at: Address, subscript: c_ast.Node | None, plain: Callable[[c_ast.Node], bool]) -> c_ast.Node | None:
    """The object at an address, `subscript` elements further on; None where that is outside of a single one."""
    coord = getattr(subscript, "coord", None) or at.root.coord
    if at.single:
        here = not at.offsets and (subscript is None or is_null(subscript))
        return at.root if here else None
    parts: list[tuple[int, c_ast.Node]] = [*at.offsets]
    if subscript is not None and not (parts and is_null(subscript)):
        parts.append((1, subscript))
    index = total(parts, plain) or c_ast.Constant("int", "0", coord)
    row = not isinstance(at.root, c_ast.ID) and at.shape.declarators[0].kind == "array"
    return (ArrayRef if row else c_ast.ArrayRef)(at.root, index, coord)


def total(parts: list[tuple[int, c_ast.Node]], plain: Callable[[c_ast.Node], bool]) -> c_ast.Node | None:
    """The sum as pointers add it up: every part has its value, none wraps around. Parts that are `plain` ints may be
    added as they are, for arithmetic of signed integers is exact in the model."""
    whole: c_ast.Node | None = None
    for sign, value in parts:
        part = value if len(parts) == 1 or plain(value) else c_ast.Cast(_LONG, value, value.coord)
        if whole is None:
            whole = part if sign > 0 else c_ast.UnaryOp("-", part, value.coord)
        else:
            whole = c_ast.BinaryOp("+" if sign > 0 else "-", whole, part, value.coord)
    return whole


def is_plain(node: c_ast.Node, shapes: Mapping[str, DeclaredType], enums: Mapping[str, int]) -> bool:
    """Is it made of signed integers, none narrower than int, with + - and *?"""
    if isinstance(node, c_ast.Constant):
        return node.type in ("int", "long int", "long long int")
    if isinstance(node, c_ast.ID):
        shape = shapes.get(node.name)
        if shape is None:
            return node.name in enums
        return not shape.declarators and shape.elem.is_int and shape.elem.signed and shape.elem.bits >= 32
    if isinstance(node, c_ast.BinaryOp) and node.op in _EXACT:
        return is_plain(node.left, shapes, enums) and is_plain(node.right, shapes, enums)
    if isinstance(node, c_ast.UnaryOp) and node.op in ("+", "-"):
        return is_plain(node.expr, shapes, enums)
    return isinstance(node, c_ast.Cast) and getattr(node, "to_type", None) is _LONG
