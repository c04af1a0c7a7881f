"""Looks up a member of a struct or union by its name (`find_member`): its type, and whether it shares bytes with other
members. None for bit-fields and unknown types."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from pycparser import c_ast, c_generator

from codegen.frontend.syntax.declarators import DeclaredType, TypeTable, literal_int
from codegen.record import record

_POINTER_BITS = 64


@record
class Member:
    """What a name after `.` or `->` stands for."""

    shape: DeclaredType
    shared: bool = False  # its bytes are those of other members, too
    fills: bool = False  # who sets it sets every byte that can be read through another member


def find_member(types: TypeTable, struct: c_ast.Node | None, name: str) -> Member | None:
    """The member of that name, also one of an anonymous struct or union within; None for a bit-field, and where the
    type is not known."""
    decls = getattr(struct, "decls", None) or ()
    for decl in decls:
        if getattr(decl, "name", None) == name:
            if getattr(decl, "bitsize", None):
                return None
            shape = types.shape(decl.type)
            return Member(shape, isinstance(struct, c_ast.Union), _fills(types, struct, decls, shape))
        if _anonymous(decl):
            shape = types.shape(decl.type)
            inner = find_member(types, shape.struct, name)
            if inner is not None:
                shared = inner.shared or isinstance(struct, c_ast.Union)
                return Member(inner.shape, shared, inner.fills and _fills(types, struct, decls, shape))
    return None


def is_bit_field(types: TypeTable, struct: c_ast.Node | None, name: str) -> bool:
    """Whether the member of that name, also one of an anonymous struct or union within, is a bit-field."""
    return any(
        bool(getattr(decl, "bitsize", None))
        if getattr(decl, "name", None) == name
        else _anonymous(decl) and is_bit_field(types, types.shape(decl.type).struct, name)
        for decl in getattr(struct, "decls", None) or ()
    )


def spelled(node: c_ast.Node) -> str:
    """The definition of a struct or union, or any other piece of source, in one line."""
    return " ".join(str(c_generator.CGenerator().visit(node)).split())


def _anonymous(decl: c_ast.Node) -> bool:
    return getattr(decl, "name", None) is None and isinstance(decl.type, (c_ast.Struct, c_ast.Union))


def _fills(types: TypeTable, struct: c_ast.Node | None, decls: Sequence[c_ast.Node], shape: DeclaredType) -> bool:
    """Has no sibling a byte that a member of type `shape` lacks? Structs have padding, which stores may leave out, and
    so have the widest floating types."""
    mine = _bits(types, shape)
    if len(decls) == 1:
        return mine is not None
    if not isinstance(struct, c_ast.Union) or mine is None or shape.elem.bits > _POINTER_BITS:
        return False
    others = [_bits(types, types.shape(d.type)) for d in decls if not getattr(d, "bitsize", None)]
    return len(others) == len(decls) and all(b is not None and b <= mine for b in others)


def _bits(types: TypeTable, shape: DeclaredType) -> int | None:
    """The size of a type without padding; None where it is not known."""
    sizes = [None if la.dim is None else literal_int(la.dim, {}) for la in shape.declarators if la.kind == "array"]
    each: int | None = shape.elem.bits or None
    if any(la.kind == "pointer" for la in shape.declarators):
        return None if sizes else _POINTER_BITS
    if isinstance(shape.struct, c_ast.Union) and shape.struct.decls:
        parts = [_bits(types, types.shape(d.type)) for d in shape.struct.decls]
        each = None if None in parts else max(b for b in parts if b is not None)
    elif shape.struct is not None or shape.elem.enum:
        return None
    known = [n for n in sizes if n is not None]
    return None if each is None or len(known) < len(sizes) else each * prod(known)
