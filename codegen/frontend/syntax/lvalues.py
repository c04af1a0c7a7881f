"""Small functions on lvalues of the syntax tree: their base variable and subscripts, whether they load from memory,
variables whose address is taken; and on declared types: under another name, or leading to other memory."""

from __future__ import annotations

import copy

from pycparser import c_ast

from codegen.frontend.syntax.declarators import DeclaredType
from codegen.frontend.syntax.tree import nodes


def behind(shape: DeclaredType) -> bool:
    """Does a subscript or an arrow lead to memory that is no part of the object?"""
    return bool(shape.declarators) and shape.declarators[0].kind == "pointer"


def looks_alone(node: c_ast.Node, child: c_ast.Node) -> bool:
    """Does nothing else of `node` look at memory that the code in front of it may change?"""
    if isinstance(node, (c_ast.Decl, c_ast.Cast, c_ast.UnaryOp)):
        return True
    if isinstance(node, c_ast.Assignment):
        return node.op == "=" and child is node.rvalue and not any(loads(x) for x in subscripts(node.lvalue))
    return isinstance(node, c_ast.BinaryOp) and all(x is child or isinstance(x, c_ast.Constant) for x in node)


def subscripts(node: c_ast.Node) -> list[c_ast.Node]:
    inner = [part_of(node)] if part_of(node) is not None else []
    own = [node.subscript] if isinstance(node, c_ast.ArrayRef) else []
    return [*own, *(s for x in inner if x is not None for s in subscripts(x))]


def loads(node: c_ast.Node) -> bool:
    return any(part_of(n) is not None for n in nodes(node))


def part_of(node: c_ast.Node) -> c_ast.Node | None:
    """What an element, a member or a `*` is taken of."""
    if isinstance(node, (c_ast.ArrayRef, c_ast.StructRef)):
        return node.name
    return node.expr if isinstance(node, c_ast.UnaryOp) and node.op == "*" else None


def base_of(node: c_ast.Node) -> str | None:
    """The variable that an lvalue begins with."""
    inner = part_of(node)
    if inner is not None:
        return base_of(inner)
    return str(node.name) if isinstance(node, c_ast.ID) else None


def name_of(node: c_ast.Node) -> str:
    return str(node.name) if isinstance(node, c_ast.ID) else ""


def addressed(node: c_ast.Node) -> set[str]:
    """Variables whose address is taken."""
    taken = (n.expr for n in nodes(node) if isinstance(n, c_ast.UnaryOp) and n.op == "&")
    return {base for base in (base_of(x) for x in taken) if base is not None}


def truth_of(node: c_ast.Node) -> c_ast.Node:
    return c_ast.BinaryOp("!=", node, c_ast.Constant("int", "0", node.coord), node.coord)


def type_named(node: c_ast.Node, name: str | None) -> c_ast.Node:
    """A type with another name declared, or none."""
    made = copy.copy(node)
    if isinstance(made, c_ast.TypeDecl):
        made.declname = name
        made.quals = []
    elif isinstance(made, (c_ast.ArrayDecl, c_ast.PtrDecl)):
        made.type = type_named(made.type, name)
    return made
