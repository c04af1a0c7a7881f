"""Pointers that are set to one of two arrays, `float *v = k == 0 ? q : p;`, as two branches with one each.

What follows in the block stands in both, so that each pointer leads to one array: `if (k == 0) { float *v = q; ... }`
and `else { float *v = p; ... }`. The condition is asked where the source asks it, once.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pycparser import c_ast

from codegen.frontend.syntax.declarators import DeclaredType, TypeTable
from codegen.frontend.syntax.symbols import RegionSite
from codegen.frontend.syntax.tree import STEPS, as_block, items_of, mapped, nodes, with_statements
from codegen.record import record

MOST = 600  # nodes that are copied for one choice
_HOLDERS = (c_ast.For, c_ast.If, c_ast.While, c_ast.DoWhile)


def with_chosen_pointers(site: RegionSite) -> RegionSite:
    """The region with a branch for each array that a pointer is set to."""
    if not any(isinstance(_chosen(n), c_ast.TernaryOp) for s in site.statements for n in nodes(s)):
        return site
    pointers = {n: v.shape for n, v in site.variables.items() if _is_pointer(v.shape)}
    made = _Branches(site.types, pointers).block(site.statements)
    same = len(made) == len(site.statements) and all(a is b for a, b in zip(made, site.statements, strict=True))
    return site if same else with_statements(site, made)


def _is_pointer(shape: DeclaredType) -> bool:
    return bool(shape.declarators) and shape.declarators[0].kind == "pointer" and not shape.special


def _chosen(node: c_ast.Node) -> c_ast.Node | None:
    """What a variable is declared or set with."""
    if isinstance(node, c_ast.Decl):
        return node.init
    return node.rvalue if isinstance(node, c_ast.Assignment) and node.op == "=" else None


@record
class _Branches:
    types: TypeTable
    pointers: Mapping[str, DeclaredType]

    def block(self, items: Sequence[c_ast.Node]) -> list[c_ast.Node]:
        out: list[c_ast.Node] = []
        here = self
        for k, item in enumerate(items):
            if isinstance(item, c_ast.Decl) and item.name:
                here = here._declared(item)
            if here._splits(item, items[k + 1 :]):
                return [*out, here._split(item, items[k + 1 :])]
            out.append(here._statement(item))
        return out

    def _declared(self, node: c_ast.Decl) -> _Branches:
        shape = self.types.shape(node.type)
        rest = {n: v for n, v in self.pointers.items() if n != node.name}
        plain = _is_pointer(shape) and not node.storage
        return replace(self, pointers={**rest, str(node.name): shape} if plain else rest)

    def _splits(self, node: c_ast.Node, rest: Sequence[c_ast.Node]) -> bool:
        given = _chosen(node)
        target = node if isinstance(node, c_ast.Decl) else getattr(node, "lvalue", None)
        if not isinstance(given, c_ast.TernaryOp) or getattr(target, "name", None) not in self.pointers:
            return False
        if not isinstance(target, (c_ast.Decl, c_ast.ID)):
            return False
        all_ = [n for s in rest for n in nodes(s)]
        # A label has one place. What the condition changes would have to be in order with the rest of the statement.
        changes = any(isinstance(n, (c_ast.Assignment, c_ast.FuncCall)) or getattr(n, "op", "") in STEPS
                      for n in nodes(given.cond))  # fmt: skip
        return not changes and len(all_) <= MOST and not any(isinstance(n, (c_ast.Label, c_ast.Case)) for n in all_)

    def _split(self, node: c_ast.Node, rest: Sequence[c_ast.Node]) -> c_ast.Node:
        given = _chosen(node)
        assert isinstance(given, c_ast.TernaryOp)
        branches = []
        for value in (given.iftrue, given.iffalse):
            own = copy.copy(node)
            setattr(own, "init" if isinstance(node, c_ast.Decl) else "rvalue", value)
            branches.append(c_ast.Compound(self.block([own, *(copy.deepcopy(s) for s in rest)]), node.coord))
        return c_ast.If(given.cond, *branches, node.coord)

    def _statement(self, node: c_ast.Node) -> c_ast.Node:
        if isinstance(node, c_ast.Compound):
            old = items_of(node)
            made = self.block(old)
            same = len(made) == len(old) and all(a is b for a, b in zip(made, old, strict=True))
            return node if same else c_ast.Compound(made, node.coord)
        if not isinstance(node, _HOLDERS):
            return node
        heads = [x for slot in ("init", "cond", "next") if (x := getattr(node, slot, None)) is not None]
        return mapped(node, lambda x: x if any(x is h for h in heads) else as_block(self.block([x]), x))
