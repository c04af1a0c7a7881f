"""Generated C as a loaded library: compiled once for each text and kept in the user's cache."""
from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from codegen.diagnostics import InputError, Loc
from codegen.sparse.emit.formats import Struct

FLAGS = ("-std=c11", "-O3", "-fPIC", "-shared")


def declarations(structs: Iterable[Struct], prototypes: Iterable[str]) -> str:
    """What cffi must know."""
    out = ["void free(void *);"]
    for s in {s.type: s for s in structs}.values():
        fields = [f"int64_t {n};" for n in (*s.shape, *s.sizes)] + [f"{a.type} *{a.name};" for a in s.arrays]
        out.append(f"typedef struct {{ {' '.join(fields)} }} {s.type};")
    return "\n".join([*out, *(f"{re.sub(r'restrict ', '', p)};" for p in prototypes)])


def compiler() -> list[str]:
    named = shlex.split(os.environ.get("CC", ""))
    return named or [next((c for c in ("cc", "gcc", "clang") if shutil.which(c)), "cc")]


def build(source: str, flags: Iterable[str] = (), cache: Path | None = None) -> Path:
    """The shared library of a source text."""
    words = [*compiler(), *FLAGS, *flags]
    folder = cache or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tilewright"
    name = hashlib.sha256("\0".join([source, *words]).encode()).hexdigest()[:24]
    library = folder / f"{name}.so"
    if not library.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            code = Path(scratch) / "code.c"
            code.write_text(source, encoding="utf-8")
            made = Path(scratch) / "code.so"
            command = [*words, str(code), "-o", str(made), "-lm"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise InputError("cannot-compile", f"the C compiler failed: {done.stderr.strip()[:2000]}",
                                 Loc("tilewright"), "set CC to a C11 compiler")
            os.replace(made, library)
    return library


def load_library(source: str, declared: str, flags: Iterable[str] = (), cache: Path | None = None) -> tuple[Any, Any]:
    """(ffi, library)."""
    from cffi import FFI  # type: ignore[import-untyped]

    ffi = FFI()
    ffi.cdef(declared)
    # Never unloaded: OpenMP's idle threads live in a library of this one's, and would be left without their code.
    stay = ffi.RTLD_NOW | getattr(ffi, "RTLD_NODELETE", 0)
    return ffi, ffi.dlopen(str(build(source, flags, cache)), stay)
