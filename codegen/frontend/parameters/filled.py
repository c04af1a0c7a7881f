"""Finds index arrays that the function fills with different numbers ahead of the region, as `for (k = 0; k < n; k++)
idx[k] = n - 1 - k;` does, and notes how many of their elements differ (`RegionSite.filled`).

A formula that grows, or falls, with its place gives no two elements the same value. Shown is that the loop runs on
every way to the region, and that nothing changes the elements between it and the end of the region.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pycparser import c_ast

from codegen.frontend.parameters.derived import Before, before_region
from codegen.frontend.syntax.constants import int_constant
from codegen.frontend.syntax.origins import origins_of
from codegen.frontend.syntax.symbols import RegionSite
from codegen.frontend.syntax.tree import items_of, names, nodes
from codegen.record import record

_STORES = (c_ast.ArrayRef, c_ast.StructRef, c_ast.UnaryOp)


@record
class _Fill:
    """A loop that sets the elements of an array from the first up to `past`."""

    array: str
    counter: str
    declared: c_ast.Decl | None  # the counter, if the loop declares it
    past: c_ast.Node
    value: c_ast.Node


def with_filled(site: RegionSite) -> RegionSite:
    """The region with what is known of arrays that its subscripts are read from: how many elements of them, from the
    first on, are different numbers."""
    wanted = _index_arrays(site) - site.distinct
    if not wanted:
        return site
    known = before_region(replace(site, origins=origins_of(site)))
    found = {} if known is None else dict(_found(known, wanted))
    return replace(site, filled=found) if found else site


def _index_arrays(site: RegionSite) -> set[str]:
    """Arrays of the function of which elements are subscripts."""
    subscripts = [n.subscript for s in site.statements for n in nodes(s) if isinstance(n, c_ast.ArrayRef)]
    inner = [n for s in subscripts for n in nodes(s) if isinstance(n, c_ast.ArrayRef)]
    held = [n for s in site.statements for n in nodes(s) if isinstance(n, (c_ast.Decl, c_ast.Assignment))]
    values = [n.init if isinstance(n, c_ast.Decl) else n.rvalue for n in held]
    inner += [v for v in values if isinstance(v, c_ast.ArrayRef)]
    return {str(n.name.name) for n in inner if isinstance(n.name, c_ast.ID) and n.name.name in site.variables}


def _found(known: Before, wanted: set[str]) -> Iterator[tuple[str, c_ast.Node]]:
    for name in sorted(wanted):
        found = next(((at, f) for at, item in known.items() if (f := _fill(item)) and f.array == name), None)
        if found is None:
            continue
        at, fill = found
        others = list(known.between(at))
        stored = any(map(_may_store, others)) or bool(known.site.hidden)
        called = any(isinstance(n, c_ast.FuncCall) for x in others for n in nodes(x))
        left = not called and (not stored or known.own(name)) and not any(name in names(x) for x in others)
        if left and known.steady(name) and known.fixed(at, fill.past) and _all_differ(fill, known):
            yield name, fill.past


def _fill(node: c_ast.Node) -> _Fill | None:
    """The loop that a statement is, if it sets elements one after the other and does nothing else."""
    body = items_of(node.stmt) if isinstance(node, c_ast.For) else []
    store = body[0] if len(body) == 1 else None
    counter = None if store is None else _counter(node)
    if counter is None or not isinstance(store, c_ast.Assignment) or store.op != "=":
        return None
    to, past = store.lvalue, node.cond.right
    plain = isinstance(to, c_ast.ArrayRef) and isinstance(to.name, c_ast.ID) and _is(to.subscript, counter)
    own = node.init.decls[0] if isinstance(node.init, c_ast.DeclList) else None
    return _Fill(str(to.name.name), counter, own, past, store.rvalue) if plain and counter not in names(past) else None


def _counter(node: c_ast.For) -> str | None:
    """What a loop from 0 on, by one, below a limit, counts with."""
    if isinstance(node.init, c_ast.DeclList):
        name, first = str(node.init.decls[0].name), node.init.decls[0].init
        if len(node.init.decls) != 1:
            return None
    elif isinstance(node.init, c_ast.Assignment) and node.init.op == "=" and isinstance(node.init.lvalue, c_ast.ID):
        name, first = str(node.init.lvalue.name), node.init.rvalue
    else:
        return None
    below = isinstance(node.cond, c_ast.BinaryOp) and node.cond.op == "<" and _is(node.cond.left, name)
    by_one = isinstance(node.next, c_ast.UnaryOp) and node.next.op in ("++", "p++") and _is(node.next.expr, name)
    zero = isinstance(first, c_ast.Constant) and int_constant(first) == 0
    return name if below and by_one and zero else None


def _is(node: c_ast.Node | None, name: str) -> bool:
    return isinstance(node, c_ast.ID) and node.name == name


def _all_differ(fill: _Fill, known: Before) -> bool:
    """Is the value a formula in signed integers that the elements have room for, and that changes with its place?"""
    site = known.site
    elem = site.variables[fill.array].shape.elem
    used = {fill.counter, *names(fill.value)}
    if fill.declared is not None:
        used.discard(fill.counter)
    if not all(map(known.number, used)):
        return False
    kinds = [site.variables[x].shape.elem for x in used if x in site.variables]
    kinds += [] if fill.declared is None else [site.types.shape(fill.declared.type).elem]
    fits = all(k.is_int and k.signed and k.bits <= elem.bits for k in (elem, *kinds))
    slope = _slope(fill.value, fill.counter) if fits else None
    return bool(slope) and not (site.dialect.wraps and slope is not None and slope % 2 == 0)  # 2 * i may wrap to 0


def _slope(node: c_ast.Node, counter: str) -> int | None:
    """By how much a sum changes from one place to the next; None if that is not always the same number."""
    if isinstance(node, c_ast.ID):
        return int(node.name == counter)
    if isinstance(node, c_ast.Constant):
        return 0 if int_constant(node) is not None and "u" not in node.value.lower() else None
    if isinstance(node, c_ast.UnaryOp) and node.op == "-":
        inner = _slope(node.expr, counter)
        return None if inner is None else -inner
    if not isinstance(node, c_ast.BinaryOp) or node.op not in ("+", "-", "*"):
        return None
    left, right = _slope(node.left, counter), _slope(node.right, counter)
    if left is None or right is None:
        return None
    if node.op != "*":
        return left + right if node.op == "+" else left - right
    a, b = (int_constant(x) if isinstance(x, c_ast.Constant) else None for x in (node.left, node.right))
    if not left and not right:
        return 0
    return left * b if b is not None else right * a if a is not None else None


def _may_store(node: c_ast.Node) -> bool:
    """May a statement change elements of any array: by a store through a pointer, or by a call?"""
    for n in nodes(node):
        target = n.lvalue if isinstance(n, c_ast.Assignment) else None
        target = n.expr if isinstance(n, c_ast.UnaryOp) and n.op in ("++", "--", "p++", "p--") else target
        if isinstance(n, c_ast.FuncCall) or isinstance(target, _STORES):
            return True
    return False
