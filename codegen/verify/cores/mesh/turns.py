"""Proof of the loop over turns of a mesh product: while one tile of the target is computed, the tile before is stored
and the tile after fetched.

In turn t every core works on one tile, in one of two copies. Rows of the tile before go from the other copy to main
memory, in parts, and rows of the tile after come to where they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from codegen.ast.ctree import CExpr, CNode, Name
from codegen.verify.cores.memory import BoxCopy
from codegen.verify.cores.mesh.model import check_nest, coordinates, corner, on_tile, resized
from codegen.verify.cores.mesh.names import MeshScope, bounds, check_least, check_zero, statements
from codegen.verify.cores.mesh.rows import TargetRows
from codegen.verify.cores.mesh.sizes import MeshSizes, check_regions
from codegen.verify.cores.mesh.slices import PanelSlice, agreed, fetched
from codegen.verify.cores.mesh.tiles import CoreTiles, counted
from codegen.verify.cores.mesh.transfers import check_wait, message_waited
from codegen.verify.cores.mesh.work import StepReader
from codegen.verify.cores.order import check_order
from codegen.verify.text.poly import ZERO, Poly, poly, var
from codegen.verify.text.read import NOTHING, Node, Unread, nodes

TALL, WIDE = "\0tall", "\0wide"


class TurnReader:
    """Reads the loop over turns and what is behind it."""

    def __init__(self, x: MeshSizes) -> None:
        self.x = x
        self.f = x.scope.facts
        self.target = ""  # its region

    @property
    def fetches(self) -> bool:
        """Do tiles of the target come from main memory?"""
        return bool(self.rows.got)

    def run(self, left: list[Node]) -> None:
        x = self.x
        turn = counted(x.scope, left.pop(0), x.switches)
        if turn.first != poly(-1):
            raise Unread("turns begin elsewhere")
        self.turn, self.t = turn, var(turn.name)
        count = turn.last
        sc = x.scope.counted(turn.name, turn.first, count + 1)
        body = list(turn.body)
        sc, busy = self._head(body, sc, count)
        loops = [k for k, s in enumerate(body) if s.kind == "for"]
        if len(loops) != 1:
            raise Unread("a turn that has no one loop over steps")
        before, after = body[: loops[0]], body[loops[0] + 1 :]
        self._steps(body[loops[0]], sc, busy)
        self._first(before, sc, busy)
        self._nests(self._busy(after, busy), sc, x.p.after)
        if {message_waited(x, s) for s in left[:-1]} != x.messages or not left:
            raise Unread("something else happens after the last turn than that messages and rows go")
        check_wait(x, left[-1], self.rows.put, Node("name", self.rows.gone))
        check_regions(x, self.sizes)

    # -- tiles ---------------------------------------------------------------------------------------

    def _head(self, body: list[Node], sc: MeshScope, count: Poly) -> tuple[MeshScope, str]:
        """Constants of a turn: whether there is a tile, and where; and the view of it."""
        x, busy, origins = self.x, "", dict[str, Poly]()
        while body and body[0].kind == "declare" and "*" not in body[0].kids[0].text:
            s = body.pop(0)
            sc = sc.declared(s)
            if isinstance(sc.names[s.text], Poly):
                origins[s.text] = sc.names[s.text]
            elif sc.whenever(sc.names[s.text], (self.t, count - 1 - self.t)):
                busy = s.text
        divided = [d.args[1] for p in origins.values() for n in sorted(p.names)
                   if (d := self.f.defined.get(n)) is not None and d.op == "div" and d.args[0] == self.t]  # fmt: skip
        if not busy or not divided:
            raise Unread("turns that have no tiles")
        self.tiles = CoreTiles(divided[0], count)
        self.tiles.check(x, self.f)
        row, column = self.tiles.origin(x, self.f, self.t)
        self.names = tuple(next((n for n, p in origins.items() if self.f.equal(p, w)), "") for w in (row, column))
        if not all(self.names):
            raise Unread("a core's tile lies elsewhere")
        self._view(body.pop(0) if body else NOTHING, sc)
        return sc, busy

    def _view(self, s: Node, sc: MeshScope) -> None:
        kind, sizes, value = s.kids if s.kind == "declare" else (NOTHING,) * 3
        if value.kind == "cast" and value.text == "void *":
            value = value.kids[0]
        if kind.text.replace(" ", "") != "double*const" or len(sizes.kids) != 1:
            raise Unread("no view of the tile")
        check_zero(self.f, "a row of the tile", sc.value(sizes.kids[0]), self.x.shape.wide)
        now = self.turn.switch
        if value.kind != "index" or value.kids[1] != Node("name", now) or value.kids[0].text not in self.x.regions:
            raise Unread("a view of another copy of the tile")
        self.view, self.target = s.text, value.kids[0].text

    # -- before and after the steps ------------------------------------------------------------------

    def _busy(self, body: Sequence[Node], busy: str) -> list[Node]:
        """What is done where there is a tile."""
        if not body:
            return []
        s = body[0]
        if len(body) != 1 or s.kind != "if" or s.kids[0] != Node("name", busy) or s.kids[2] != NOTHING:
            raise Unread("something happens in turns without a tile")
        return list(s.kids[1].kids) if s.kids[1].kind == "block" else [s.kids[1]]

    def _first(self, body: Sequence[Node], sc: MeshScope, busy: str) -> None:
        left = self._busy(body, busy)
        if self.fetches:
            if len(left) < 3:
                raise Unread("nobody waits for the tile")
            check_wait(self.x, left.pop(0), self.rows.got, Node("name", self.rows.coming))
            if not _both_zero(left.pop(0), self.rows.got, self.rows.coming):
                raise Unread("commands for the next tile are not counted from the first")
            self._widen(left.pop(0), sc)
        self._nests(left, sc, self.x.p.before)

    def _widen(self, s: Node, sc: MeshScope) -> None:
        """Rows of each part of the tile, which came one behind the other, to where a row of the tile begins."""
        rows, columns = self.tiles.sides(self.x, self.f, self.t)
        first, cond, step, inside = s.kids if s.kind == "for" else (NOTHING,) * 4
        plain = first.kind == "declare" and first.kids[2] == Node("number", "0") and cond.kind == "binary"
        p = Node("name", first.text)
        if not plain or cond.text != "<" or cond.kids[0] != p or step.text != "+=" or step.kids[0] != p:
            raise Unread("rows of the tile are moved in another way")
        check_zero(self.f, "what is moved of the tile", sc.value(cond.kids[1]), rows)
        check_zero(self.f, "rows that are moved at once", sc.value(step.kids[1]), self.rows.part)
        (call,) = statements(inside) if len(statements(inside)) == 1 else (NOTHING,)
        e = call.kids[0] if call.kind == "do" else NOTHING
        sc = sc.named(first.text, var(first.text))
        if e.kind != "call" or e.text != "tw_widen" or len(e.kids) != 4:
            raise Unread("rows of the tile are not brought to one distance")
        if e.kids[0] != Node("index", "", (Node("name", self.view), p)):
            raise Unread("rows of another part of the tile are moved")
        wanted = (self.f.minimum(self.rows.part, rows - var(first.text)), columns, self.x.shape.wide)
        for k, want in zip(e.kids[1:], wanted, strict=True):
            check_zero(self.f, "what is moved of the tile", sc.value(k), want)

    def _nests(self, body: Sequence[Node], sc: MeshScope, nests: Sequence[CNode]) -> None:
        """What else the tree does to a tile."""
        x = self.x
        if bool(body) != bool(nests):
            raise Unread("a nest of the tree is left out")
        if not body:
            return
        p = x.p
        tile = (p.rows.var, p.columns.var, TALL, WIDE)
        sides = {p.rows.var: (p.rows.step, Name(TALL)), p.columns.var: (p.columns.step, Name(WIDE))}
        at = coordinates(p.at, tile)
        at = replace(at, domain=on_tile(p, at, tile))
        integers: dict[str, CExpr] = {**x.core.integers, self.names[0]: Name(tile[0]), self.names[1]: Name(tile[1])}
        for side, want in ((TALL, x.shape.tall), (WIDE, x.shape.wide)):
            integers |= {n: Name(side) for n, v in sc.names.items() if isinstance(v, Poly) and v == want}
        low, end = corner(p, Name(tile[0]), Name(tile[1])), (Name(TALL), Name(WIDE))
        copy = BoxCopy(self.view, self.target, p.target.array, low, end, True, True)
        core = x.core._replace(integers=integers, copies={self.view: copy})
        seen = len(x.kernel.leaves)
        if x.kernel._list(body, [resized(n, sides) for n in nests], core, at, ()):
            raise Unread("a nest of the tree is left out")
        for leaf in x.kernel.leaves[seen:]:
            check_nest(x.scop, p, leaf, tile)
            s = x.scop.statement(leaf.instance.stmt)
            for k, a in enumerate(s.accesses):
                if leaf.places.get(k, "") != (self.view if a.array == p.target.array else ""):
                    raise Unread(f"{s.name} finds `{a.array}` in another place")
        for nest in x.kernel.nests:
            check_order(x.scop, x.deps, nest)
        if x.kernel.buffers:
            raise Unread("local memory that no tile is in")

    # -- steps ---------------------------------------------------------------------------------------

    def _steps(self, s: Node, sc: MeshScope, busy: str) -> None:
        x = self.x
        step = counted(sc, s, x.switches - {self.turn.switch})
        if step.first != ZERO:
            raise Unread("steps begin elsewhere")
        steps = step.last + 1
        check_least(self.f, "turns without steps", steps - 1)
        sc = sc.counted(step.name, ZERO, steps)
        body, self.step = list(step.body), step
        declared: list[Node] = []
        while body and body[0].kind == "declare":
            declared.append(body.pop(0))
        names = self.turn.name, step.name
        self.rows = TargetRows(x, self.tiles, names, self.target, self.turn.switch)
        known: set[str] = set()
        work: Node = NOTHING
        slices: list[PanelSlice] = []
        for one in body:
            role = self._role(one, busy)
            if role in known:
                raise Unread(f"{role} twice in a step")
            known.add(role)
            if role == "slices":
                slices = self._slices(one, declared, sc, steps)
            elif role == "work":
                work = one
            else:
                self.rows.read(one, sc, role == "go", steps)
        if not {"slices", "go", "work"} <= known:
            raise Unread("a step in which nothing is worked on, or nothing goes")
        self.rows.check_apart()
        inside = sc.given(self.t, self.tiles.number - 1 - self.t)
        w = StepReader(x, slices, inside, self)
        w.run(statements(work.kids[1]))
        self.sizes = {self.target: x.shape.tall * x.shape.wide, **w.sizes}
        self._all_steps(steps, w.depth)

    def _role(self, s: Node, busy: str) -> str:
        if s.kind != "if" or s.kids[2] != NOTHING:
            raise Unread(f"`{s.kind}` in a step")
        if s.kids[0] == Node("name", busy):
            return "work"
        calls = {n.text for n in nodes(s) if n.kind == "call"}
        if calls & {"athread_put", "athread_dma_iput_stride"}:
            return "go"
        used = {n.text for n in nodes(s) if n.kind == "name"}
        return "come" if self.target in used else "slices"

    def _slices(self, s: Node, declared: Sequence[Node], sc: MeshScope, steps: Poly) -> list[PanelSlice]:
        """What is fetched in a step is for the next one, of this turn or the next."""
        q, t, found = var(self.step.name), self.t, []
        for more, turn in ((steps - 2 - q, t), (q + 1 - steps, t + 1)):
            there = sc.given(more)
            for d in declared:
                there = there.declared(d)
            some = fetched(self.x, there, s, self.step.switch, (turn, self.tiles.number - 1 - turn))
            found.append(some)
        return agreed(sc, found[0], found[1], self.turn.name, self.step.name)

    def _all_steps(self, steps: Poly, depth: Poly) -> None:
        """There are steps for all of the depth."""
        x, f = self.x, self.f.copy()
        far = x.spans[2].past - x.spans[2].first
        f.learn(far - 1)
        again = x.defined.get(self.step.end.text, self.step.end)
        found = MeshScope(f, x.scope.names).value(again)
        check_zero(f, "steps", found, steps)
        if not any(f.holds(b * depth - far) for b in bounds(f, found, "max")):
            raise Unread("depths that are in no step")


def _both_zero(s: Node, one: str, two: str) -> bool:
    if s.kind != "do" or s.kids[0].kind != "comma":
        return False
    return sorted(s.kids[0].kids) == sorted(
        Node("assign", "=", (Node("name", n), Node("number", "0"))) for n in (one, two)
    )

