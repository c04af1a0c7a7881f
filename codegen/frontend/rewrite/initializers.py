"""Initializer lists and compound literals as single assignments: `double t[2] = {a, b};`, `complex z = {x, y};` and
`z = (complex){x, y};`; members of literals as the values they are set to.

All values of a compound literal are computed before the first member is set, since they may be made of members.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

from pycparser import c_ast

from codegen.frontend.rewrite.bodies import named
from codegen.frontend.syntax.declarators import TypeTable, literal_int
from codegen.frontend.syntax.symbols import RegionSite
from codegen.frontend.syntax.tree import STEPS, Fresh, as_block, fresh_names, items_of, mapped, nodes, with_statements

MOST = 64  # values of a list


def with_plain_initializers(site: RegionSite) -> RegionSite:
    """The region without lists of values, where they are flat."""
    lists = (c_ast.InitList, c_ast.CompoundLiteral)
    if not any(isinstance(n, lists) for s in site.statements for n in nodes(s)):
        return site
    made = _Lists(site.types, fresh_names(site)).block([_without_members(s, site.types) for s in site.statements])
    same = len(made) == len(site.statements) and all(a is b for a, b in zip(made, site.statements, strict=True))
    return site if same else with_statements(site, made)


def _without_members(node: c_ast.Node, types: TypeTable) -> c_ast.Node:
    """With what a member of a compound literal is set to in place of the member: `((complex){x, y}).im` is `(double)y`,
    as long as no value of the list does more than be computed."""
    made = mapped(node, lambda child: _without_members(child, types))
    given = made.name if isinstance(made, c_ast.StructRef) and made.type == "." else None
    if not isinstance(given, c_ast.CompoundLiteral):
        return made
    shape, values = types.shape(given.type), list(given.init.exprs or ())
    members = _members(shape.struct, types) if isinstance(shape.struct, c_ast.Struct) else None
    plain = not any(
        isinstance(n, (c_ast.Assignment, c_ast.FuncCall, c_ast.InitList, c_ast.NamedInitializer))
        or (isinstance(n, c_ast.UnaryOp) and n.op in STEPS)
        for v in values
        for n in nodes(v)
    )
    if not plain or shape.declarators or shape.special or members is None or len(values) > len(members):
        return made
    at = next((k for k, m in enumerate(members) if m.name == made.field.name), None)
    if at is None:
        return made
    kind = copy.deepcopy(members[at].type)
    kind.declname, kind.quals = None, []
    value = values[at] if at < len(values) else c_ast.Constant("int", "0")
    return c_ast.Cast(c_ast.Typename(None, [], None, kind), value, made.coord)


class _Lists:
    def __init__(self, types: TypeTable, fresh: Fresh) -> None:
        self.types = types
        self.fresh = fresh

    def block(self, items: Sequence[c_ast.Node]) -> list[c_ast.Node]:
        return [made for item in items for made in self._statement(item)]

    def _statement(self, node: c_ast.Node) -> list[c_ast.Node]:
        if isinstance(node, c_ast.Decl):
            return self._declared(node)
        if isinstance(node, c_ast.Assignment):
            return self._assigned(node)
        if isinstance(node, c_ast.Compound):
            old = items_of(node)
            made = self.block(old)
            same = len(made) == len(old) and all(a is b for a, b in zip(made, old, strict=True))
            return [node if same else c_ast.Compound(made, node.coord)]
        if not isinstance(node, (c_ast.For, c_ast.If, c_ast.While, c_ast.DoWhile, c_ast.Switch)):
            return [node]
        heads = [x for slot in ("init", "cond", "next", "expr") if (x := getattr(node, slot, None)) is not None]
        return [mapped(node, lambda x: x if any(x is h for h in heads) else as_block(self._statement(x), x))]

    def _declared(self, node: c_ast.Decl) -> list[c_ast.Node]:
        """A variable, and its parts set one by one."""
        init = node.init.init if isinstance(node.init, c_ast.CompoundLiteral) else node.init
        if not isinstance(init, c_ast.InitList) or node.storage:
            return [node]
        own = c_ast.ID(node.name, node.coord)
        parts = self._parts(own, node.type, init)
        if parts is None:
            return [node]
        return [_without_init(node, len(parts)), *(c_ast.Assignment("=", p, v, node.coord) for p, v, _ in parts)]

    def _assigned(self, node: c_ast.Assignment) -> list[c_ast.Node]:
        """The values of a compound literal, and then the members set to them."""
        given = node.rvalue
        changes = any(isinstance(n, c_ast.UnaryOp) and n.op in STEPS for n in nodes(node))
        if not isinstance(given, c_ast.CompoundLiteral) or node.op != "=" or changes:
            return [node]
        parts = self._parts(node.lvalue, given.type, given.init)
        if parts is None or any(member is None for _, _, member in parts):
            return [node]
        values = [(p, named(m, self.fresh.name(str(m.name)), v)) for p, v, m in parts if m is not None]
        stores = (c_ast.Assignment("=", p, c_ast.ID(d.name, node.coord), node.coord) for p, d in values)
        return [c_ast.Compound([*(d for _, d in values), *stores], node.coord)]

    def _parts(
        self, whole: c_ast.Node, kind: c_ast.Node, init: c_ast.InitList
    ) -> list[tuple[c_ast.Node, c_ast.Node, c_ast.Decl | None]] | None:
        """The parts of a variable, what each is set to, and the member it is; None where that is not plain."""
        shape = self.types.shape(kind)
        given = list(init.exprs or ())
        if shape.special or any(isinstance(x, (c_ast.InitList, c_ast.NamedInitializer)) for x in given):
            return None
        if shape.declarators and shape.struct is None and shape.elem.kind in ("int", "float"):
            if len(shape.declarators) != 1 or shape.declarators[0].kind != "array":
                return None
            dim = shape.declarators[0].dim
            size = len(given) if dim is None else literal_int(dim, {})
            if size is None or not len(given) <= size <= MOST:
                return None
            return [(c_ast.ArrayRef(whole, _number(k, whole), whole.coord), v, None) for k, v in _filled(given, size)]
        members = _members(shape.struct, self.types) if isinstance(shape.struct, c_ast.Struct) else None
        if shape.declarators or members is None or len(given) > len(members):
            return None
        return [
            (c_ast.StructRef(whole, ".", c_ast.ID(members[k].name), whole.coord), v, members[k])
            for k, v in _filled(given, len(members))
        ]


def _filled(values: Sequence[c_ast.Node], size: int) -> list[tuple[int, c_ast.Node]]:
    """With zero for what is not given."""
    return list(enumerate([*values, *(c_ast.Constant("int", "0") for _ in range(size - len(values)))]))


def _number(k: int, at: c_ast.Node) -> c_ast.Constant:
    return c_ast.Constant("int", str(k), at.coord)


def _members(struct: c_ast.Struct, types: TypeTable) -> list[c_ast.Decl] | None:
    """The members, if all are numbers."""
    decls = list(struct.decls or ())
    for d in decls:
        shape = types.shape(d.type) if isinstance(d, c_ast.Decl) and d.name and d.bitsize is None else None
        if shape is None or shape.declarators or shape.struct is not None or shape.elem.kind not in ("int", "float"):
            return None
    return decls or None


def _without_init(node: c_ast.Decl, size: int) -> c_ast.Decl:
    """The declaration of a variable that is set later, and so is not constant."""
    made = copy.copy(node)
    made.init, made.quals, made.type = None, [], copy.copy(node.type)
    inner = made.type
    if isinstance(inner, c_ast.ArrayDecl):
        inner.dim = inner.dim if inner.dim is not None else _number(size, node)
        inner.type = copy.copy(inner.type)
        inner = inner.type
    inner.quals = [q for q in inner.quals if q != "const"]
    return made


__all__ = ["with_plain_initializers"]
