"""Loops that exchange two pointers in every iteration, `t = src; src = dst; dst = t;`, as loops that do not: iterations
with an even number have the arrays as they are at first, the others have them exchanged.

An exchange may have a block of its own, and macros have it in `do { ... } while (0)`.

The body of `for (k = 0; k < n; k++) { A; swap; B; }` becomes `if (k % 2 == 0) { A; B exchanged }` and
`else { A exchanged; B }`. That is all there is to it where nobody looks at the pointers behind the region.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

from pycparser import c_ast

from codegen.frontend.syntax.declarators import DeclaredType
from codegen.frontend.syntax.members import spelled
from codegen.frontend.syntax.symbols import RegionSite
from codegen.frontend.syntax.tree import assigned, declared, items_of, mapped, names, nodes, with_statements

MOST = 600  # nodes of a body that is there twice then
_ONE_BY_ONE = ("++", "p++")


def with_parities(site: RegionSite) -> RegionSite:
    """The region with a branch for each way in which pointers lie, in its outermost loops."""
    made = [_loop(site, s) for s in site.statements]
    return site if all(a is b for a, b in zip(made, site.statements, strict=True)) else with_statements(site, made)


def _loop(site: RegionSite, node: c_ast.Node) -> c_ast.Node:
    if not isinstance(node, c_ast.For):
        return node
    items = [x for item in items_of(node.stmt) for x in _opened(item)]
    found = ((k, x) for k in range(len(items)) if (x := _exchanged(items[k : k + 3])) is not None)
    at, (spare, *both) = next(found, (-1, ("", "", "")))
    counter = _counter(node)
    if at < 0 or counter is None:
        return node
    rest = [*items[:at], *items[at + 3 :]]
    own = isinstance(items[at], c_ast.Decl)
    if not all(_fits(site, n) for n in (both if own else (spare, *both))) or not _alike(site, *both):
        return node
    if not _untouched(rest, {spare, *both}, counter[0]) or any(spare in names(x) for x in rest):
        return node
    if _used(site, node, {spare, *both}):
        return node
    even = [*items[:at], *_renamed(items[at + 3 :], both)]
    odd = [*_renamed(items[:at], both), *copy.deepcopy(items[at + 3 :])]
    test = c_ast.BinaryOp("==", c_ast.BinaryOp("%", counter[1], _number(2)), _number(0), node.coord)
    made = copy.copy(node)
    branches = (c_ast.Compound(list(x), node.coord) for x in (even, odd))
    made.stmt = c_ast.Compound([c_ast.If(test, *branches, node.coord)], node.coord)
    return made


def _opened(item: c_ast.Node) -> list[c_ast.Node]:
    """The statements of a block that does nothing but exchange, as macros have it: in braces, in `do ... while (0)`."""
    inner = item
    while isinstance(inner, c_ast.DoWhile) and isinstance(inner.cond, c_ast.Constant) and inner.cond.value == "0":
        inner = inner.stmt
    if not isinstance(inner, c_ast.Compound):
        return [item]
    items = [x for x in items_of(inner) if not isinstance(x, c_ast.EmptyStatement)]
    items = _opened(items[0]) if len(items) == 1 else items
    return items if len(items) == 3 and _exchanged(items) is not None else [item]


def _exchanged(items: Sequence[c_ast.Node]) -> tuple[str, str, str] | None:
    """The spare variable and the two that are exchanged by it. What is declared behind it is another variable of that
    name."""
    if len(items) < 3 or any(isinstance(x, c_ast.Decl) for x in items[1:]):
        return None
    pairs = []
    for item in items:
        value = item.init if isinstance(item, c_ast.Decl) else getattr(item, "rvalue", None)
        target = item if isinstance(item, c_ast.Decl) else getattr(item, "lvalue", None)
        plain = isinstance(item, c_ast.Decl) or (isinstance(item, c_ast.Assignment) and item.op == "=")
        if not plain or not isinstance(value, c_ast.ID) or not isinstance(target, (c_ast.Decl, c_ast.ID)):
            return None
        pairs.append((str(target.name), str(value.name)))
    (spare, one), (first, two), (second, last) = pairs
    fits = (one, two, spare) == (first, second, last) and len({one, two, spare}) == 3
    return (spare, one, two) if fits else None


def _counter(node: c_ast.For) -> tuple[str, c_ast.Node] | None:
    """The variable that counts iterations up by one, and how many there were before."""
    init, step = node.init, node.next
    if isinstance(init, c_ast.DeclList) and len(init.decls) == 1:
        name, first = str(init.decls[0].name), init.decls[0].init
    elif isinstance(init, c_ast.Assignment) and init.op == "=" and isinstance(init.lvalue, c_ast.ID):
        name, first = str(init.lvalue.name), init.rvalue
    else:
        return None
    if not _up(step, name) or not isinstance(first, c_ast.Constant):
        return None
    before = c_ast.ID(name, node.coord)
    return name, before if first.value == "0" else c_ast.BinaryOp("-", before, first, node.coord)


def _up(step: c_ast.Node, name: str) -> bool:
    """`k++`, `++k` and `k += 1`."""
    if isinstance(step, c_ast.UnaryOp):
        return step.op in _ONE_BY_ONE and getattr(step.expr, "name", "") == name
    by = isinstance(step, c_ast.Assignment) and step.op == "+=" and getattr(step.lvalue, "name", "") == name
    return by and isinstance(step.rvalue, c_ast.Constant) and step.rvalue.value == "1"


def _fits(site: RegionSite, name: str) -> bool:
    """Is it a pointer that nobody looks at behind the region, as it is then?"""
    var = site.variables.get(name)
    pointer = var is not None and bool(var.shape.declarators) and var.shape.declarators[0].kind == "pointer"
    return pointer and var is not None and not var.shape.special and site.dies(name)


def _alike(site: RegionSite, one: str, two: str) -> bool:
    """Do the two lead to elements of one type, in rows of one length?"""
    a, b = site.variables[one], site.variables[two]
    if _rows(a.shape) != _rows(b.shape) or a.const != b.const:
        return False
    return a.shape.elem == b.shape.elem and a.shape.struct is b.shape.struct


def _rows(shape: DeclaredType) -> list[tuple[str, str]]:
    """What the pointer leads to: compilers take `double (*)[4]` for `double (*)[8]`, with a warning."""
    return [(d.kind, "" if d.dim is None else spelled(d.dim)) for d in shape.declarators[1:]]


def _untouched(rest: Sequence[c_ast.Node], own: set[str], counter: str) -> bool:
    """Is the rest of the body one that neither sets these pointers nor the counter, nor leaves its place?"""
    every = [n for s in rest for n in nodes(s)]
    sets = set[str]().union(*(assigned(s) for s in rest), *(declared(s) for s in rest))
    left = (c_ast.Label, c_ast.Case, c_ast.Goto, c_ast.Return, c_ast.Break, c_ast.Continue)
    if any(isinstance(n, left) for n in every) or len(every) > MOST:
        return False
    address = (n.expr for n in every if isinstance(n, c_ast.UnaryOp) and n.op == "&")
    return not sets & (own | {counter}) and not any(isinstance(x, c_ast.ID) and x.name in own for x in address)


def _used(site: RegionSite, loop: c_ast.For, own: set[str]) -> bool:
    """Are the pointers used elsewhere in the region, or in the loop's head?"""
    others = [s for s in site.statements if s is not loop]
    return any(names(x) & own for x in (*others, loop.init, loop.cond, loop.next) if x is not None)


def _renamed(items: Sequence[c_ast.Node], both: Sequence[str]) -> list[c_ast.Node]:
    """Copies with the two names exchanged."""
    new = {both[0]: both[1], both[1]: both[0]}

    def change(node: c_ast.Node) -> c_ast.Node:
        if isinstance(node, c_ast.ID):
            return c_ast.ID(new[node.name], node.coord) if node.name in new else node
        if isinstance(node, c_ast.StructRef):
            made = copy.copy(node)
            made.name = change(node.name)
            return made
        return mapped(node, change)

    return [change(item) for item in copy.deepcopy(list(items))]


def _number(value: int) -> c_ast.Constant:
    return c_ast.Constant("int", str(value))
