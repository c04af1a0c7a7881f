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
from codegen.sparse.python.arrays import from_struct, to_struct
from codegen.sparse.python.build import declarations, load_library
from codegen.sparse.synth.layout import layout

Job = tuple[str, str, str, bool]  # from, to, duplicates or "", optimised


class Batch:
    """Functions for a list of jobs; `run` calls one."""

    def __init__(self, jobs: list[Job], types: Types, flags: tuple[str, ...]) -> None:
        self.types = types
        self.names = {job: f"f{n}" for n, job in enumerate(jobs)}
        functions, structs, formats = [], {}, {}
        for (source, target, policy, fast), name in self.names.items():
            options = Options(types, policy or None, fast, name)
            functions.append(convert(load(source), load(target), options).function)
            for f in (source, target):
                formats[f] = load(f)
                structs[f] = struct(layout(load(f)), types)
        self.structs = structs
        file = c_file("tests", tuple(structs.values()), tuple(functions), types, "", key_functions(*formats.values()))
        declared = declarations(structs.values(), [f.prototype for f in functions])
        self.folder = tempfile.TemporaryDirectory()
        self.ffi, self.library = load_library(file.source, declared, flags, Path(self.folder.name))

    def run(self, job: Job, values: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """The status, and the result when it is 0."""
        source, target, *_ = job
        src, keep = to_struct(self.ffi, layout(load(source)), self.structs[source], values)
        dst = self.ffi.new(f"{self.structs[target].type} *")
        status = getattr(self.library, self.names[job])(src, dst)
        del keep
        if status:
            return status, {}
        return 0, from_struct(self.ffi, self.library, layout(load(target)), self.structs[target], dst)
