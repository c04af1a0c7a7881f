"""First pass over a region: which names it writes, uses as loop counters, and uses as parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

from pycparser import c_ast

from codegen.frontend.expressions.affine import c_text
from codegen.frontend.parameters.reached import reached
from codegen.frontend.syntax.declarators import DeclaredType
from codegen.frontend.syntax.members import find_member
from codegen.frontend.syntax.symbols import RegionSite
from codegen.record import mutable, record
from codegen.scop.origins import Place
from codegen.scop.types import CType


@record
class Prescan:
    """`written`: outer variables assigned, other than as counters; `reassigned`: any name assigned outside
    declarations and loop headers; `params`: C text and type of integers in affine positions; `mentioned`:
    outer names in order of appearance; `counters`: outer variables that loops of the region count with."""

    written: frozenset[str]
    reassigned: frozenset[str]
    params: tuple[tuple[str, CType], ...]
    mentioned: tuple[str, ...]
    counters: frozenset[str] = frozenset()
    assigned: Mapping[str, frozenset[tuple[str, ...]]] = field(default_factory=dict)  # members that are, by variable
    behind: Mapping[str, frozenset[tuple[str, ...]]] = field(default_factory=dict)  # those of which only elements are

    def untouched(self, base: str, path: tuple[str, ...]) -> bool:
        """Does no assignment of the region reach the member of `base` at this path?"""
        return _apart_from(path, self.assigned.get(base, ()))

    def fixed(self, base: str, path: tuple[str, ...]) -> bool:
        """Does the pointer at this path keep its value? What it leads to may change."""
        others = self.assigned.get(base, frozenset()) - self.behind.get(base, frozenset())
        return _apart_from(path, others)


def _apart_from(path: tuple[str, ...], written: Iterable[tuple[str, ...]]) -> bool:
    return all(w[: len(path)] != path and path[: len(w)] != w for w in written)


@mutable
class _Scan:
    site: RegionSite
    scopes: list[set[str]] = field(default_factory=lambda: [set()])
    written: set[str] = field(default_factory=set)
    reassigned: set[str] = field(default_factory=set)
    counters: set[str] = field(default_factory=set)
    written_members: dict[str, set[tuple[str, ...]]] = field(default_factory=dict)
    whole_members: dict[str, set[tuple[str, ...]]] = field(default_factory=dict)  # other than elements of pointers
    affine_ids: dict[str, None] = field(default_factory=dict)
    affine_members: dict[str, CType] = field(default_factory=dict)
    mentioned: dict[str, None] = field(default_factory=dict)
    integers: set[str] = field(default_factory=set)  # declared in the region
    read: set[Place] = field(default_factory=set)  # outer variables, with the members on the way

    def inside(self, name: str) -> bool:
        return any(name in s for s in self.scopes)

    def visit(self, node: c_ast.Node | None, affine: bool = False) -> None:
        if node is None:
            return
        if isinstance(node, c_ast.Compound):
            self.scopes.append(set())
            for item in node.block_items or ():
                self.visit(item)
            self.scopes.pop()
        elif isinstance(node, c_ast.For):
            self.scopes.append(set())
            self._for(node)
            self.scopes.pop()
        elif isinstance(node, c_ast.Decl):
            self.visit(node.init, affine=True)
            self.scopes[-1].add(node.name)
            shape = self.site.types.shape(node.type)
            if not shape.declarators and shape.elem.is_int:
                self.integers.add(node.name)
        elif isinstance(node, c_ast.If):
            for part in atoms(node.cond):
                self.visit(part, affine=not _reads_data(part))
            for branch in (node.iftrue, node.iffalse):
                self.visit(branch)
        elif isinstance(node, c_ast.Switch):
            self.visit(node.cond, affine=not _reads_data(node.cond))
            self.visit(node.stmt)
        elif isinstance(node, c_ast.ArrayRef):
            self.visit(node.name, affine)
            self.visit(node.subscript, affine=True)
        elif isinstance(node, c_ast.Assignment):
            self._assigned(node.lvalue)
            self.visit(node.lvalue)
            self.visit(node.rvalue, affine or (self._integer(node.lvalue) and not _reads_data(node.rvalue)))
        elif isinstance(node, c_ast.UnaryOp) and node.op in ("++", "--", "p++", "p--"):
            self._assigned(node.expr)
            self.visit(node.expr)
        elif isinstance(node, c_ast.StructRef):
            self._member(node, affine)
        elif isinstance(node, c_ast.ID):
            self._id(node.name, affine)
        elif isinstance(node, c_ast.FuncCall):
            self.visit(node.args, affine)
        elif isinstance(node, c_ast.Cast):
            self.visit(node.expr, affine)
        else:
            for child in node:
                self.visit(child, affine)

    def _integer(self, node: c_ast.Node) -> bool:
        """Is it an integer variable, whose value may be a formula?"""
        if not isinstance(node, c_ast.ID):
            return False
        if self.inside(node.name):
            return node.name in self.integers
        var = self.site.variables.get(node.name)
        return var is not None and not var.shape.declarators and var.shape.elem.is_int

    def _for(self, node: c_ast.For) -> None:
        init = node.init
        if isinstance(init, c_ast.DeclList):
            for d in init.decls:
                self.visit(d.init, affine=True)
                self.scopes[-1].add(d.name)
        elif isinstance(init, c_ast.Assignment) and isinstance(init.lvalue, c_ast.ID):
            self.counters.add(init.lvalue.name)
            self.mentioned[init.lvalue.name] = None
            self.visit(init.rvalue, affine=True)
        else:
            self.visit(init, affine=True)
        early = counted_before(node)
        self.visit(node.cond if early is None else early, affine=True)
        if isinstance(node.next, c_ast.Assignment):
            self.visit(node.next.rvalue, affine=True)
        self.visit(node.stmt)

    def _assigned(self, node: c_ast.Node) -> None:
        whole = node
        while isinstance(node, (c_ast.ArrayRef, c_ast.StructRef)) or (
            isinstance(node, c_ast.UnaryOp) and node.op == "*"
        ):
            node = node.expr if isinstance(node, c_ast.UnaryOp) else node.name
        if isinstance(node, c_ast.ID):
            self.reassigned.add(node.name)
            if not self.inside(node.name):
                self.written.add(node.name)
                path = self._apart(node.name, members(whole))
                self.written_members.setdefault(node.name, set()).add(path)
                if isinstance(whole, c_ast.StructRef) or path != members(whole) or not path:
                    self.whole_members.setdefault(node.name, set()).add(path)

    def _apart(self, name: str, path: tuple[str, ...]) -> tuple[str, ...]:
        """The members on the way to a place, up to the first that shares its bytes with others."""
        var = self.site.variables.get(name)
        struct = None if var is None else var.shape.struct
        for k, step in enumerate(path):
            found = find_member(self.site.types, struct, step)
            if found is None or found.shared:
                return path[:k]
            struct = found.shape.struct
        return path

    def _member(self, node: c_ast.StructRef, affine: bool) -> None:
        base: c_ast.Node = node
        while isinstance(base, c_ast.StructRef):
            base = base.name
        if isinstance(base, c_ast.ID) and not self.inside(base.name) and base.name in self.site.variables:
            self.read.add((base.name, *members(node)))
        if affine and isinstance(base, c_ast.ID) and not self.inside(base.name):
            ctype = member_type(node, self.site)
            if ctype is not None and ctype.is_int:
                self.affine_members[c_text(node)] = ctype
        self.visit(node.name, False)

    def _id(self, name: str, affine: bool) -> None:
        if self.inside(name):
            return
        if name in self.site.before:
            self.mentioned[self.site.before[name]] = None
            return
        self.mentioned[name] = None
        var = self.site.variables.get(name)
        if var is not None:
            self.read.add((name,))
        plain = var is not None and not var.shape.declarators and not var.shape.special
        if affine and var is not None and plain and var.shape.elem.is_int:
            self.affine_ids[name] = None


def atoms(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """What `&&`, `||` and `!` join to the condition `node`."""
    if isinstance(node, c_ast.BinaryOp) and node.op in ("&&", "||"):
        yield from atoms(node.left)
        yield from atoms(node.right)
    elif isinstance(node, c_ast.UnaryOp) and node.op == "!":
        yield from atoms(node.expr)
    else:
        yield node


def _reads_data(node: c_ast.Node) -> bool:
    """Is there something in it that no affine expression holds? Then its integers need not be parameters."""
    if isinstance(node, c_ast.ArrayRef) or (isinstance(node, c_ast.UnaryOp) and node.op == "*"):
        return True
    return any(_reads_data(child) for child in node)


def counted_before(node: c_ast.For) -> c_ast.Node | None:
    """What `for (i = n; i-- > limit;)` asks of i before it counts down; None for loops of other forms."""
    cond, init = node.cond, node.init
    if node.next is not None or not isinstance(cond, c_ast.BinaryOp) or cond.op not in (">", "!=", ">="):
        return None
    counter = init.decls[-1] if isinstance(init, c_ast.DeclList) else getattr(init, "lvalue", None)
    name = getattr(counter, "name", "")
    left = cond.left
    if isinstance(left, c_ast.UnaryOp) and left.op == "p--" and name and getattr(left.expr, "name", "") == name:
        return c_ast.BinaryOp(cond.op, left.expr, cond.right, cond.coord)
    return None


def members(node: c_ast.Node) -> tuple[str, ...]:
    """The member names on the way to an lvalue."""
    if isinstance(node, c_ast.StructRef):
        return (*members(node.name), node.field.name)
    if isinstance(node, c_ast.ArrayRef):
        return members(node.name)
    return members(node.expr) if isinstance(node, c_ast.UnaryOp) else ()


def _untouched(text: str, scan: _Scan) -> bool:
    """Does no assignment of the region reach the member spelled `text`?"""
    base, *path = text.replace("->", ".").split(".")
    return all(w[: len(path)] != tuple(path) and tuple(path[: len(w)]) != w for w in scan.written_members.get(base, ()))


def member_type(node: c_ast.Node, site: RegionSite) -> CType | None:
    """Type of a chain of members without subscripts, or None."""
    shape = _chain(node, site)
    return None if shape is None or shape.declarators or shape.special else shape.elem


def _chain(node: c_ast.Node, site: RegionSite) -> DeclaredType | None:
    if isinstance(node, c_ast.ID):
        var = site.variables.get(node.name)
        return None if var is None else var.shape
    if not isinstance(node, c_ast.StructRef):
        return None
    outer = _chain(node.name, site)
    if outer is None or (len(outer.declarators) != (1 if node.type == "->" else 0)):
        return None
    member = find_member(site.types, outer.struct, node.field.name)
    return None if member is None or outer.special else member.shape


def prescan(site: RegionSite) -> Prescan:
    """Look over the region's statements once."""
    scan = _Scan(site)
    for s in site.statements:
        scan.visit(s)
    for name, *path in reached(site, scan.written_members, scan.read):
        scan.written.add(name)
        scan.written_members.setdefault(name, set()).add(tuple(path))
        scan.whole_members.setdefault(name, set()).add(tuple(path))
    fixed = [n for n in scan.affine_ids if n not in scan.written and n not in scan.counters]
    params = [(n, site.variables[n].shape.elem) for n in fixed]
    params += [(t, c) for t, c in scan.affine_members.items() if _untouched(t, scan)]
    return Prescan(
        frozenset(scan.written),
        frozenset(scan.reassigned),
        tuple(params),
        tuple(scan.mentioned),
        frozenset(scan.counters),
        {name: frozenset(paths) for name, paths in sorted(scan.written_members.items())},
        {n: frozenset(p - scan.whole_members.get(n, set())) for n, p in sorted(scan.written_members.items())},
    )
