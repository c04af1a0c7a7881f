"""Reads C types from pycparser declarations as `DeclaredType` (arrays and pointers from the name inwards, then the
element type or struct), by the typedefs and tags of the file (`TypeTable`). Also a function's parameters, enumerators,
and the values of integer constants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from pycparser import c_ast, c_generator

from codegen.frontend.syntax.constants import constant
from codegen.record import mutable, record
from codegen.scop.types import INT, SIGNED, UNSIGNED, CType
from codegen.source.layout.enums import TYPE

# Width and signedness of C's integer keywords on LP64, by their sorted spelling.
_INT_BITS = {"char": 8, "short": 16, "int": 32, "long": 64, "longlong": 64, "_Bool": 8}
_APART = frozenset({"_Float32", "_Float64", "_Float32x", "_Float64x"})
_FLOATS = {"float": 32, "double": 64, "longdouble": 128}


@record
class Declarator:
    """One step inwards: "array" with its C size (None if unsized), or "pointer"."""

    kind: str
    dim: c_ast.Node | None = None


@record
class DeclaredType:
    """A declared type: declarators from the outside in, then an element type or a struct."""

    declarators: tuple[Declarator, ...]
    elem: CType
    struct: c_ast.Node | None = None
    function: bool = False
    special: bool = False  # volatile or atomic somewhere


@mutable
class TypeTable:
    """The typedefs and tags of a translation unit; read-only once filled. Generated text cannot call a type by a name
    that is `hidden`, since variables of a function have it there."""

    typedefs: dict[str, c_ast.Node] = field(default_factory=dict)
    tags: dict[str, c_ast.Node] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()
    enums: dict[str, c_ast.Enum] = field(default_factory=dict)  # by their tags
    constants: dict[str, int | None] = field(default_factory=dict)  # enumerators; None where there are several values

    def shape(self, node: c_ast.Node) -> DeclaredType:
        """The shape of a declarator's type node."""
        shape = self._shape(node)
        words = {*(getattr(node, "quals", None) or ()), *(getattr(node, "dim_quals", None) or ())}
        return replace(shape, special=True) if words & {"volatile", "_Atomic"} else shape

    def _shape(self, node: c_ast.Node) -> DeclaredType:
        if isinstance(node, c_ast.ArrayDecl):
            inner = self.shape(node.type)
            return replace(inner, declarators=(Declarator("array", node.dim), *inner.declarators))
        if isinstance(node, c_ast.PtrDecl):
            inner = self.shape(node.type)
            if inner.function:
                return DeclaredType((), CType("void *", "other", 64))
            return replace(inner, declarators=(Declarator("pointer"), *inner.declarators))
        if isinstance(node, c_ast.FuncDecl):
            return DeclaredType((), CType("void", "other"), None, True)
        if isinstance(node, (c_ast.TypeDecl, c_ast.Typename)):
            return self.shape(node.type)
        if isinstance(node, c_ast.IdentifierType):
            return self._named(node.names)
        if isinstance(node, c_ast.Enum):
            return DeclaredType((), self.enum(node))
        if isinstance(node, (c_ast.Struct, c_ast.Union)):
            word = "struct" if isinstance(node, c_ast.Struct) else "union"
            full = node if node.decls else self.tags.get(node.name or "", node)
            return DeclaredType((), CType(f"{word} {node.name or ''}".strip(), "other"), full)
        return DeclaredType((), CType("void", "other"))

    def _named(self, names: list[str]) -> DeclaredType:
        if len(names) == 1 and names[0] in self.typedefs:
            shape = self.shape(self.typedefs[names[0]])
            if shape.declarators:
                return shape
            apart = shape.elem.apart or names[0] in _APART
            spelling = shape.elem.spelling if names[0] in self.hidden else names[0]
            return replace(shape, elem=replace(shape.elem, spelling=spelling, apart=apart))
        return DeclaredType((), basic_type(names))

    def enum(self, node: c_ast.Enum) -> CType:
        """The integer type that represents an enum: its own one, the smallest if it is packed, else int or unsigned int
        or what its values need. Opaque where that is not known."""
        unknown = CType(f"enum {node.name or ''}".strip(), "other")
        node = node if node.values is not None else self.enums.get(node.name or "", node)
        if node.values is None:
            return unknown
        first, *others = node.values.enumerators
        packed, all_of_it = False, [first, *others]
        if first.name == TYPE:
            packed, all_of_it = isinstance(first.value, c_ast.Constant), others
            if not packed:
                of = self._integer(first.value.expr) if isinstance(first.value, c_ast.UnaryOp) else None
                return unknown if of is None else replace(of, enum=True)
        values = [self.constants.get(e.name) for e in all_of_it]
        known = [v for v in values if v is not None]
        bits = enum_bits(known, packed) if len(known) == len(values) else None
        if bits is None:
            return unknown
        signed = min(known) < 0
        return replace(SIGNED[bits] if signed else UNSIGNED[bits], enum=True)

    def are_ints(self, node: c_ast.Enum) -> bool:
        """Whether the enumerators of an enum are values of type int, or act as such."""
        found = [e for e in node.values.enumerators if e.name != TYPE]
        low, high = INT.range()
        values = [self.constants.get(e.name) for e in found]
        if not all(v is not None and low <= v <= high for v in values):
            return False
        mark = node.values.enumerators[0]
        if mark.name != TYPE or isinstance(mark.value, c_ast.Constant):
            return True
        t = self.enum(node)
        return t.is_int and (t.signed or t.bits < INT.bits) and t.bits <= INT.bits

    def _integer(self, node: c_ast.Node) -> CType | None:
        """A type, if it is an integer; enums are those that represent them."""
        shape = self.shape(node)
        return shape.elem if not shape.declarators and shape.struct is None and shape.elem.is_int else None

    def define_enum(self, node: c_ast.Enum) -> None:
        """Note the values of enumerators; those before in the file are known."""
        if node.name:
            self.enums[node.name] = node
        following: int | None = 0
        own: dict[str, int | None] = {}
        names = {n: v for n, v in self.constants.items() if v is not None}
        for e in node.values.enumerators:
            if e.name == TYPE:
                continue
            if e.value is not None:
                found = constant(e.value, names, self._integer)
                following = None if found is None else found[0]
            own[e.name] = following
            if following is not None:
                names[e.name] = following
            following = None if following is None else following + 1
        for name, value in own.items():
            self.constants[name] = value if self.constants.get(name, value) == value else None

    def member(self, struct: c_ast.Node | None, name: str) -> DeclaredType | None:
        """The shape of a member, or None when the struct is unknown or has no such member."""
        for decl in getattr(struct, "decls", None) or ():
            if getattr(decl, "name", None) == name:
                return None if getattr(decl, "bitsize", None) else self.shape(decl.type)
        return None

    def alike(self, struct: c_ast.Node | None, name: str) -> tuple[int, int]:
        """The place of a member and how many there are, if all of them are single numbers of one type; else (0, 0)."""
        names = [getattr(d, "name", None) for d in getattr(struct, "decls", None) or ()]
        shapes = [self.member(struct, n) if n else None for n in names]
        plain = [s.elem for s in shapes if s is not None and not s.declarators and not s.special]
        kinds = {(t.kind, t.bits, t.signed) for t in plain if t.kind in ("int", "float")}
        if len(plain) < len(names) or len(kinds) != 1 or any(t.kind == "other" for t in plain):
            return 0, 0
        return names.index(name), len(names)


