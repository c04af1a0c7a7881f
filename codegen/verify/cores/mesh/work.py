"""Proof of one step of a mesh product: slices have arrived, are broadcast along rows and columns, and every core
multiplies them. Each sum takes all depths of the step in ascending order, and elements of no other row, column or
depth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from codegen.verify.cores.loop_heads import step_of
from codegen.verify.cores.mesh.block import RegisterBlockReader
from codegen.verify.cores.mesh.names import LocalPlace, MeshScope, bounds, check_least, check_zero, statements
from codegen.verify.cores.mesh.passing import BroadcastReader, sent_to
from codegen.verify.cores.mesh.sizes import MeshSizes, tests
from codegen.verify.cores.mesh.slices import PanelSlice, halves
from codegen.verify.cores.mesh.transfers import check_wait, word_of
from codegen.verify.cores.mesh.values import (
    LEFT,
    RIGHT,
    SUM,
    RunningSum,
    SlicedElement,
    VectorValue,
    alike,
    replaced,
    wanted_sum,
)
from codegen.verify.poly import ZERO, Poly, poly, var
from codegen.verify.text.facts import Facts
from codegen.verify.text.read import NOTHING, Node, Unread

if TYPE_CHECKING:
    from codegen.verify.cores.mesh.turns import TurnReader

ROW, COLUMN, LANE = "\0row", "\0column", "\0lane"


class ArrivedSlice(NamedTuple):
    """A slice that is there: elements between its rows, and what each has become."""

    slice: PanelSlice
    pitch: Poly
    value: VectorValue


class BlockLoops(NamedTuple):
    """The loops over blocks of a tile."""

    names: tuple[str, str]
    ends: tuple[Poly, Poly]
    steps: tuple[int, int]


class StepReader:
    """Reads what is done in a step where there is a tile."""

    def __init__(self, x: MeshSizes, slices: Sequence[PanelSlice], sc: MeshScope, turns: TurnReader) -> None:
        self.x, self.turns, self.p = x, turns, x.p
        self.half = turns.step.switch
        self.sc = sc.counted(self.half, ZERO, poly(2))
        self.slices = dict(zip(("left", "right"), slices, strict=True)) if len(slices) == 2 else {}
        arrays = [s.array for s in self.slices.values()]
        if arrays != [x.p.left.array, x.p.right.array]:
            raise Unread("slices of other matrices than the product has")
        self.givers = x.words.rows // 2
        self.depth = x.shape.deep * self.givers  # of a step
        self.here: dict[str, ArrivedSlice] = {}  # by region
        self.passing: BroadcastReader | None = None  # of slices between local memories
        self.want = wanted_sum(x.scop, x.p)
        one, two = self.slices.values()
        self.sizes = {one.region: x.shape.tall * x.shape.deep, two.region: x.shape.deep * x.shape.wide}
        self.grid: BlockLoops | None = None
        self.known: tuple[MeshScope, Facts] | None = None
        self.checked: set[tuple[str, Poly, tuple[str, Poly]]] = set()  # elements, while that is known

    @property
    def _begin(self) -> Poly:
        """The first depth of the step."""
        return self.x.spans[2].first + var(self.turns.step.name) * self.depth

    def run(self, body: list[Node]) -> None:
        left = list(body)
        while left and left[0].kind in ("declare", "if"):
            s = left.pop(0)
            if s.kind == "declare":
                self.sc = self.sc.declared(s)
            else:
                self._arrive(s)
        if len(left) != 1 or left[0].kind != "for" or len(self.here) != 2:
            raise Unread("a step without a product")
        if self.x.messages:
            words = {c.region: c.sent for c in self.slices.values()}
            self.passing = BroadcastReader(self.x, self.sc, self._begin, (self.sizes, words), self._blocks)
            self.passing.run(left[0])
        else:
            done = self._blocks(left[0], self.sc, self._begin)
            check_zero(self.sc.facts, "the depth of a step", done, self._begin + self.depth)

    # -- slices --------------------------------------------------------------------------------------

    def _arrive(self, s: Node) -> None:
        who, others = halves(self.sc, s.kids[0], self.half, "==")
        body = statements(s.kids[1])
        if s.kids[2] != NOTHING or not body:
            raise Unread("slices are not waited for")
        word = body[0].kids[0].kids[0] if body[0].kind == "do" and body[0].kids[0].kids else NOTHING
        side = next((n for n, c in self.slices.items() if word_of(word) == c.reply and c.region not in self.here), "")
        if not side:
            raise Unread("another slice is waited for")
        mine = self.slices[side]
        check_wait(self.x, body[0], mine.reply, Node("number", "1"))
        check_zero(self.sc.facts, "the half that hands out slices", who, mine.side)
        if not self.sc.whenever(tests(self.sc, others), (mine.rows - 1, mine.columns - 1)):
            raise Unread(f"a slice of `{mine.array}` is not waited for where one was fetched")
        found = ArrivedSlice(mine, mine.columns, LEFT if side == "left" else RIGHT)
        inner = self.sc.given(mine.rows - 1, mine.columns - 1)
        for one in body[1:]:
            found = self._widened(one, found, inner) if one.kind == "do" else self._changed(one, found, inner)
        self._fits(mine.region, inner.facts, mine.rows, mine.columns)
        self._fits(mine.region, inner.facts, mine.rows, found.pitch)
        self.here[mine.region] = found

    def _widened(self, s: Node, h: ArrivedSlice, sc: MeshScope) -> ArrivedSlice:
        e = s.kids[0]
        if e.kind != "call" or e.text != "tw_widen" or len(e.kids) != 4 or h.pitch != h.slice.columns:
            raise Unread(f"something happens to a slice of `{h.slice.array}`")
        if self.x.place(sc, e.kids[0]) != LocalPlace(h.slice.region, "", ZERO):
            raise Unread(f"rows of a slice of `{h.slice.array}` are moved elsewhere")
        for k, want in zip(e.kids[1:3], (h.slice.rows, h.slice.columns), strict=True):
            check_zero(sc.facts, f"what is moved of a slice of `{h.slice.array}`", sc.value(k), want)
        check_least(sc.facts, "rows overlap", sc.value(e.kids[3]) - h.slice.columns)
        return h._replace(pitch=sc.value(e.kids[3]))

    def _changed(self, s: Node, h: ArrivedSlice, sc: MeshScope) -> ArrivedSlice:
        """Every element of a slice becomes something else, once."""
        first, cond, step, inside = s.kids if s.kind == "for" else (NOTHING,) * 4
        by, e = step_of(step, first.text), first.text
        plain = first.kind == "declare" and first.kids[2] == Node("number", "0") and cond.kind == "binary"
        if not plain or cond.text != "<" or cond.kids[0] != Node("name", e) or by not in (1, self.x.shape.lanes):
            raise Unread(f"a slice of `{h.slice.array}` is changed in another way")
        if h.pitch != h.slice.columns or any(c % by for c in self.sizes[h.slice.region].terms.values()):
            raise Unread(f"a slice of `{h.slice.array}` is changed where nothing is")
        check_zero(sc.facts, "elements that are changed", sc.value(cond.kids[1]), h.slice.rows * h.slice.columns)
        block = _ElementReader(self.x, sc.named(e, var(e)), "", ZERO, self)
        block.run(statements(inside))
        at = SlicedElement(h.slice.region, "", var(e), by > 1)
        if block.changed is None or block.changed[0] != at:
            raise Unread(f"a slice of `{h.slice.array}` is changed elsewhere")

        def leaf(c: SlicedElement | RunningSum) -> VectorValue:
            if c != at:
                raise Unread(f"a slice of `{h.slice.array}` is changed by other elements")
            return h.value

        return h._replace(value=replaced(block.changed[1], leaf))

    def _fits(self, region: str, f: Facts, rows: Poly, pitch: Poly) -> None:
        """So many rows have room. What is at most each of some values is in the way of none of them."""
        size = self.sizes[region]
        if not any(f.holds(size - a * b) for a in bounds(f, rows, "min")[::-1] for b in bounds(f, pitch, "min")[::-1]):
            raise Unread(f"a slice has no room in `{region}`")

    # -- blocks --------------------------------------------------------------------------------------

    def _blocks(self, s: Node, sc: MeshScope, done: Poly) -> Poly:
        """All blocks of the tile. Gives the depth below which sums are complete afterwards."""
        i, end, down, body = self._over(s, sc)
        outer = RegisterBlockReader(self.x, sc.counted(i, ZERO, end), self.turns.view, done, self)
        left = statements(body)
        outer.run(left[:-1])
        if not left or outer.registers or outer.stored:
            raise Unread("a block of the tile that has no columns")
        j, past, along, inside = self._over(left[-1], outer.sc)
        self.grid = BlockLoops((i, j), (end, past), (down, along))
        self._check_grid(sc)
        inner = RegisterBlockReader(self.x, outer.sc.counted(j, ZERO, past), self.turns.view, done, self)
        inner.pointers = outer.pointers
        inner.run(statements(inside))
        lanes = self.x.shape.lanes
        cells = {(var(i) + u, var(j) + w) for u in range(down) for w in range(0, along, lanes)}
        if set(inner.stored) != cells or set(inner.loaded) != cells:
            raise Unread("a part of the tile is left out")
        if any(d != inner.done for d in inner.stored.values()):
            raise Unread("sums are stored before they are complete")
        return inner.done

    def _over(self, s: Node, sc: MeshScope) -> tuple[str, Poly, int, Node]:
        first, cond, step, inside = s.kids if s.kind == "for" else (NOTHING,) * 4
        by = step_of(step, first.text)
        plain = first.kind == "declare" and first.kids[2] == Node("number", "0") and cond.kind == "binary"
        if not plain or cond.text != "<" or cond.kids[0] != Node("name", first.text) or not by:
            raise Unread("blocks of a tile are run through in another way")
        return first.text, sc.value(cond.kids[1]), by, inside

    def _check_grid(self, sc: MeshScope) -> None:
        """Blocks cover the tile, and none reaches beyond its rows in local memory."""
        assert self.grid is not None
        shape = self.x.shape
        there = self.turns.tiles.sides(self.x, sc.facts, self.turns.t)
        for end, by, have, side in zip(self.grid.ends, self.grid.steps, there, (shape.tall, shape.wide), strict=True):
            check_least(sc.facts, "a part of the tile that is in no block", end - have)
            f = sc.facts.copy()
            n = f.fresh("block")
            f.learn(n, end - 1 - n * by)
            check_least(f, "a block that reaches beyond its tile", side - by - n * by)
        if self.grid.steps[1] % shape.lanes:
            raise Unread("blocks that are no whole vectors")

    def added_depth(self, sc: MeshScope, end: Poly, done: Poly) -> Poly:
        past = self.x.spans[2].past
        check_zero(sc.facts, "the end of a slice", end, sc.facts.minimum(self.x.shape.deep, past - done))
        return self.x.shape.deep

    def added(self, sc: MeshScope, k: str, was: RunningSum, now: VectorValue) -> None:
        """A sum gets what the statement adds at depth `was.done + k`."""
        assert self.grid is not None
        (i, j), f = self.grid.names, self._element(sc)
        up, right = (was.row - var(i)).number, (was.column - var(j)).number
        if up is None or right is None:
            raise Unread("a register that stands for no part of its block")
        at = {i: var(ROW) - up, j: var(COLUMN) - right - var(LANE)}
        depth = was.done + var(k)
        row, column = self.turns.tiles.origin(self.x, f, self.turns.t)
        left, other = self.p.left.shift, self.p.right.shift
        wanted = {"left": (row + var(ROW) + left[0], depth + left[1], False),
                  "right": (depth + other[0], column + var(COLUMN) + other[1], True)}  # fmt: skip

        def leaf(c: SlicedElement | RunningSum) -> VectorValue:
            if isinstance(c, RunningSum):
                if c != was:
                    raise Unread("a sum of other elements")
                return SUM
            return self._found(c, f, at, wanted)

        if not alike(replaced(now, leaf), self.want):
            raise Unread(f"sums that are not those of {self.p.run.instance.stmt}")

    def _element(self, sc: MeshScope) -> Facts:
        """What is known where there is an element of the tile in a row, and in the column of a lane."""
        if self.known is None or self.known[0] is not sc:
            there = self.turns.tiles.sides(self.x, sc.facts, self.turns.t)
            inner = sc.counted(ROW, ZERO, there[0]).counted(COLUMN, ZERO, there[1])
            facts, shape = inner.counted(LANE, ZERO, poly(self.x.shape.lanes)).facts, self.x.shape
            within = [shape.tall - 1 - var(ROW), shape.wide - 1 - var(COLUMN)]
            self.known = sc, facts.learn(*filter(facts.holds, within))
            self.checked = set()
        return self.known[1]

    def _found(
        self, c: SlicedElement, f: Facts, at: Mapping[str, Poly], wanted: Mapping[str, tuple[Poly, Poly, bool]]
    ) -> VectorValue:
        """The element that a cell holds, which has to be the wanted one."""
        offset = f.put(c.offset + (var(LANE) if c.each else ZERO), at)
        self._aligned(c)
        core = None if c.core is None else (c.core[0], f.put(c.core[1], at))
        region = c.region
        b = sent_to(self.passing, (c.region, c.copy))
        if b is not None:
            if core is not None:
                raise Unread("a message that passes on another one")
            check_least(f, "an element that was not sent", offset, b.length - 1 - offset)
            region, core, offset = b.source.region, b.core, b.source.offset + offset
        elif c.copy:
            raise Unread("a copy that nobody has sent")
        side = next((n for n, s in self.slices.items() if s.region == region), "")
        if not side or core is None:
            raise Unread(f"an element of `{region}` that no core has handed out")
        h, (name, value), (row, column, each) = self.here[region], core, wanted[side]
        if c.each != each:
            raise Unread(f"lanes of `{h.slice.array}` that are not those of the product")
        if (region, offset, core) in self.checked:
            return h.value
        self.checked.add((region, offset, core))
        there = {name: value}
        s, pitch, offset = h.slice.put(f, **there), f.put(h.pitch, there), f.put(offset, there)
        check_zero(f, "the half of a core that hands out slices", s.side, var(self.half))
        down, along = row - s.row, column - s.column
        check_zero(f, f"an element of `{s.array}`", offset, down * pitch + along)
        check_least(f, f"an element of `{s.array}` that is not there", down, s.rows - 1 - down, along,
                    s.columns - 1 - along)  # fmt: skip
        return h.value

    def _aligned(self, c: SlicedElement) -> None:
        """A vector is loaded from where one begins."""
        assert self.grid is not None
        f, (_, j) = self.sc.facts, self.grid.names
        start = f.put(c.offset, {j: var("\0block") * self.grid.steps[1]})
        if c.each and any(n % self.x.shape.lanes for n in start.terms.values()):
            raise Unread("a vector that is loaded from where none begins")

class _ElementReader(RegisterBlockReader):
    """One element, or a vector of them, read and written in its place."""

    changed: tuple[SlicedElement, VectorValue] | None = None

    def _memory(self, call: Node) -> None:
        if call.text != "simd_store":
            super()._memory(call)
            return
        place = self.x.place(self.sc, call.kids[1])
        held = self._held(self._register(call.kids[0]))
        self._note(SlicedElement(place.region, place.copy, place.offset, True), held)

    def _assign(self, left: Node, right: Node) -> None:
        base = left.kids[0] if left.kind == "index" else left
        if base.kind == "name" and base.text in self.x.regions:
            place = self.x.place(self.sc, Node("unary", "&", (left,)))
            self._note(SlicedElement(place.region, place.copy, place.offset, False), self._value(right))
        else:
            super()._assign(left, right)

    def _note(self, to: SlicedElement, value: VectorValue) -> None:
        if self.changed is not None:
            raise Unread("an element that is changed twice")
        self.changed = to, value
