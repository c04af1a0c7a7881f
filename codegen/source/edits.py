"""Replacements in a text, by offsets."""

from __future__ import annotations

from codegen.record import record


@record
class Edit:
    """text[begin:end] becomes `new`."""

    begin: int
    end: int
    new: str
