"""Lvalues of a region: which variable, element or member an expression reads or sets, and its type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pycparser import c_ast

from codegen.diagnostics import Loc, Unsupported
from codegen.frontend.context.frame import Frame
from codegen.frontend.context.raw import InsideVar, RawStep
from codegen.frontend.expressions.address import ArrayRef as RowElement
from codegen.frontend.expressions.affine import Affiner, c_text
from codegen.frontend.syntax.declarators import DeclaredType, TypeTable
from codegen.frontend.syntax.members import find_member, is_bit_field
from codegen.frontend.syntax.symbols import Variable, location
from codegen.record import mutable, record
from codegen.scop.dialect import STANDARD, Dialect
from codegen.scop.origins import Place


@record
class RegionNames:
    """What identifiers mean in the region."""

    variables: Mapping[str, Variable]
    written: frozenset[str]  # outer variables the region assigns, other than loop counters
    counters: frozenset[str]  # outer variables the region counts with
    types: TypeTable
    functions: Mapping[str, c_ast.FuncDef]
    pure: frozenset[str]
    fallback: Loc
    opaque: frozenset[Place] = frozenset()  # arrays of which data decide about subscripts
    dialect: Dialect = STANDARD


@mutable
class Places:
    """What the names of one statement stand for."""

    names: RegionNames
    affiner: Affiner
    frame: Frame
    inside: Mapping[str, tuple[InsideVar, DeclaredType]]

    def shape_of(self, node: c_ast.Node) -> DeclaredType:
        """The type of a variable, element or member."""
        return self.path(node)[2]

    def path(self, node: c_ast.Node) -> tuple[str, bool, DeclaredType, list[RawStep]]:
        """The variable, whether the region declares it, the type of what is reached, and the steps that lead there."""
        if isinstance(node, c_ast.ID):
            return self._base(node)
        if isinstance(node, c_ast.ArrayRef):
            base, inside, shape, steps = self.path(node.name)
            below = self._inner(shape, node)
            step = RawStep("sub", node.subscript, "", shape.declarators[0], row=isinstance(node, RowElement))
            return base, inside, below, [*steps, step]
        if isinstance(node, c_ast.UnaryOp) and node.op == "*":
            base, inside, shape, steps = self.path(node.expr)
            return base, inside, self._inner(shape, node), [*steps, RawStep("deref", None, "", shape.declarators[0])]
        if isinstance(node, c_ast.StructRef):
            base, inside, shape, steps = self.path(node.name)
            kind = "arrow" if node.type == "->" else "member"
            if kind == "arrow":
                shape = self._inner(shape, node)
            found = find_member(self.names.types, shape.struct, node.field.name)
            if found is None and is_bit_field(self.names.types, shape.struct, node.field.name):
                raise self.refuse(
                    "bit-field",
                    f"`{c_text(node)}` is a bit-field: it shares its bytes with others, and has no address",
                    node,
                    "give it a type of its own (`unsigned char`, without a width), or copy it to an array before",
                )
            if found is None or shape.declarators:
                raise self.refuse(
                    "unknown-member",
                    f"the type of `{c_text(node)}` is not known",
                    node,
                    "define the struct before the function",
                )
            member = replace(found.shape, special=found.shape.special or shape.special)
            alike = (0, 0) if found.shared else self.names.types.alike(shape.struct, node.field.name)
            step = RawStep(kind, None, node.field.name, shared=found.shared, fills=found.fills, alike=alike)
            return base, inside, member, [*steps, step]
        raise self.refuse(
            "pointer-arithmetic",
            f"`{c_text(node)}` is not a variable with subscripts",
            node,
            "write A[i] instead of *(A + i)",
        )

    def _inner(self, shape: DeclaredType, node: c_ast.Node) -> DeclaredType:
        if not shape.declarators:
            raise self.refuse(
                "unsupported-expression",
                f"`{c_text(node)}` subscripts something that is no array",
                node,
                "declare it as an array or a pointer",
            )
        return replace(shape, declarators=shape.declarators[1:])

    def _base(self, node: c_ast.ID) -> tuple[str, bool, DeclaredType, list[RawStep]]:
        if node.name in self.frame.locals:
            var, shape = self.inside[self.frame.locals[node.name].array]
            return var.name, True, shape, []
        found = self.names.variables.get(node.name)
        if found is None:
            raise self.refuse(
                "unknown-name",
                f"`{node.name}` is not declared where the tool can see it",
                node,
                "declare it before the region",
            )
        return node.name, False, found.shape, []

    def refuse(self, id: str, message: str, node: c_ast.Node, hint: str) -> Unsupported:
        return Unsupported(id, message, location(node, self.names.fallback), hint)

    def check_plain(self, shape: DeclaredType, node: c_ast.Node) -> None:
        if shape.special:
            raise self.refuse(
                "volatile",
                f"`{c_text(node)}` is volatile or atomic: every access counts, in the order written",
                node,
                "copy it to a plain variable before the region",
            )
