"""Checks one argument of a call from Python, a number or a NumPy array, against the type and extents that the C
function declares; raises TypeError, OverflowError or ValueError where it does not fit."""
from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from pycparser import c_ast

from codegen.api.signature import Parameter, evaluate
from codegen.frontend.expressions.affine import c_text


def is_whole(p: Parameter) -> bool:
    """Whether it is an integer, which extents of arrays may name."""
    return not p.array and p.dtype.startswith(("int", "uint"))


def int_range(dtype: str) -> tuple[int, int]:
    """The least and the greatest value of an integer type."""
    if dtype == "bool":
        return 0, 1
    bits = int(dtype.lstrip("uint"))
    return (0, (1 << bits) - 1) if dtype.startswith("u") else (-(1 << bits - 1), (1 << bits - 1) - 1)


def reader(function: str, p: Parameter, ffi: Any) -> Callable[[Any], Any]:
    """How a scalar is read: what is handed to C, or TypeError and OverflowError."""
    where = f"{function}: {p.name}"
    if p.dtype.startswith("complex"):

        def refuse(value: Any) -> Any:
            raise TypeError(f"{where} is a complex number, which cannot be passed by value")

        return refuse
    if p.dtype.startswith(("float", "longdouble")):

        def number(value: Any) -> Any:
            try:
                found = float(value)
            except (TypeError, ValueError):
                raise TypeError(f"{where} must be a number, not {type(value).__name__}") from None
            return ffi.cast("long double", found) if p.dtype == "longdouble" else found

        return number
    low, high = int_range(p.dtype)

    def whole(value: Any) -> Any:
        try:
            found = operator.index(value)
        except TypeError:
            raise TypeError(f"{where} must be an integer, not {type(value).__name__}") from None
        if not low <= found <= high:
            raise OverflowError(f"{where} = {found} does not fit `{p.text}`")
        return found

    return whole


def check_array(function: str, p: Parameter, array: Any, sizes: Mapping[str, int]) -> None:
    """TypeError and ValueError when an array is not what the C parameter says; `sizes` are the values of integers."""
    import numpy

    where, dtype = f"{function}: {p.name}", numpy.dtype(p.dtype)
    if not isinstance(array, numpy.ndarray):
        raise TypeError(f"{where} must be a NumPy array of {p.dtype}, not {type(array).__name__}")
    if array.dtype != dtype or not array.dtype.isnative:
        raise TypeError(f"{where} must have elements of {p.dtype} (C: `{p.text}`), not {array.dtype}; "
                        f"use {p.name}.astype(numpy.{p.dtype}) if a copy will do")
    if not array.flags.c_contiguous:
        raise ValueError(f"{where} must lie row by row without gaps; use numpy.ascontiguousarray({p.name})")
    if not array.flags.aligned:
        raise ValueError(f"{where} is not aligned to its elements")
    if not p.const and not array.flags.writeable:
        raise ValueError(f"{where} is read-only, and `{p.text}` is not const")
    if p.flat:
        return
    wanted = [evaluate(e, sizes) for e in p.extents]
    if len(array.shape) != len(wanted) or any(w not in (None, n) for w, n in zip(wanted, array.shape, strict=True)):
        said = ", ".join("any" if w is None else _said(e, w) for e, w in zip(p.extents, wanted, strict=True))
        raise ValueError(f"{where} must have the shape ({said}) of `{p.text}`, not {array.shape}")


def extent_of(function: str, p: Parameter, array: Any, axis: int) -> int:
    """The extent of an array that an integer parameter stands for."""
    shape = getattr(array, "shape", None)
    if not isinstance(shape, tuple):
        raise TypeError(f"{function}: {p.name} must be a NumPy array of {p.dtype}, not {type(array).__name__}")
    if axis >= len(shape):
        declared = f"{len(p.extents)} dimensions (C: `{p.text}`)"
        raise ValueError(f"{function}: {p.name} must have {declared}, not {len(shape)}")
    return int(shape[axis])


def _said(extent: c_ast.Node | None, value: int) -> str:
    text = c_text(extent) if extent is not None else ""
    return str(value) if text == str(value) else f"{text} = {value}"
