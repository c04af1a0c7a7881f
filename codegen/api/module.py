"""`codegen.compile`: transforms a C file, compiles it into a shared library and loads it; returns a `Module` whose
attributes are the functions with marked regions, as callables on NumPy arrays."""
from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codegen import library
from codegen.api.function import Function, declaration
from codegen.api.generate import run
from codegen.api.options import Input, read
from codegen.api.result import Result
from codegen.api.signature import Signature, signature
from codegen.diagnostics import InputError, Loc, Unsupported
from codegen.source.language import CXX, language_of
from codegen.source.parse import parse_with_gaps
from codegen.source_file import open_source
from codegen.targets.registry import host_names, target_named

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from codegen.api.options import Options, Source
    from codegen.targets.base import Target


class Module:
    """A compiled file: every function with a marked region is an attribute.

    Attributes
    ----------
    result : Result
        What the generator did, with plan and messages.
    path : Path
        The shared library; it stays loaded until the process ends.
    ffi, lib
        cffi's view of it, for what is not wrapped.
    """

    def __init__(self, result: Result, path: Path, ffi: Any, lib: Any, functions: Mapping[str, Function]) -> None:
        self.result, self.path, self.ffi, self.lib = result, path, ffi, lib
        self._functions = dict(functions)
        # As plain attributes they are found at once; what the class has itself keeps its name.
        self.__dict__.update({n: f for n, f in functions.items() if n not in self.__dict__ and not hasattr(Module, n)})

    def __getattr__(self, name: str) -> Function:
        known = ", ".join(self.__dict__.get("_functions", {})) or "none"
        raise AttributeError(f"no function '{name}' with a region in this module; there are: {known}")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._functions})

    def __repr__(self) -> str:
        return f"<Module of {self.result.source.name}: {', '.join(self._functions)}>"

    def functions(self) -> dict[str, Function]:
        """All functions with a region, by name."""
        return dict(self._functions)

    def set_threads(self, count: int) -> None:
        """How many OpenMP threads the functions use when they are called from this thread of Python."""
        with suppress(AttributeError):  # a library without OpenMP runs on one
            self.lib.omp_set_num_threads(count)

    def _repr_html_(self) -> str:
        return self.result._repr_html_()


def compile(
    source: Source, *, transform: bool = True, cc: str = "", cflags: Sequence[str] = ("-O3",),
    cache: str | os.PathLike[str] | None = None, **options: Unpack[Options],
) -> Module:
    """Generate, compile and load; the functions with marked loops become callables on NumPy arrays.

    Parameters
    ----------
    source : str or path
        The name of a file, or C text: any string with a line break in it.
    transform : bool
        False compiles the file as it is, to compare with.
    cc, cflags : str, sequence of str
        The compiler ($CC, cc, gcc or clang if empty) and its flags.
    cache : path, optional
        The folder of shared libraries; one is compiled once for each text, command and set of headers.
    **options
        Those of `generate`. The code runs here, so the machine is `native` unless named.

    Returns
    -------
    Module
        With a `Function` for each C function that has a region.

    Examples
    --------
    >>> module = compile("gemm.c")
    >>> module.gemm(n, 1.0, 0.0, A, B, C)
    """
    if find_spec("numpy") is None:
        raise ImportError("tilewright.compile needs NumPy: pip install 'tilewright[notebook]', or numpy alone")
    given = read(source, {"machine": "native", **options})
    target = _runnable_target(given)
    found = signatures(given)
    if not found:
        raise InputError("no-region", "there is no function with `#pragma scop` in this file", Loc(given.name))
    result = run(given)
    words = [*library.compiler(cc), "-std=gnu11", "-fPIC", "-shared", *(["-fopenmp"] if target.threads else []),
             *_native(given), *given.options.cpp.args, "-iquote", os.path.dirname(given.name) or ".", *cflags]
    text = result.text if transform else given.text
    path = library.build(text, words, result.deps, Path(cache) if cache else None)
    callable_ = [s for s in found if not s.problem]
    extra = ["void omp_set_num_threads(int);"] if target.threads else []
    ffi, lib = library.load(path, "\n".join([*map(declaration, callable_), *extra]))
    apart = transform and any(r.transformed for r in result.regions) and given.options.assume_no_alias
    functions = {s.name: Function(s, ffi, None if s.problem else getattr(lib, s.name), not apart) for s in found}
    return Module(result, path, ffi, lib, functions)


def _runnable_target(given: Input) -> Target:
    """The target, where its results can be called from Python. Raises InputError."""
    target = target_named(given.options.target)
    if not target.runs_here:
        message = f"results for {target.name} do not run on this machine"
        raise InputError("bad-target", message, Loc("target"), f"use {' or '.join(reversed(host_names()))}")
    if language_of(given.name, given.options.cpp.language) is CXX:
        message = "functions of C++ files are not called from Python: what their symbols are is the compiler's affair"
        raise InputError("bad-target", message, Loc(given.name), "put them into a C file")
    return target


def _native(given: Input) -> list[str]:
    if given.options.machine != "native":
        return []
    return ["-mcpu=native" if platform.machine() in ("aarch64", "arm64") else "-march=native"]


def signatures(given: Input) -> tuple[Signature, ...]:
    """The functions with regions, in the file's order, each once."""
    found: dict[str, Signature] = {}
    for s in open_source(given.name, given.text, given.options).slices:
        if s.function and s.function not in found:
            try:
                found[s.function] = signature(parse_with_gaps(s).ast, s.function)
            except Unsupported as error:
                found[s.function] = Signature(s.function, s.function, problem=error.message)
    return tuple(found.values())
