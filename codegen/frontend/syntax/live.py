"""Liveness in the function around a region: which variables it mentions, and which may still be read afterwards.

For those, the usual analysis of live variables goes backwards over the statements of the function. A variable that is
set again on every way from the region to a use of it is not live, whatever else the function does with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import field
from functools import lru_cache

from pycparser import c_ast

from codegen.record import mutable, record

Names = frozenset[str]
_NONE: Names = frozenset()


@lru_cache(maxsize=8)
def live_behind(function: c_ast.FuncDef, last: frozenset[int]) -> Names | None:
    """The variables that are live behind the statement with one of these identities; None if there is no such one. For
    globals and what has its address taken that says nothing."""
    return _walked(function, last).found


def live_before(node: c_ast.Node) -> Names:
    """The variables that a statement without labels may look at before it has set them."""
    return _Liveness(frozenset(), _NONE).before(node, _Ways(_NONE, _NONE, _NONE))


@lru_cache(maxsize=2)
def live_before_branches(function: c_ast.FuncDef) -> Mapping[int, Names]:
    """The variables that are live before each `if` of a function, by the identity of the `if`."""
    return _walked(function, frozenset()).entering


def _walked(function: c_ast.FuncDef, last: frozenset[int]) -> _Liveness:
    twice = Counter(str(n.name) for n in _nodes(function) if isinstance(n, c_ast.Decl) and n.name)
    walk = _Liveness(last, frozenset(n for n, count in twice.items() if count > 1))
    known: dict[str, Names] | None = None
    while walk.labels != known:
        known = dict(walk.labels)
        walk.before(function.body, _Ways(_NONE, _NONE, _NONE))
    return walk


def _nodes(node: c_ast.Node) -> Iterable[c_ast.Node]:
    yield node
    for child in node:
        yield from _nodes(child)


@record
class _Ways:
    """What is live where a statement may lead: behind it, and behind or at the next round of the loop around it."""

    next: Names
    out: Names
    again: Names

    def then(self, live: Names) -> _Ways:
        return _Ways(live, self.out, self.again)


@mutable
class _Liveness:
    last: frozenset[int]
    several: Names  # declared more than once: no assignment is known to set the one that is meant
    found: Names | None = None
    labels: dict[str, Names] = field(default_factory=dict)  # what is live where a `goto` leads
    entering: dict[int, Names] = field(default_factory=dict)  # what is live before an `if`

    def before(self, node: c_ast.Node | None, ways: _Ways) -> Names:
        """What is live before a statement."""
        if node is None:
            return ways.next
        if id(node) in self.last:
            self.found = ways.next | (self.found or _NONE)
        if isinstance(node, (c_ast.Compound, c_ast.DeclList, c_ast.ExprList)):
            return self._all(list(node), ways)
        if isinstance(node, c_ast.If):
            branches = self.before(node.iftrue, ways) | self.before(node.iffalse, ways)
            self.entering[id(node)] = self.entering.get(id(node), _NONE) | _reads(node.cond) | branches
            return _reads(node.cond) | branches
        if isinstance(node, c_ast.For):
            return self._for(node, ways.next)
        if isinstance(node, c_ast.While):
            return self._again(lambda top: _reads(node.cond) | ways.next | self._body(node.stmt, top, ways.next, top))
        if isinstance(node, c_ast.DoWhile):
            return self._again(lambda top: self._do(node, top, ways.next))
        if isinstance(node, c_ast.Switch):  # cases are entered anywhere: nothing in it is sure to be set
            self._body(node.stmt, ways.next, ways.next, ways.again)
            return _reads(node) | ways.next | (ways.again if _continues(node) else _NONE)
        if isinstance(node, (c_ast.Case, c_ast.Default)):
            return self._all(list(node.stmts or ()), ways) | _reads(getattr(node, "expr", None))
        if isinstance(node, c_ast.Goto):
            return self.labels.get(str(node.name), _NONE)
        if isinstance(node, c_ast.Label):
            live = self.before(node.stmt, ways)
            self.labels[str(node.name)] = self.labels.get(str(node.name), _NONE) | live
            return live
        if isinstance(node, c_ast.Return):
            return _reads(node.expr)
        if isinstance(node, c_ast.Break):
            return ways.out
        if isinstance(node, c_ast.Continue):
            return ways.again
        return self._simple(node, ways.next)

    def _all(self, items: list[c_ast.Node], ways: _Ways) -> Names:
        live = ways.next
        for item in reversed(items):
            live = self.before(item, ways.then(live))
        return live

    def _for(self, node: c_ast.For, after: Names) -> Names:
        def round(top: Names) -> Names:
            step = self.before(node.next, _Ways(top, _NONE, _NONE))
            inside = self._body(node.stmt, step, after, step)
            return _reads(node.cond) | inside | (after if node.cond is not None else _NONE)

        return self.before(node.init, _Ways(self._again(round), _NONE, _NONE))

    def _do(self, node: c_ast.DoWhile, top: Names, after: Names) -> Names:
        end = _reads(node.cond) | after | top
        return self._body(node.stmt, end, after, end)

    def _body(self, node: c_ast.Node, next: Names, out: Names, again: Names) -> Names:
        return self.before(node, _Ways(next, out, again))

    def _again(self, round: Callable[[Names], Names]) -> Names:
        """What is live at the top of a loop: more with every round, until that changes nothing."""
        live = round(_NONE)
        while (more := round(live) | live) != live:
            live = more
        return live

    def _simple(self, node: c_ast.Node, live: Names) -> Names:
        """An expression or declaration."""
        if isinstance(node, c_ast.Decl) and node.name and not isinstance(node.type, c_ast.FuncDecl):
            return (live - self._set(str(node.name))) | _reads(node.type) | _reads(node.init)
        if isinstance(node, c_ast.Assignment) and node.op == "=" and isinstance(node.lvalue, c_ast.ID):
            return self._simple(node.rvalue, live - self._set(str(node.lvalue.name)))
        return live | _reads(node)

    def _set(self, name: str) -> Names:
        return _NONE if name in self.several else frozenset({name})


def _reads(node: c_ast.Node | None) -> Names:
    """The variables that an expression or statement may look at; those that it sets as a whole are none of them."""
    if node is None:
        return _NONE
    if isinstance(node, c_ast.ID):
        return frozenset({str(node.name)})
    if isinstance(node, c_ast.Assignment) and node.op == "=" and isinstance(node.lvalue, c_ast.ID):
        return _reads(node.rvalue)
    inner = [node.name] if isinstance(node, c_ast.StructRef) else list(node)
    return _NONE.union(*(_reads(child) for child in inner))


def _continues(node: c_ast.Node) -> bool:
    """Is there a `continue` of the loop around in it?"""
    if isinstance(node, (c_ast.For, c_ast.While, c_ast.DoWhile)):
        return False
    return isinstance(node, c_ast.Continue) or any(_continues(child) for child in node)


def mentions(node: c_ast.Node, name: str, skip: Collection[int] = ()) -> bool:
    """Does a statement look at a variable, other than after setting it in a `for`?"""
    if id(node) in skip:
        return False
    if isinstance(node, c_ast.ID):
        return bool(node.name == name)
    if isinstance(node, c_ast.For) and _sets(node.init, name):
        return False
    return any(mentions(child, name, skip) for child in node)


def _sets(init: c_ast.Node | None, name: str) -> bool:
    """Does the start of a `for` set it, and to something that it is no part of?"""
    for p in list(init or ()) if isinstance(init, (c_ast.ExprList, c_ast.DeclList)) else [init]:
        own, value = isinstance(p, c_ast.Decl) and p.name == name, p.init if isinstance(p, c_ast.Decl) else p
        if isinstance(p, c_ast.Assignment) and p.op == "=" and getattr(p.lvalue, "name", "") == name:
            own, value = True, p.rvalue
        if value is not None and mentions(value, name):
            return False
        if own:
            return True
    return False


def addressed(node: c_ast.Node) -> frozenset[str]:
    """Variables of which, or of a part of which, the address is taken."""
    own = frozenset({base_of(node.expr)}) if isinstance(node, c_ast.UnaryOp) and node.op == "&" else frozenset[str]()
    return own.union(*(addressed(child) for child in node))


def base_of(node: c_ast.Node) -> str:
    """The variable of which an expression is a part."""
    while isinstance(node, (c_ast.ArrayRef, c_ast.StructRef)):
        node = node.name
    return str(getattr(node, "name", ""))
