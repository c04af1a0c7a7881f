"""Prepares inner loops that data end early, as `for (k = 0; k < n; k++) { sum += h[k]; if (sum >= half) break; }`:
gives them private variables, so that `frontend/statements` can take the whole loop for one statement.

Such a loop becomes one statement, which stores to one place. So it gets variables of its own for what nobody looks at
behind it, its counter among them; and where somebody does look at the counter, that is the place: it is set in each
round to what the loop would leave in it.
"""

from __future__ import annotations

from dataclasses import field, replace

from pycparser import c_ast

from codegen.frontend.rewrite.bodies import named, substituted
from codegen.frontend.rewrite.jumps import leading_breaks, plain_body
from codegen.frontend.rewrite.loops.counters import with_own_counters
from codegen.frontend.syntax.declarators import literal_int
from codegen.frontend.syntax.live import Names, addressed, live_before, live_behind
from codegen.frontend.syntax.symbols import RegionSite, Started
from codegen.frontend.syntax.tree import (
    STEPS,
    Fresh,
    assigned,
    declared,
    fresh_names,
    items_of,
    mapped,
    names,
    nodes,
    with_statements,
)
from codegen.record import mutable, record
from codegen.source.region_slice import UNSEEN_JUMP

_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)


def with_searches(site: RegionSite) -> RegionSite:
    """The region with variables of their own for the inner loops that data may end."""
    inner = [n for s in site.statements for top in nodes(s) if isinstance(top, _LOOPS) for n in nodes(top.stmt)]
    if UNSEEN_JUMP in site.hidden or not any(is_search(n) for n in inner):
        return site
    search = _Searches(site, fresh_names(site), frozenset(addressed(site.function.body)) | site.hidden)
    made = [search.visit(s, False) for s in site.statements]
    if all(a is b for a, b in zip(made, site.statements, strict=True)):
        return site
    site = with_own_counters(with_statements(site, made))
    used = set[str]().union(*(names(s) for s in site.statements))
    gone = sorted((search.replaced & set(site.variables)) - used)
    return replace(site, started=(*site.started, *(Started(n) for n in gone)))


def is_search(node: c_ast.Node) -> bool:
    """Is it a loop with a `break` that no bound of it stands for, or whose condition asks for elements?"""
    if not isinstance(node, c_ast.For) or node.cond is None:
        return False
    exits, rest = leading_breaks(plain_body(node.stmt))
    asked = [node.cond, *(e.cond for e in exits)]
    return any(breaks(x) for x in rest) or any(_asks_data(c) for c in asked)


def breaks(node: c_ast.Node) -> bool:
    """Is there a `break` of the loop around in it?"""
    if isinstance(node, (*_LOOPS, c_ast.Switch)):
        return False
    return isinstance(node, c_ast.Break) or any(breaks(child) for child in node)


def _asks_data(cond: c_ast.Node) -> bool:
    """Does a condition look at elements, or call a function?"""
    return any(
        isinstance(n, (c_ast.ArrayRef, c_ast.FuncCall)) or (isinstance(n, c_ast.UnaryOp) and n.op == "*")
        for n in nodes(cond)
    )


@record
class _Counter:
    """What a loop counts with: the variable, what it begins with, and its value in the next round."""

    name: str
    first: c_ast.Node
    next: c_ast.Node


