"""Compiles generated C to a shared library, once for each text, kept in the user's cache, and loads it with cffi."""
from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from codegen import library
from codegen.sparse.emit.formats import Struct

FLAGS = ("-std=c11", "-O3", "-fPIC", "-shared")


def declarations(structs: Iterable[Struct], prototypes: Iterable[str]) -> str:
    """What cffi must know."""
    out = ["void free(void *);"]
    for s in {s.type: s for s in structs}.values():
        fields = [f"int64_t {n};" for n in (*s.shape, *s.sizes)] + [f"{a.type} *{a.name};" for a in s.arrays]
        out.append(f"typedef struct {{ {' '.join(fields)} }} {s.type};")
    return "\n".join([*out, *(f"{re.sub(r'restrict ', '', p)};" for p in prototypes)])


def build(source: str, flags: Iterable[str] = (), cache: Path | None = None) -> Path:
    """The shared library of a source text."""
    return library.build(source, [*library.compiler(), *FLAGS, *flags], cache=cache)


def load_library(source: str, declared: str, flags: Iterable[str] = (), cache: Path | None = None) -> tuple[Any, Any]:
    """(ffi, library)."""
    return library.load(build(source, flags, cache), declared)
