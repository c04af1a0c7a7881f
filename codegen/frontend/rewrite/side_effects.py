"""Moves increments and assignments of numbers out of expressions (`a[i++] = x`, `if ((k = p[i]) != i)`), as statements
of their own before or behind: returns the region so rewritten. Those in calls and loop headers stay.

`a[k++] = x;` is `a[k] = x; k++;`, `a[k += 2] = x;` is `k += 2; a[k] = x;`, and `if ((k = p[i]) != i)` is `k = p[i];
if (k != i)`, where nothing else in the statement or condition looks at k and the step is sure to be taken.
"""

from __future__ import annotations

from collections.abc import Sequence

from pycparser import c_ast

from codegen.frontend.syntax.symbols import RegionSite
from codegen.frontend.syntax.tree import STEPS, assigned, items_of, mapped, nodes, with_statements

_BLOCKS = (c_ast.Compound, c_ast.For, c_ast.If, c_ast.While, c_ast.DoWhile, c_ast.Switch, c_ast.Case, c_ast.Default)


def with_side_effects_first(site: RegionSite) -> RegionSite:
    """The region with steps of its integers as statements."""
    region = c_ast.Compound(list(site.statements))
    shapes = {n: v.shape for n, v in site.variables.items()}
    shapes |= {str(d.name): site.types.shape(d.type) for d in nodes(region) if isinstance(d, c_ast.Decl) and d.name}
    numbers = {n for n in assigned(region) if n in shapes and not shapes[n].declarators and not shapes[n].special}
    made = _all(site.statements, numbers) if numbers else list(site.statements)
    same = len(made) == len(site.statements) and all(a is b for a, b in zip(made, site.statements, strict=True))
    return site if same else with_statements(site, made)


def _all(items: Sequence[c_ast.Node], numbers: set[str]) -> list[c_ast.Node]:
    return [made for item in items for made in _statement(item, numbers)]


def _statement(node: c_ast.Node, numbers: set[str]) -> list[c_ast.Node]:
    if isinstance(node, c_ast.Compound):
        old = items_of(node)
        made = _all(old, numbers)
        same = len(made) == len(old) and all(a is b for a, b in zip(made, old, strict=True))
        return [node if same else c_ast.Compound(made, node.coord)]
    if isinstance(node, c_ast.If):
        inner = mapped(node, lambda child: _below(child, node, numbers))
        before, cond, after = _parts(node.cond, numbers)
        if after or not before:  # a step behind the condition would come ahead of both branches
            return [inner]
        return [*before, c_ast.If(cond, inner.iftrue, inner.iffalse, node.coord)]
    if isinstance(node, _BLOCKS):
        return [mapped(node, lambda child: _below(child, node, numbers))]
    if isinstance(node, (c_ast.Assignment, c_ast.Decl)):
        return _taken_apart(node, numbers)
    return [node]


def _below(node: c_ast.Node, parent: c_ast.Node, numbers: set[str]) -> c_ast.Node:
    """A statement inside another one; heads of loops and conditions have no room for more."""
    heads = ("init", "cond", "next", "expr")
    if any(getattr(parent, slot, None) is node for slot in heads):
        return node
    made = _statement(node, numbers)
    return made[0] if len(made) == 1 else c_ast.Compound(made, node.coord)


def _taken_apart(node: c_ast.Node, numbers: set[str]) -> list[c_ast.Node]:
    before, made, after = _parts(node, numbers)
    return [*before, made, *after]


def _parts(node: c_ast.Node, numbers: set[str]) -> tuple[list[c_ast.Node], c_ast.Node, list[c_ast.Node]]:
    """What comes before a statement or a condition, itself, and what comes behind it."""
    before: list[c_ast.Node] = []
    after: list[c_ast.Node] = []

    def alone(name: str, step: c_ast.Node) -> bool:
        """Is the variable nowhere else in the statement?"""
        return name in numbers and _mentions(node, name) == _mentions(step, name) and name not in _set_by(node)

    def visit(n: c_ast.Node) -> c_ast.Node:
        if isinstance(n, c_ast.UnaryOp) and n.op in STEPS and isinstance(n.expr, c_ast.ID) and alone(n.expr.name, n):
            (after if n.op.startswith("p") else before).append(n)
            return n.expr
        if isinstance(n, c_ast.BinaryOp) and n.op in ("&&", "||"):
            return mapped(n, lambda child: visit(child) if child is n.left else child)
        if isinstance(n, c_ast.TernaryOp):
            return mapped(n, lambda child: visit(child) if child is n.cond else child)
        if isinstance(n, c_ast.ExprList) or (isinstance(n, c_ast.UnaryOp) and n.op == "sizeof"):
            return n  # arguments, whose order is open, and what is not evaluated at all
        inside = n is not node and isinstance(n, c_ast.Assignment) and isinstance(n.lvalue, c_ast.ID)
        if inside and alone(n.lvalue.name, n):
            inner = mapped(n, lambda child: child if child is n.lvalue else visit(child))
            before.append(inner)
            return n.lvalue
        return mapped(n, visit)

    return before, visit(node), after


def _set_by(node: c_ast.Node) -> set[str]:
    """What the statement itself sets."""
    own = node.lvalue if isinstance(node, c_ast.Assignment) else node
    return {str(own.name)} if isinstance(own, (c_ast.ID, c_ast.Decl)) else set()


def _mentions(node: c_ast.Node, name: str) -> int:
    return sum(isinstance(n, c_ast.ID) and n.name == name for n in nodes(node))
