"""Expression statements lowered to control flow: `?:` becomes `if`, commas become sequences, `(void)` goes away.

`c ? f(x) : (void)0;` is an `if`, `a, b;` is one statement behind the other, and `(void)x;` is nothing: macros such as
`assert` are made of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from pycparser import c_ast

from codegen.frontend.rewrite.bodies import empty
from codegen.frontend.syntax.symbols import RegionSite
from codegen.frontend.syntax.tree import as_block, has_effects, items_of, mapped, nodes, with_statements

# What a program ends with whose assertion does not hold.
_ENDS = frozenset({"__assert_fail", "__assert", "__assert_rtn", "abort"})
_HOLDERS = (c_ast.For, c_ast.If, c_ast.While, c_ast.DoWhile, c_ast.Switch, c_ast.Case, c_ast.Default)


def ends_program(node: c_ast.Node) -> bool:
    """Does a branch do nothing but end the program, as one whose assertion does not hold?"""
    only = items_of(node)
    return len(only) == 1 and isinstance(only[0], c_ast.FuncCall) and getattr(only[0].name, "name", "") in _ENDS


def with_plain_statements(site: RegionSite) -> RegionSite:
    """The region without expressions that hide statements."""
    if not any(isinstance(n, (c_ast.TernaryOp, c_ast.ExprList, c_ast.Cast)) for s in site.statements for n in nodes(s)):
        return site
    made = _all(site.statements)
    same = len(made) == len(site.statements) and all(a is b for a, b in zip(made, site.statements, strict=True))
    return site if same else with_statements(site, made)


def _all(items: Sequence[c_ast.Node]) -> list[c_ast.Node]:
    return [made for item in items for made in _statement(item)]


def _statement(node: c_ast.Node) -> list[c_ast.Node]:
    if isinstance(node, c_ast.Compound):
        old = items_of(node)
        made = _all(old)
        same = len(made) == len(old) and all(a is b for a, b in zip(made, old, strict=True))
        return [node if same else c_ast.Compound(made, node.coord)]
    if isinstance(node, _HOLDERS):
        heads = [x for slot in ("init", "cond", "next", "expr") if (x := getattr(node, slot, None)) is not None]
        return [mapped(node, lambda x: x if any(x is h for h in heads) else as_block(_statement(x) or [_none(x)], x))]
    if isinstance(node, c_ast.ExprList):
        return _all(node.exprs)
    if isinstance(node, c_ast.TernaryOp):
        yes, no = (as_block(_statement(x) or [_none(x)], x) for x in (node.iftrue, node.iffalse))
        return [c_ast.If(node.cond, yes, no, node.coord)]
    if empty(node) or isinstance(node, c_ast.Constant):
        return []
    if isinstance(node, c_ast.Cast) and _to_void(node):
        value = isinstance(node.expr, (c_ast.UnaryOp, c_ast.BinaryOp)) and not has_effects(node.expr)
        return [] if value else _statement(node.expr)
    return [node]


def _none(node: c_ast.Node) -> c_ast.Node:
    return c_ast.EmptyStatement(node.coord)


def _to_void(node: c_ast.Cast) -> bool:
    return getattr(getattr(node.to_type.type, "type", None), "names", None) == ["void"]
