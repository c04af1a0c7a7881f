"""Pointers that were assigned from another array before the region (`q = p + n`), rewritten as subscripts of that
array. Also tells other passes what an integer holds before the region (`value_before`), and which statements run on
every way to it (`before_region`).

After `float *next = a + 1;` the region's `next[i]` is `a[i + 1]`: one array, and exact dependences. That needs the one
assignment whose value reaches the region, and an offset made of values that have not changed since.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pycparser import c_ast

from codegen.frontend.expressions.affine import c_text
from codegen.frontend.parameters.prescan import prescan
from codegen.frontend.syntax.declarators import DeclaredType
from codegen.frontend.syntax.origins import ALLOCATORS, declared_in, origins_of
from codegen.frontend.syntax.symbols import Derived, RegionSite
from codegen.frontend.syntax.tree import mapped, nodes
from codegen.record import mutable, record

_STEPS = ("++", "--", "p++", "p--")
_LONG = c_ast.Typename(None, [], None, c_ast.TypeDecl(None, [], None, c_ast.IdentifierType(["long"])))


_Items = tuple[list[c_ast.Node], int, int]
_Offsets = tuple[tuple[int, c_ast.Node], ...]  # signs and values


@record
class _At:
    """Before item `index` of a block around the region, counted from the outermost."""

    level: int
    index: int


@record
class _Known:
    """A pointer as an array of the function and what was added to it."""

    root: str
    offsets: _Offsets = ()


def with_derived(site: RegionSite) -> RegionSite:
    """The region with pointers that share an array replaced by it, where that is exact; and what is known of others."""
    site = replace(site, origins=origins_of(site))
    scan = prescan(site)
    names = sorted(n for n in scan.mentioned if n in site.variables and site.variables[n].shape.declarators)
    tracer = _tracer(site) if len(names) > 1 else None
    if tracer is None:
        return site
    start = _At(len(tracer.blocks) - 1, tracer.blocks[-1][1])
    known = {n: tracer.known(n, start) or _Known(n) for n in names}
    groups: dict[str, list[str]] = {}
    for n in names:
        groups.setdefault(known[n].root, []).append(n)
    derived: dict[str, _Known] = {}
    for root, members in sorted(groups.items()):
        if len(members) > 1 and any(n in scan.written for n in members):
            derived |= {n: known[n] for n in members if n != root and _subscripted(site.statements, n)}
    if not derived:
        return site
    statements = tuple(_rewritten(s, derived) for s in site.statements)
    told = tuple(Derived(n, k.root, c_text(_element(k, None, None))) for n, k in sorted(derived.items()))
    return replace(site, statements=statements, original=(*site.original, *site.statements), derived=told)


def value_before(site: RegionSite, name: str) -> c_ast.Node | None:
    """The integer that a variable holds before the region, in terms that nothing changes until the end of that."""
    tracer = _tracer(site)
    if tracer is None or not tracer.steady(name):
        return None
    found = tracer.definition(name, _At(len(tracer.blocks) - 1, tracer.blocks[-1][1]))
    if found is None or found[1][0] or not tracer.number(found[1][1]):
        return None
    where, (_, value) = found
    return value if tracer.unchanged(where, set(_names(value))) else None


@record
class Before:
    """The statements that run on every way to a region, and what lies between them and its end."""

    site: RegionSite
    tracer: _Tracer

    def items(self) -> Iterator[tuple[_At, c_ast.Node]]:
        """From the region backwards."""
        for level in range(len(self.tracer.blocks) - 1, -1, -1):
            items, first, _ = self.tracer.blocks[level]
            yield from ((_At(level, k), items[k]) for k in range(first - 1, -1, -1))

    def between(self, at: _At) -> Iterator[c_ast.Node]:
        """What may run after a statement and before the end of the region, but for the region itself."""
        items, first, after = self.tracer.blocks[at.level]
        yield from items[at.index + 1 : first]
        if at.level + 1 < len(self.tracer.blocks):
            yield from (_without(x, self.site.statements) for x in items[first:after])

    def steady(self, name: str) -> bool:
        """Does only this function change the variable, and by its name?"""
        return self.tracer.steady(name)

    def own(self, name: str) -> bool:
        """Does it stand for memory that no other name leads to, of this function or of those it calls?"""
        var, o = self.site.variables[name], self.site.origins
        array = var.place == "local" and not var.static and var.shape.declarators[0].kind == "array"
        calls = (n for n in nodes(self.site.function.body) if isinstance(n, c_ast.FuncCall) and n.args is not None)
        given = any(name in _names(n.args) for n in calls if getattr(n.name, "name", "") not in (*ALLOCATORS, "free"))
        return not given and ((array and name not in o.exposed and (name,) not in o.family) or name in o.fresh)

    def number(self, name: str) -> bool:
        """Is it an integer that only this function changes, by its name?"""
        return self.tracer.number(c_ast.ID(name))

    def fixed(self, at: _At, value: c_ast.Node) -> bool:
        """Is it an integer that has the same value from a statement on until the end of the region?"""
        return self.tracer.number(value) and self.tracer.unchanged(at, set(_names(value)))


def before_region(site: RegionSite) -> Before | None:
    """None where jumps may lead to the region past a statement."""
    tracer = _tracer(site)
    return None if tracer is None else Before(site, tracer)


def _without(node: c_ast.Node, region: Sequence[c_ast.Node]) -> c_ast.Node:
    """A statement without the region in it."""
    if any(node is s for s in region):
        return c_ast.EmptyStatement(node.coord)
    return mapped(node, lambda child: _without(child, region))


# -- which value reaches the region --------------------------------------------------------------------


@mutable
class _Tracer:
    """`blocks` are those around the region, outermost first: their items, and which of them (from, to) hold it."""

    site: RegionSite
    blocks: list[_Items]
    single: frozenset[str]  # names that mean one thing in the whole function

    def known(self, name: str, at: _At) -> _Known | None:
        """What a pointer is before a point; None when it is not known to be another one with an offset."""
        if not self.steady(name):
            return None
        found = self.definition(name, at)
        if found is None:
            return None
        where, (sign, value) = found
        if sign:  # p += value
            parts: tuple[str, _Offsets] | None = (name, ((sign, value),))
        else:
            parts = self._parts(value, self.site.variables[name].shape)
        if parts is None or not self.unchanged(where, {n for _, v in parts[1] for n in _names(v)}):
            return None
        base, offsets = parts
        before = self.known(base, where) if base in self.single else None
        if before is not None and self._alike(name, before.root):
            return _Known(before.root, (*before.offsets, *offsets))
        fits = base != name and self.steady(base) and self._alike(name, base) and self.unchanged(where, {base})
        return _Known(base, offsets) if fits else None

    def steady(self, name: str) -> bool:
        """Does only this function change it, and by its name?"""
        var = self.site.variables.get(name)
        o = self.site.origins
        if var is None or name not in self.single or name in o.exposed or name in self.site.hidden:
            return False
        array = bool(var.shape.declarators) and var.shape.declarators[0].kind == "array"
        return (array if var.place == "global" else not var.static or array) and not var.shape.special

    def definition(self, name: str, at: _At) -> tuple[_At, tuple[int, c_ast.Node]] | None:
        """The last assignment on every way to a point, and its value, with a sign if that is added."""
        end = at.index
        for level in range(at.level, -1, -1):
            items, first, after = self.blocks[level]
            end = end if level == at.level else first
            if level < at.level and any(_assigns(x, {name}) for x in items[first:after]):
                return None
            for k in range(end - 1, -1, -1):
                value = _value(items[k], name)
                if value is not None:
                    return _At(level, k), value
                if _assigns(items[k], {name}):
                    return None
        return None

    def unchanged(self, since: _At, names: set[str]) -> bool:
        """Is none of these set between a point and the end of the region?"""
        items, _, after = self.blocks[since.level]
        return not any(_assigns(x, names) for x in items[since.index + 1 : after])

    def _parts(self, node: c_ast.Node, shape: DeclaredType) -> tuple[str, _Offsets] | None:
        """A pointer expression as a variable and what is added to it, all in elements of one type."""
        if isinstance(node, c_ast.ID):
            return (node.name, ())
        if isinstance(node, c_ast.Cast):
            same = _pointee(self.site.types.shape(node.to_type)) == _pointee(shape)
            return self._parts(node.expr, shape) if same else None
        if isinstance(node, c_ast.UnaryOp) and node.op == "&" and isinstance(node.expr, c_ast.ArrayRef):
            return self._moved(node.expr.name, node.expr.subscript, 1, shape)
        if isinstance(node, c_ast.BinaryOp) and node.op in ("+", "-"):
            left, right = node.left, node.right
            if node.op == "+" and self.number(left):
                left, right = right, left
            return self._moved(left, right, 1 if node.op == "+" else -1, shape)
        return None

    def _moved(self, base: c_ast.Node, by: c_ast.Node, sign: int, shape: DeclaredType) -> tuple[str, _Offsets] | None:
        inner = self._parts(base, shape) if self.number(by) else None
        if inner is None or inner[0] not in self.site.variables:
            return None
        same = _pointee(self.site.variables[inner[0]].shape) == _pointee(shape)
        return (inner[0], (*inner[1], (sign, by))) if same else None

    def number(self, node: c_ast.Node) -> bool:
        """Is it an integer made of literals and of variables that only this function changes?"""
        if isinstance(node, c_ast.ID):
            var = self.site.variables.get(node.name)
            if var is None:
                return node.name in self.site.enums
            number = not var.shape.declarators and var.shape.elem.is_int
            return var.place != "global" and self.steady(node.name) and number
        if isinstance(node, c_ast.Constant):
            return "int" in node.type or "long" in node.type
        if isinstance(node, c_ast.Cast):
            shape = self.site.types.shape(node.to_type)
            return not shape.declarators and shape.elem.is_int and self.number(node.expr)
        simple = isinstance(node, c_ast.BinaryOp) or (isinstance(node, c_ast.UnaryOp) and node.op in ("+", "-"))
        return simple and all(self.number(child) for child in node)

    def _alike(self, one: str, two: str) -> bool:
        """May elements of one be written as elements of the other?"""
        a, b = self.site.variables.get(one), self.site.variables.get(two)
        if a is None or b is None or not a.shape.declarators or not b.shape.declarators:
            return False
        return _pointee(a.shape) == _pointee(b.shape) and (a.const or not b.const)


def _tracer(site: RegionSite) -> _Tracer | None:
    """None where jumps may lead to the region past an assignment."""
    counts = Counter(n for n, _ in declared_in(site.function))
    single = frozenset(n for n, v in site.variables.items() if counts[n] == (v.place != "global"))
    found = _blocks(site.function.body, site.statements)
    if not site.statements or found is None or _jumps(site.function.body):
        return None
    return _Tracer(site, found, single)


def _blocks(node: c_ast.Node, statements: Sequence[c_ast.Node]) -> list[_Items] | None:
    """The blocks around the region."""
    items = list(node.block_items or ()) if isinstance(node, c_ast.Compound) else []
    for k, item in enumerate(items):
        if item is statements[0]:
            return [(items, k, k + len(statements))]
    for k, child in enumerate(items or node):
        inner = _blocks(child, statements)
        if inner is not None:
            return [(items, k, k + 1), *inner] if items else inner
    return None


def _jumps(node: c_ast.Node) -> bool:
    """Switches, too, lead into the middle of a block."""
    return isinstance(node, (c_ast.Label, c_ast.Goto, c_ast.Case, c_ast.Default)) or any(_jumps(x) for x in node)


def _value(item: c_ast.Node, name: str) -> tuple[int, c_ast.Node] | None:
    """The value that a statement gives a variable, with a sign if it is added; None if it is no such statement."""
    if isinstance(item, c_ast.Decl):
        return (0, item.init) if item.name == name and item.init is not None else None
    if isinstance(item, c_ast.Assignment) and getattr(item.lvalue, "name", "") == name:
        plain = isinstance(item.lvalue, c_ast.ID) and not _assigns(item.rvalue, {name})
        sign = {"=": 0, "+=": 1, "-=": -1}.get(item.op)
        return (sign, item.rvalue) if plain and sign is not None else None
    if isinstance(item, c_ast.UnaryOp) and item.op in _STEPS and getattr(item.expr, "name", "") == name:
        return (1 if "+" in item.op else -1, c_ast.Constant("int", "1")) if isinstance(item.expr, c_ast.ID) else None
    return None


def _assigns(node: c_ast.Node, names: set[str]) -> bool:
    """Is one of these set or declared anew somewhere in it?"""
    target: c_ast.Node | None = None
    if isinstance(node, c_ast.Assignment):
        target = node.lvalue
    elif isinstance(node, c_ast.UnaryOp) and node.op in _STEPS:
        target = node.expr
    elif isinstance(node, c_ast.Decl):
        target = c_ast.ID(node.name or "")
    if isinstance(target, c_ast.ID) and target.name in names:
        return True
    return any(_assigns(child, names) for child in node)


def _pointee(shape: DeclaredType) -> tuple[object, ...]:
    """What one subscript leads to, for comparing."""
    dims = tuple((la.kind, "" if la.dim is None else c_text(la.dim)) for la in shape.declarators[1:])
    e = shape.elem
    number = e.kind in ("int", "float")
    return (dims, e.kind, e.bits, e.signed, id(shape.struct), "" if number else e.spelling, bool(shape.declarators))


def _names(node: c_ast.Node) -> Iterator[str]:
    if isinstance(node, c_ast.ID):
        yield node.name
    for child in node:
        yield from _names(child)


# -- the region in other words -------------------------------------------------------------------------


def _base(node: c_ast.Node) -> c_ast.Node | None:
    """What a subscript, a `*` or an `->` is applied to."""
    if isinstance(node, c_ast.ArrayRef) or (isinstance(node, c_ast.StructRef) and node.type == "->"):
        return node.name
    return node.expr if isinstance(node, c_ast.UnaryOp) and node.op == "*" else None


def _subscripted(nodes: Sequence[c_ast.Node], name: str) -> bool:
    """Is a pointer used for its elements alone?"""

    def uses(node: c_ast.Node) -> Iterator[int]:
        yield int(isinstance(node, c_ast.ID) and node.name == name)
        yield -int(isinstance(b := _base(node), c_ast.ID) and b.name == name)
        for child in node:
            yield from uses(child)

    return sum(x for n in nodes for x in uses(n)) == 0


def _rewritten(node: c_ast.Node, derived: dict[str, _Known]) -> c_ast.Node:
    """A copy with elements of the derived pointers as elements of the arrays they come from."""
    made = copy.copy(node)
    for slot in node.__slots__:
        value = getattr(node, slot, None)
        if isinstance(value, c_ast.Node):
            setattr(made, slot, _rewritten(value, derived))
        elif isinstance(value, list):
            setattr(made, slot, [_rewritten(x, derived) if isinstance(x, c_ast.Node) else x for x in value])
    base = _base(made)
    if not isinstance(base, c_ast.ID) or base.name not in derived:
        return made
    known = derived[base.name]
    subscript = made.subscript if isinstance(made, c_ast.ArrayRef) else None
    element = _element(known, subscript, made.coord)
    return c_ast.StructRef(element, ".", made.field, made.coord) if isinstance(made, c_ast.StructRef) else element


def _element(known: _Known, subscript: c_ast.Node | None, coord: object) -> c_ast.ArrayRef:
    return c_ast.ArrayRef(c_ast.ID(known.root, coord), _offset(known, subscript), coord)


def _offset(known: _Known, subscript: c_ast.Node | None) -> c_ast.Node:
    """The sum as pointers add it up: every part has its value, none wraps around."""
    if not known.offsets:
        return subscript or c_ast.Constant("int", "0")
    whole = None if subscript is None else c_ast.Cast(_LONG, subscript, subscript.coord)
    for sign, value in known.offsets:
        part = value if isinstance(value, c_ast.Constant) else c_ast.Cast(_LONG, value, value.coord)
        if whole is None:
            whole = part if sign > 0 else c_ast.UnaryOp("-", part, value.coord)
        else:
            whole = c_ast.BinaryOp("+" if sign > 0 else "-", whole, part, value.coord)
    return whole