def enum_bits(values: Sequence[int], packed: bool) -> int | None:
    """The width of the integer type in which compilers keep these values; None where there is none."""
    low, high = min(values, default=0), max(values, default=0)
    fits = {b: (-(1 << (b - 1)) <= low and high < 1 << (b - 1)) if low < 0 else high < 1 << b for b in (8, 16, 32, 64)}
    return next((b for b, enough in fits.items() if enough and (packed or b >= INT.bits)), None)


def basic_type(names: list[str]) -> CType:
    """The type a list of keywords spells, `["unsigned", "long"]` for example."""
    spelling = " ".join(names)
    words = [w for w in names if w not in ("signed", "unsigned")]
    if words.count("long") >= 1 or words.count("short") == 1:
        words = [w for w in words if w != "int"]
    key = "".join(sorted(words, key=lambda w: w != "long")) or "int"
    if key in _FLOATS:
        return CType(spelling, "float", _FLOATS[key])
    if key in _INT_BITS:
        if key == "_Bool":
            return CType(spelling, "other", 8)  # conversions to it are no arithmetic
        unsigned = "unsigned" in names
        plain = key == "char" and not unsigned and "signed" not in names
        return CType(spelling, "int", _INT_BITS[key], not unsigned, plain)
    return CType(spelling, "other")


def parameters(func: c_ast.FuncDef) -> tuple[c_ast.Decl, ...]:
    """The declarations of a function's parameters that have names. In the old style, `int f(a, n) double *a; {`, they
    stand behind the list of names; what is not declared there is an int."""
    known = {d.name: d for d in func.param_decls or ()}
    given = getattr(func.decl.type.args, "params", None) or ()
    found = (known.get(p.name) or _int_named(p) if isinstance(p, c_ast.ID) else p for p in given)
    return tuple(p for p in found if isinstance(p, c_ast.Decl) and p.name)


