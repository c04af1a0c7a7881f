"""Proof of the loop over turns of a mesh product: in each turn every core computes one tile of the target.

A tile is fetched, takes all steps of its depth, and is stored. Slices of the panels are fetched in the step before,
those for the first step of a turn in the last one of the turn before; ahead of the first turn there is one step for
that alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from codegen.ast.ctree import CExpr, CNode, Name
from codegen.verify.cores.memory import BoxCopy
from codegen.verify.cores.mesh.model import check_nest, coordinates, corner, on_tile, resized
from codegen.verify.cores.mesh.names import MeshScope, bounds, check_least, check_zero, statements
from codegen.verify.cores.mesh.sizes import MeshSizes, check_regions
from codegen.verify.cores.mesh.slices import PanelSlice, agreed, fetched
from codegen.verify.cores.mesh.target import TargetTile
from codegen.verify.cores.mesh.tiles import CoreTiles, counted
from codegen.verify.cores.mesh.transfers import message_waited
from codegen.verify.cores.mesh.work import StepReader
from codegen.verify.cores.order import check_order
from codegen.verify.poly import ZERO, Poly, poly, var
from codegen.verify.text.read import NOTHING, Node, Unread

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
        return self.tile.fetches

    def run(self, left: list[Node]) -> None:
        x = self.x
        self.turn = counted(x.scope, left.pop(0))
        if x.scope.value(self.turn.first) != poly(-1):
            raise Unread("turns begin elsewhere")
        self.t, count = var(self.turn.name), self.turn.past
        sc = x.scope.counted(self.turn.name, poly(-1), count)
        body = list(self.turn.body)
        sc = self._head(body, sc, count)
        if [s.kind for s in body] != ["if", "for", "if"]:
            raise Unread("a turn in which something else happens than that a tile comes, takes its steps and goes")
        here = sc.given(self.t)  # there is a tile
        before, after = (_inside(self._with_tile(s, sc)) for s in (body[0], body[2]))
        self.tile = TargetTile(x, self.tiles, self.view, self.target, self.t)
        self.tile.goes(after, here)
        self.tile.comes(before, here)
        self._steps(body[1], sc)
        self._nests(before, sc, x.p.before)
        self._nests(after, sc, x.p.after)
        if {message_waited(x, s) for s in left[:-1]} != x.messages or not left:
            raise Unread("something else happens after the last turn than that messages and tiles go")
        self.tile.check_gone(left[-1])
        check_regions(x, self.sizes)

    # -- tiles ---------------------------------------------------------------------------------------

    def _head(self, body: list[Node], sc: MeshScope, count: Poly) -> MeshScope:
        """Constants of a turn: where its tile is; and the view of it."""
        x, origins = self.x, dict[str, Poly]()
        while body and body[0].kind == "declare" and "*" not in body[0].kids[0].text:
            s = body.pop(0)
            sc = sc.declared(s)
            if isinstance(sc.names[s.text], Poly):
                origins[s.text] = sc.names[s.text]
        divided = [d.args[1] for p in origins.values() for n in sorted(p.names)
                   if (d := self.f.defined.get(n)) is not None and d.op == "div" and d.args[0] == self.t]  # fmt: skip
        if not divided:
            raise Unread("turns that have no tiles")
        self.tiles = CoreTiles(divided[0], count)
        self.tiles.check(x, self.f)
        row, column = self.tiles.origin(x, self.f, self.t)
        self.names = tuple(next((n for n, p in origins.items() if self.f.equal(p, w)), "") for w in (row, column))
        if not all(self.names):
            raise Unread("a core's tile lies elsewhere")
        self._view(body.pop(0) if body else NOTHING, sc)
        return sc

    def _view(self, s: Node, sc: MeshScope) -> None:
        kind, sizes, value = s.kids if s.kind == "declare" else (NOTHING,) * 3
        if value.kind == "cast" and value.text == "void *":
            value = value.kids[0]
        if kind.text.replace(" ", "") != "double*const" or len(sizes.kids) != 1:
            raise Unread("no view of the tile")
        check_zero(self.f, "a row of the tile", sc.value(sizes.kids[0]), self.x.shape.wide)
        if value.kind != "name" or len(self.x.regions.get(value.text, ())) != 1:
            raise Unread("a view of something else than the tile")
        self.view, self.target = s.text, value.text

    def _with_tile(self, s: Node, sc: MeshScope) -> Node:
        """What is done in turns that have a tile."""
        if s.kind != "if" or s.kids[2] != NOTHING or not sc.whenever(sc.cond(s.kids[0]), (self.t,)):
            raise Unread("something happens in turns without a tile, or not in all others")
        return s.kids[1]

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

    def _steps(self, s: Node, sc: MeshScope) -> None:
        x, f = self.x, self.f
        step = counted(sc, s, x.switches)
        steps, here, ahead = step.past, sc.given(self.t), sc.given(-1 - self.t)
        check_least(f, "turns without steps", steps - 1)
        check_zero(here.facts, "the first step of a turn", here.value(step.first), ZERO)
        check_zero(ahead.facts, "the step ahead of the first turn", ahead.value(step.first), steps - 1)
        sc = sc.counted(step.name, ZERO, steps)
        body, self.step = list(step.body), step
        declared: list[Node] = []
        while body and body[0].kind == "declare":
            declared.append(body.pop(0))
        if [one.kind for one in body] != ["if", "if"]:
            raise Unread("a step in which something else happens than that slices are fetched and multiplied")
        slices = self._slices(body[0], declared, sc, steps)
        w = StepReader(x, slices, sc.given(self.t), self)
        w.run(statements(self._with_tile(body[1], sc)))
        self.sizes = {self.target: x.shape.tall * x.shape.wide, **w.sizes}
        self._all_steps(steps, w.depth)

    def _slices(self, s: Node, declared: Sequence[Node], sc: MeshScope, steps: Poly) -> list[PanelSlice]:
        """What is fetched in a step is for the next one, of this turn or the next. A turn without a tile has its last
        step alone."""
        q, t, found = var(self.step.name), self.t, []
        for known, turn in (((steps - 2 - q, t), t), ((q + 1 - steps,), t + 1)):
            there = sc.given(*known)
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


def _inside(s: Node) -> list[Node]:
    return list(s.kids) if s.kind == "block" else [s]
