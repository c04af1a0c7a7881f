"""`Converter`: compiles the conversion between two formats and calls it from Python on NumPy arrays; raises
ConversionError where the C function gives up.

    from codegen.sparse.python.call import Converter

    to_csr = Converter("COO", "CSR")
    a = to_csr(NR=4, NC=4, NNZ=len(row), row=row, col=col, val=val)
    a["rowptr"], a["col"], a["val"]
"""
from __future__ import annotations

from typing import Any

from codegen.sparse.api import Options, convert
from codegen.sparse.emit.formats import struct
from codegen.sparse.emit.types import Types
from codegen.sparse.formats.load import load
from codegen.sparse.python.arrays import from_struct, to_struct
from codegen.sparse.python.build import declarations, load_library
from codegen.sparse.synth.layout import layout

_STATUS = {1: "no memory", 2: "an index is out of range", 3: "the input is not sorted as its format promises",
           4: "two entries have the same coordinates", 5: "the system is singular"}


class ConversionError(Exception):
    """The generated function gave up; `status` is what it returned."""

    def __init__(self, status: int) -> None:
        super().__init__(_STATUS.get(status, f"status {status}"))
        self.status = status


class Converter:
    """One conversion, compiled. Calling it neither copies the given arrays nor the results."""

    def __init__(self, source: str, target: str, value: str = "f64", index: str = "32",
                 duplicates: str | None = None, optimize: bool = True, threads: int = 1,
                 check: bool = False) -> None:
        types = Types(value, index)
        self.threads = threads
        options = Options(types, duplicates, optimize, "tw_convert", threads > 1, check)
        made = convert(load(source), load(target), options)
        self._source, self._target = layout(load(source)), layout(load(target))
        self._from, self._to = struct(self._source, types), struct(self._target, types)
        declared = declarations((self._from, self._to), [f.prototype for f in made.functions])
        self._ffi, self._library = load_library(made.file.source, declared, ("-fopenmp",) if threads > 1 else ())

    def _run(self, src: Any, dst: Any) -> int:
        if self.threads > 1:
            return int(self._library.tw_convert_omp(src, dst, self.threads))
        return int(self._library.tw_convert(src, dst))

    def __call__(self, **values: Any) -> dict[str, Any]:
        """Extents, sizes and arrays under the names of the source's descriptor; the result likewise."""
        src, keep = to_struct(self._ffi, self._source, self._from, values)
        dst = self._ffi.new(f"{self._to.type} *")
        status = self._run(src, dst)
        del keep
        if status:
            raise ConversionError(status)
        return from_struct(self._ffi, self._library, self._target, self._to, dst)

