"""Sorting steps of the sparse IR: lists, records by key words, segments."""
from __future__ import annotations

from codegen.record import record
from codegen.sparse.algebra.expr import Exp
from codegen.sparse.ir.nest import Nest


@record
class SortList:
    """Sort an ordered list, without its repeats when `unique`; `name` is how many it then has.

    `free`: the last so many words do not count for the order; keys that differ only there come as they were inserted.
    """

    list: str
    unique: bool
    name: str = ""
    free: int = 0


@record
class NewList:
    """An empty list for keys of these words."""

    list: str
    words: tuple[Exp, ...]


@record
class Word:
    """One word of a sort key: an expression with its bounds, or MORTON or a user's key of expressions."""

    value: Exp
    low: Exp
    high: Exp
    down: bool = False


@record
class Radix:
    """Entries of a nest into arrays sorted by words, first word first; equal keys keep their order.

    `arrays`: one for each coordinate; `values` gets the values. `count` is how many entries there are.
    """

    nest: Nest
    words: tuple[Word, ...]
    coords: tuple[Exp, ...]
    extents: tuple[Exp, ...]
    value: Exp
    arrays: tuple[str, ...]
    values: str
    count: Exp
    note: str
    position: Exp | None = None


@record
class SortSegments:
    """Sort array(ptr(x)) .. array(ptr(x + 1) - 1) for every x below size."""

    array: str
    ptr: str
    size: Exp
