"""The `Edit` record: one replacement in a text, by offsets. Whoever makes edits also applies them (cxx/body.py,
gpu/resident/)."""

from __future__ import annotations

from codegen.record import record


@record
class Edit:
    """text[begin:end] becomes `new`."""

    begin: int
    end: int
    new: str
