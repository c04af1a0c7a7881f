"""Finds a region in the syntax tree and returns its surroundings (`RegionSite`): its statements and function, the type
of every name that is visible there, pragmas around it, and whether a variable is used outside. Unsupported unless it
lies in the body of one function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace

from pycparser import c_ast

from codegen.diagnostics import Loc, Unsupported
from codegen.frontend.syntax.declarators import (
    DeclaredType,
    TypeTable,
    build_type_table,
    enum_constants,
    enums_in,
    literal_int,
    parameters,
    type_names,
    value_names,
)
from codegen.frontend.syntax.live import addressed, base_of, live_behind, mentions
from codegen.record import record
from codegen.scop.dialect import STANDARD, Dialect
from codegen.scop.model import OwnVariable
from codegen.scop.origins import Origins
from codegen.source.gnu import THREAD_LOCAL
from codegen.source.region_slice import UNSEEN_JUMP


@record
class Variable:
    """A declared name visible in the region. `place` is param, local or global."""

    name: str
    shape: DeclaredType
    place: str
    static: bool = False
    const: bool = False  # its elements must not be written
    thread_local: bool = False  # each thread has its own
    constant: int | None = None  # of a `const` integer that is initialized with a literal


@record
class Derived:
    """A pointer of the region that is written as another array: which, and as what element its own first one."""

    name: str
    root: str
    element: str


@record
class Started:
    """An integer that the region sets and its statements hold as a formula: with what it begins, if that is known."""

    name: str
    value: str = ""


@record
class RegionSite:
    """The statements of a region with their surroundings.

    Where pointers are `derived` from other arrays, the statements speak of these, and the `original` ones of them.
    """

    function: c_ast.FuncDef
    statements: tuple[c_ast.Node, ...]
    variables: Mapping[str, Variable]
    types: TypeTable
    enums: Mapping[str, int]
    functions: Mapping[str, c_ast.FuncDef]
    loc: Loc
    hidden: frozenset[str] = frozenset()  # names in parts of the function that could not be parsed
    origins: Origins = Origins()
    derived: tuple[Derived, ...] = ()
    original: tuple[c_ast.Node, ...] = ()
    inlined: frozenset[str] = frozenset()  # functions whose bodies the statements hold in place of calls
    around: tuple[c_ast.Pragma, ...] = ()  # pragmas before statements that hold the region, outermost first
    front: tuple[c_ast.Pragma, ...] = ()  # pragmas right before the region
    started: tuple[Started, ...] = ()
    strides: frozenset[str] = frozenset()  # steps of loops, without which, if they are not positive, these have no end
    before: Mapping[str, str] = field(default_factory=dict)  # names for what variables hold before it
    own: tuple[OwnVariable, ...] = ()
    distinct: frozenset[str] = frozenset()  # arrays in which, as a hint says, no two elements are equal
    filled: Mapping[str, c_ast.Node] = field(default_factory=dict)  # arrays with so many first elements that all differ
    macros: frozenset[str] = frozenset()  # names that a macro has, if not where the region is
    dialect: Dialect = STANDARD  # what C means here
    constants: tuple[tuple[str, int], ...] = ()  # what variables are likely to be: to be asked when it runs

    @property
    def unequal(self) -> frozenset[str]:
        """Arrays in which no two elements are equal, as far as the region may read them."""
        return self.distinct | self.filled.keys()

    def used_outside(self, name: str) -> bool:
        """May somebody look at `name` outside this region, other than after setting it anew?"""
        var = self.variables.get(name)
        if any(o.end and o.name == name for o in self.own):
            return True
        if name in self.hidden or (var is not None and (var.place == "global" or var.static)):
            return True
        inside = {id(s) for s in (*self.statements, *self.original)}
        return mentions(self.function.body, name, inside) and not self.dies(name)

    def dies(self, name: str) -> bool:
        """Is it a variable of this run of the function that is set anew on every way from the region to a use of it, be
        that in the region itself?"""
        var = self.variables.get(name)
        if any(o.end and o.name == name for o in self.own):
            return False
        if var is None or UNSEEN_JUMP in self.hidden or name in self.hidden:
            return False
        if not self.statements or var.static or var.place == "global":
            return False
        declarators = var.shape.declarators
        if (declarators and declarators[0].kind != "pointer") or (not declarators and var.shape.struct is not None):
            return False
        last = frozenset(id(s[-1]) for s in (self.statements, self.original) if s)
        live = live_behind(self.function, last)
        return live is not None and name not in live and name not in addressed(self.function.body)


def escapes(node: c_ast.Node, var: Variable) -> bool:
    """May an address of the variable, or of a part of it, go somewhere? Else arrays are used by their elements."""
    if isinstance(node, c_ast.UnaryOp) and node.op == "&":
        return base_of(node.expr) == var.name or escapes(node.expr, var)
    depth, inner = 0, node
    while isinstance(inner, c_ast.ArrayRef):
        depth, inner = depth + 1, inner.name
    if isinstance(inner, c_ast.ID) and inner.name == var.name:
        short = depth < len(var.shape.declarators)
        return short or (isinstance(node, c_ast.ArrayRef) and _subscripts_escape(node, var))
    return any(escapes(child, var) for child in node)


def _subscripts_escape(node: c_ast.Node, var: Variable) -> bool:
    while isinstance(node, c_ast.ArrayRef):
        if escapes(node.subscript, var):
            return True
        node = node.name
    return False


def location(node: c_ast.Node, fallback: Loc) -> Loc:
    """Where a node begins; pycparser leaves some nodes without a place."""
    coord = getattr(node, "coord", None)
    if coord is None:
        for child in node:
            return location(child, fallback)
        return fallback
    return Loc(str(coord.file) or fallback.file, int(coord.line or 0), int(coord.column or 0))


def find_site(
    ast: c_ast.FileAST,
    file: str,
    first_line: int,
    last_line: int,
    hidden: frozenset[str] = frozenset(),
    thread_private: frozenset[str] = frozenset(),
) -> RegionSite:
    """Locate the region that starts at the pragma on `first_line`. Of variables in `thread_private` that outlive the
    function each thread has its own."""
    types = build_type_table(ast, c_ast.FuncDef(None, None, None))  # of no function
    variables: dict[str, Variable] = {}
    functions: dict[str, c_ast.FuncDef] = {}
    declared: dict[str, c_ast.Decl] = {}
    loc = Loc(file, first_line, 1)
    for ext in ast.ext:
        if isinstance(ext, c_ast.Decl) and ext.name:
            declared[ext.name] = ext
            _declare(variables, types, ext, "global")
        elif isinstance(ext, c_ast.FuncDef):
            own, found = types, _search(ext, types, first_line, last_line, loc)
            if found is not None:
                own = _types_in(ast, ext, types, loc)
            if own is not types:
                found = _search(ext, own, first_line, last_line, loc)
                for name in variables:
                    _declare(variables, own, declared[name], "global")
            if found is not None:
                place, local = found
                functions.update({f.decl.name: f for f in ast.ext if isinstance(f, c_ast.FuncDef) and f is not ext})
                known = {n: _private(v) if n in thread_private else v for n, v in {**variables, **local}.items()}
                return RegionSite(
                    ext, place.statements, known, own, enum_constants(ast), functions, loc, hidden,
                    around=place.around, front=place.front,
                )  # fmt: skip
            functions[ext.decl.name] = ext
    raise Unsupported(
        "region-outside-function",
        "the region does not lie within the body of one function",
        loc,
        "put both pragmas inside the same function",
    )


def _types_in(ast: c_ast.FileAST, function: c_ast.FuncDef, outer: TypeTable, loc: Loc) -> TypeTable:
    """The types that a function knows; those of the file where it has none of its own and hides no name."""
    inner = type_names(function.body)
    _check_types(inner, outer, loc)
    found = build_type_table(ast, function) if inner or any(enums_in(function.body)) else outer
    own = {str(p.name) for p in parameters(function)} | value_names(function.body)
    covered = own & found.typedefs.keys()
    return replace(found, hidden=frozenset(covered)) if covered else found


def _check_types(inner: Sequence[str], outer: TypeTable, loc: Loc) -> None:
    """Whoever asks for a type has only its name, and new text may have it anywhere in the region."""
    known = {*outer.typedefs, *(f"struct {n}" for n in outer.tags), *(f"enum {n}" for n in outer.enums)}
    for name in inner:
        if name in known:
            raise Unsupported("local-declaration", f"`{name}` is another type in a part of the function", loc,
                              "give the inner type another name")  # fmt: skip
        known.add(name)


def part_of(site: RegionSite, path: Sequence[tuple[int, int]], first: int, after: int) -> RegionSite:
    """Statements `first` up to `after` of a block inside the region, as a region of its own. The path to the block is
    the number of a statement and of a block in it, again and again."""
    from codegen.source.layout.outline import blocks

    known, around, items = dict(site.variables), list(site.around), site.statements
    for k, inner in path:
        _declare_all(known, site.types, items[:k])
        around += _pragmas_before(items, k)
        if isinstance(items[k], c_ast.For) and isinstance(items[k].init, c_ast.DeclList):
            _declare_all(known, site.types, items[k].init.decls)
        items = blocks(items[k])[inner]
    _declare_all(known, site.types, items[:first])
    front = _pragmas_before(items, first) if first else () if path else site.front
    loc = location(items[first], site.loc) if items[first:after] else site.loc
    _check_own(items[first:after], items[after:], loc)
    return replace(
        site, statements=items[first:after], variables=known, around=tuple(around), front=front,
        loc=replace(loc, col=1),
    )  # fmt: skip


def _declare_all(into: dict[str, Variable], types: TypeTable, items: Iterable[c_ast.Node]) -> None:
    for d in items:
        if isinstance(d, c_ast.Decl) and d.name:
            _declare(into, types, d, "local")


def _private(v: Variable) -> Variable:
    return replace(v, thread_local=v.thread_local or v.static or v.place == "global")


def _declare(into: dict[str, Variable], types: TypeTable, decl: c_ast.Decl, place: str) -> None:
    shape = types.shape(decl.type)
    if not shape.function:
        own = THREAD_LOCAL in (decl.funcspec or ())
        static = "static" in (decl.storage or ())
        const = has_const_elements(decl.type)
        fixed = const and not shape.declarators and shape.elem.is_int and decl.init is not None and place != "param"
        value = literal_int(decl.init, {}) if fixed else None
        into[decl.name] = Variable(decl.name, shape, place, static, const, own, value)


def has_const_elements(node: c_ast.Node) -> bool:
    """Are the elements, or the variable itself, constant?"""
    while isinstance(node, (c_ast.ArrayDecl, c_ast.PtrDecl)):
        node = node.type
    return "const" in (getattr(node, "quals", None) or ())


@record
class _Place:
    """The statements of a region, the pragmas before it, and those before statements around it."""

    statements: tuple[c_ast.Node, ...]
    front: tuple[c_ast.Pragma, ...]
    around: tuple[c_ast.Pragma, ...] = ()
    open: bool = False  # it is all of a branch or body without braces, and ends behind the statement that holds this


def _search(
    func: c_ast.FuncDef, types: TypeTable, first: int, last: int, loc: Loc
) -> tuple[_Place, dict[str, Variable]] | None:
    local: dict[str, Variable] = {}
    for p in parameters(func):
        _declare(local, types, p, "param")
    place = _search_block(func.body, types, local, first, last, loc)
    return None if place is None else (place, local)


def _search_block(
    node: c_ast.Node, types: TypeTable, local: dict[str, Variable], first: int, last: int, loc: Loc
) -> _Place | None:
    """Depth-first search for the pragma; on success `local` holds exactly the declarations in scope."""
    block = isinstance(node, (c_ast.Compound, c_ast.Case, c_ast.Default))
    items: tuple[c_ast.Node, ...] = tuple(_statements(node) if block else node)
    if isinstance(node, c_ast.For) and isinstance(node.init, c_ast.DeclList):
        for d in node.init.decls:
            _declare(local, types, d, "local")
    for k, item in enumerate(items):
        if _is_pragma(item, "scop", first):
            if not block:
                raise _split(loc)
            front = _pragmas_before(items, k)
            if _without_braces(node) and len(items) == k + 2:
                return _Place(items[k + 1 :], front, open=True)
            inside = _until_end(items[k + 1 :], last, loc)
            _check_own(inside, items[k + 1 + len(inside) :], loc)
            return _Place(inside, front)
        if isinstance(item, c_ast.Decl):
            _declare(local, types, item, "local")
        elif isinstance(item, c_ast.Node):
            saved = dict(local)
            found = _search_block(item, types, local, first, last, loc)
            if found is not None:
                ends = block and not _without_braces(node)
                closed = any(_is_pragma(x, "endscop", last) for x in items[k + 1 : k + 2])
                if found.open and (not closed if ends else not _ends_with(node, item)):
                    raise _split(loc)
                open = found.open and not ends
                return replace(found, around=(*_pragmas_before(items, k), *found.around), open=open)
            local.clear()
            local.update(saved)
    return None


def _statements(node: c_ast.Node) -> Sequence[c_ast.Node]:
    """What stands in a block, or behind the label of a case up to the next one."""
    return (node.block_items if isinstance(node, c_ast.Compound) else node.stmts) or ()


def _without_braces(node: c_ast.Node) -> bool:
    """Is it a statement with a pragma before it, which the parser makes one of?"""
    items = _statements(node) if isinstance(node, c_ast.Compound) else ()
    return bool(items) and isinstance(items[0], c_ast.Pragma) and str(items[0].coord) == str(node.coord)


def _ends_with(node: c_ast.Node, part: c_ast.Node) -> bool:
    """Is the part, a branch or a body, the end of a statement?"""
    if isinstance(node, c_ast.If):
        return part is (node.iffalse or node.iftrue)
    if isinstance(node, c_ast.Compound):
        return part is node.block_items[-1]
    return isinstance(node, (c_ast.For, c_ast.While)) and part is node.stmt


def _pragmas_before(items: tuple[c_ast.Node, ...], k: int) -> tuple[c_ast.Pragma, ...]:
    """Those that belong to item number `k`."""
    first = k
    while first and isinstance(items[first - 1], c_ast.Pragma):
        first -= 1
    return items[first:k]


def _is_pragma(node: c_ast.Node, word: str, line: int) -> bool:
    return isinstance(node, c_ast.Pragma) and (node.string or "").split()[:1] == [word] and node.coord.line == line


def _until_end(items: tuple[c_ast.Node, ...], last: int, loc: Loc) -> tuple[c_ast.Node, ...]:
    for k, item in enumerate(items):
        if _is_pragma(item, "endscop", last):
            return items[:k]
    raise _split(loc)


def _check_own(inside: Sequence[c_ast.Node], behind: Sequence[c_ast.Node], loc: Loc) -> None:
    """What a region declares ends with it, since its text stands in braces. Raises Unsupported where it is used behind
    the region."""
    for x in inside:
        if isinstance(x, c_ast.Decl) and x.name and any(_named(b, x.name) for b in behind):
            raise Unsupported(
                "local-declaration",
                f"`{x.name}` is declared in the region and used behind it",
                location(x, loc),
                "declare it before the region",
            )


def _named(node: c_ast.Node, name: str) -> bool:
    if isinstance(node, c_ast.ID):
        return bool(node.name == name)
    parts = [node.name] if isinstance(node, c_ast.StructRef) else list(node)  # a member is no variable
    return any(_named(child, name) for child in parts)


def _split(loc: Loc) -> Unsupported:
    return Unsupported(
        "region-split",
        "the region begins and ends in different blocks",
        loc,
        "put `#pragma scop` and `#pragma endscop` directly in the same pair of braces",
    )
