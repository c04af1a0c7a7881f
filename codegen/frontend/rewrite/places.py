"""One spelling for each place in memory: `(*s).p[i]` and `(&*s)->p[i]` are `s->p[i]`, `(*pp)[i]` is `pp[0][i]`, `**pp`
is `pp[0][0]`, and `i[p]` is `p[i]`. Whoever compares places, or looks for the pointers on the way to one, sees one form
of them."""

from __future__ import annotations

from collections.abc import Mapping

from pycparser import c_ast

from codegen.frontend.expressions.address import shape_of
from codegen.frontend.expressions.affine import c_text
from codegen.frontend.syntax.declarators import DeclaredType, TypeTable
from codegen.frontend.syntax.lvalues import part_of
from codegen.frontend.syntax.symbols import RegionSite
from codegen.frontend.syntax.tree import mapped, nodes, with_statements
from codegen.record import record


def with_plain_places(site: RegionSite) -> RegionSite:
    """The region with its places in one spelling. Names have one meaning each."""
    own = (n for s in site.statements for n in nodes(s) if isinstance(n, c_ast.Decl) and n.name)
    shapes = {n: v.shape for n, v in site.variables.items()} | {str(d.name): site.types.shape(d.type) for d in own}
    spelling = _Spelling(shapes, site.types)
    made = _alike([spelling.of(s) for s in site.statements])
    same = all(a is b for a, b in zip(made, site.statements, strict=True))
    return site if same else with_statements(site, made)


def _alike(items: list[c_ast.Node]) -> list[c_ast.Node]:
    """With `s[0].p[i]` in place of `s->p[i]` where there are others of its kind, such as `s[1].p[i]`."""
    found = [way for x in items for n in nodes(x) if (way := _way(n)) is not None]
    both = {w.key for w in found if w.arrow} & {w.key for w in found if not w.arrow}

    def change(node: c_ast.Node) -> c_ast.Node:
        made = mapped(node, change)
        way = _way(node)
        return _with_subscript(made) if way is not None and way.arrow and way.key in both else made

    return [change(x) for x in items] if both else items


@record
class _Way:
    """How an element behind a pointer in a struct is found: the text of what leads to the struct, and the members."""

    key: tuple[str, ...]
    arrow: bool


def _way(node: c_ast.Node) -> _Way | None:
    members: list[str] = []
    at = node.name if isinstance(node, c_ast.ArrayRef) else None
    while isinstance(at, c_ast.StructRef):
        members.insert(0, str(at.field.name))
        if at.type == "->":
            return _Way((c_text(at.name), *members), True)
        at = at.name
    return _Way((c_text(at.name), *members), False) if members and isinstance(at, c_ast.ArrayRef) else None


def _with_subscript(node: c_ast.Node) -> c_ast.Node:
    """The same with `s[0].` in place of `s->` ahead of its last subscript."""
    if isinstance(node, c_ast.StructRef) and node.type == "->":
        return c_ast.StructRef(_first(node.name, node), ".", node.field, node.coord)
    return mapped(node, lambda child: _with_subscript(child) if child is node.name else child)


@record
class _Spelling:
    """What names mean in the region."""

    shapes: Mapping[str, DeclaredType]
    types: TypeTable

    def of(self, node: c_ast.Node) -> c_ast.Node:
        """A part of the tree in which places have their usual spelling; the same object where nothing changes."""
        if isinstance(node, c_ast.UnaryOp) and node.op == "sizeof":
            return node
        if isinstance(node, c_ast.StructRef):
            return self._member(node)
        if isinstance(node, c_ast.ArrayRef):
            return self._element(node)
        if isinstance(node, c_ast.UnaryOp) and node.op == "*":
            return self._target(node)
        if isinstance(node, c_ast.UnaryOp) and node.op == "&":
            inner = self.of(node.expr)
            if isinstance(inner, c_ast.UnaryOp) and inner.op == "*":  # &*p
                return inner.expr
            return node if inner is node.expr else c_ast.UnaryOp("&", inner, node.coord)
        return mapped(node, self.of)

    def _member(self, node: c_ast.StructRef) -> c_ast.Node:
        if node.type == ".":
            of, target = self.of(node.name), _dereferenced(node.name)
            if target is not None and self._leads(of_pointer := self.of(target)):
                return c_ast.StructRef(of_pointer, "->", node.field, node.coord)
        else:
            of = self.base(node.name)
            if isinstance(of, c_ast.UnaryOp) and of.op == "&":  # (&s)->x
                return c_ast.StructRef(of.expr, ".", node.field, node.coord)
        return node if of is node.name else c_ast.StructRef(of, node.type, node.field, node.coord)

    def _element(self, node: c_ast.ArrayRef) -> c_ast.Node:
        name, subscript = self.base(node.name), self.of(node.subscript)
        if not self._leads(name) and self._leads(subscript):  # 2[p]
            name, subscript = self.base(node.subscript), self.of(node.name)
        elif name is node.name and subscript is node.subscript:
            return node
        return c_ast.ArrayRef(name, subscript, node.coord)

    def _target(self, node: c_ast.UnaryOp) -> c_ast.Node:
        """`*p` of a variable stays as it is."""
        inner = self.base(node.expr)
        if isinstance(inner, c_ast.UnaryOp) and inner.op == "&":  # *&x
            return inner.expr
        if part_of(inner) is not None and self._leads(inner):
            return _first(inner, node)
        return node if inner is node.expr else c_ast.UnaryOp("*", inner, node.coord)

    def base(self, node: c_ast.Node) -> c_ast.Node:
        """What more subscripts, members or `*` follow: `*p` of a variable is its first element there."""
        made = self.of(node)
        target = _dereferenced(made)
        return _first(target, made) if target is not None and self._leads(target) else made

    def _leads(self, node: c_ast.Node) -> bool:
        """Whether it is a pointer or an array, with a place of its own."""
        place = isinstance(node, c_ast.ID) or part_of(node) is not None
        shape = shape_of(node, self.shapes, self.types) if place else None
        return shape is not None and bool(shape.declarators)


def _dereferenced(node: c_ast.Node) -> c_ast.Node | None:
    return node.expr if isinstance(node, c_ast.UnaryOp) and node.op == "*" else None


def _first(pointer: c_ast.Node, node: c_ast.Node) -> c_ast.ArrayRef:
    return c_ast.ArrayRef(pointer, c_ast.Constant("int", "0", node.coord), node.coord)
