"""Replaces `sizeof` of variables before anything else is rewritten: `sizeof a / sizeof a[0]`, the number of elements of
an array that is declared with numbers, by that number, and `sizeof p` of a pointer or a number by that of its type.
What stands for the variable later may be of another size: the array that a pointer leads to, a formula.

Parameters are pointers whatever they are declared as.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod

from pycparser import c_ast

from codegen.frontend.expressions.affine import c_text
from codegen.frontend.syntax.declarators import Declarator, DeclaredType, literal_int
from codegen.frontend.syntax.members import find_member
from codegen.frontend.syntax.symbols import RegionSite
from codegen.frontend.syntax.tree import mapped, nodes, typename, with_statements

_POINTER = Declarator("pointer")


def with_sizes_of_types(site: RegionSite) -> RegionSite:
    """The region with numbers, of the type of `sizeof`, in place of such quotients, and types in place of variables."""
    if not any(_size_of(n) is not None for s in site.statements for n in nodes(s)):
        return site
    asked = _Asked(site)
    return with_statements(site, [asked.visit(s) for s in site.statements])


def _size_of(node: c_ast.Node) -> c_ast.Node | None:
    """What the size is asked of."""
    return node.expr if isinstance(node, c_ast.UnaryOp) and node.op == "sizeof" else None


class _Asked:
    """What is known of the types of a region's variables, its own ones included; names have one meaning each."""

    def __init__(self, site: RegionSite) -> None:
        self.site = site
        own = (n for s in site.statements for n in nodes(s) if isinstance(n, c_ast.Decl) and n.name)
        inner = {str(d.name): site.types.shape(d.type) for d in own}
        self.shapes: Mapping[str, DeclaredType] = {
            **{n: _as_passed(v.shape) if v.place == "param" else v.shape for n, v in site.variables.items()}, **inner
        }

    def visit(self, node: c_ast.Node) -> c_ast.Node:
        if isinstance(node, c_ast.BinaryOp) and node.op == "/":
            found = self._count(node)
            if found is not None:
                return c_ast.Constant("unsigned long int", f"{found}ul", node.coord)
        of = _size_of(node)
        if of is None or isinstance(of, c_ast.Typename):
            return mapped(node, self.visit)
        kind = _as_large(self._type(of))
        return c_ast.UnaryOp("sizeof", kind, node.coord) if kind is not None else node

    def _count(self, node: c_ast.BinaryOp) -> int | None:
        whole, part = (self._type(x) if (x := _size_of(n)) is not None else None for n in (node.left, node.right))
        if whole is None or part is None or whole.elem != part.elem or whole.struct is not part.struct:
            return None
        outer = len(whole.declarators) - len(part.declarators)
        if outer < 0 or any(_differ(a, b) for a, b in zip(whole.declarators[outer:], part.declarators, strict=True)):
            return None
        found = (literal_int(d.dim, self.site.enums) if d.dim is not None else None for d in whole.declarators[:outer])
        sizes = [x for x in found if x is not None and x > 0]
        return prod(sizes) if len(sizes) == outer else None

    def _type(self, node: c_ast.Node) -> DeclaredType | None:
        """The type of what is not evaluated: variables, their elements and members, and types by their names."""
        if isinstance(node, c_ast.Typename):
            return self.site.types.shape(node.type)
        if isinstance(node, c_ast.ID):
            return self.shapes.get(node.name)
        if isinstance(node, c_ast.ArrayRef) or (isinstance(node, c_ast.UnaryOp) and node.op == "*"):
            shape = self._type(node.name if isinstance(node, c_ast.ArrayRef) else node.expr)
            if shape is None or not shape.declarators:
                return None
            return replace(shape, declarators=shape.declarators[1:])
        if isinstance(node, c_ast.StructRef):
            of = self._type(node.name)
            if of is None or len(of.declarators) != (node.type == "->"):
                return None
            member = find_member(self.site.types, of.struct, node.field.name)
            return None if member is None else member.shape
        return None


def _as_passed(shape: DeclaredType) -> DeclaredType:
    is_array = bool(shape.declarators) and shape.declarators[0].kind == "array"
    return replace(shape, declarators=(_POINTER, *shape.declarators[1:])) if is_array else shape


def _as_large(shape: DeclaredType | None) -> c_ast.Typename | None:
    """A type of the same size, for pointers and numbers; None for others, which keep their names."""
    if shape is None or shape.function:
        return None
    if shape.declarators:
        void = c_ast.TypeDecl(None, [], None, c_ast.IdentifierType(["void"]))
        is_pointer = shape.declarators[0].kind == "pointer"
        return c_ast.Typename(None, [], None, c_ast.PtrDecl([], void)) if is_pointer else None
    plain = shape.elem.kind in ("int", "float") and not shape.elem.enum
    return typename(shape.elem.spelling.split()) if plain else None


def _differ(a: Declarator, b: Declarator) -> bool:
    sizes = {"" if d.dim is None else c_text(d.dim) for d in (a, b)}
    return a.kind != b.kind or len(sizes) > 1
