"""Proof that the tiles of a mesh product cover its target: which tile each core has in each turn."""

from __future__ import annotations

from typing import NamedTuple

from codegen.verify.cores.mesh.names import MeshScope, check_least, statements
from codegen.verify.cores.mesh.sizes import MeshSizes
from codegen.verify.poly import Poly, var
from codegen.verify.text.facts import Facts
from codegen.verify.text.read import NOTHING, Node, Unread


class CountedLoop(NamedTuple):
    """A loop that counts up by one, and may turn a switch over each time."""

    name: str
    first: Node
    past: Poly
    end: Node  # `past` as it is printed
    switch: str
    body: list[Node]


def counted(sc: MeshScope, s: Node, switches: frozenset[str] = frozenset()) -> CountedLoop:
    """Reads the head of a loop. It turns one of the switches over, where there are any."""
    first, cond, step, inside = s.kids if s.kind == "for" else (NOTHING,) * 4
    if first.kind != "declare" or first.kids[0].text != "long" or cond.kind != "binary":
        raise Unread("turns or steps are counted in another way")
    name = first.text
    parts = step.kids if step.kind == "comma" else (step,)
    over = Node("number", "1")
    turned = [e.kids[0].text for e in parts if e.kind == "assign" and e.text == "^=" and e.kids[1] == over]
    if len(parts) != 1 + len(turned) or parts[0] != Node("after", "++", (Node("name", name),)):
        raise Unread(f"the loop over `{name}` goes on in another way")
    if len(turned) != min(1, len(switches)) or not switches.issuperset(turned):
        raise Unread(f"the loop over `{name}` turns other switches over")
    if cond.kids[0] != Node("name", name) or cond.text != "<":
        raise Unread(f"the loop over `{name}` ends elsewhere")
    return CountedLoop(name, first.kids[2], sc.value(cond.kids[1]), cond.kids[1], "".join(turned), statements(inside))


class CoreTiles(NamedTuple):
    """How turns and cores share the target."""

    across: Poly
    number: Poly

    def origin(self, x: MeshSizes, f: Facts, t: Poly) -> tuple[Poly, Poly]:
        """The first row and column of a core's tile in a turn."""
        q, (rows, columns, _), shape = f.quotient(t, self.across), x.spans, x.shape
        down = q * x.words.rows + var(x.words.row)
        along = (t - self.across * q) * x.words.columns + var(x.words.column)
        return rows.first + down * shape.tall, columns.first + along * shape.wide

    def sides(self, x: MeshSizes, f: Facts, t: Poly) -> tuple[Poly, Poly]:
        """Rows and columns that there are of it."""
        (rows, columns, _), (row, column) = x.spans, self.origin(x, f, t)
        return f.minimum(x.shape.tall, rows.past - row), f.minimum(x.shape.wide, columns.past - column)

    def check(self, x: MeshSizes, f: Facts) -> None:
        """All rows and columns are in tiles: turns take columns of tiles one after the other, then rows."""
        across, (rows, columns, _), w = self.across, x.spans, x.words
        down = self.number.over(across) if len(across.terms) == 1 else None
        if down is None:
            raise Unread("turns that are no whole rows of tiles")
        check_least(f, "rows of tiles", across - 1, down)
        check_least(f, "columns that are in no tile",
                    across * x.shape.wide * w.columns - (columns.past - columns.first))  # fmt: skip
        check_least(f, "rows that are in no tile", down * x.shape.tall * w.rows - (rows.past - rows.first))
