"""Reads variables for rows behind pointers, `float *const p_row0 = p[i];`, in the text of loops in vectors.

Such a variable means what it was set to, as long as the pointer stays: what the region stores is of another type, and
the subscripts of the row do not count along the loop. The pointer may be read there because the first part of the
block, which runs at least once, follows it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from codegen.ast.lowered import Enough, Lead
from codegen.scop.model import Scop
from codegen.target.vector.row_pointers import PERHAPS, row_type, rows_in, runs_at_once
from codegen.verify.loops.cursor import Cursor
from codegen.verify.loops.events import Event
from codegen.verify.text.read import Unread

_ROW = re.compile(r"([\w ]+ \*const) (\w+) = (.+);")


def read_rows(cursor: Cursor, scop: Scop, p: Enough, variable: str) -> tuple[str, ...]:
    """The names that are declared here for rows; the cursor knows them up to the end of the block."""
    found: list[str] = []
    while m := _ROW.fullmatch(cursor.next_statement()):
        kind, name, row = m.groups()
        array = rows_in(scop, f"{row}[").get(row)
        if array is None or kind != row_type(scop, array):
            raise Unread(f"`{row}` is no row behind a pointer")
        if re.search(rf"\b{variable}\b", row) or not runs_at_once(p):
            raise Unread(f"`{row}` is not one row for the whole loop")
        if any(a.elem.kind == "other" and _written(scop, a.name) for a in scop.arrays.values()):
            raise Unread("pointers are stored, and may be those of rows")
        cursor.take()
        cursor.declare_row(name, row)
        found.append(name)
    return tuple(found)


def _written(scop: Scop, name: str) -> bool:
    return any(a.array == name and a.write for s in scop.statements for a in s.accesses)


def check_followed(p: Enough, names: Collection[str], read: Sequence[Event]) -> None:
    """The first part, as it was read, follows every row that has a name."""
    depth, words = 0 if isinstance(p.then[0], Lead) else -1, set[str]()
    for e in read:
        depth += (e.kind in ("for", "if")) - (e.kind in ("/for", "/if"))
        if depth == 0 and e.kind == "stmt" and not PERHAPS.search(e.text):
            words |= set(re.findall(r"(\w+)\[", e.text))
    missing = [n for n in names if n not in words]
    if missing:
        raise Unread(f"`{missing[0]}` is read where it may not be followed")
