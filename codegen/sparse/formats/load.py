"""Loads a format descriptor by its built-in name or from a file; InputError for unknown names. `sorted_rows` makes a
variant of CSR or CSC with sorted entries."""
from __future__ import annotations

import difflib
import os
from functools import cache

from codegen.diagnostics import InputError, Loc
from codegen.sparse.formats.builtin import FAMILIES, builtin_text
from codegen.sparse.formats.model import Descriptor
from codegen.sparse.formats.read import read


@cache
def load(name: str) -> Descriptor:
    """A built-in format, or the descriptor in a file (a path with a slash or a dot in it)."""
    if os.sep in name or "." in name or os.path.isfile(name):
        from codegen.source.write import read_source

        return read(name, read_source(name))
    text = builtin_text(name)
    if text is None:
        close = difflib.get_close_matches(name.upper(), FAMILIES, n=1)
        raise InputError("unknown-format", f"unknown format '{name}'", Loc("tilewright"),
                         f"did you mean '{close[0]}'?" if close else "see `tilewright sparse formats`")
    return read(f"<{name}>", text)


def sorted_rows(plain: Descriptor, outer: int) -> Descriptor:
    """Compressed rows (columns) whose entries ascend within each."""
    left, right = (f"LEX(dim{outer}({n}), dim{1 - outer}({n}))" for n in ("k1", "k2"))
    text = plain.text.replace(f"format {plain.name}", f"format SORTED_{plain.name}")
    promise = f"forall k1, k2 : k1 < k2 <=> dim{outer}(k1) <= dim{outer}(k2)"
    return read(f"<SORTED_{plain.name}>", text.replace(promise, f"forall k1, k2 : k1 < k2 <=> {left} <= {right}"))
