"""A C function as a Python callable: arguments are checked and handed over as they are, nothing is copied."""
from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

from pycparser import c_ast

from codegen.api.signature import Parameter, Signature, evaluate
from codegen.frontend.affine import c_text

_CTYPES = {"float32": "float", "float64": "double", "longdouble": "long double", "bool": "_Bool"}


def declaration(s: Signature) -> str:
    """The function for cffi; arrays are addresses."""
    words = ["void *" if p.array else _ctype(p.dtype) for p in s.parameters]
    return f"{_ctype(s.result) if s.result else 'void'} {s.name}({', '.join(words) or 'void'});"


def _ctype(dtype: str) -> str:
    return _CTYPES.get(dtype) or f"{dtype}_t"


class Function:
    """A function of a compiled module.

    All arguments in C's order, or by name. Integer parameters that are extents of arrays may be left out: they are
    read from the arrays' shapes. Arrays must have the declared element type and extents and lie in memory as C
    expects; they are passed without copying, and what the function writes is seen in them afterwards.
    """

    def __init__(self, s: Signature, ffi: Any, call: Any, may_overlap: bool) -> None:
        self.signature = s
        self.__name__ = s.name
        self.__doc__ = f"{s.text}\n\n{self.__class__.__doc__}"
        self._ffi, self._call, self._may_overlap = ffi, call, may_overlap
        self._sizes = _sizes(s)

    def __repr__(self) -> str:
        return f"<C function {self.signature.text}>"

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        s = self.signature
        if s.problem:
            raise TypeError(f"{s.name} cannot be called from Python: {s.problem}")
        values = self._bind(arguments, named)
        scalars = {p.name: self._scalar(p, values[p.name]) for p in s.parameters if not p.array}
        sizes = {**(s.enums or {}), **{n: v for n, v in scalars.items() if isinstance(v, int)}}
        for p in s.parameters:
            if p.array:
                _check(s.name, p, values[p.name], sizes)
        self._check_overlap(values)
        words = [self._address(values[p.name]) if p.array else scalars[p.name] for p in s.parameters]
        return self._call(*words)

    def _bind(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """Values by name; extents that are not given come from the arrays' shapes."""
        s = self.signature
        names = [p.name for p in s.parameters]
        if len(arguments) < len(names):
            short = [n for n in names if n not in self._sizes and n not in named]
            if len(arguments) == len(short):
                names = short
        if len(arguments) > len(names):
            raise TypeError(f"{s.name} takes {len(names)} arguments, not {len(arguments)}: {s.text}")
        values = dict(zip(names, arguments, strict=False))
        for name, value in named.items():
            if name in values or name not in {p.name for p in s.parameters}:
                why = "is given twice" if name in values else "is no parameter"
                raise TypeError(f"{s.name}: {name} {why}: {s.text}")
            values[name] = value
        for name, (array, axis) in self._sizes.items():
            shape = getattr(values.get(array), "shape", ())
            if name not in values and axis < len(shape):
                values[name] = int(shape[axis])
        missing = [p.name for p in s.parameters if p.name not in values]
        if missing:
            raise TypeError(f"{s.name} misses {', '.join(missing)}: {s.text}")
        return values

    def _scalar(self, p: Parameter, value: Any) -> Any:
        where = f"{self.signature.name}: {p.name}"
        if p.dtype.startswith("complex"):
            raise TypeError(f"{where} is a complex number, which cannot be passed by value")
        if p.dtype.startswith(("float", "longdouble")):
            try:
                number = float(value)
            except (TypeError, ValueError):
                raise TypeError(f"{where} must be a number, not {type(value).__name__}") from None
            return self._ffi.cast("long double", number) if p.dtype == "longdouble" else number
        try:
            whole = operator.index(value)
        except TypeError:
            raise TypeError(f"{where} must be an integer, not {type(value).__name__}") from None
        try:
            self._ffi.new(f"{_ctype(p.dtype)} *", whole)
        except OverflowError:
            raise OverflowError(f"{where} = {whole} does not fit `{p.text}`") from None
        return whole

    def _address(self, array: Any) -> Any:
        return self._ffi.cast("void *", array.ctypes.data)

    def _check_overlap(self, values: Mapping[str, Any]) -> None:
        """With assume_no_alias, generated code takes distinct names for distinct memory; here that can be seen."""
        if self._may_overlap:
            return
        arrays = [p for p in self.signature.parameters if p.array]
        spans = [(a := values[p.name].ctypes.data, a + values[p.name].nbytes) for p in arrays]
        for k, p in enumerate(arrays):
            for j, q in enumerate(arrays[:k]):
                apart = spans[k][1] <= spans[j][0] or spans[j][1] <= spans[k][0]
                if not apart and not (p.const and q.const):
                    raise ValueError(f"{self.signature.name}: {q.name} and {p.name} overlap in memory; "
                                     "copy one, or compile without assume_no_alias")


def _sizes(s: Signature) -> dict[str, tuple[str, int]]:
    """Integer parameters that are themselves an extent, and of which array's axis."""
    whole = {p.name for p in s.parameters if not p.array and p.dtype.startswith(("int", "uint"))}
    found: dict[str, tuple[str, int]] = {}
    for p in s.parameters:
        for axis, extent in enumerate(p.extents if p.array else ()):
            if isinstance(extent, c_ast.ID) and extent.name in whole:
                found.setdefault(extent.name, (p.name, axis))
    return found


def _check(function: str, p: Parameter, array: Any, sizes: Mapping[str, int]) -> None:
    """TypeError and ValueError when an array is not what the C parameter says."""
    import numpy

    where = f"{function}: {p.name}"
    if not isinstance(array, numpy.ndarray):
        raise TypeError(f"{where} must be a NumPy array of {p.dtype}, not {type(array).__name__}")
    if array.dtype != numpy.dtype(p.dtype) or not array.dtype.isnative:
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
    fits = array.ndim == len(wanted) and all(w in (None, n) for w, n in zip(wanted, array.shape, strict=True))
    if not fits:
        shape = ", ".join("any" if w is None else _said(e, w) for e, w in zip(p.extents, wanted, strict=True))
        raise ValueError(f"{where} must have the shape ({shape}) of `{p.text}`, not {array.shape}")


def _said(extent: c_ast.Node | None, value: int) -> str:
    text = c_text(extent) if extent is not None else ""
    return str(value) if text == str(value) else f"{text} = {value}"
