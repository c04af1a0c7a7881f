"""Counters that a block of the region declares and only its loops use: declared by the loops.

`int i; for (i = 0; i < n; i++) ...` is `for (int i = 0; i < n; i++) ...` where nobody looks at i outside of such loops.
"""

from __future__ import annotations

from collections.abc import Sequence

from pycparser import c_ast

from codegen.frontend.rewrite.bodies import named
from codegen.frontend.rewrite.tree import mapped, nodes, with_statements
from codegen.frontend.symbols import RegionSite


def with_own_counters(site: RegionSite) -> RegionSite:
    """The region with loops that declare their counters, where the region declares them at all."""
    made = _block(site.statements)
    same = len(made) == len(site.statements) and all(a is b for a, b in zip(made, site.statements, strict=True))
    return site if same else with_statements(site, made)


def _block(items: Sequence[c_ast.Node]) -> list[c_ast.Node]:
    out = [_inside(item) for item in items]
    for decl in [x for x in out if isinstance(x, c_ast.Decl) and x.init is None and x.name]:
        at = next(k for k, x in enumerate(out) if x is decl)
        later = out[at + 1 :]
        if later and all(_counts_only(x, str(decl.name)) for x in later):
            out = [*out[:at], *(_declaring(x, decl) for x in later)]
    return out


def _inside(node: c_ast.Node) -> c_ast.Node:
    if not isinstance(node, c_ast.Compound):
        return mapped(node, _inside)
    old = node.block_items or []
    made = _block(old)
    same = len(made) == len(old) and all(a is b for a, b in zip(made, old, strict=True))
    return node if same else c_ast.Compound(made, node.coord)


def _sets(node: c_ast.Node, name: str) -> bool:
    """Is it a loop that begins by setting the variable to something else?"""
    init = node.init if isinstance(node, c_ast.For) else None
    mine = isinstance(init, c_ast.Assignment) and init.op == "=" and isinstance(init.lvalue, c_ast.ID)
    return mine and init is not None and init.lvalue.name == name and not _mentions(init.rvalue, name)


def _mentions(node: c_ast.Node, name: str) -> bool:
    return any(isinstance(n, (c_ast.ID, c_ast.Decl)) and n.name == name for n in nodes(node))


def _counts_only(node: c_ast.Node, name: str) -> bool:
    if _sets(node, name):
        return not any(isinstance(n, c_ast.Decl) and n.name == name for n in nodes(node))
    if isinstance(node, (c_ast.ID, c_ast.Decl)) and node.name == name:
        return False
    return all(_counts_only(child, name) for child in node)


def _declaring(node: c_ast.Node, decl: c_ast.Decl) -> c_ast.Node:
    if not _sets(node, str(decl.name)):
        return mapped(node, lambda child: _declaring(child, decl))
    own = c_ast.DeclList([named(decl, str(decl.name), node.init.rvalue)], node.init.coord)
    return c_ast.For(own, node.cond, node.next, node.stmt, node.coord)
