"""Inlining: which argument expressions may replace a parameter in the body of the called function, with casts to its
type. A base class of the inliner."""

from __future__ import annotations

from pycparser import c_ast

from codegen.frontend.expressions.address import pointee, shape_of
from codegen.frontend.expressions.affine import c_text
from codegen.frontend.parameters.prescan import Prescan
from codegen.frontend.rewrite.bodies import NoForm
from codegen.frontend.syntax.declarators import DeclaredType
from codegen.frontend.syntax.lvalues import addressed, base_of, behind, name_of, type_named
from codegen.frontend.syntax.symbols import RegionSite
from codegen.frontend.syntax.tree import STEPS, Fresh, assigned, nodes
from codegen.record import mutable


@mutable
class ArgumentForms:
    """The types and uses of variables, and questions to them about arguments."""

    site: RegionSite
    fresh: Fresh
    scan: Prescan
    shapes: dict[str, DeclaredType]  # by name, for what has one meaning
    changed: set[str]  # variables that more than declarations and heads of loops set

    def sets_integer(self, node: c_ast.Node) -> bool:
        """Does it set an integer? Subscripts and bounds may be made of it."""
        if isinstance(node, c_ast.Decl):
            shape: DeclaredType | None = self.site.types.shape(node.type)
        else:
            shape = self.shapes.get(name_of(node.lvalue)) if isinstance(node, c_ast.Assignment) else None
        return shape is not None and not shape.declarators and shape.elem.is_int

    def given(self, formal: c_ast.Decl, arg: c_ast.Node) -> c_ast.Node:
        """An argument as the parameter would have it. Raises NoForm where the types of objects differ."""
        shape = self.site.types.shape(formal.type)
        if not shape.declarators and shape.struct is None:
            return self.converted(arg, formal.type)
        have = shape_of(arg, self.shapes, self.site.types)
        if have is None or not (pointee(have) == pointee(shape) if shape.declarators else have.struct is shape.struct):
            raise NoForm(f"`{c_text(arg)}` has another type than the parameter")
        return arg

    def converted(self, node: c_ast.Node, to: c_ast.Node) -> c_ast.Node:
        """A number as an object of a type would hold it."""
        shape = self.site.types.shape(to)
        if shape.declarators or shape.struct is not None:
            raise NoForm("it has variables that are no numbers")
        if self._number(node) == (shape.elem.kind, shape.elem.bits, shape.elem.signed):
            return node
        return c_ast.Cast(c_ast.Typename(None, [], None, type_named(to, None)), node, node.coord)

    def _number(self, node: c_ast.Node) -> tuple[str, int, bool] | None:
        """The arithmetic type of an argument, where it is easily told."""
        if isinstance(node, c_ast.Constant):
            return ("int", 32, True) if node.type == "int" else None
        if isinstance(node, c_ast.BinaryOp) and node.op in ("+", "-", "*"):
            left, right = self._number(node.left), self._number(node.right)
            return left if left == right and left is not None and left[1] >= 32 else None
        shape = shape_of(node, self.shapes, self.site.types)
        if shape is None or shape.declarators or shape.elem.enum:
            return None
        return (shape.elem.kind, shape.elem.bits, shape.elem.signed)

    def direct(self, func: c_ast.FuncDef, formal: c_ast.Decl, arg: c_ast.Node) -> c_ast.Node | None:
        """An argument that may stand for the parameter everywhere in the body."""
        name, shape = str(formal.name), self.site.types.shape(formal.type)
        if name in assigned(func.body) or name in addressed(func.body):
            return None
        if shape.struct is not None and not shape.declarators:
            kept = self._lasting(arg) and not self._sets_member(func.body, name, shape)
            alike = kept and getattr(shape_of(arg, self.shapes, self.site.types), "struct", None) is shape.struct
            return arg if alike else None
        if shape.declarators or not self._steady(arg):
            return None
        plain = shape.elem.is_int or isinstance(arg, (c_ast.ID, c_ast.Constant))
        return self.given(formal, arg) if plain else None

    def _lasting(self, arg: c_ast.Node) -> bool:
        """Is it a struct that no statement of the region changes?"""
        base = base_of(arg)
        if base is None or base in self.changed:
            return False
        if not all(isinstance(n, c_ast.ID) or (isinstance(n, c_ast.StructRef) and n.type == ".") for n in nodes(arg)):
            return base not in self.scan.reassigned
        shape = self.shapes.get(base)
        return shape is not None and not any(self._sets_member(s, base, shape) for s in self.site.statements)

    def _sets_member(self, body: c_ast.Node, name: str, shape: DeclaredType) -> bool:
        """Is a member of a struct set, or all of it, not something that it points to?"""
        shapes = {name: shape}
        for n in nodes(body):
            target = n.lvalue if isinstance(n, c_ast.Assignment) else None
            target = n.expr if isinstance(n, c_ast.UnaryOp) and n.op in STEPS else target
            while isinstance(target, (c_ast.StructRef, c_ast.ArrayRef)):
                outer = shape_of(target.name, shapes, self.site.types)
                target = None if outer is not None and behind(outer) else target.name
            if target is not None and name_of(target) == name:
                return True
        return False

    def _steady(self, node: c_ast.Node) -> bool:
        """Is it made of numbers that nothing in the region changes but the heads of loops?"""
        if isinstance(node, c_ast.ID):
            return node.name not in self.scan.reassigned and node.name not in self.changed
        if isinstance(node, c_ast.StructRef):
            return any(c_text(node) == text for text, _ in self.scan.params)
        simple = isinstance(node, (c_ast.Constant, c_ast.BinaryOp)) or (
            isinstance(node, c_ast.UnaryOp) and node.op in ("+", "-")
        )
        return simple and all(self._steady(child) for child in node)

    def stores(self, node: c_ast.Node) -> bool:
        """May it store to anything but variables that were made for it?"""
        for n in nodes(node):
            target = n.lvalue if isinstance(n, c_ast.Assignment) else None
            target = n.expr if isinstance(n, c_ast.UnaryOp) and n.op in STEPS else target
            if target is not None and name_of(target) not in self.fresh.given:
                return True
        return False
