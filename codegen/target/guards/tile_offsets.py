"""Offsets of the first tile (directive `balance`), computed at run time so that threads get equal parts."""

from __future__ import annotations

from collections.abc import Set

from codegen.scop.model import Scop
from codegen.target.text.pieces import View


def ahead_numbers(scop: Scop, threads: bool, words: Set[str]) -> tuple[View, ...]:
    """Declarations of those that are among the words. One thread takes all: 0."""
    return tuple(
        View("decl", f"const long {x.param} = {f'tw_even_tiles({x.length}, {x.size})' if threads else '0'};")
        for x in scop.aheads
        if x.param in words
    )
