"""A C function as a Python callable: arguments are checked and handed over as they are, nothing is copied."""
from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Sequence
from typing import Any

from codegen.api.call import Callee, bind, caller
from codegen.api.signature import Parameter, Signature
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
        # Arrays that the code takes for distinct memory, of each pair one that is written.
        arrays = [] if may_overlap else [(k, p) for k, p in enumerate(s.parameters) if p.array]
        pairs = ((q, p) for k, p in enumerate(arrays) for q in arrays[:k] if p[1].written or q[1].written)
        self._callee = Callee(s, ffi, call, tuple((q, p) for (q, _), (p, _) in pairs))
        self._spelled = {python: name for name, python in python_names([p.name for p in s.parameters]).items()}
        self._callers: dict[tuple[Any, ...], Callable[..., Any]] = {}

    def __repr__(self) -> str:
        return f"<C function {self.signature.text}>"

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        form = (len(arguments), *named)
        caller = self._callers.get(form) or self._new_caller(form)
        return caller(*arguments, *named.values())

    def _new_caller(self, form: tuple[Any, ...]) -> Callable[..., Any]:
        s = self.signature
        if s.problem:
            raise TypeError(f"{s.name} cannot be called from Python: {s.problem}")
        made = self._callers[form] = caller(self._callee, bind(s, self._spelled, form[0], form[1:]))
        return made


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
