"""Makes the C struct of a format from NumPy arrays, and NumPy arrays from a struct that C has filled, without copying;
TypeError or ValueError for arrays that do not fit the format."""
from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from codegen.sparse.algebra.evaluate import evaluate
from codegen.sparse.emit.formats import Struct
from codegen.sparse.synth.bounds import volume
from codegen.sparse.synth.model import Layout
from codegen.sparse.synth.pair import sizes

if TYPE_CHECKING:
    import numpy

_DTYPES = {"float": "float32", "double": "float64", "int32_t": "int32", "int64_t": "int64"}


def lengths(lay: Layout, values: Mapping[str, int]) -> dict[str, int]:
    """Elements of every array of a format with these extents and sizes."""
    known = dict(values)
    for n, e in lay.desc.lets:
        known[n] = evaluate(e, known)
    out = {a: max(0, evaluate(volume(s), known)) for a, s in sizes(lay).items()}
    return {**out, lay.desc.permutation.array: known[lay.desc.shape[0]]} if lay.desc.permutation else out


def to_struct(ffi: Any, lay: Layout, s: Struct, values: Mapping[str, Any]) -> Any:
    """A struct that points into the given arrays. TypeError and ValueError when they do not fit the format."""
    out = ffi.new(f"{s.type} *")
    for n in (*s.shape, *s.sizes):
        setattr(out, n, int(values[n]))
    need = lengths(lay, {n: int(values[n]) for n in (*s.shape, *s.sizes)})
    keep = []
    for a in s.arrays:
        array = values[a.name]
        exactly(a.name, array, a.type, need[a.name])
        buffer = ffi.from_buffer(f"{a.type}[]", array)
        keep.append(buffer)
        setattr(out, a.name, ffi.cast(f"{a.type} *", buffer))
    return out, keep


def exactly(name: str, array: Any, ctype: str, need: int) -> None:
    """TypeError or ValueError for what is no contiguous array of the type with exactly so many elements."""
    import numpy

    if not isinstance(array, numpy.ndarray) or array.dtype != numpy.dtype(_DTYPES[ctype]):
        what = f"one of {array.dtype}" if isinstance(array, numpy.ndarray) else type(array).__name__
        raise TypeError(f"{name} must be a NumPy array of {_DTYPES[ctype]}, not {what}")
    if array.size != need:
        raise ValueError(f"{name} must have {need} elements, not {array.size}")
    if not (array.flags.c_contiguous and array.flags.aligned):
        raise ValueError(f"{name} must be contiguous and aligned")


def shaped(name: str, array: Any, ctype: str, shape: tuple[int, ...]) -> None:
    """As `exactly`; the array has the shape, or one dimension."""
    exactly(name, array, ctype, math.prod(shape))
    if array.ndim != 1 and array.shape != shape:
        raise ValueError(f"{name} must have the shape {shape}, not {array.shape}")


def from_struct(ffi: Any, library: Any, lay: Layout, s: Struct, made: Any) -> dict[str, Any]:
    """The struct's extents, sizes and arrays; an array's memory goes when the last view of it does."""
    values: dict[str, Any] = {n: int(getattr(made, n)) for n in (*s.shape, *s.sizes)}
    need = lengths(lay, values)
    for a in s.arrays:
        values[a.name] = _view(ffi, library, getattr(made, a.name), a.type, need[a.name])
    return values


def _view(ffi: Any, library: Any, pointer: Any, ctype: str, count: int) -> numpy.ndarray[Any, Any]:
    import numpy

    dtype = numpy.dtype(_DTYPES[ctype])
    owner = ffi.gc(pointer, library.free)
    if not count:
        return numpy.empty(0, dtype)
    return numpy.frombuffer(ffi.buffer(owner, count * dtype.itemsize), dtype)


