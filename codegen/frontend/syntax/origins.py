"""Points-to information of a function: which pointers are assigned from one another, and which point to memory of their
own.

The order of statements does not count here: whatever is assigned anywhere in the function may have been. That errs on
the side of a run-time test too many.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field

from pycparser import c_ast

from codegen.frontend.syntax.declarators import DeclaredType
from codegen.frontend.syntax.symbols import RegionSite
from codegen.record import mutable
from codegen.scop.origins import Origins, Place

ALLOCATORS = frozenset(("malloc", "calloc", "aligned_alloc", "memalign", "valloc"))
_COMPARE = frozenset(("<", ">", "<=", ">=", "==", "!=", "&&", "||"))


def origins_of(site: RegionSite) -> Origins:
    """What the function around a region shows about its pointers."""
    scan = _Scan(site)
    for name, decl in declared_in(site.function):
        scan.shapes.setdefault(name, site.types.shape(decl.type))
    scan.carriers = frozenset(_carriers(site.function.body))
    scan.visit(site.function.body)
    scan.hide(sorted(site.hidden & {n for n, v in site.variables.items() if leads(v.shape)}))
    scan.links += [((o.source,), (o.name,)) for o in site.own if not o.end]
    params = [d for d in parameters(site.function) if d.name]
    changed = scan.assigned | scan.exposed | site.hidden
    hiding = {name for name, _ in _declared(site.function.body)}  # by such a name the region may know another variable
    settled = {str(d.name) for d in params} - changed - hiding
    sources = {name for name, values in scan.values.items() if all(_allocates(v) for v in values)}
    local = {n for n, v in site.variables.items() if v.place == "local" and not v.static}
    fresh = sources & local if site.dialect.known_library else set[str]()
    direct = scan.families(along=False)
    return Origins(
        scan.families(),
        frozenset(d.name for d in params if d.name in settled and _is_restrict(d)),
        frozenset(fresh - scan.exposed - scan.moved - site.hidden - _several(site.function)),
        frozenset(settled),
        frozenset(scan.exposed),
        direct,
        frozenset(
            n for n, v in site.variables.items() if v.place == "global" and not v.shape.declarators and not v.const
        ),
        frozenset(direct[p] for p in scan.recast if p in direct),
    )


def parameters(function: c_ast.FuncDef) -> list[c_ast.Decl]:
    """Declarations of parameters, in either style."""
    listed = getattr(function.decl.type.args, "params", None) or ()
    return [d for d in (*listed, *(function.param_decls or ())) if isinstance(d, c_ast.Decl)]


def declared_in(function: c_ast.FuncDef) -> Iterator[tuple[str, c_ast.Decl]]:
    """Every declaration of a function, inner blocks included."""
    yield from ((d.name, d) for d in parameters(function) if d.name)
    yield from _declared(function.body)


def _several(function: c_ast.FuncDef) -> set[str]:
    """Names of several variables, of which one begins without a value: nobody knows which of them is set later."""
    found = list(declared_in(function))
    unset = {name for name, decl in found if decl.init is None}
    return {name for name in unset if sum(other == name for other, _ in found) > 1}


def _declared(node: c_ast.Node) -> Iterator[tuple[str, c_ast.Decl]]:
    for child in node:
        if isinstance(child, c_ast.Decl) and child.name:
            yield child.name, child
        yield from _declared(child)


def leads(shape: DeclaredType | None) -> bool:
    """Is it a pointer or an array, or may it hold pointers? What is not known may."""
    return shape is None or bool(shape.declarators) or shape.struct is not None


def _is_restrict(decl: c_ast.Decl) -> bool:
    words = getattr(decl.type, "quals", None) or getattr(decl.type, "dim_quals", None) or ()
    return "restrict" in words


def _allocates(node: c_ast.Node | None) -> bool:
    """Is it a call that returns memory nobody else has, or no pointer at all?"""
    if isinstance(node, c_ast.Cast):
        return _allocates(node.expr)
    return (isinstance(node, c_ast.FuncCall) and getattr(node.name, "name", "") in ALLOCATORS) or (
        isinstance(node, c_ast.Constant)
    )


def place_of(node: c_ast.Node) -> Place | None:
    """The variable an lvalue begins with, and the members on its way; subscripts are left out."""
    if isinstance(node, c_ast.ID):
        return (node.name,)
    if isinstance(node, c_ast.StructRef):
        outer = place_of(node.name)
        return None if outer is None else (*outer, node.field.name)
    if isinstance(node, c_ast.ArrayRef):
        return place_of(node.name)
    if isinstance(node, c_ast.UnaryOp) and node.op in ("*", "&", "++", "--", "p++", "p--"):
        return place_of(node.expr)
    if isinstance(node, c_ast.Cast):
        return place_of(node.expr)
    if isinstance(node, c_ast.BinaryOp) and node.op in ("+", "-"):
        return place_of(node.left) or place_of(node.right)
    return None


@mutable
class _Scan:
    site: RegionSite
    shapes: dict[str, DeclaredType] = field(default_factory=dict)
    links: list[tuple[Place, Place]] = field(default_factory=list)
    values: dict[str, list[c_ast.Node | None]] = field(default_factory=dict)
    assigned: set[str] = field(default_factory=set)  # variables assigned other than by their declaration
    moved: set[str] = field(default_factory=set)  # by += and the like
    exposed: set[str] = field(default_factory=set)
    recast: set[Place] = field(default_factory=set)  # places whose pointers are cast
    carriers: frozenset[str] = frozenset()  # variables that may hold a pointer as an integer

    def visit(self, node: c_ast.Node) -> None:
        if isinstance(node, c_ast.Decl) and node.name and node.init is not None:
            self.values.setdefault(node.name, []).append(node.init)
            self._assign(c_ast.ID(node.name), node.init)
        elif isinstance(node, c_ast.Assignment):
            self._changed(node.lvalue, node.rvalue if node.op == "=" else None)
            self._assign(node.lvalue, node.rvalue)
        elif isinstance(node, c_ast.UnaryOp) and node.op in ("++", "--", "p++", "p--"):
            self._changed(node.expr, None)
        elif isinstance(node, c_ast.UnaryOp) and node.op == "&":
            place = place_of(node.expr)
            if place is not None and not _indirect(node.expr):
                self.exposed.add(place[0])
        elif isinstance(node, c_ast.FuncCall):
            self._call(node)
        for child in node:
            self.visit(child)

    def _changed(self, lvalue: c_ast.Node, value: c_ast.Node | None) -> None:
        if isinstance(lvalue, c_ast.ID):
            self.assigned.add(lvalue.name)
            if value is None:
                self.moved.add(lvalue.name)
            else:
                self.values.setdefault(lvalue.name, []).append(value)

    def _assign(self, lvalue: c_ast.Node, value: c_ast.Node) -> None:
        place = place_of(lvalue)
        shape = self._shape(lvalue)
        if place is None or (shape is not None and not shape.declarators and self._holds_floats(shape)):
            return
        fields = None if shape is None or shape.declarators else shape.struct
        if isinstance(value, c_ast.InitList) and fields is not None:
            for member, part in _members(fields, value):
                self._assign(c_ast.StructRef(lvalue, ".", c_ast.ID(member)), part)
            return
        pointer = leads(shape)
        if pointer or _casts(value):  # a pointer may travel as an integer
            self.links += [(place, s) for s in self._sources(value, pointer)]

    def _holds_floats(self, shape: DeclaredType) -> bool:
        """Is it a floating-point number, or made of such alone? No address travels in it."""
        if any(la.kind != "array" for la in shape.declarators) or isinstance(shape.struct, c_ast.Union):
            return False
        if shape.struct is None:
            return shape.elem.kind == "float"
        parts = list(getattr(shape.struct, "decls", None) or ())
        types = self.site.types
        return bool(parts) and all(isinstance(d, c_ast.Decl) and self._holds_floats(types.shape(d.type)) for d in parts)

    def _call(self, node: c_ast.FuncCall) -> None:
        """A function that is given the address of a pointer may set it from its other arguments."""
        args = list(getattr(node.args, "exprs", None) or ())
        sets = [a for a in args if isinstance(a, c_ast.UnaryOp) and a.op == "&" and leads(self._shape(a.expr))]
        places = [s for a in args for s in self._sources(a, True)] if sets else []
        self.links += [(places[0], p) for p in places[1:]]

    def _sources(self, node: c_ast.Node, pointer: bool) -> list[Place]:
        """The places whose pointers a value may be made of; `pointer` if it is used as one."""
        if isinstance(node, c_ast.FuncCall):
            if not pointer or getattr(node.name, "name", "") in ALLOCATORS:
                return []
            return self._all(getattr(node.args, "exprs", None) or (), True)
        if isinstance(node, c_ast.Cast):
            to = leads(self.site.types.shape(node.to_type))
            found = self._sources(node.expr, pointer)
            names = [] if found or not to else _names(node.expr)
            if _is_call(node.expr):  # of the integers that it is given most are sizes
                names = [n for n in names if n in self.carriers]
            found = found + [(n,) for n in names if n in self.shapes or n in self.site.variables]
            self.recast |= set() if _is_call(node.expr) else set(found)
            return found
        if isinstance(node, c_ast.UnaryOp) and node.op == "&":
            place = place_of(node.expr)
            return [] if place is None else [place]
        if isinstance(node, (c_ast.ID, c_ast.ArrayRef, c_ast.StructRef)) or (
            isinstance(node, c_ast.UnaryOp) and node.op == "*"
        ):
            place = place_of(node)
            return [place] if place is not None and leads(self._shape(node)) and self._known(place[0]) else []
        if isinstance(node, c_ast.BinaryOp) and node.op in _COMPARE:
            return []
        if isinstance(node, c_ast.TernaryOp):
            return self._all((node.iftrue, node.iffalse), pointer)
        return self._all(list(node), pointer)

    def _known(self, name: str) -> bool:
        """Enumerators and functions are declared nowhere that matters here."""
        return name in self.shapes or name in self.site.variables

    def _all(self, nodes: Sequence[c_ast.Node], pointer: bool) -> list[Place]:
        return [s for n in nodes for s in self._sources(n, pointer)]

    def _shape(self, node: c_ast.Node) -> DeclaredType | None:
        """The type of an lvalue, or None."""
        if isinstance(node, c_ast.ID):
            return self.shapes.get(node.name) or getattr(self.site.variables.get(node.name), "shape", None)
        if isinstance(node, c_ast.StructRef):
            outer = self._shape(node.name)
            return None if outer is None else self.site.types.member(outer.struct, node.field.name)
        inner = node.name if isinstance(node, c_ast.ArrayRef) else getattr(node, "expr", None)
        if inner is None or (isinstance(node, c_ast.UnaryOp) and node.op != "*"):
            return None
        outer = self._shape(inner)
        if outer is None or not outer.declarators:
            return None
        return DeclaredType(outer.declarators[1:], outer.elem, outer.struct, outer.function, outer.special)

    def hide(self, names: Sequence[str]) -> None:
        """What stands in code that could not be parsed may have been set from one another."""
        self.links += [((names[0],), (n,)) for n in names[1:]]
        self.exposed |= set(names)

    def families(self, along: bool = True) -> dict[Place, int]:
        """A number for every place in some link; a struct that was copied as a whole takes its members `along`."""
        places = sorted({p for link in self.links for p in link})
        parent = {p: p for p in places}

        def root(p: Place) -> Place:
            while parent[p] != p:
                p = parent[p]
            return p

        inner = [(p[:k], p) for p in places for k in range(1, len(p)) if p[:k] in parent]
        for one, two in (*self.links, *(inner if along else ())):
            parent[root(two)] = root(one)
        number = {r: k for k, r in enumerate(sorted({root(p) for p in places}))}
        return {p: number[root(p)] for p in places}


def _indirect(node: c_ast.Node) -> bool:
    """Is it an element or a member behind a pointer, not part of the variable itself?"""
    if isinstance(node, c_ast.StructRef):
        return node.type == "->" or _indirect(node.name)
    return isinstance(node, (c_ast.ArrayRef, c_ast.UnaryOp))


def _members(struct: c_ast.Node, values: c_ast.InitList) -> Iterator[tuple[str, c_ast.Node]]:
    """What each member of a struct is initialized with."""
    names = [str(d.name) for d in getattr(struct, "decls", None) or () if getattr(d, "name", None)]
    at = 0
    for value in values.exprs or ():
        if isinstance(value, c_ast.NamedInitializer):
            name = getattr(value.name[0], "name", "")
            at, value = names.index(name) if name in names else at, value.expr
        if at < len(names):
            yield names[at], value
        at += 1


def _is_call(node: c_ast.Node) -> bool:
    return _is_call(node.expr) if isinstance(node, c_ast.Cast) else isinstance(node, c_ast.FuncCall)


def _carriers(node: c_ast.Node) -> Iterator[str]:
    """Variables that are set to something with a cast in it, as pointers that travel as integers are."""
    if isinstance(node, c_ast.Decl) and node.name and node.init is not None and _casts(node.init):
        yield str(node.name)
    elif isinstance(node, c_ast.Assignment) and _casts(node.rvalue):
        yield (place_of(node.lvalue) or ("",))[0]
    for child in node:
        yield from _carriers(child)


def _casts(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.Cast) or any(_casts(child) for child in node)


def _names(node: c_ast.Node) -> list[str]:
    own = [node.name] if isinstance(node, c_ast.ID) else []
    return own + [n for child in node for n in _names(child)]
