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
from codegen.sparse.formats.load import load
from codegen.sparse.python.arrays import from_struct, to_struct
from codegen.sparse.python.build import declarations, load_library
from codegen.sparse.python.checks import ConversionError, check_rows, fields, refusal, types_of, whole
from codegen.sparse.synth.layout import layout
from codegen.sparse.synth.pair import POLICIES

__all__ = ["ConversionError", "Converter"]


MOST_THREADS = 1 << 20


class Converter:
    """One conversion, compiled. Calling it neither copies the given arrays nor the results.

    Everything that the source's format promises is checked in time linear in its arrays; with `check` False only names,
    sizes, types and lengths are, and arrays that break a promise lead to wrong results, or write where they must not.
    """

    def __init__(self, source: str, target: str, value: str = "f64", index: str = "32",
                 duplicates: str | None = None, optimize: bool = True, threads: int = 1,
                 check: bool = True) -> None:
        types = types_of(value, index)
        if duplicates is not None and duplicates not in POLICIES:
            raise ValueError(f"duplicates must be one of {', '.join(POLICIES)}, not {duplicates!r}")
        if whole("threads", threads) < 1 or threads > MOST_THREADS:
            raise ValueError(f"threads must be from 1 to {MOST_THREADS}, not {threads}")
        self.threads, self.check = threads, check
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
        who = self._source.desc.name
        values = fields(self._source, self._from, values, who)
        if self.check:
            check_rows(self._source.desc, values, who)
        src, keep = to_struct(self._ffi, self._source, self._from, values)
        dst = self._ffi.new(f"{self._to.type} *")
        status = self._run(src, dst)
        del keep
        if status:
            raise refusal(status, self._source, values, who)
        return from_struct(self._ffi, self._library, self._target, self._to, dst)

