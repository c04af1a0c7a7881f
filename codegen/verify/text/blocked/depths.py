"""Symbolic run of products whose elements take different ranges of depth: the bounds of the steps that all elements of
a tile take, and the steps of single elements before and after. A layer of `BlockRun` (`execute.py`); raises Unread."""

from __future__ import annotations

from codegen.verify.poly import ONE, Poly, poly
from codegen.verify.text.blocked.buffers import Buffers
from codegen.verify.text.blocked.claim import PackedOperand
from codegen.verify.text.blocked.corners import all_belong, none_belongs, with_depth
from codegen.verify.text.blocked.state import TARGET, BufferPointer, Effects, Heap
from codegen.verify.text.compare import COLUMN, ROW
from codegen.verify.text.lanes import show
from codegen.verify.text.linear import never
from codegen.verify.text.read import Node, Unread
from codegen.verify.text.search import Defined
from codegen.verify.text.spans import CountedLoop, Effect, Span

CHANGED = "changed"  # kind of nodes, which no text has: a place that is written only where that changes it


class Depths(Buffers):
    """Bounds of depths, and single steps of single elements."""

    @property
    def _deep(self) -> bool:
        """Are we in a tile whose elements take different numbers of steps?"""
        tiled = all(isinstance(self.names.get(f"{self.claim.names[c]}t"), Poly) for c in "ij")
        return tiled and any(map(with_depth, self.claim.corners))

    def _depths(self) -> Span:
        """The block of depths."""
        first = self._block("k")
        return Span(first, first + self._integers().value(Node("name", "tw_k")))

    def _bound(self, name: str, value: Poly | BufferPointer) -> Poly | BufferPointer:
        """A bound of depths by a name of its own, with what is known of its place among the others: what it is made
        of matters only to which points belong."""
        d = self.facts.defined.get(str(value)) if self._deep else None
        if d is None or d.op not in ("min", "max") or not isinstance(value, Poly):
            return value
        f, block = self.facts, self._depths()
        if not f.mentions(value, block.lo.names):
            return value
        x = f.fresh(name)
        f.defined[str(x)] = Defined("is", (value,))
        for y in (*block, *filter(self._is_bound, self.names.values())):
            f.learn(*(p for p in (x - y, y - x) if not f.samples.contradict(p) and never([-p - 1], f)))
        return x

    def _with_none(self, e: Effect, lp: CountedLoop) -> Effect:
        """Effects speak only of what belongs. Single steps before those that all elements take begin with the block of
        depths, where no element takes any earlier; those after them end with it, where none takes any later."""
        if not self._deep or lp.name.split(".")[0] != f"{self.claim.names['k']}r":
            return e
        (lo, hi), (first, past) = e.spans["k"], self._depths()
        after = self._is_bound(lo)
        rest, whole = (Span(hi, past), Span(lo, past)) if after else (Span(first, lo), Span(first, hi))
        if rest.lo != rest.hi:
            if not never([rest.lo - rest.hi - 1], self.facts):
                raise Unread(f"steps go from {lo} to {hi}, past the block of depths")
            if not none_belongs(self.claim.corners, {**e.spans, "k": rest}, self.facts):
                raise Unread(f"no step is taken from {rest.lo} to {rest.hi}, where some element takes one")
        return e._replace(spans={**e.spans, "k": whole})

    def _is_bound(self, x: object) -> bool:
        return isinstance(x, Poly) and self.facts.defined.get(str(x), ("",))[0] == "is"

    def _single_step(self, node: Node) -> Node | None:
        """The assignment of a new value to an element, also where it is stored only if it changes."""
        if node.kind == "do" and node.kids[0][:2] == ("assign", "="):
            return node.kids[0]
        parts = [y for x in node.kids for y in (x.kids if x.kind == "several" else (x,))]
        if not self.claim.careful or [x.kind for x in parts] != ["declare", "declare", "if"]:
            return None
        was, now, test = parts
        typed = all(x.kids[0].text == f"const {self.claim.elem}" and not x.kids[1].kids for x in (was, now))
        names = [Node("name", x.text) for x in (was, now)]
        size = Node("sizeof", "", (names[1],))
        differs = Node("call", "__builtin_memcmp", (*(Node("unary", "&", (x,)) for x in names), size))
        store = Node("do", "", (Node("assign", "=", (was.kids[2], names[1])),))
        changed = Node("assign", "=", (Node(CHANGED, "", (was.kids[2],)), now.kids[2]))
        return changed if typed and test.kids[:2] == (differs, store) else None

    def _one_step(self, to: Node, value: Node) -> Effects:
        """`element = step(element, packed values)`."""
        i, j = (self._block(c) + self._start(c) + self._lane(c) for c in "ij")
        k = self._lane("k")
        if not self._same(to, self.claim.target, {ROW: i, COLUMN: j}):
            raise Unread(f"a step goes to another element: {show(to)}")
        if not self._steps_so(value, self.claim.step, i, j, k):
            raise Unread(f"a step computes something else: {show(value)}")
        if not self.belonging and not all_belong(self.claim.corners, (i, j), (ONE, ONE), Span(k, k + 1), self.facts):
            raise Unread("an element takes a step that it should not take")
        return {TARGET: Effect(TARGET, {"i": Span(i, i + 1), "j": Span(j, j + 1), "k": Span(k, k + 1)})}

    def _lane(self, c: str) -> Poly:
        found = self.names.get(f"{self.claim.names[c]}r")
        if not isinstance(found, Poly):
            raise Unread(f"no element of coordinate {c}")
        return found

    def _steps_so(self, printed: Node, wanted: Node, i: Poly, j: Poly, k: Poly) -> bool:
        """Is it the step's expression, with tw_A0, ... for the packed values of the left operand, tw_B0, ... for those
        of the right one, and tw_acc for the element itself?"""
        if wanted.kind == "name" and wanted.text.startswith(("tw_A", "tw_B")):
            side = self.claim.left if wanted.text[3] == "A" else self.claim.right
            return self._is_packed(printed, side, int(wanted.text[4:]), i if side.area == "left" else j, k)
        if wanted == Node("name", "tw_acc"):
            return self._same(printed, self.claim.target, {ROW: i, COLUMN: j})
        if wanted.kind == "name":
            return printed == wanted
        alike = printed[:2] == wanted[:2] and len(printed.kids) == len(wanted.kids)
        parts = zip(printed.kids, wanted.kids, strict=True) if alike else ()
        return alike and all(self._steps_so(p, w, i, j, k) for p, w in parts)

    def _is_packed(self, e: Node, side: PackedOperand, number: int, row: Poly, k: Poly) -> bool:
        """Is it that value of a packed operand, for a row or column and a depth, and is it in its buffer by now?"""
        f, held = self.facts, self.held.get(side.area)
        base = self.names.get(e.kids[0].text) if e.kind == "index" and e.kids[0].kind == "name" else None
        place = BufferPointer("right") if isinstance(base, Heap) else base
        if not isinstance(place, BufferPointer) or place.of != side.area or held is None or not held.spans:
            return False
        x, deep, o = self._cell(side, place.at + self._integers().value(e.kids[1]))
        q, lane, copy = self._in_unit(side, o)
        have = {"x": x + lane, "k": deep, "q": poly(q), "l": copy}
        there = all(f.holds(p - held.spans[c].lo) and f.holds(held.spans[c].hi - 1 - p) for c, p in have.items())
        self._reads(side.area)
        return there and q == number and f.equal(held.base[0] + x + lane, row) and f.equal(held.base[1] + deep, k)
