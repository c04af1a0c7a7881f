"""Numbers that loops are counted from, so that threads get equal parts: chosen when the region is entered."""

from __future__ import annotations

from collections.abc import Set

from codegen.scop.model import Scop
from codegen.target.view import View


def first_numbers(scop: Scop, threads: bool, words: Set[str]) -> tuple[View, ...]:
    """Declarations of those that are among the words. One thread takes all: it counts from 0."""
    return tuple(
        View("decl", f"const long {f.param} = {f'tw_count_from({f.length}, {f.size})' if threads else '0'};")
        for f in scop.firsts
        if f.param in words
    )
