"""Finds accesses to volatile and atomic objects in C as it is written, before any rewriting: counters, bounds,
elements, members, locals, casts, whole structs and pointers to such. Each access counts: code with one stays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pycparser import c_ast

from codegen.diagnostics import Loc, Unsupported, gathered
from codegen.frontend.expressions.address import shape_of
from codegen.frontend.expressions.affine import c_text
from codegen.frontend.syntax.declarators import DeclaredType, TypeTable, parameters
from codegen.frontend.syntax.symbols import RegionSite, location
from codegen.frontend.syntax.tree import nodes
from codegen.record import record

_SCOPES = (c_ast.Compound, c_ast.For)
_TYPES = (c_ast.TypeDecl, c_ast.IdentifierType, c_ast.Struct, c_ast.Union, c_ast.Enum, c_ast.FuncDecl)
_DEPTH = 16  # of structs within structs


def check_volatile(site: RegionSite, pure: frozenset[str]) -> None:
    """Raise Unsupported, at its place, for each access of the region to a volatile or atomic object, and for each call
    of a function that has such accesses, unless it is said to be `pure`."""
    finder = _Finder(site.types)
    shapes = {n: v.shape for n, v in site.variables.items()}
    found = [_refused(n, site.loc) for n in finder.statements(site.statements, shapes)]
    calls = [n for s in site.statements for n in nodes(s) if isinstance(n, c_ast.FuncCall)]
    using = _Functions(site, finder, pure)
    found += [_refused_call(n, site.loc) for n in calls if using.uses(_called(n))]
    if found:
        raise gathered(found)


def _called(node: c_ast.FuncCall) -> str:
    """The name of the function, if the call names it."""
    return str(node.name.name) if isinstance(node.name, c_ast.ID) else ""


def _refused(node: c_ast.Node, loc: Loc) -> Unsupported:
    where = location(node, loc)
    if isinstance(node, c_ast.Decl):
        return Unsupported("volatile", f"`{node.name}` is volatile or atomic", where, "use a plain variable")
    text = f"`{c_text(node)}` is volatile or atomic: every access counts, in the order written"
    return Unsupported("volatile", text, where, "copy it to a plain variable before the region")


def _refused_call(node: c_ast.FuncCall, loc: Loc) -> Unsupported:
    text = f"`{_called(node)}` uses a volatile or atomic object: every access counts, in the order written"
    return Unsupported("volatile", text, location(node, loc), "call it before the region, and use the value")


@record
class _Finder:
    """The search, with the types of a file."""

    types: TypeTable

    def statements(self, items: Sequence[c_ast.Node], shapes: Mapping[str, DeclaredType]) -> Iterator[c_ast.Node]:
        """Declarations and expressions of volatile objects among statements, outermost ones alone."""
        known = dict(shapes)
        for item in items:
            yield from self._node(item, known, True)

    def _node(self, node: c_ast.Node, known: dict[str, DeclaredType], value: bool) -> Iterator[c_ast.Node]:
        """Those in a part of the tree, whose `value` is read or set unless only a part of it is. Declarations add to
        the names that are `known`."""
        if isinstance(node, _SCOPES):
            inner = dict(known)
            for child in node:
                yield from self._node(child, inner, True)
        elif isinstance(node, c_ast.Decl):
            yield from self._declaration(node, known)
        elif isinstance(node, c_ast.Typename):
            if self.types.shape(node).special:
                yield node
        elif isinstance(node, c_ast.UnaryOp) and node.op in ("sizeof", "_Alignof"):
            return
        elif not isinstance(node, _TYPES):
            if self._is_special(node, known, value):
                yield node
            else:
                yield from self._parts(node, known)

    def _declaration(self, node: c_ast.Decl, known: dict[str, DeclaredType]) -> Iterator[c_ast.Node]:
        shape = self.types.shape(node.type)
        if node.name:
            known[str(node.name)] = shape
        if shape.special or self._holds_special(shape):
            known.pop(str(node.name), None)  # what uses it is not said again
            yield node
            return
        for child in (*(la.dim for la in shape.declarators), node.init):
            if child is not None:
                yield from self._node(child, known, True)

    def _parts(self, node: c_ast.Node, known: dict[str, DeclaredType]) -> Iterator[c_ast.Node]:
        if isinstance(node, c_ast.StructRef):
            yield from self._node(node.name, known, node.type == "->")
            return
        if isinstance(node, c_ast.ID):
            for la in known[node.name].declarators if node.name in known else ():
                if la.dim is not None:
                    yield from self._node(la.dim, known, True)
            return
        for child in node:
            address = isinstance(node, c_ast.UnaryOp) and node.op == "&"
            part = address or (isinstance(node, c_ast.ArrayRef) and child is node.name)
            yield from self._node(child, known, not part)

    def _is_special(self, node: c_ast.Node, known: Mapping[str, DeclaredType], value: bool) -> bool:
        """Whether the object is volatile, leads to such a one, or is read or set with volatile members in it."""
        if not isinstance(node, (c_ast.ID, c_ast.StructRef, c_ast.ArrayRef, c_ast.UnaryOp)):
            return False
        shape = shape_of(node, known, self.types)
        return shape is not None and (shape.special or (value and self._holds_special(shape)))

    def _holds_special(self, shape: DeclaredType, depth: int = 0) -> bool:
        """Whether a struct has a volatile member, at any depth; what its pointers lead to is no part of it."""
        if shape.struct is None or depth > _DEPTH or any(la.kind == "pointer" for la in shape.declarators):
            return False
        members = (self.types.shape(d.type) for d in getattr(shape.struct, "decls", None) or () if hasattr(d, "type"))
        return any(m.special or self._holds_special(m, depth + 1) for m in members)


@record
class _Functions:
    """The functions of a file, and which of them use volatile objects."""

    site: RegionSite
    finder: _Finder
    pure: frozenset[str]
    seen: frozenset[str] = frozenset()

    def uses(self, name: str) -> bool:
        """Whether a function, or one that it calls, has a volatile parameter, or uses an object that is one."""
        function = self.site.functions.get(name)
        if function is None or name in self.pure or name in self.seen:
            return False
        shapes = {n: v.shape for n, v in self.site.variables.items() if v.place == "global"}
        items = [*parameters(function), *(function.body.block_items or ())]
        if next(self.finder.statements(items, shapes), None) is not None:
            return True
        inner = replace(self, seen=self.seen | {name})
        return any(inner.uses(_called(n)) for n in nodes(function.body) if isinstance(n, c_ast.FuncCall))
