"""Drops what compilers are told about speed inside a region: `__builtin_expect(x, 1)`, which kernels call `likely(x)`,
is x as a long, and `__builtin_prefetch(p);` is nothing. Returns the region so rewritten."""

from __future__ import annotations

from pycparser import c_ast

from codegen.frontend.syntax.symbols import RegionSite
from codegen.frontend.syntax.tree import has_effects, items_of, mapped, nodes, stores, typename, with_statements

_EXPECTED = frozenset({"__builtin_expect", "__builtin_expect_with_probability"})
_FETCHED = "__builtin_prefetch"
_LOGICAL = frozenset({"<", "<=", ">", ">=", "==", "!=", "&&", "||"})
_BRANCHES = (c_ast.For, c_ast.If, c_ast.While, c_ast.DoWhile)
_DECIDED = (*_BRANCHES, c_ast.TernaryOp)


def without_hints(site: RegionSite) -> RegionSite:
    """The region without them; one whose arguments have effects stays."""
    if not any(_hint(n) is not None for s in site.statements for n in nodes(s)):
        return site
    return with_statements(site, [_visit(s) for s in site.statements if not _is_nothing(s)])


def _hint(node: c_ast.Node) -> str | None:
    """The name of a hint that is called."""
    name = str(getattr(node.name, "name", "")) if isinstance(node, c_ast.FuncCall) else ""
    if (name not in _EXPECTED and name != _FETCHED) or node.args is None or stores(node.args):
        return None
    beside = node.args.exprs[1:] if name in _EXPECTED else node.args.exprs
    return None if any(isinstance(n, c_ast.FuncCall) for x in beside for n in nodes(x)) else name


def _is_nothing(node: c_ast.Node | None) -> bool:
    """Does a statement fetch, or ask whether to, and do nothing else? A condition may have no effects."""
    if isinstance(node, c_ast.Compound):
        return bool(items_of(node)) and all(map(_is_nothing, items_of(node)))
    if isinstance(node, c_ast.If):
        branches = [x for x in (node.iftrue, node.iffalse) if x is not None]
        return not has_effects(node.cond) and all(map(_is_nothing, branches))
    return node is not None and _hint(node) == _FETCHED


def _visit(node: c_ast.Node) -> c_ast.Node:
    if _hint(node) in _EXPECTED:  # of type long
        return c_ast.Cast(typename(["long"]), _visit(node.args.exprs[0]), node.coord)
    if isinstance(node, c_ast.Compound) and any(map(_is_nothing, items_of(node))):
        return _visit(c_ast.Compound([x for x in items_of(node) if not _is_nothing(x)], node.coord))
    if isinstance(node, _BRANCHES) and any(map(_is_nothing, (x for _, x in node.children()))):
        return _visit(mapped(node, lambda x: c_ast.EmptyStatement(x.coord) if _is_nothing(x) else x))
    if isinstance(node, _DECIDED):
        return mapped(node, lambda child: _truth(child) if child is node.cond else _visit(child))
    if (isinstance(node, c_ast.UnaryOp) and node.op == "!") or (
        isinstance(node, c_ast.BinaryOp) and node.op in ("&&", "||")
    ):
        return mapped(node, _truth)
    return mapped(node, _visit)


def _truth(node: c_ast.Node) -> c_ast.Node:
    """What is only asked whether it is 0. Twice not is the value itself; other numbers than 0 and 1 become longs."""
    if _hint(node) not in _EXPECTED:
        return _visit(node)
    inner = _visit(node.args.exprs[0])
    if _negates(inner) and _negates(inner.expr):
        return inner.expr.expr
    is_logical = _negates(inner) or (isinstance(inner, c_ast.BinaryOp) and inner.op in _LOGICAL)
    return inner if is_logical else c_ast.Cast(typename(["long"]), inner, node.coord)


def _negates(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.UnaryOp) and node.op == "!"
