"""Describes the memory that the test harness has to allocate for a region (`memory_of` returns `Memory`): buffers of
variables, arrays and the pointers on the way to elements, integers that sizes depend on, declared bounds of subscripts,
and globals that other files may define. Prints nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pycparser import c_ast

from codegen.checking.harness.paths import Path, declarators_on, follow, names_in, nodes_in, paths_in
from codegen.frontend.expressions.affine import c_text
from codegen.frontend.parameters.prescan import member_type, prescan
from codegen.frontend.syntax.declarators import Declarator, DeclaredType
from codegen.frontend.syntax.symbols import RegionSite, Variable
from codegen.record import record
from codegen.scop.types import CType
from codegen.target.guards.computed_parameters import ComputedText


@record
class SizeInteger:
    """An integer that sizes depend on. `how` is declare, global, member, element (of an array, or behind a pointer),
    apart (what lies between two pointers), before (what a variable holds before the region), pinned (a constant of the
    file), or constant with its value (of the function)."""

    text: str
    ctype: CType
    how: str
    extent: bool = False  # array sizes depend on it


@record
class HarnessBuffer:
    """Memory of one element type, known by its variable and the path to the pointer that leads to it.

    how     value (a local that is loaded and stored), array (a local one that is, since its size is asked for),
            global (copied in and out), pointer (a declared variable made to point here), extern (a file's own
            pointer), inner (the pointers at `path` point here)
    rows    C text of the outermost size; None when only the accesses tell it
    dims    C texts of the sizes inside
    elem    the element's shape: a scalar, a struct, or a pointer
    """

    base: str
    path: Path
    how: str
    rows: str | None
    dims: tuple[str, ...]
    elem: DeclaredType
    indexed: bool = True  # false for a plain variable

    @property
    def of_structs(self) -> bool:
        return self.elem.struct is not None and not self.elem.declarators


@record
class ArrayLevel:
    """A declared array on the way to an element; subscripts must stay below its size, a C text."""

    base: str
    path: Path
    size: str


@record
class Memory:
    """Everything a region reads or writes. `shared` are the globals among it that may live in another file, each with
    the words before its type."""

    ints: tuple[SizeInteger, ...]
    buffers: tuple[HarnessBuffer, ...]
    levels: tuple[ArrayLevel, ...]
    shared: tuple[tuple[str, str], ...]
    undefined: tuple[str, ...] = ()  # those among them that the file only declares
    spare: tuple[str, ...] = ()  # declarations of pointers that the source sets before it follows them

    def find(self, base: str, path: Path) -> int | None:
        """The number of a buffer."""
        return next((k for k, b in enumerate(self.buffers) if (b.base, b.path) == (base, path)), None)


def memory_of(
    site: RegionSite, ast: c_ast.FileAST, computed: Sequence[ComputedText] = (), written: str = ""
) -> Memory:
    """The memory of a region with these parameters of its own, as it is written."""
    scan = prescan(site)
    names = {n for n in scan.mentioned if n in site.variables}
    names |= _only_written(site, written)
    paths = paths_in(site.statements, site.variables)
    shapes = {n: site.variables[n].shape for n in sorted(names)}
    declarators = [la for n in shapes for la in declarators_on(shapes[n], site.types, paths.get(n, ()))]
    sizes = [la.dim for la in declarators if la.dim is not None]
    paths = paths_in([*site.statements, *sizes], site.variables)
    names |= names_in(sizes) & set(site.variables)
    names |= {text for d in computed for text, _, base in d.reads if not base and " - " not in text}
    fixed = _fixed_globals(ast, scan.written, site.variables)
    ints = (*_ints(site, dict(scan.params), sizes, fixed), *_elements(computed, fixed))
    ints = _with_constants(ints, sorted(names), site, fixed)
    asked = _asked_for_sizes(site, ast)
    buffers: dict[tuple[str, Path], HarnessBuffer] = {}
    levels: dict[ArrayLevel, None] = {}
    for name in sorted(names - {i.text for i in ints if i.how != "before"}):
        var, mine = site.variables[name], paths.get(name, [])
        levels.update(dict.fromkeys(_levels(var, mine, site)))
        if name not in fixed:
            buffers[name, ()] = _root(var, name in asked)
            buffers.update(((name, b.path), b) for b in _inner(var, mine, site))
    outer = (site.variables[n] for n in sorted(names))
    shared = (("__thread " if v.thread_local else "", v.name) for v in outer if v.place == "global" and not v.static)
    declared = {d.name for d in ast.ext if isinstance(d, c_ast.Decl) and "extern" in (d.storage or ())}
    elsewhere = tuple(n for n in sorted(names & declared) if site.variables[n].place == "global")
    spare = tuple(_spare(site, written, names))
    return Memory(ints, tuple(buffers.values()), tuple(levels), tuple(shared), elsewhere, spare)


def _only_written(site: RegionSite, text: str) -> set[str]:
    """Numbers that the source names for nothing: functions get them that do not look at them."""
    return {v.name for v in _own_numbers(site, text) if not v.shape.declarators}


def _spare(site: RegionSite, text: str, names: set[str]) -> Iterator[str]:
    """Declarations of pointers that the region as it is understood does without."""
    known = names | {d.name for d in site.derived} | {o.source for o in site.own} | {s.name for s in site.started}
    for v in _own_numbers(site, text):
        if v.shape.declarators and v.name not in known and all(d.kind == "pointer" for d in v.shape.declarators):
            kind = f"{'const ' if v.const else ''}{v.shape.elem.spelling} {'*' * len(v.shape.declarators)}"
            yield f"{kind}{v.name} = 0;"


def _own_numbers(site: RegionSite, text: str) -> list[Variable]:
    """Variables of the function that a text names, which are numbers or lead to some."""
    words = set(re.findall(r"[A-Za-z_]\w*", text))
    own = (v for n, v in site.variables.items() if n in words and v.place in ("param", "local") and not v.static)
    return [v for v in own if v.shape.elem.kind in ("int", "float") and v.shape.struct is None]


def _ints(
    site: RegionSite, params: dict[str, CType], sizes: Sequence[c_ast.Node], fixed: frozenset[str]
) -> tuple[SizeInteger, ...]:
    """The region's parameters, and what else the sizes of its arrays are made of."""
    found: dict[str, CType] = {}
    for node in nodes_in(sizes):
        ctype = None
        if isinstance(node, c_ast.StructRef):
            ctype = member_type(node, site)
        elif isinstance(node, c_ast.ID) and node.name in site.variables:
            shape = site.variables[node.name].shape
            ctype = None if shape.declarators else shape.elem
        if ctype is not None and ctype.is_int:
            found[c_text(node)] = ctype
    return tuple(SizeInteger(t, c, _how(t, site, fixed), t in found) for t, c in {**params, **found}.items())