@mutable
class _Searches:
    site: RegionSite
    fresh: Fresh
    kept: Names  # variables that others may look at
    replaced: set[str] = field(default_factory=set)  # those that loops have others for

    def visit(self, node: c_ast.Node, inside: bool) -> c_ast.Node:
        if inside and is_search(node):
            counter = _counter(node)
            decl = None if counter is None else self._declaration(counter.name)
            made = None if counter is None or decl is None else self._own(node, counter, decl)
            return node if made is None else made
        return mapped(node, lambda child: self.visit(child, inside or isinstance(node, _LOOPS)))

    def _own(self, node: c_ast.For, counter: _Counter, decl: c_ast.Decl) -> c_ast.Node | None:
        behind = live_behind(self.site.function, frozenset({id(node)}))
        if behind is None or counter.name in assigned(node.stmt) or any(isinstance(n, c_ast.Goto) for n in nodes(node)):
            return None
        outer = assigned(node.stmt) - set(declared(node.stmt))
        own = outer - behind - {c.name for n in nodes(node.stmt) if (c := _counter(n)) is not None}
        private = {n: d for n in sorted(own) if (d := self._declaration(n)) is not None}
        if counter.name in behind and (outer - set(private) or _stores_elements(node.stmt)):
            return None  # no statement stores to two places
        coord, new = node.coord, self.fresh.name(counter.name)
        renamed = {counter.name: new, **{n: self.fresh.name(n) for n in private}}
        looked = live_before(node)
        before: list[c_ast.Node] = [
            named(d, renamed[n], c_ast.ID(n, coord) if n in looked else None) for n, d in private.items()
        ]
        self.replaced |= set(renamed)
        first, body = counter.first, substituted(node.stmt, {}, renamed)
        old, own_counter = c_ast.ID(counter.name, coord), c_ast.ID(new, coord)
        if counter.name in behind:
            left = c_ast.Assignment("=", old, substituted(counter.next, {}, renamed), coord)
            stops = c_ast.Assignment("=", old, own_counter, coord)
            body = c_ast.Compound([left, *items_of(_stopping(body, stops))], coord)
        cond, step = (substituted(x, {}, renamed) for x in (node.cond, node.next))
        loop = c_ast.For(c_ast.DeclList([named(decl, new, first)], coord), cond, step, body, coord)
        begun = [c_ast.Assignment("=", old, first, coord)] if counter.name in behind else []
        return c_ast.Compound([*before, *begun, loop], coord) if before or begun else loop

    def _declaration(self, name: str) -> c_ast.Decl | None:
        """How a number of this run of the function is declared; None for other variables."""
        found = [n for n in nodes(self.site.function) if isinstance(n, c_ast.Decl) and n.name == name]
        if len(found) != 1 or name in self.kept or found[0].storage or found[0].quals:
            return None
        shape = self.site.types.shape(found[0].type)
        plain = not shape.declarators and not shape.special and shape.struct is None
        return _without_value(found[0]) if plain and shape.elem.kind in ("int", "float") else None


def _stores_elements(node: c_ast.Node) -> bool:
    """Is anything set in it but variables?"""
    puts = (n.lvalue if isinstance(n, c_ast.Assignment) else n.expr for n in nodes(node) if _sets(n))
    return any(not isinstance(x, c_ast.ID) for x in puts)


def _sets(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.Assignment) or (isinstance(node, c_ast.UnaryOp) and node.op in STEPS)


def _without_value(decl: c_ast.Decl) -> c_ast.Decl:
    """The declaration without a value."""
    return c_ast.Decl(decl.name, decl.quals, [], [], [], decl.type, None, None, decl.coord)


def _stopping(node: c_ast.Node, first: c_ast.Node) -> c_ast.Node:
    """With something done before each `break` of the loop."""
    if isinstance(node, c_ast.Break):
        return c_ast.Compound([first, node], node.coord)
    if isinstance(node, (*_LOOPS, c_ast.Switch)):
        return node
    return mapped(node, lambda child: _stopping(child, first))


def _counter(node: c_ast.Node) -> _Counter | None:
    """The counter of a loop over a variable from outside, by a constant."""
    init = node.init if isinstance(node, c_ast.For) else None
    if not isinstance(init, c_ast.Assignment) or init.op != "=" or not isinstance(init.lvalue, c_ast.ID):
        return None
    name, step = str(init.lvalue.name), node.next
    one: c_ast.Node = c_ast.Constant("int", "1", node.coord)
    if isinstance(step, c_ast.UnaryOp) and step.op in STEPS and getattr(step.expr, "name", "") == name:
        return _Counter(name, init.rvalue, c_ast.BinaryOp(step.op.strip("p")[0], step.expr, one, node.coord))
    mine = isinstance(step, c_ast.Assignment) and step.op in ("+=", "-=") and getattr(step.lvalue, "name", "") == name
    if not mine or literal_int(step.rvalue, {}) is None:
        return None
    return _Counter(name, init.rvalue, c_ast.BinaryOp(step.op[0], step.lvalue, step.rvalue, node.coord))


def search_in(node: c_ast.Compound) -> bool:
    """Is it such a loop behind what belongs to it, as `with_searches` makes them?"""
    items = items_of(node)
    ahead = items[:-1]
    return bool(ahead) and all(_is_put(x) for x in ahead) and is_search(items[-1])


def _is_put(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.Decl) or (isinstance(node, c_ast.Assignment) and isinstance(node.lvalue, c_ast.ID))
