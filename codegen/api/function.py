"""A C function as a Python callable: arguments are checked and handed over as they are, nothing is copied."""
from __future__ import annotations

import inspect
import keyword
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pycparser import c_ast

from codegen.api.signature import Parameter, Signature, evaluate
from codegen.frontend.expressions.affine import c_text

_CTYPES = {"float32": "float", "float64": "double", "longdouble": "long double", "bool": "_Bool"}


def declaration(s: Signature) -> str:
    """The function for cffi; arrays are addresses."""
    words = ["void *" if p.array else _ctype(p.dtype) for p in s.parameters]
    return f"{_ctype(s.result) if s.result else 'void'} {s.name}({', '.join(words) or 'void'});"


def _ctype(dtype: str) -> str:
    return _CTYPES.get(dtype) or f"{dtype}_t"


class Function:
    """A function of a compiled module.

    All arguments in C's order, or by name: `in_` for a parameter `in`, and so on for Python's other keywords. Integer
    parameters that are extents of arrays may be left out: they are read from the arrays' shapes. Arrays must have the
    declared element type and extents and lie in memory as C expects; they are passed without copying, and what the
    function writes is seen in them afterwards.
    """

    def __init__(self, s: Signature, ffi: Any, call: Any, may_overlap: bool) -> None:
        self.signature = s
        self.__name__ = s.name
        self.__doc__ = f"{s.text}\n\n{inspect.cleandoc(self.__class__.__doc__ or '')}"
        self.__signature__ = python_signature(s)
        self._call = call
        self._sizes = _sizes(s)
        self._names = [p.name for p in s.parameters]
        self._spelled = {python: name for name, python in python_names(self._names).items()}
        self._short = [n for n in self._names if n not in self._sizes]
        self._scalars = [] if s.problem else [(p.name, _reader(s.name, p, ffi)) for p in s.parameters if not p.array]
        self._arrays = [] if s.problem else [(p.name, _checker(s.name, p)) for p in s.parameters if p.array]
        self._from_buffer, self._cast = ffi.from_buffer, ffi.cast
        # Arrays that the code takes for distinct memory, of each pair one that is written.
        arrays = [] if may_overlap or s.problem else [p for p in s.parameters if p.array]
        self._pairs = [(q.name, p.name) for k, p in enumerate(arrays) for q in arrays[:k] if p.written or q.written]
        self._apart = sorted({name for pair in self._pairs for name in pair})
        self._whole = {p.name for p in s.parameters if not p.array and p.dtype.startswith(("int", "uint"))}

    def __repr__(self) -> str:
        return f"<C function {self.signature.text}>"

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        s = self.signature
        if s.problem:
            raise TypeError(f"{s.name} cannot be called from Python: {s.problem}")
        values = self._bind(arguments, named)
        for name, read in self._scalars:
            values[name] = read(values[name])
        sizes = {n: values[n] for n in self._whole}
        if s.enums:
            sizes = {**s.enums, **sizes}
        for name, check in self._arrays:
            check(values[name], sizes)
        ends = {name: values[name].nbytes for name in self._apart}
        for name, _ in self._arrays:
            values[name] = self._from_buffer(values[name])
        if ends:
            self._check_overlap(values, ends)
        return self._call(*[values[n] for n in self._names])

    def _bind(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """Values by name; extents that are not given come from the arrays' shapes."""
        names = self._names
        if len(arguments) == len(names) and not named:
            return dict(zip(names, arguments, strict=True))
        if len(arguments) == len(self._short) and not named:
            values = dict(zip(self._short, arguments, strict=True))
            try:
                for name, (array, axis) in self._sizes.items():
                    values[name] = values[array].shape[axis]
                return values
            except (AttributeError, IndexError):  # no array, or one of fewer dimensions: told below
                pass
        s = self.signature
        twice = [c for n in named if (c := self._spelled.get(n, n)) != n and c in named]
        if twice:
            raise TypeError(f"{s.name}: {twice[0]} is given twice: {s.text}")
        named = {self._spelled.get(n, n): v for n, v in named.items()}
        if len(arguments) < len(names) and len(arguments) == sum(n not in named for n in self._short):
            names = [n for n in self._short if n not in named]
        if len(arguments) > len(names):
            raise TypeError(f"{s.name} takes {len(names)} arguments, not {len(arguments)}: {s.text}")
        values = dict(zip(names, arguments, strict=False))
        for name, value in named.items():
            if name in values or name not in self._names:
                why = "is given twice" if name in values else "is no parameter"
                raise TypeError(f"{s.name}: {name} {why}: {s.text}")
            values[name] = value
        for name, (array, axis) in self._sizes.items():
            shape = getattr(values.get(array), "shape", ())
            if name not in values and axis < len(shape):
                values[name] = int(shape[axis])
        missing = [n for n in self._names if n not in values]
        if missing:
            raise TypeError(f"{s.name} misses {', '.join(missing)}: {s.text}")
        return values

    def _check_overlap(self, values: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
        """With assume_no_alias, generated code takes distinct names for distinct memory; here that can be seen. Memory
        that is only read may be shared."""
        begin = {name: int(self._cast("uintptr_t", values[name])) for name in self._apart}
        for q, p in self._pairs:
            if begin[p] < begin[q] + sizes[q] and begin[q] < begin[p] + sizes[p]:
                raise ValueError(f"{self.signature.name}: {q} and {p} overlap in memory; "
                                 "copy one, or compile without assume_no_alias")


def python_signature(s: Signature) -> inspect.Signature:
    """For help() and editors: C's parameters in their order, arrays with element type and shape."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    names = python_names([p.name for p in s.parameters])
    given = [inspect.Parameter(names[p.name], kind, annotation=_annotation(p)) for p in s.parameters]
    result = {"": None, "bool": bool}.get(s.result, float if s.result.startswith(("float", "long")) else int)
    return inspect.Signature(given, return_annotation=result)


def python_names(names: Sequence[str]) -> dict[str, str]:
    """What parameters are called in Python, by their names in C: Python's keywords (`in`, `lambda`) get an underscore,
    or more where there is such a parameter already."""
    found = {n: n for n in names if not keyword.iskeyword(n)}
    for name in names:
        if name not in found:
            python = f"{name}_"
            while python in found:
                python += "_"
            found[name] = python
    return found


def _annotation(p: Parameter) -> Any:
    if p.array:
        shape = ", ".join("..." if e is None else c_text(e) for e in p.extents)
        return f"ndarray[{p.dtype}, ({shape})]"
    return float if p.dtype.startswith(("float", "long")) else bool if p.dtype == "bool" else int


def _sizes(s: Signature) -> dict[str, tuple[str, int]]:
    """Integer parameters that are themselves an extent, and of which array's axis."""
    whole = {p.name for p in s.parameters if not p.array and p.dtype.startswith(("int", "uint"))}
    found: dict[str, tuple[str, int]] = {}
    for p in s.parameters:
        for axis, extent in enumerate(p.extents if p.array else ()):
            if isinstance(extent, c_ast.ID) and extent.name in whole:
                found.setdefault(extent.name, (p.name, axis))
    return found


# -- arguments -------------------------------------------------------------------------------------


def _reader(function: str, p: Parameter, ffi: Any) -> Callable[[Any], Any]:
    """How a scalar is read; its checks are made ready once, because calls may be many and short."""
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
    low, high = _range(p.dtype)

    def whole(value: Any) -> Any:
        try:
            found = operator.index(value)
        except TypeError:
            raise TypeError(f"{where} must be an integer, not {type(value).__name__}") from None
        if not low <= found <= high:
            raise OverflowError(f"{where} = {found} does not fit `{p.text}`")
        return found

    return whole


def _range(dtype: str) -> tuple[int, int]:
    if dtype == "bool":
        return 0, 1
    bits = int(dtype.lstrip("uint"))
    return (0, (1 << bits) - 1) if dtype.startswith("u") else (-(1 << bits - 1), (1 << bits - 1) - 1)


def _checker(function: str, p: Parameter) -> Callable[[Any, Mapping[str, int]], None]:
    """TypeError and ValueError when an array is not what the C parameter says."""
    import numpy

    where, dtype = f"{function}: {p.name}", numpy.dtype(p.dtype)
    wanted, writes, flat, ndarray = _shape(p.extents), not p.const, p.flat, numpy.ndarray

    def check(array: Any, sizes: Mapping[str, int]) -> None:
        # What is right passes with few questions.
        plain = type(array) is ndarray and array.dtype is dtype and array.flags.carray
        if not plain or not (flat or array.shape == wanted(sizes)):
            complain(array, sizes)

    def complain(array: Any, sizes: Mapping[str, int]) -> None:
        if not isinstance(array, numpy.ndarray):
            raise TypeError(f"{where} must be a NumPy array of {p.dtype}, not {type(array).__name__}")
        if array.dtype is not dtype and (array.dtype != dtype or not array.dtype.isnative):
            raise TypeError(f"{where} must have elements of {p.dtype} (C: `{p.text}`), not {array.dtype}; "
                            f"use {p.name}.astype(numpy.{p.dtype}) if a copy will do")
        flags = array.flags
        if not flags.c_contiguous:
            raise ValueError(f"{where} must lie row by row without gaps; use numpy.ascontiguousarray({p.name})")
        if not flags.aligned:
            raise ValueError(f"{where} is not aligned to its elements")
        if writes and not flags.writeable:
            raise ValueError(f"{where} is read-only, and `{p.text}` is not const")
        if p.flat:
            return
        shape, need = array.shape, wanted(sizes)
        fits = len(shape) == len(need) and all(w in (None, n) for w, n in zip(need, shape, strict=True))
        if not fits:
            said = ", ".join("any" if w is None else _said(e, w) for e, w in zip(p.extents, need, strict=True))
            raise ValueError(f"{where} must have the shape ({said}) of `{p.text}`, not {shape}")

    return check


def _shape(extents: Sequence[c_ast.Node | None]) -> Callable[[Mapping[str, int]], tuple[int | None, ...]]:
    """Extents at the sizes of a call; None where C does not say. Mere names need no walk through expressions."""
    names = [e.name for e in extents if isinstance(e, c_ast.ID)]

    def evaluated(sizes: Mapping[str, int]) -> tuple[int | None, ...]:
        return tuple([evaluate(e, sizes) for e in extents])

    if not names or len(names) < len(extents):
        return evaluated
    only = names[0] if len(names) == 1 else ""
    several = operator.itemgetter(*names)

    def looked_up(sizes: Mapping[str, int]) -> tuple[int | None, ...]:
        try:
            return (sizes[only],) if only else several(sizes)
        except KeyError:  # a global
            return evaluated(sizes)

    return looked_up


def _said(extent: c_ast.Node | None, value: int) -> str:
    text = c_text(extent) if extent is not None else ""
    return str(value) if text == str(value) else f"{text} = {value}"