def _with_constants(
    ints: Sequence[SizeInteger], names: Sequence[str], site: RegionSite, fixed: frozenset[str]
) -> tuple[SizeInteger, ...]:
    """The same with the function's own constants, which have no other value."""
    own = {n: v for n in names if (v := site.variables[n]).constant is not None and n not in fixed}
    found = [SizeInteger(n, v.shape.elem, f"constant {v.constant}") for n, v in own.items()]
    return (*(i for i in ints if i.text not in own), *found)


def _elements(computed: Sequence[ComputedText], fixed: frozenset[str]) -> Iterator[SizeInteger]:
    """The elements of memory that computed parameters are made of."""
    found = {text: (ctype, base) for d in computed for text, ctype, base in d.reads}
    for text, (ctype, base) in found.items():
        ahead = "apart" if " - " in text else "before"
        yield SizeInteger(text, ctype, ahead if not base else "pinned" if base in fixed else "element")


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


# -- buffers -------------------------------------------------------------------------------------------


def _asked_for_sizes(site: RegionSite, ast: c_ast.FileAST) -> set[str]:
    """What `sizeof` stands ahead of in the function as it is written."""
    named = (f for f in ast.ext if isinstance(f, c_ast.FuncDef) and f.decl.name == site.function.decl.name)
    found = (n for f in named for n in nodes_in([f.body]) if isinstance(n, c_ast.UnaryOp) and n.op == "sizeof")
    return {str(n.name) for x in found for n in nodes_in([x.expr]) if isinstance(n, c_ast.ID)}


def _root(var: Variable, sized: bool) -> HarnessBuffer:
    if not var.shape.declarators:
        return HarnessBuffer(var.name, (), "global" if var.place == "global" else "value", "1", (), var.shape, False)
    outer = var.shape.declarators[0]
    how = "pointer" if var.place != "global" else "global" if outer.kind == "array" else "extern"
    made = _buffer(var.name, (), how, _size(var, (), outer), var.shape)
    own = sized and var.place == "local" and not made.elem.declarators
    known = outer.dim is not None and isinstance(outer.dim, c_ast.Constant)
    return replace(made, how="array") if own and known and all(d.isdigit() for d in made.dims) else made


def _size(var: Variable, at: Path, declarator: Declarator) -> str | None:
    """The declared size of a declarator; a global array that gets it from its initializer is asked for it."""
    if declarator.dim is not None:
        return c_text(declarator.dim)
    if declarator.kind == "array" and var.place == "global" and not at:
        return f"sizeof {var.name} / sizeof {var.name}[0]"
    return None


def _buffer(base: str, path: Path, how: str, rows: str | None, shape: DeclaredType) -> HarnessBuffer:
    """`shape` still has the outer declarator."""
    rest = list(shape.declarators[1:])
    dims = []
    while rest and rest[0].kind == "array":
        dim = rest.pop(0).dim
        dims.append("0" if dim is None else c_text(dim))
    return HarnessBuffer(base, path, how, rows, tuple(dims), DeclaredType(tuple(rest), shape.elem, shape.struct))


def _levels(var: Variable, paths: Sequence[Path], site: RegionSite) -> Iterator[ArrayLevel]:
    """The declared sizes on the paths."""
    for path in paths:
        for at, declarator, _ in follow(var.shape, site.types, path):
            size = _size(var, at, declarator)
            if size is not None:
                yield ArrayLevel(var.name, at, size)


def _inner(var: Variable, paths: Sequence[Path], site: RegionSite) -> Iterator[HarnessBuffer]:
    """A buffer for every further pointer on the paths."""
    for path in paths:
        for at, declarator, inside in follow(var.shape, site.types, path):
            if declarator.kind == "pointer" and at:
                here = DeclaredType((declarator, *inside.declarators), inside.elem, inside.struct)
                yield _buffer(var.name, at, "inner", None, here)
