"""Prints the C structs of sparse formats."""
from __future__ import annotations

from codegen.record import record
from codegen.sparse.algebra.expr import text
from codegen.sparse.emit.types import Types
from codegen.sparse.formats.model import Descriptor
from codegen.sparse.synth.bounds import volume
from codegen.sparse.synth.model import Layout
from codegen.sparse.synth.pair import sizes


@record
class Array:
    """A field that points to elements."""

    name: str
    type: str
    size: str


@record
class Struct:
    """A format as a C struct."""

    type: str
    title: str
    shape: tuple[str, ...]
    sizes: tuple[str, ...]
    arrays: tuple[Array, ...]


def type_name(d: Descriptor, types: Types) -> str:
    return f"{d.name.lower()}_{types.suffix}"


def struct(lay: Layout, types: Types) -> Struct:
    """Extents, sizes and arrays, under the names the descriptor gives them."""
    d = lay.desc
    extents = sizes(lay)
    arrays = tuple(Array(f.name, types.c_index, text(volume(extents[f.name]))) for f in d.functions)
    if d.permutation:
        arrays = (*arrays, Array(d.permutation.array, types.c_index, d.shape[0]))
    values = Array(d.data, types.c_value, text(extents[d.data][0]))
    return Struct(type_name(d, types), f"{d.name}, values {types.value}, {types.index}-bit indices", d.shape,
                  lay.counted, (*arrays, values))
