"""What memory a region works on: one buffer per variable, and one per pointer that it follows.

A path leads from a variable to an element: "*" steps through an array or a pointer, ".m" to a member, so that
`img->data[i]` is ("*", ".data", "*"). A buffer is known by its variable and the path to its pointer.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pycparser import c_ast

from codegen.frontend.affine import c_text
from codegen.frontend.layers import Layer, Shape, TypeTable
from codegen.frontend.prescan import member_type, prescan
from codegen.frontend.symbols import RegionSite, Variable
from codegen.scop.types import CType

Path = tuple[str, ...]


@dataclass(frozen=True)
class Int:
    """An integer that sizes depend on. `how` is declare, global, member, or pinned (a constant of the file)."""

    text: str
    ctype: CType
    how: str
    extent: bool = False  # array sizes depend on it


@dataclass(frozen=True)
class Buffer:
    """Memory of one element type.

    how     value (a local that is loaded and stored), global (copied in and out), pointer (a declared variable
            made to point here), extern (a file's own pointer), inner (pointers at `path` point here)
    rows    C text of the outermost size; None when only the accesses tell it, "1" for values and globals
    dims    C texts of the sizes inside
    elem    the element's shape: a scalar, a struct, or a pointer
    """

    base: str
    path: Path
    how: str
    rows: str | None
    dims: tuple[str, ...]
    elem: Shape

    @property
    def to_struct(self) -> bool:
        return self.elem.struct is not None and not self.elem.layers


@dataclass(frozen=True)
class Memory:
    """Everything a region reads or writes. `levels` are the declared sizes that subscripts must respect."""

    ints: tuple[Int, ...]
    buffers: tuple[Buffer, ...]
    levels: tuple[tuple[str, Path, str], ...]  # variable, path, C text of the size


def follow(shape: Shape, types: TypeTable, path: Path) -> Iterator[tuple[Path, Layer, Shape]]:
    """The arrays and pointers on a path: where each is, what it is, and what is inside it."""
    for k, step in enumerate(path):
        if step == "*":
            if not shape.layers:
                return
            layer, shape = shape.layers[0], Shape(shape.layers[1:], shape.elem, shape.struct)
            yield path[:k], layer, shape
        else:
            member = None if shape.layers else types.member(shape.struct, step[1:])
            if member is None:
                return
            shape = member


def memory_of(site: RegionSite, ast: c_ast.FileAST) -> Memory:
    """The memory of a region."""
    scan = prescan(site)
    names = {n for n in scan.mentioned if n in site.variables}
    paths = _paths(site.statements, site.variables)
    dims = [la.dim for n in sorted(names) for la in _layers(site, n, paths) if la.dim is not None]
    paths |= _paths(dims, site.variables)
    names |= {n for n in _ids(dims) if n in site.variables}
    fixed = _fixed_globals(ast, scan.written, site.variables)
    ints = _ints(site, dict(scan.params), dims, fixed)
    buffers: dict[tuple[str, Path], Buffer] = {}
    levels: dict[tuple[str, Path, str], None] = {}
    for name in sorted(names - {i.text for i in ints}):
        mine = sorted(p for base, p in paths if base == name)
        levels.update(dict.fromkeys(_levels(site.variables[name], mine, site)))
        if name not in fixed:
            buffers[name, ()] = _root(site.variables[name])
            buffers.update(((name, b.path), b) for b in _inner(site.variables[name], mine, site))
    return Memory(ints, tuple(buffers.values()), tuple(levels))


# -- integers ------------------------------------------------------------------------------------------


def _ints(site: RegionSite, params: dict[str, CType], dims: list[c_ast.Node], fixed: frozenset[str]) -> tuple[Int, ...]:
    """The region's parameters, and what else the sizes of its arrays are made of."""
    sizes: dict[str, CType] = {}
    for node in _nodes(dims):
        if isinstance(node, c_ast.StructRef):
            ctype = member_type(node, site)
        else:
            var = site.variables.get(node.name) if isinstance(node, c_ast.ID) else None
            ctype = var.shape.elem if var is not None and not var.shape.layers else None
        if ctype is not None and ctype.is_int:
            sizes[c_text(node)] = ctype
    return tuple(Int(t, c, _how(t, site, fixed), t in sizes) for t, c in {**params, **sizes}.items())


def _how(text: str, site: RegionSite, fixed: frozenset[str]) -> str:
    if text not in site.variables:
        return "member"
    if text in fixed:
        return "pinned"
    return "global" if site.variables[text].place == "global" else "declare"


def _fixed_globals(ast: c_ast.FileAST, written: frozenset[str], variables: Mapping[str, Variable]) -> frozenset[str]:
    """Globals whose values are the file's own: constants, and tables with initializers that are only read."""
    found = set()
    for ext in ast.ext:
        if isinstance(ext, c_ast.Decl) and ext.name in variables and variables[ext.name].place == "global":
            table = ext.init is not None and isinstance(ext.type, c_ast.ArrayDecl) and ext.name not in written
            if table or _is_const(ext.type):
                found.add(str(ext.name))
    return frozenset(found)


def _is_const(node: c_ast.Node) -> bool:
    """Is the declared object itself, not what it points to, constant?"""
    while isinstance(node, c_ast.ArrayDecl):
        node = node.type
    return "const" in (getattr(node, "quals", None) or ())


# -- paths ---------------------------------------------------------------------------------------------


def _nodes(nodes: tuple[c_ast.Node, ...] | list[c_ast.Node]) -> Iterator[c_ast.Node]:
    for node in nodes:
        yield node
        yield from _nodes(list(node))


def _ids(nodes: list[c_ast.Node]) -> set[str]:
    return {str(n.name) for n in _nodes(nodes) if isinstance(n, c_ast.ID)}


def _paths(nodes: tuple[c_ast.Node, ...] | list[c_ast.Node], variables: Mapping[str, Variable]) -> set[tuple[str, Path]]:
    found = set()
    for node in _nodes(nodes):
        chain = _chain(node)
        if chain is not None and chain[0] in variables and chain[1]:
            found.add(chain)
    return found


def _chain(node: c_ast.Node) -> tuple[str, Path] | None:
    if isinstance(node, c_ast.ID):
        return node.name, ()
    if isinstance(node, c_ast.ArrayRef):
        outer, steps = _chain(node.name), ("*",)
    elif isinstance(node, c_ast.UnaryOp) and node.op == "*":
        outer, steps = _chain(node.expr), ("*",)
    elif isinstance(node, c_ast.StructRef):
        outer = _chain(node.name)
        steps = (("*",) if node.type == "->" else ()) + (f".{node.field.name}",)
    else:
        return None
    return None if outer is None else (outer[0], outer[1] + steps)


def _layers(site: RegionSite, name: str, paths: set[tuple[str, Path]]) -> Iterator[Layer]:
    """All arrays and pointers met by following the paths of a variable, in no particular order."""
    shape = site.variables[name].shape
    yield from shape.layers
    for _, path in sorted(p for p in paths if p[0] == name):
        for _, layer, inside in follow(shape, site.types, path):
            yield from (layer, *inside.layers)


# -- buffers -------------------------------------------------------------------------------------------


def _root(var: Variable) -> Buffer:
    if not var.shape.layers:
        return Buffer(var.name, (), "global" if var.place == "global" else "value", "1", (), var.shape)
    outer = var.shape.layers[0]
    rows = _size(var, (), outer)
    if outer.kind == "array" and var.place == "global":
        return _buffer(var.name, (), "global", rows, var.shape)
    return _buffer(var.name, (), "extern" if var.place == "global" else "pointer", rows, var.shape)


def _size(var: Variable, at: Path, layer: Layer) -> str | None:
    """The declared size of a layer; a global array that gets it from its initializer is asked for it."""
    if layer.dim is not None:
        return c_text(layer.dim)
    if layer.kind == "array" and var.place == "global" and not at:
        return f"sizeof {var.name} / sizeof {var.name}[0]"
    return None


def _buffer(base: str, path: Path, how: str, rows: str | None, shape: Shape) -> Buffer:
    """`shape` still has the outer layer."""
    rest = list(shape.layers[1:])
    dims = []
    while rest and rest[0].kind == "array":
        dim = rest.pop(0).dim
        dims.append("0" if dim is None else c_text(dim))
    return Buffer(base, path, how, rows, tuple(dims), Shape(tuple(rest), shape.elem, shape.struct))


def _levels(var: Variable, paths: list[Path], site: RegionSite) -> Iterator[tuple[str, Path, str]]:
    """The declared sizes on the paths."""
    for path in paths:
        for at, layer, _ in follow(var.shape, site.types, path):
            size = _size(var, at, layer)
            if size is not None:
                yield var.name, at, size


def _inner(var: Variable, paths: list[Path], site: RegionSite) -> Iterator[Buffer]:
    """A buffer for every further pointer on the paths."""
    for path in paths:
        for at, layer, inside in follow(var.shape, site.types, path):
            if layer.kind == "pointer" and at:
                yield _buffer(var.name, at, "inner", None, Shape((layer, *inside.layers), inside.elem, inside.struct))
