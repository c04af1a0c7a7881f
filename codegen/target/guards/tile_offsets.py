"""Prints the declarations of tile offsets (directive `balance`): by how much the tiles of a loop begin ahead of it,
computed at run time by `tw_even_tiles` so that threads get equal parts; 0 without threads."""

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
