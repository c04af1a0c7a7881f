"""Replaces casts of a `void *` variable (`((struct state *)arg)->n`, `((float *)buffer)[i]`) by a new pointer variable
of that type: returns the region so rewritten, where it does not set the variable.

A pointer with that type takes the place of the casts; generated code sets it ahead of the region. Memory that is seen
with two types stays as it is.
"""

from __future__ import annotations

import re
from dataclasses import replace

from pycparser import c_ast

from codegen.frontend.expressions.affine import c_text
from codegen.frontend.syntax.declarators import DeclaredType
from codegen.frontend.syntax.live import addressed
from codegen.frontend.syntax.symbols import RegionSite, Variable, has_const_elements
from codegen.frontend.syntax.tree import assigned, declared, fresh_names, mapped, nodes, with_statements
from codegen.scop.model import OwnVariable


def with_typed(site: RegionSite) -> RegionSite:
    """The region with pointers that have types in place of casts of `void *` variables which it does not set."""
    casts = [n for s in site.statements for n in nodes(s) if isinstance(n, c_ast.Cast) and _untyped(n.expr, site)]
    if not casts:
        return site
    changed = set[str]().union(*(assigned(s) | set(declared(s)) for s in site.statements))
    changed |= addressed(site.function.body) | site.hidden
    types = {str(c.expr.name): {c_text(d.to_type) for d in casts if d.expr.name == c.expr.name} for c in casts}
    fresh = fresh_names(site)
    made: dict[str, Variable] = {}
    own = list(site.own)
    for cast in casts:
        source, kind, shape = str(cast.expr.name), c_text(cast.to_type), site.types.shape(cast.to_type)
        if source in changed | set(made) or len(types[source]) > 1 or not _leads_to_elements(shape):
            continue
        name = fresh.name(f"{source}_{re.findall(r'[A-Za-z_0-9]+', kind)[-1]}")
        const = site.variables[source].const or has_const_elements(cast.to_type.type)
        made[source] = Variable(name, shape, "local", const=const)
        own.append(OwnVariable(name, source, f"{kind}const {name} = ({kind}){source};"))

    def visit(node: c_ast.Node) -> c_ast.Node:
        if isinstance(node, c_ast.Cast) and isinstance(node.expr, c_ast.ID) and node.expr.name in made:
            return c_ast.ID(made[node.expr.name].name, node.coord)
        return mapped(node, visit)

    if not made:
        return site
    variables = {**site.variables, **{v.name: v for v in made.values()}}
    site = with_statements(site, [visit(s) for s in site.statements])
    return replace(site, variables=variables, own=tuple(own))


def _untyped(node: c_ast.Node, site: RegionSite) -> bool:
    return isinstance(node, c_ast.ID) and _is_untyped(site.variables.get(node.name))


def _is_untyped(var: Variable | None) -> bool:
    """Is it a `void *` of this run of the function?"""
    if var is None or var.place == "global" or var.static or var.shape.special:
        return False
    return [d.kind for d in var.shape.declarators] == ["pointer"] and var.shape.elem.spelling == "void"


def _leads_to_elements(shape: DeclaredType) -> bool:
    """Is it a pointer to numbers, to structs that are known, or to such pointers?"""
    known = shape.elem.kind != "other" or bool(getattr(shape.struct, "decls", None))
    pointers = bool(shape.declarators) and all(d.kind == "pointer" for d in shape.declarators)
    return pointers and known and not shape.special and not shape.function
