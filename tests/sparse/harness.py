"""Many conversions in one C file, compiled once and called from Python."""
from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from codegen.sparse.api import Options, convert, key_functions
from codegen.sparse.emit.file import c_file
from codegen.sparse.emit.formats import struct
from codegen.sparse.emit.types import Types
from codegen.sparse.formats.load import load
from codegen.sparse.indirect import formats_inside
from codegen.sparse.python.arrays import from_struct, to_struct
from codegen.sparse.python.build import declarations, load_library
from codegen.sparse.synth.layout import layout

Job = tuple[str, str, str, bool]  # from, to, duplicates or "", optimised


class Batch:
    """Functions for a list of jobs; `run` calls one."""

    def __init__(self, jobs: list[Job], types: Types, flags: tuple[str, ...], threads: int = 1) -> None:
        self.types, self.threads = types, threads
        flags = (*flags, "-fopenmp") if threads > 1 else flags
        self.names = {job: f"f{n}" for n, job in enumerate(jobs)}
        functions, structs, formats, inside = [], {}, {}, {}
        for (source, target, policy, fast), name in self.names.items():
            options = Options(types, policy or None, fast, name, threads > 1)
            made = convert(load(source), load(target), options)
            functions += [*made.parts, *made.functions]
            inside |= {d.name: struct(layout(d), types) for d in formats_inside() if made.parts}
            for f in (source, target):
                formats[f] = load(f)
                structs[f] = struct(layout(load(f)), types)
        self.structs = structs
        known = {s.type: s for s in (*inside.values(), *structs.values())}
        file = c_file("tests", tuple(known.values()), tuple(functions), types, "", key_functions(*formats.values()))
        called = [f.prototype for f in functions if not f.prototype.startswith("static")]
        declared = declarations(structs.values(), called)
        self.folder = tempfile.TemporaryDirectory()
        self.ffi, self.library = load_library(file.source, declared, flags, Path(self.folder.name))

    def run(self, job: Job, values: dict[str, Any], threads: int = 0) -> tuple[int, dict[str, Any]]:
        """The status, and the result when it is 0; `threads`: with the function for several of them."""
        source, target, *_ = job
        src, keep = to_struct(self.ffi, layout(load(source)), self.structs[source], values)
        dst = self.ffi.new(f"{self.structs[target].type} *")
        name = self.names[job]
        call = getattr(self.library, f"{name}_omp" if threads else name)
        status = call(src, dst, threads) if threads else call(src, dst)
        del keep
        if status:
            return status, {}
        return 0, from_struct(self.ffi, self.library, layout(load(target)), self.structs[target], dst)
