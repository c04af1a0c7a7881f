"""Takes square roots that are stored apart from what they are of: `float d = a[i] - b[i]; x[i] = sqrtf(d * d);` becomes
`...; x[i] = d * d; x[i] = sqrtf(x[i]);`. Compilers make no vectors of a loop with a function that may set errno; of the
first part they do, and the second, in a loop of its own, can be written in vectors. Returns the region so rewritten."""

from __future__ import annotations

from copy import deepcopy

from pycparser import c_ast

from codegen.frontend.syntax.live import base_of
from codegen.frontend.syntax.symbols import RegionSite
from codegen.frontend.syntax.tree import has_effects, items_of, mapped, nodes, with_statements

_ROOTS = {"sqrt": 64, "sqrtf": 32}  # bits of what they return


def with_roots_apart(site: RegionSite) -> RegionSite:
    """The region with roots apart in innermost loops that have variables of their own; others need no help."""
    if not site.dialect.math_errno or not site.dialect.known_library:
        return site
    if not any(_root(site, n) is not None for s in site.statements for n in nodes(s)):
        return site
    return with_statements(site, [_visit(site, s) for s in site.statements])


def _visit(site: RegionSite, node: c_ast.Node) -> c_ast.Node:
    if isinstance(node, c_ast.For) and isinstance(node.stmt, c_ast.Compound) and _is_plain(node.stmt):
        return mapped(node, lambda child: _taken_apart(site, child) if child is node.stmt else child)
    return mapped(node, lambda child: _visit(site, child))


def _is_plain(body: c_ast.Compound) -> bool:
    """Whether it has no loops, and variables of its own."""
    if any(isinstance(n, (c_ast.For, c_ast.While, c_ast.DoWhile)) for n in nodes(body)):
        return False
    return any(isinstance(x, c_ast.Decl) or _sets_variable(x) for x in items_of(body))


def _sets_variable(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.Assignment) and isinstance(node.lvalue, c_ast.ID)


def _taken_apart(site: RegionSite, body: c_ast.Node) -> c_ast.Node:
    items: list[c_ast.Node] = []
    declared = {x.name for x in items_of(body) if isinstance(x, c_ast.Decl)}
    for item in items_of(body):
        call = _root(site, item)
        if call is None or base_of(item.lvalue) in declared:
            items.append(item)
            continue
        (value,), target = call.args.exprs, item.lvalue
        again = c_ast.FuncCall(call.name, c_ast.ExprList([deepcopy(target)], call.coord), call.coord)
        items.append(c_ast.Assignment("=", target, value, item.coord))
        items.append(c_ast.Assignment("=", deepcopy(target), again, item.coord))
    return c_ast.Compound(items, body.coord)


def _root(site: RegionSite, node: c_ast.Node) -> c_ast.FuncCall | None:
    """The root that a statement stores in an element of its very type."""
    if not isinstance(node, c_ast.Assignment) or node.op != "=" or not isinstance(node.lvalue, c_ast.ArrayRef):
        return None
    call, to = node.rvalue, node.lvalue
    name = str(getattr(call.name, "name", "")) if isinstance(call, c_ast.FuncCall) else ""
    plain = name.removeprefix("__builtin_")
    if plain not in _ROOTS or name in site.functions or name in site.dialect.unknown or len(call.args.exprs) != 1:
        return None
    if has_effects(to) or any(isinstance(n, c_ast.FuncCall) for n in nodes(to)):
        return None
    depth = 0
    while isinstance(to, c_ast.ArrayRef):
        depth, to = depth + 1, to.name
    var = site.variables.get(to.name) if isinstance(to, c_ast.ID) else None
    if var is None or var.shape.special or len(var.shape.declarators) != depth:
        return None
    elem = var.shape.elem
    return call if (elem.kind, elem.bits) == ("float", _ROOTS[plain]) else None
