"""Pointers that the region advances and the function uses afterwards: an offset is advanced instead, and added to the
pointer at the end.

`for (j = 0; j < n; j++, u += ld) u[0] = 0;` is `for (j = 0; j < n; j++, u_at += ld) u[u_at] = 0;` with an integer
`u_at` that is 0 before the region, and `u += u_at;` behind it. What goes for integers that loops add to goes for the
offset.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pycparser import c_ast

from codegen.frontend.syntax.declarators import DeclaredType, literal_int
from codegen.frontend.syntax.live import addressed
from codegen.frontend.syntax.symbols import RegionSite, Variable
from codegen.frontend.syntax.tree import (
    STEPS,
    assigned,
    fresh_names,
    mapped,
    nodes,
    shadowing,
    typename,
    with_statements,
)
from codegen.scop.model import OwnVariable
from codegen.scop.types import CType

_LONG = typename(["long"])
_BLOCKS = (c_ast.Compound, c_ast.If, c_ast.While, c_ast.DoWhile, c_ast.Switch, c_ast.Case, c_ast.Default)


def with_moved(site: RegionSite) -> RegionSite:
    """The region with offsets in place of the pointers that it only moves and that are used behind it."""
    region = c_ast.Compound(list(site.statements))
    moved = sorted(n for n in assigned(region) if _is_movable(n, site) and _only_moves(region, n))
    hidden = shadowing(site.statements, set(site.variables))
    moved = [n for n in moved if n not in hidden and not site.dies(n)]
    if not moved:
        return site
    fresh = fresh_names(site)
    offsets = {n: fresh.name(f"{n}_at") for n in moved}
    kind = CType("long", "int", 64)
    variables = {own: Variable(own, DeclaredType((), kind), "local") for own in offsets.values()}
    made = [_statement(s, offsets) for s in site.statements]
    own = tuple(OwnVariable(o, n, f"long {o} = 0;", f"{n} += {o};") for n, o in offsets.items())
    site = replace(site, variables={**site.variables, **variables}, own=(*site.own, *own))
    return with_statements(site, made)


def _is_movable(name: str, site: RegionSite) -> bool:
    """Is it a pointer variable that only the function's own assignments change?"""
    var = site.variables.get(name)
    if var is None or var.place == "global" or var.static or var.shape.special or name in site.hidden:
        return False
    pointer = bool(var.shape.declarators) and var.shape.declarators[0].kind == "pointer"
    return pointer and name not in addressed(site.function.body)


def _only_moves(region: c_ast.Node, name: str) -> bool:
    """Is nothing but steps done to it?"""
    sets = [n for n in nodes(region) if isinstance(n, c_ast.Assignment) and _is(n.lvalue, name)]
    return all(_by(n, name) is not None for n in sets)


def _by(node: c_ast.Assignment, name: str) -> tuple[str, c_ast.Node] | None:
    """By what `p += n`, `p -= n`, `p = p + n` and the like move a pointer; None for other assignments."""
    value = node.rvalue
    if node.op in ("+=", "-="):
        return node.op[0], value
    if node.op != "=" or not isinstance(value, c_ast.BinaryOp) or value.op not in ("+", "-"):
        return None
    if _is(value.left, name):
        return value.op, value.right
    return ("+", value.left) if value.op == "+" and _is(value.right, name) else None


def _is(node: c_ast.Node, name: str) -> bool:
    return isinstance(node, c_ast.ID) and node.name == name


def _statement(node: c_ast.Node, offsets: Mapping[str, str]) -> c_ast.Node:
    """A statement in which the offsets move."""
    if isinstance(node, c_ast.ExprList):
        return mapped(node, lambda child: _statement(child, offsets))
    if isinstance(node, c_ast.For):
        return mapped(node, lambda child: (_value if child is node.cond else _statement)(child, offsets))
    if isinstance(node, _BLOCKS):
        heads = [x for slot in ("cond", "expr") if (x := getattr(node, slot, None)) is not None]
        return mapped(node, lambda x: (_value if any(x is h for h in heads) else _statement)(x, offsets))
    moved = _step(node, offsets)
    return _value(node, offsets) if moved is None else moved


def _value(node: c_ast.Node, offsets: Mapping[str, str]) -> c_ast.Node:
    """An expression in which a pointer is where its offset says."""
    moved = _step(node, offsets)
    if moved is not None:
        return c_ast.BinaryOp("+", _pointer(node), moved, node.coord)
    if isinstance(node, c_ast.ID) and node.name in offsets:
        return c_ast.BinaryOp("+", node, c_ast.ID(offsets[node.name], node.coord), node.coord)
    return mapped(node, lambda child: child if isinstance(child, c_ast.Typename) else _value(child, offsets))


def _step(node: c_ast.Node, offsets: Mapping[str, str]) -> c_ast.Node | None:
    """The step of an offset in place of that of a pointer; None for anything else."""
    pointer = _pointer(node)
    if not isinstance(pointer, c_ast.ID) or pointer.name not in offsets:
        return None
    own = c_ast.ID(offsets[pointer.name], node.coord)
    if isinstance(node, c_ast.UnaryOp):
        return c_ast.UnaryOp(node.op, own, node.coord)
    by = _by(node, str(pointer.name))
    assert by is not None
    sign, value = by[0], _value(by[1], offsets)
    far = value if literal_int(value, {}) is not None else c_ast.Cast(_LONG, value, value.coord)
    return c_ast.Assignment(f"{sign}=", own, far, node.coord)


def _pointer(node: c_ast.Node) -> c_ast.Node | None:
    """What is set by an assignment or a step."""
    if isinstance(node, c_ast.UnaryOp) and node.op in STEPS:
        return node.expr
    return node.lvalue if isinstance(node, c_ast.Assignment) else None
