"""Variables that hold an element of an index array, `int k = idx[i];`, in subscripts: `y[k]` becomes `y[idx[i]]`.

Of an array without equal elements, that tells which elements of `y` differ; the value of a variable tells nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from pycparser import c_ast

from codegen.frontend.syntax.live import addressed, base_of
from codegen.frontend.syntax.symbols import RegionSite
from codegen.frontend.syntax.tree import STEPS, assigned, items_of, mapped, names, nodes, with_statements
from codegen.record import record


@record
class _Held:
    """A variable, and the element that it holds."""

    name: str
    element: c_ast.ArrayRef


def with_index_elements(site: RegionSite) -> RegionSite:
    """The region with such elements in place of the variables, in subscripts, for arrays without equal ones."""
    if not site.unequal:
        return site
    fixed = site.unequal - _changed(site.statements)
    made = _block(site.statements, site, fixed, addressed(site.function.body))
    same = all(a is b for a, b in zip(made, site.statements, strict=True))
    return site if same else with_statements(site, made)


def _changed(statements: Sequence[c_ast.Node]) -> set[str]:
    """Variables of which something is set."""
    found = [n for s in statements for n in nodes(s)]
    targets = [n.lvalue for n in found if isinstance(n, c_ast.Assignment)]
    targets += [n.expr for n in found if isinstance(n, c_ast.UnaryOp) and n.op in STEPS]
    return {base_of(t) for t in targets}


def _block(
    items: Sequence[c_ast.Node], site: RegionSite, fixed: frozenset[str], exposed: frozenset[str] | set[str]
) -> list[c_ast.Node]:
    out = list(items)
    for k in range(len(out)):
        held = _held(out[k], site, fixed)
        rest = c_ast.Compound(out[k + 1 :])
        if held is not None and held.name not in exposed and _lasts(held, rest):
            out[k + 1 :] = [_with(x, held) for x in out[k + 1 :]]
        else:
            out[k] = _below(out[k], site, fixed, exposed)
    return out


def _below(
    node: c_ast.Node, site: RegionSite, fixed: frozenset[str], exposed: frozenset[str] | set[str]
) -> c_ast.Node:
    if isinstance(node, c_ast.Compound):
        made = _block(items_of(node), site, fixed, exposed)
        same = all(a is b for a, b in zip(made, items_of(node), strict=True))
        return node if same else c_ast.Compound(made, node.coord)
    return mapped(node, lambda child: _below(child, site, fixed, exposed))


def _held(node: c_ast.Node, site: RegionSite, fixed: frozenset[str]) -> _Held | None:
    """What a declaration or an assignment says of its variable, if that keeps all values of the element."""
    if isinstance(node, c_ast.Decl):
        name, value, kind = str(node.name), node.init, site.types.shape(node.type)
    elif isinstance(node, c_ast.Assignment) and node.op == "=" and isinstance(node.lvalue, c_ast.ID):
        name, value = str(node.lvalue.name), node.rvalue
        if name not in site.variables or site.variables[name].place == "global":
            return None  # others may see it, or a block of the region gives it its type
        kind = site.variables[name].shape
    else:
        return None
    plain = isinstance(value, c_ast.ArrayRef) and isinstance(value.name, c_ast.ID) and value.name.name in fixed
    if not plain or kind.declarators or kind.special or value.name.name not in site.variables:
        return None
    elem = site.variables[value.name.name].shape.elem
    keeps = kind.elem.is_int and elem.is_int and (kind.elem.signed, kind.elem.bits) == (elem.signed, elem.bits)
    return _Held(name, value) if keeps and not _reads_memory(value.subscript) else None


def _reads_memory(node: c_ast.Node) -> bool:
    return any(isinstance(n, (c_ast.ArrayRef, c_ast.StructRef, c_ast.FuncCall, c_ast.UnaryOp)) for n in nodes(node))


def _lasts(held: _Held, rest: c_ast.Node) -> bool:
    """Do the variable and what it was read with keep their values and meanings?"""
    mine = {held.name, *names(held.element)}
    declared = {str(n.name) for n in nodes(rest) if isinstance(n, c_ast.Decl)}
    return not mine & (assigned(rest) | declared)


def _with(node: c_ast.Node, held: _Held) -> c_ast.Node:
    if isinstance(node, c_ast.ArrayRef):
        subscript = _replaced(node.subscript, held)
        name = _with(node.name, held)
        if subscript is node.subscript and name is node.name:
            return node
        return type(node)(name, subscript, node.coord)
    return mapped(node, lambda child: _with(child, held))


def _replaced(node: c_ast.Node, held: _Held) -> c_ast.Node:
    if isinstance(node, c_ast.ID):
        return held.element if node.name == held.name else node
    return mapped(node, lambda child: _replaced(child, held))