def _int_named(node: c_ast.ID) -> c_ast.Decl:
    inner = c_ast.TypeDecl(node.name, [], None, c_ast.IdentifierType(["int"], node.coord), node.coord)
    return c_ast.Decl(node.name, [], [], [], [], inner, None, None, node.coord)


def type_text(node: c_ast.Node) -> str:
    """C text of a cast's type."""
    return str(c_generator.CGenerator().visit(node))


def build_type_table(ast: c_ast.FileAST, function: c_ast.FuncDef | None = None) -> TypeTable:
    """Typedefs and tags of a file, and those inside of this function or, if none is named, of all."""
    table = TypeTable()

    class Collect(c_ast.NodeVisitor):
        def visit_FuncDef(self, node: c_ast.FuncDef) -> None:
            self.visit(node.decl)
            if function is None or node is function:
                self.visit(node.body)

        def visit_Typedef(self, node: c_ast.Typedef) -> None:
            table.typedefs[node.name] = node.type
            self.generic_visit(node)

        def visit_Enum(self, node: c_ast.Enum) -> None:
            if node.values is not None:
                table.define_enum(node)

        def visit_Struct(self, node: c_ast.Struct) -> None:
            if node.name and node.decls:
                table.tags[node.name] = node
            self.generic_visit(node)

        visit_Union = visit_Struct

    Collect().visit(ast)
    return table


def type_names(node: c_ast.Node) -> list[str]:
    """The names of types that are defined inside of it, one for each definition: typedefs, and tags with their word."""
    found: dict[int, str] = {}  # by node: the declarators of `struct s { ... } a, *b;` share one

    def collect(at: c_ast.Node) -> None:
        if isinstance(at, c_ast.Typedef):
            found[id(at)] = str(at.name)
        elif isinstance(at, (c_ast.Struct, c_ast.Union)) and at.name and at.decls:
            found[id(at)] = f"struct {at.name}"
        elif isinstance(at, c_ast.Enum) and at.name and at.values is not None:
            found[id(at)] = f"enum {at.name}"
        for child in at:
            collect(child)

    collect(node)
    return list(found.values())


def value_names(node: c_ast.Node) -> set[str]:
    """The names of variables and enumerators that are declared inside of it."""
    own = {str(node.name)} if isinstance(node, (c_ast.Decl, c_ast.Enumerator)) and node.name else set()
    return own.union(*(value_names(child) for child in node))


def enumerators(node: c_ast.Node) -> list[c_ast.Enumerator]:
    """Those that are defined inside of it."""
    own = list(node.values.enumerators) if isinstance(node, c_ast.Enum) and node.values is not None else []
    return own + [e for child in node for e in enumerators(child)]


def enum_constants(ast: c_ast.FileAST) -> Mapping[str, int]:
    """Enumerators of type int whose values are known. Those of a function count where their names mean nothing else in
    the whole file: whoever asks has only the name."""
    enums = list(enums_in(ast))
    if not enums:
        return {}
    types = build_type_table(ast)
    functions = [x for x in ast.ext if isinstance(x, c_ast.FuncDef)]
    defined = Counter(e.name for e in enumerators(ast))
    inner = {e.name for f in functions for e in enumerators(f)}
    others = _declared(ast) if inner else set[str]()
    wide = {e.name for n in enums if not types.are_ints(n) for e in n.values.enumerators}
    known = {n: v for n, v in types.constants.items() if v is not None and n not in wide}
    return {n: v for n, v in known.items() if n not in inner or (defined[n] == 1 and n not in others)}


def enums_in(node: c_ast.Node) -> Iterator[c_ast.Enum]:
    """The definitions of enums in a tree, in the order of the source."""
    if isinstance(node, c_ast.Enum) and node.values is not None:
        yield node
    for child in node:
        yield from enums_in(child)


def _declared(node: c_ast.Node) -> set[str]:
    """Names of variables, parameters and functions, at any depth."""
    own = {str(node.name)} if isinstance(node, c_ast.Decl) and node.name else set[str]()
    return own.union(*(_declared(child) for child in node))


def literal_int(node: c_ast.Node, names: Mapping[str, int]) -> int | None:
    """The value of a constant expression of literals and enumerators; else None."""
    found = constant(node, names)
    return None if found is None else found[0]
