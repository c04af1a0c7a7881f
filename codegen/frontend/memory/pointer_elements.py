"""Arrays of pointers: stores such as `names[i] = NULL;`, `rows[i] = other[j];` are stores of plain values. Refuses
(Unsupported) regions that store pointers which they may also follow.

A pointer that the region stores must be none of those that it follows to its elements: the model takes these for fixed.
C tells objects of different types apart, so the types decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pycparser import c_ast

from codegen.diagnostics import Unsupported
from codegen.frontend.expressions.address import pointee, shape_of
from codegen.frontend.expressions.affine import c_text
from codegen.frontend.syntax.declarators import DeclaredType
from codegen.frontend.syntax.live import addressed, base_of
from codegen.frontend.syntax.symbols import RegionSite, location
from codegen.frontend.syntax.tree import nodes
from codegen.scop.types import CType

_Type = tuple[object, ...]


def pointer_type(shape: DeclaredType) -> CType | None:
    """The type of an element that is a pointer; None for rows, for pointers to rows, and for what is no pointer."""
    if not shape.declarators or shape.function or any(la.kind != "pointer" for la in shape.declarators):
        return None
    return CType(f"{shape.elem.spelling} {'*' * len(shape.declarators)}", "other", 64)


def check_followed(site: RegionSite) -> None:
    """Refuse a region that stores pointers which may be some of those that it follows."""
    region = c_ast.Compound(list(site.statements))
    shapes = {n: v.shape for n, v in site.variables.items()}
    shapes |= {str(d.name): site.types.shape(d.type) for d in nodes(region) if isinstance(d, c_ast.Decl) and d.name}
    stored = dict(_stored(region, shapes, site))
    if not stored:
        return
    for node, kind in _followed(region, shapes, site):
        if kind in stored:
            raise Unsupported(
                "array-as-value",
                f"`{c_text(stored[kind])}` may be the pointer `{c_text(node)}`, which the region follows",
                location(stored[kind], site.loc),
                "set pointers in a region of its own",
            )


def _stored(
    region: c_ast.Node, shapes: Mapping[str, DeclaredType], site: RegionSite
) -> Iterator[tuple[_Type, c_ast.Node]]:
    """Elements and members that are pointers and set, by what they lead to."""
    for n in nodes(region):
        if isinstance(n, c_ast.Assignment) and not isinstance(n.lvalue, c_ast.ID):
            shape = shape_of(n.lvalue, shapes, site.types)
            if shape is not None and shape.declarators:
                yield pointee(shape), n.lvalue


def _followed(
    region: c_ast.Node, shapes: Mapping[str, DeclaredType], site: RegionSite
) -> Iterator[tuple[c_ast.Node, _Type]]:
    """Pointers in memory that lead to elements, or that are asked once ahead of the loops, and what they lead to."""
    taken = addressed(site.function.body)
    set_here = {id(n.lvalue) for n in nodes(region) if isinstance(n, c_ast.Assignment)}
    for n in nodes(region):
        arrow = isinstance(n, c_ast.StructRef) and n.type == "->"
        bases = [n.name] if arrow or isinstance(n, c_ast.ArrayRef) else []
        bases += [n.expr] if isinstance(n, c_ast.UnaryOp) and n.op == "*" else []
        bases += [n] if isinstance(n, (c_ast.ID, c_ast.StructRef)) and id(n) not in set_here and not _element(n) else []
        for base in bases:
            var = site.variables.get(base_of(base))
            own = var is None or (var.place != "global" and base_of(base) not in taken)
            shape = shape_of(base, shapes, site.types)
            if not (own and _is_object(base)) and shape is not None and shape.declarators:
                yield base, pointee(shape)


def _element(node: c_ast.Node) -> bool:
    """Is there a subscript or `*` on the way to it? Then it is data of the region."""
    return any(isinstance(n, (c_ast.ArrayRef, c_ast.UnaryOp)) for n in nodes(node))


def _is_object(node: c_ast.Node) -> bool:
    """Is it a variable, or a member of one?"""
    while isinstance(node, c_ast.StructRef) and node.type == ".":
        node = node.name
    return isinstance(node, c_ast.ID)
