"""Access paths from a variable to an element, as text: "*" dereferences an array or pointer, ".m" selects a member.

`img->data[i]` is ("*", ".data", "*").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pycparser import c_ast

from codegen.frontend.syntax.declarators import Declarator, DeclaredType, TypeTable
from codegen.frontend.syntax.members import find_member
from codegen.frontend.syntax.symbols import Variable

Path = tuple[str, ...]


def follow(shape: DeclaredType, types: TypeTable, path: Path) -> Iterator[tuple[Path, Declarator, DeclaredType]]:
    """The arrays and pointers on a path: where each is, what it is, and what is inside it."""
    for k, step in enumerate(path):
        if step == "*":
            if not shape.declarators:
                return
            declarator, shape = shape.declarators[0], DeclaredType(shape.declarators[1:], shape.elem, shape.struct)
            yield path[:k], declarator, shape
        else:
            member = None if shape.declarators else find_member(types, shape.struct, step[1:])
            if member is None:
                return
            shape = member.shape


def nodes_in(nodes: Sequence[c_ast.Node]) -> Iterator[c_ast.Node]:
    """These nodes and everything below them."""
    for node in nodes:
        yield node
        yield from nodes_in(list(node))


def names_in(nodes: Sequence[c_ast.Node]) -> set[str]:
    """Every identifier."""
    return {str(n.name) for n in nodes_in(nodes) if isinstance(n, c_ast.ID)}


def paths_in(nodes: Sequence[c_ast.Node], variables: Mapping[str, Variable]) -> dict[str, list[Path]]:
    """The paths that occur, by variable."""
    found: dict[str, set[Path]] = {}
    for node in nodes_in(nodes):
        chain = _chain(node)
        if chain is not None and chain[0] in variables and chain[1]:
            found.setdefault(chain[0], set()).add(chain[1])
    return {name: sorted(paths) for name, paths in found.items()}


def _chain(node: c_ast.Node) -> tuple[str, Path] | None:
    if isinstance(node, c_ast.ID):
        return str(node.name), ()
    steps: Path = ("*",)
    if isinstance(node, c_ast.StructRef):
        steps = (*(steps if node.type == "->" else ()), f".{node.field.name}")
    elif not isinstance(node, c_ast.ArrayRef) and not (isinstance(node, c_ast.UnaryOp) and node.op == "*"):
        return None
    outer = _chain(node.expr if isinstance(node, c_ast.UnaryOp) else node.name)
    return None if outer is None else (outer[0], outer[1] + steps)


def declarators_on(shape: DeclaredType, types: TypeTable, paths: Sequence[Path]) -> Iterator[Declarator]:
    """All arrays and pointers of a variable and those met on its paths, in no particular order."""
    yield from shape.declarators
    for path in paths:
        for _, declarator, inside in follow(shape, types, path):
            yield from (declarator, *inside.declarators)
