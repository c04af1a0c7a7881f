"""Codes shared by Python and the generated C of the test harness: what a case is asked to do (tell sizes, fill, run,
...) and which values an element gets (real, signed, subscript, distinct, ...). `as_c` prints both as C enums."""

from __future__ import annotations

from enum import IntEnum


class Op(IntEnum):
    """What a case is asked to do."""

    TELL_SIZES = 0
    FILL = 1
    RUN = 2  # with the file's own variables set as the memory says
    RUN_AS_SET = 3  # with the file's own variables as they are
    SET_OWN = 4  # the file's own variables, and nothing else
    TELL_OWN = 5  # where they are


class Kind(IntEnum):
    """Which values an element takes."""

    OTHER = 0
    REAL = 1
    CHARACTER = 2
    SIGNED = 3
    UNSIGNED = 4
    BOOLEAN = 5
    COMPLEX = 6
    SUBSCRIPT = 7  # integers that are small and not negative
    DISTINCT = 8  # integers that all differ, each near its own place


def as_c() -> str:
    """Both as C, with names that begin with TW_OP_ and TW_KIND_."""
    parts = ((Op, "TW_OP_"), (Kind, "TW_KIND_"))
    return "\n".join(f"enum {{ {', '.join(f'{word}{x.name} = {x.value}' for x in e)} }};" for e, word in parts)
