"""Gives loops counters of their own, declared in the loop's head, in place of a variable that is declared by the region
and used for nothing else, or that the region also sets outside of loops and nobody reads after the loop.

`int i; for (i = 0; i < n; i++) ...` is `for (int i = 0; i < n; i++) ...` where a block of the region declares i and
nobody looks at it outside of such loops. And where a variable counts in some loops and is set by hand between them
(`i = 1; ...; for (i = 3; i < n; i++) ...`), the loops have one of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from pycparser import c_ast

from codegen.frontend.rewrite.bodies import named, substituted
from codegen.frontend.syntax.live import addressed, live_behind
from codegen.frontend.syntax.symbols import RegionSite
from codegen.frontend.syntax.tree import STEPS, assigned, fresh_names, mapped, nodes, with_statements
from codegen.source.region_slice import UNSEEN_JUMP


def with_own_counters(site: RegionSite) -> RegionSite:
    """The region with loops that declare their counters, where the region declares them at all, and where variables are
    used for something else besides."""
    made = _block(site.statements)
    same = len(made) == len(site.statements) and all(a is b for a, b in zip(made, site.statements, strict=True))
    return _with_separate(site if same else with_statements(site, made))


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


# -- i = 1; ...; for (i = 3; i < n; i++) ... -------------------------------------------------------------------------


def _with_separate(site: RegionSite) -> RegionSite:
    """The region with other counters for loops over variables that it also sets outside of such loops."""
    if UNSEEN_JUMP in site.hidden:
        return site
    by_hand = set[str]().union(*map(_set_by_hand, site.statements))
    counting = {str(n.init.lvalue.name) for s in site.statements for n in nodes(s) if _counts(n)}
    fresh = fresh_names(site)
    for name in sorted((by_hand & counting) - addressed(site.function.body) - site.hidden):
        decls = [n for n in nodes(site.function) if isinstance(n, c_ast.Decl) and n.name == name]
        if len(decls) == 1 and not decls[0].storage and not decls[0].quals:
            site = _separated(site, decls[0], fresh.name(name))
    return site


def _counts(node: c_ast.Node) -> bool:
    """Is it a loop that sets a variable of the function, which nothing in its body does?"""
    init = node.init if isinstance(node, c_ast.For) else None
    name = getattr(init.lvalue, "name", None) if isinstance(init, c_ast.Assignment) else None
    return isinstance(name, str) and _sets(node, name) and name not in assigned(node.stmt)


def _set_by_hand(node: c_ast.Node) -> set[str]:
    """Variables that are set elsewhere than in the heads of loops that count with them."""
    inner = set[str]().union(*(_set_by_hand(child) for child in node))
    if _counts(node):
        return inner - {str(node.init.lvalue.name)}
    target = node.lvalue if isinstance(node, c_ast.Assignment) else None
    target = node.expr if isinstance(node, c_ast.UnaryOp) and node.op in STEPS else target
    return inner | {str(target.name)} if isinstance(target, c_ast.ID) else inner


def _separated(site: RegionSite, decl: c_ast.Decl, new: str) -> RegionSite:
    """With another counter in those loops behind which nobody looks at the variable before it is set again."""
    name = str(decl.name)

    def change(node: c_ast.Node) -> c_ast.Node:
        if not (_counts(node) and node.init.lvalue.name == name):
            return mapped(node, change)
        live = live_behind(site.function, frozenset({id(node)}))
        if live is None or name in live:
            return node
        start = c_ast.DeclList([named(decl, new, node.init.rvalue)], node.init.coord)
        rest = (substituted(x, {}, {name: new}) for x in (node.cond, node.next, node.stmt))
        return c_ast.For(start, *rest, node.coord)

    made = [change(s) for s in site.statements]
    return with_statements(site, made) if any(a is not b for a, b in zip(made, site.statements, strict=True)) else site
