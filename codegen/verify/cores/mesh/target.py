"""Proof, in the text of a mesh product on Sunway cores, of the transfers of its target matrix C (`TargetTile`): every
core fetches and stores all of its tile, waits for the tile before to be stored, and spreads or packs the tile's rows
in local memory. Raises Unread where the text differs."""

from __future__ import annotations

from codegen.verify.cores.mesh.names import LocalPlace, MeshScope, check_zero, statements
from codegen.verify.cores.mesh.sizes import MeshSizes
from codegen.verify.cores.mesh.tiles import CoreTiles
from codegen.verify.cores.mesh.transfers import MatrixMove, check_rows, check_wait, is_set, move_of
from codegen.verify.poly import ZERO, Poly
from codegen.verify.text.read import NOTHING, Node, Unread, nodes


class TargetTile:
    """`view` is the name of the tile's rows, `region` that of its place in local memory, `t` the turn."""

    def __init__(self, x: MeshSizes, tiles: CoreTiles, view: str, region: str, t: Poly) -> None:
        self.x, self.tiles, self.view, self.region, self.t = x, tiles, view, region, t
        self.put = self.gone = ""  # the word that counts what has gone, and what it is then
        self.fetches = False

    def goes(self, left: list[Node], sc: MeshScope) -> None:
        """The last statement of a turn brings the tile to main memory."""
        s = left.pop() if left else NOTHING
        inner = self._where_there_is_one(s, sc)
        if len(inner) != 4:
            raise Unread("something else happens where the tile goes")
        m = self._whole(sc, inner[2], True)
        self._moved(sc, inner[0], "tw_narrow")
        told = inner[3].kids[0] if inner[3].kind == "do" else NOTHING
        self.put, self.gone = m.reply, told.kids[0].text if told.kind == "assign" else ""
        if not is_set(inner[1], self.put, "0") or not is_set(inner[3], self.gone, "1"):
            raise Unread("the tile goes without a count")
        # As long as nothing has gone, the word and what it is waited to be are both 0.
        if self.put == self.gone or not {self.put, self.gone} <= self.x.kernel._nought:
            raise Unread("the tile goes by counts that do not begin with 0")

    def comes(self, left: list[Node], sc: MeshScope) -> None:
        """The first statements of a turn: the tile before has gone, and this one comes, where that is needed."""
        self.check_gone(left.pop(0) if left else NOTHING)
        if not left or not _commands(left[0]):
            return
        inner = self._where_there_is_one(left.pop(0), sc)
        if len(inner) != 4:
            raise Unread("something else happens where the tile comes")
        m = self._whole(sc, inner[1], False)
        if m.reply == self.put or not is_set(inner[0], m.reply, "0"):
            raise Unread("the tile comes without a count")
        check_wait(self.x, inner[2], m.reply, Node("number", "1"))
        self._moved(sc, inner[3], "tw_widen")
        self.fetches = True

    def check_gone(self, wait: Node) -> None:
        """A statement waits until the tile that went last is in main memory."""
        check_wait(self.x, wait, self.put, Node("name", self.gone))

    def _where_there_is_one(self, s: Node, sc: MeshScope) -> list[Node]:
        """What is done on cores whose tile has rows and columns."""
        rows, columns = self.tiles.sides(self.x, sc.facts, self.t)
        if s.kind != "if" or s.kids[2] != NOTHING or not sc.whenever(sc.cond(s.kids[0]), (rows - 1, columns - 1)):
            raise Unread("a tile comes or goes by a test of another kind")
        return statements(s.kids[1])

    def _whole(self, sc: MeshScope, s: Node, put: bool) -> MatrixMove:
        """A command that moves all of the tile, which has room: its sides are at most those of the region."""
        x, f, m = self.x, sc.facts, move_of(self.x, sc, s)
        if m.put != put or m.local != LocalPlace(self.region, "", ZERO) or m.reply not in x.replies:
            raise Unread(f"the tile of `{m.name}` is moved elsewhere, or nobody knows when it is there")
        if m.outside.array != x.p.target.array:
            raise Unread(f"a tile of `{m.outside.array}` in place of the target's")
        row, column = self.tiles.origin(x, f, self.t)
        check_zero(f, "the first row of the tile", m.row, row + x.p.target.shift[0])
        check_zero(f, "the first column of the tile", m.column, column + x.p.target.shift[1])
        check_rows(sc, m, *self.tiles.sides(x, f, self.t))
        return m

    def _moved(self, sc: MeshScope, s: Node, how: str) -> None:
        """Rows of the tile are brought to where rows of the region begin, or one behind the other."""
        e = s.kids[0] if s.kind == "do" else NOTHING
        if e.kind != "call" or e.text != how or len(e.kids) != 4:
            raise Unread("rows of the tile are not brought to their places")
        first = Node("index", "", (Node("name", self.view), Node("number", "0")))
        if e.kids[0] not in (first, Node("name", self.region)):
            raise Unread("other rows than those of the tile are brought to their places")
        wanted = (*self.tiles.sides(self.x, sc.facts, self.t), self.x.shape.wide)
        for k, want in zip(e.kids[1:], wanted, strict=True):
            check_zero(sc.facts, "what is brought to its place of the tile", sc.value(k), want)


def _commands(s: Node) -> bool:
    return any(n.kind == "call" and n.text.startswith("athread_") and "wait" not in n.text for n in nodes(s))
