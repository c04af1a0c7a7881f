"""The scalar fields inside an array element (members of structs), which the harness fills and compares."""

from __future__ import annotations

from collections.abc import Iterator

from pycparser import c_ast

from codegen.frontend.syntax.declarators import DeclaredType, TypeTable
from codegen.record import record


@record
class ScalarRun:
    """Equal scalars side by side. `path` leads to them (".a.b"), `first` on to the first one ("[0][0]").

    An opaque leaf is compared byte by byte and starts as zeros.
    """

    path: str
    first: str = ""
    opaque: bool = False


def leaves(shape: DeclaredType, types: TypeTable, path: str = "") -> tuple[ScalarRun, ...]:
    """The leaves of an element, in order; pointers and bit-fields are none."""
    arrays = [la for la in shape.declarators if la.kind == "array"]
    if len(arrays) != len(shape.declarators):
        return ()
    if shape.struct is None:
        return (ScalarRun(path, "[0]" * len(arrays)),)
    if arrays or isinstance(shape.struct, c_ast.Union) or not shape.struct.decls:
        return (ScalarRun(path, "", True),)
    return tuple(_members(shape.struct, types, path))


def _members(struct: c_ast.Node, types: TypeTable, path: str) -> Iterator[ScalarRun]:
    for decl in struct.decls:
        name = getattr(decl, "name", None)
        if name and not getattr(decl, "bitsize", None):
            yield from leaves(types.shape(decl.type), types, f"{path}.{name}")
