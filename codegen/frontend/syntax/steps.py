"""Returns the constant that an expression adds to a variable (`i++`, `i += 2`, `i = i - 1`); None for any other
expression."""

from __future__ import annotations

from collections.abc import Mapping

from pycparser import c_ast

from codegen.frontend.syntax.declarators import literal_int


def step_of(node: c_ast.Node | None, name: str, constants: Mapping[str, int]) -> int | None:
    if isinstance(node, c_ast.UnaryOp) and getattr(node.expr, "name", "") == name:
        return {"++": 1, "p++": 1, "--": -1, "p--": -1}.get(node.op)
    if not isinstance(node, c_ast.Assignment) or getattr(node.lvalue, "name", "") != name:
        return None
    if node.op in ("+=", "-="):
        value = literal_int(node.rvalue, constants)
        return None if value is None else (value if node.op == "+=" else -value)
    rv = node.rvalue
    if node.op != "=" or not isinstance(rv, c_ast.BinaryOp) or rv.op not in ("+", "-"):
        return None
    if getattr(rv.left, "name", "") == name:
        value = literal_int(rv.right, constants)
        return None if value is None else (value if rv.op == "+" else -value)
    if getattr(rv.right, "name", "") == name and rv.op == "+":
        return literal_int(rv.left, constants)
    return None
