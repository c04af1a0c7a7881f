"""Proof of the double-buffered target of a mesh product: rows of the tile before are stored, and of the tile after
fetched, while another one is computed.

The tile before goes from the copy that is not worked on, and the one after comes to it. Each part has its step; rows
come to where others were after those have gone.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.verify.cores.mesh.names import MeshScope, check_least, check_zero, conjuncts, statements
from codegen.verify.cores.mesh.sizes import MeshSizes
from codegen.verify.cores.mesh.tiles import CoreTiles
from codegen.verify.cores.mesh.transfers import MatrixMove, check_rows, check_wait, is_set, move_of, word_of
from codegen.verify.text.integers import IntegerCondition
from codegen.verify.text.lanes import show
from codegen.verify.text.poly import ZERO, Poly, var
from codegen.verify.text.read import NOTHING, Node, Unread, nodes


class TargetRows:
    """`names` are those of turns and steps, `region` and `switch` those of the target's two copies."""

    def __init__(self, x: MeshSizes, tiles: CoreTiles, names: tuple[str, str], region: str, switch: str) -> None:
        self.x, self.f, self.tiles, self.names = x, x.scope.facts, tiles, names
        self.t, self.target, self.switch = var(names[0]), region, switch
        self.got = self.put = self.coming = self.gone = ""  # reply words, and counts of commands
        self.part = ZERO  # rows that come or go at once
        self.waits: list[Node] = []  # for rows that went before
        self.parts: list[tuple[Poly, Poly]] = []  # steps before the first part, and between parts

    def read(self, s: Node, sc: MeshScope, go: bool, steps: Poly) -> None:
        """A part of a tile goes or comes: of the one before, or of the one after."""
        turn = self.t - 1 if go else self.t + 1
        between, index, sc = self._when(s.kids[0], sc, turn, steps)
        body = statements(s.kids[1])
        while body and body[0].kind == "declare":
            sc = sc.declared(body.pop(0))
        if len(body) != 2 or body[1].kind != "if" or body[1].kids[2] != NOTHING:
            raise Unread("something else happens where rows come or go")
        test, inner = body[1].kids[0], statements(body[1].kids[1])
        at = [k for k, one in enumerate(inner) if one.kind == "do" and _commands(one)]
        if len(at) != 1:
            raise Unread("several commands where rows come or go")
        m = move_of(self.x, sc, inner[at[0]])
        rows, columns = self._part(sc, m, turn, index)
        if not sc.whenever(sc.cond(test), (rows - 1, columns - 1)):
            raise Unread("rows come or go by a test of another kind")
        self._protocol(body[0], inner, at[0], m, go)
        if go:
            self._narrow(sc, inner[0], m, rows, columns)
        self.parts.append((between[0], between[1]))
        self._check_parts(between, steps)

    def _when(self, cond: Node, sc: MeshScope, turn: Poly, steps: Poly) -> tuple[tuple[Poly, Poly], Poly, MeshScope]:
        """In which steps: so many before the first, and so many from one to the next."""
        q, parts = var(self.names[1]), conjuncts(cond)
        regular = [e for e in parts if e.kind == "binary" and e.text == "==" and e.kids[1] == Node("number", "0")
                   and e.kids[0].kind == "binary" and e.kids[0].text == "%"]  # fmt: skip
        if len(regular) != 1:
            raise Unread("rows come or go in irregular steps")
        others = [sc.cond(e) for e in parts if e is not regular[0]]
        some = [w for c in others for w in (c.args or (c,))]
        there = sc.given(*(c.value for c in some))
        far, every = (there.value(k) for k in regular[0].kids[0].kids)
        first = q - far
        if self.f.mentions(first, (self.names[1],)) or self.f.mentions(every, (self.names[1],)):
            raise Unread("rows come or go in irregular steps")
        check_least(self.f, "steps between rows that come or go", every - 1, first)
        if not sc.whenever(IntegerCondition("and", tuple(others)), (turn, self.tiles.number - 1 - turn, far)):
            raise Unread("rows come or go in other turns or steps")
        return (first, every), there.facts.quotient(far, every), there

    def _part(self, sc: MeshScope, m: MatrixMove, turn: Poly, index: Poly) -> tuple[Poly, Poly]:
        """The rows that a command moves are part `index` of the tile. Gives how many rows and columns."""
        x, f = self.x, sc.facts
        if (m.local.region, m.local.copy) != (self.target, show(_other(self.switch))):
            raise Unread("rows come to or go from the copy that is worked on")
        at = m.local.offset.over(x.shape.wide) if len(x.shape.wide.terms) == 1 else None
        part = at.over(index) if at is not None and len(index.terms) == 1 else None
        if at is None or part is None:
            raise Unread("parts of a tile lie in irregular places")
        self._same_part(part)
        (row, column), (tall, wide) = self.tiles.origin(x, f, turn), self.tiles.sides(x, f, turn)
        if m.outside.array != x.p.target.array:
            raise Unread(f"rows of `{m.outside.array}` in place of the target's")
        check_zero(f, "the first row that comes or goes", m.row, row + at + x.p.target.shift[0])
        check_zero(f, "the first column that comes or goes", m.column, column + x.p.target.shift[1])
        rows = f.minimum(part, tall - at)
        check_rows(sc, m, rows, wide)
        return rows, wide

    def _same_part(self, part: Poly) -> None:
        if self.part not in (ZERO, part):
            raise Unread("other parts of a tile come than go")
        self.part = part

    def _protocol(self, wait: Node, inner: Sequence[Node], at: int, m: MatrixMove, go: bool) -> None:
        """The last rows that went are gone before the next ones follow, and before others come to their place."""
        if m.reply not in self.x.replies:
            raise Unread(f"nobody knows when `{m.name}` has been moved")
        if go:
            self.put = m.reply
            reset, told = inner[at - 1], inner[at + 1] if len(inner) == at + 2 else NOTHING
            count = told.kids[0].kids[0].text if told.kind == "do" and told.kids[0].kind == "assign" else ""
            if at != 2 or not is_set(reset, m.reply, "0") or not is_set(told, count, "1"):
                raise Unread("rows go without a count")
            self.gone = self.gone or count
            known = self.gone == count
        else:
            self.got = m.reply
            told = inner[1] if len(inner) == 2 and at == 0 else NOTHING
            up = told.kids[0] if told.kind == "do" else NOTHING
            if up.kind != "after" or up.text != "++":
                raise Unread("rows come without a count")
            self.coming = up.kids[0].text
            word = wait.kids[0].kids[1].text if wait.kind == "do" and len(wait.kids[0].kids) == 2 else ""
            self.gone = self.gone or word
            known = self.gone == word
        self.put = self.put or _replied(wait)
        zero = self.x.kernel._nought
        if not known or not {self.gone, self.put} <= zero or (not go and not {self.got, self.coming} <= zero):
            raise Unread("rows come or go by counts that do not begin with 0")
        self.waits.append(wait)
        check_wait(self.x, wait, self.put, Node("name", self.gone))

    def _narrow(self, sc: MeshScope, s: Node, m: MatrixMove, rows: Poly, columns: Poly) -> None:
        e = s.kids[0] if s.kind == "do" else NOTHING
        if e.kind != "call" or e.text != "tw_narrow" or len(e.kids) != 4 or self.x.place(sc, e.kids[0]) != m.local:
            raise Unread("rows that go are not brought together")
        for k, want in zip(e.kids[1:], (rows, columns, self.x.shape.wide), strict=True):
            check_zero(sc.facts, "what is brought together of rows", sc.value(k), want)

    def _check_parts(self, between: tuple[Poly, Poly], steps: Poly) -> None:
        """All parts of a tile have their step: there are steps for as many as its rows are."""
        first, every = between
        (name,) = self.part.names if len(self.part.names) == 1 else ("",)
        d = self.f.defined.get(name)
        if d is None or d.op != "div" or self.part != var(name):
            raise Unread("parts of a tile of which nobody knows how many there are")
        # A part that holds a row has a number below this: so many parts are at least as long as the tile.
        count = d.args[1]
        check_least(self.f, "rows that are in no part", self.part * count - self.x.shape.tall)
        check_least(self.f, "rows for which there is no step", steps - 1 - first - (count - 1) * every)

    def check_apart(self) -> None:
        """Rows come to a part of the copy after those before them have gone."""
        for wait in self.waits:
            check_wait(self.x, wait, self.put, Node("name", self.gone))
        if self.got:
            (_, every), (first, other) = sorted(self.parts, key=lambda x: x[0] != ZERO)
            check_least(self.f, "rows come where others have not gone", first - 1)
            check_zero(self.f, "steps between rows that come", other, every)


def _commands(s: Node) -> bool:
    return any(n.kind == "call" and n.text.startswith("athread_") and "wait" not in n.text for n in nodes(s))


def _other(switch: str) -> Node:
    """The copy that is not worked on."""
    return Node("binary", "^", (Node("name", switch), Node("number", "1")))


def _replied(wait: Node) -> str:
    e = wait.kids[0] if wait.kind == "do" else NOTHING
    return word_of(e.kids[0]) if e.kind == "call" and len(e.kids) == 2 else ""
