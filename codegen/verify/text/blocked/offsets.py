"""Symbolic run of a blocked product's offset tables, for coordinates that count through several loops: how the text
fills a table, and which element an access through tables names. A layer of `BlockRun` (`execute.py`); raises Unread.

An access at row X and depth Z is `base[rows[X] + depths[Z]]`. Its array lies in one piece and its subscripts are sums
of what rows, columns and depths say, so that is the element whose subscripts are those sums.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from codegen.verify.poly import ONE, ZERO, Poly, var
from codegen.verify.text.blocked.claim import Claim, TableClaim
from codegen.verify.text.blocked.state import NOUGHT, BlockState, BufferPointer, Heap
from codegen.verify.text.compare import COLUMN, DEPTH, ROW, Names
from codegen.verify.text.facts import Facts
from codegen.verify.text.integers import IntegerCondition, Integers, ge
from codegen.verify.text.lanes import show
from codegen.verify.text.read import Node, Unread

COORDINATES = {"i": ROW, "j": COLUMN, "k": DEPTH}
NEXT = Node("name", "tw_next")


class SymbolicTable(NamedTuple):
    """Entries of a table: made from `start` on in the memory for all of them, of which `filled` are there."""

    of: str
    start: Poly
    filled: Poly = ZERO


class Even(NamedTuple):
    """A test that `many` entries from `first` on have equal distances; or, with `side`, that the first is 1."""

    table: str
    first: Poly
    many: Poly
    side: bool
    flag: Poly


class TableIntegers(Integers):
    """Entries of tables are integers, and some tests of them are conditions."""

    def __init__(self, run: Offsets, names: Names) -> None:
        super().__init__(run.facts, names)
        self.run = run

    def value(self, e: Node) -> Poly:
        if e.kind == "index" and isinstance(self.names.get(e.kids[0].text), SymbolicTable):
            at = self.value(e.kids[1])
            self.run._there(e.kids[0].text, at, ONE)
            return self.run._entry(e.kids[0].text, at)
        return super().value(e)

    def cond(self, e: Node) -> IntegerCondition:
        if e.kind == "call" and e.text == "tw_even":
            place, count = e.kids
            base, at = place, ZERO
            while base.kind == "binary" and base.text in "+-":
                by = self.value(base.kids[1])
                base, at = base.kids[0], at + (by if base.text == "+" else -by)
            return self._even(base.text, at, count, False)
        if e[:2] == ("binary", "==") and e.kids[1][:2] == ("binary", ">") and e.kids[0][:2] == ("binary", "-"):
            here, several = e.kids[0].kids[1], e.kids[1]
            next_ = (
                Node("index", "", (here.kids[0], Node("binary", "+", (here.kids[1], several)))) if here.kids else here
            )
            if here.kind == "index" and e.kids[0].kids[0] == next_ and several.kids[1] == Node("number", "1"):
                return self._even(here.kids[0].text, self.value(here.kids[1]), several.kids[0], True)
        return super().cond(e)

    def _even(self, table: str, at: Poly, count: Node, side: bool) -> IntegerCondition:
        """A test as a flag, which is 1 where it succeeds."""
        n = self.value(count)
        self.run._there(table, at, n)
        what = var(f"{'side' if side else 'even'} {table}")
        flag = self.facts.opaque("?", ONE, ONE, what, self.facts.expand(at), n)  # numbers are tried where it succeeds
        self.facts.learn(flag, 1 - flag)
        self.run.evens.append(Even(table, at, n, side, flag))
        return ge(flag - 1)


class Offsets(BlockState):
    """Tables: how they are made, and elements that are named by them."""

    def __init__(self, claim: Claim, facts: Facts) -> None:
        super().__init__(claim, facts)
        self.evens: list[Even] = []  # tests that were read

    def _integers(self) -> Integers:
        return TableIntegers(self, self.names) if self.claim.tables else super()._integers()

    # -- making them -------------------------------------------------------------------------------

    def _table_memory(self, value: Node) -> SymbolicTable:
        """`(long *)tw_align(buffer + elements)`: behind all elements, where room was asked for in bytes."""
        call = value.kids[0] if value.kind == "cast" and value.text.split() == ["long", "*"] else value
        if call[:2] != ("call", "tw_align") or call.kids[0][:2] != ("binary", "+"):
            raise Unread(f"memory for offsets {show(value)}")
        buffer, elements = call.kids[0].kids
        heap = self.names.get(buffer.text)
        if not isinstance(heap, Heap) or self._integers().value(elements) != heap.size:
            raise Unread("offsets are not behind the operands' buffers")
        return SymbolicTable("", ZERO)

    def _table(self, name: str) -> SymbolicTable:
        """`long *const name = tw_next`."""
        free = self.names[NEXT.text]
        if name not in self.claim.tables or not isinstance(free, SymbolicTable):
            raise Unread(f"{name} is no table of offsets")
        return SymbolicTable(name, free.start)

    def _fills(self, node: Node) -> bool:
        """Do loops fill the table that was begun last? They have to be the coordinate's, in their order."""
        heads, body = [], node
        while body.kind == "for":
            heads.append(body)
            body = body.kids[3]
        store = body.kids[0] if body.kind == "do" else body
        if store.kind != "assign" or store.kids[0] != Node("unary", "*", (Node("after", "++", (NEXT,)),)):
            return False
        free = self.names.get(NEXT.text)
        begun = [
            x for x in self.names.values() if isinstance(x, SymbolicTable) and isinstance(free, SymbolicTable) and x.of
        ]
        begun = [x for x in begun if x.filled == ZERO]
        if len(begun) != 1 or self.open or self.forked or self.team.most is not None:
            raise Unread("offsets are stored somewhere")
        self._fill(begun[0], heads, store)
        return True

    def _fill(self, table: SymbolicTable, heads: list[Node], store: Node) -> None:
        t, ints = self.claim.tables[table.of], self._integers()
        names, at = dict(self.names), {}
        if len(heads) != len(t.loops):
            raise Unread(f"{table.of} is filled by {len(heads)} loops in place of {len(t.loops)}")
        for k, (head, (first, past)) in enumerate(zip(heads, t.loops, strict=True)):
            begin, cond, step, _ = head.kids
            me = Node("name", begin.text)
            if begin.kind != "declare" or begin.kids[0].text != "long" or step != Node("after", "++", (me,)):
                raise Unread("a loop over offsets of another form")
            if cond[:2] != ("binary", "<") or cond.kids[0] != me:
                raise Unread("a loop over offsets with another end")
            if not self._is(ints, begin.kids[2], first) or not self._is(ints, cond.kids[1], past):
                raise Unread(f"{table.of} is filled for other values")
            names[begin.text] = at[f"tw_D{k}"] = self.facts.fresh(begin.text)
        element, base = store.kids[1].kids if store.kids[1][:2] == ("binary", "-") else (NOUGHT, NOUGHT)
        if element[:2] != ("unary", "&") or base != Node("name", t.base) or not self._begins(t):
            raise Unread(f"{table.of} gets something else than offsets")
        if not self._same(element.kids[0], t.element, at, names):
            raise Unread(f"{table.of} gets offsets of another element: {show(element)}")
        heap = [x for x in self.names.values() if isinstance(x, Heap)]
        count = Integers(self.facts, {}).value(t.size)
        if len(heap) != 1 or not self.facts.holds(heap[0].spare - table.start - count):
            raise Unread("there is no room for all offsets")
        self.names[table.of] = table._replace(filled=count)
        self.names[NEXT.text] = SymbolicTable("", table.start + count)

    def _is(self, ints: Integers, printed: Node, wanted: Node) -> bool:
        return self.facts.equal(ints.value(printed), Integers(self.facts, {}).value(wanted))

    def _begins(self, t: TableClaim) -> bool:
        """Is the base of a table the address of the first element?"""
        base = self.names.get(t.base)
        if not isinstance(base, BufferPointer) or base.of != "element" or base.node is None:
            return False
        return self._same(base.node, t.origin, {})

    # -- using them --------------------------------------------------------------------------------

    def _entry(self, table: str, at: Poly) -> Poly:
        return self.facts.opaque(f"{table}[]", self.facts.expand(at))

    def _there(self, name: str, at: Poly, count: Poly) -> None:
        """So many entries from one on have to be there."""
        table, f = self.names.get(name), self.facts
        if not isinstance(table, SymbolicTable) or table.filled == ZERO:
            raise Unread(f"{name} has no entries yet")
        if not f.holds(at) or not f.holds(table.filled - at - count) or not f.holds(count - 1):
            raise Unread(f"{name} has no entry {at}, or not {count} of them")

    def _same(self, printed: Node, wanted: Node, at: Mapping[str, Poly], names: Names | None = None) -> bool:
        if not self.claim.tables:
            return super()._same(printed, wanted, at, names)
        mine = dict(self.names if names is None else names)
        found = self._resolved(printed, mine)
        values = dict(at)
        for c, n in self.claim.digits.items():
            if COORDINATES[c] in at:
                values |= {f"{COORDINATES[c]}{k}": self._digit(c, k, at[COORDINATES[c]]) for k in range(n)}
        return super()._same(found, wanted, values, mine)

    def _digit(self, c: str, k: int, at: Poly) -> Poly:
        """The value of a coordinate's loop number k, where the coordinate counts so far."""
        return self.facts.opaque(f"{COORDINATES[c]}{k}", self.facts.expand(at))

    def _resolved(self, e: Node, names: Names) -> Node:
        """With plain accesses in place of those through tables. Their subscripts get names."""
        if e.kind == "index" and e.kids[0].kind == "name" and e.kids[0].text in self.claim.bases:
            return self._element(e, names)
        kids = tuple(self._resolved(k, names) for k in e.kids)
        return e if kids == e.kids else e._replace(kids=kids)

    def _element(self, e: Node, names: Names) -> Node:
        base, found = e.kids[0].text, list(_summands(e.kids[1]))
        used = [self.claim.tables.get(x.kids[0].text) if x.kind == "index" else None for x in found]
        tables = [t for t in used if t is not None and t.base == base]
        if len(tables) != len(found) or len({t.of for t in tables}) != len(found) or not tables:
            raise Unread(f"an element {show(e)}")
        origin = tables[0].origin
        low = [Integers(self.facts, {}).value(s) for s in _subscripts(origin)]
        total = list(low)
        for x, t in zip(found, tables, strict=True):
            at = TableIntegers(self, names).value(x.kids[1])
            self._there(x.kids[0].text, at, ONE)
            moved = Integers(self.facts, self._values(t, at))
            total = [a + moved.value(s) - b for a, s, b in zip(total, _subscripts(t.element), low, strict=True)]
        for k, p in enumerate(total):
            names[f"{show(e)} {k}"] = p
        return _with_names(origin, [f"{show(e)} {k}" for k in range(len(total))])

    def _values(self, t: TableClaim, at: Poly) -> dict[str, Any]:
        """Values of the loops of a coordinate at an entry of its table."""
        if len(t.loops) > 1:
            return {f"tw_D{k}": self._digit(t.of, k, at) for k in range(len(t.loops))}
        return {"tw_D0": at + Integers(self.facts, {}).value(t.loops[0][0])}

    def _target_table(self, c: str) -> str:
        """The table of the target's offsets along a coordinate; empty where there is none."""
        own = [n for n, t in self.claim.tables.items() if t.base == self.claim.target_base and t.of == c]
        return own[0] if own else ""

    def _evenly(self, c: str, first: Poly, count: Poly, side: bool) -> bool:
        """Do so many of the target's rows or columns have equal distances, with `side` of 1?"""
        f, name = self.facts, self._target_table(c)
        at = self._place(name, first)
        tests = [x for x in self.evens if x.table == name and f.expand(x.first - at) == ZERO]
        known = {x.side for x in tests if f.holds(x.flag - 1) and f.holds(x.many - count)}
        return f.holds(ONE - count) or (False in known and (not side or True in known))

    def _row_distance(self, i: Poly) -> Poly:
        """How far one of the target's rows lies from the next."""
        name = self._target_table("i")
        at = self._place(name, i)
        return self._entry(name, at + 1) - self._entry(name, at)

    def _place(self, name: str, at: Poly) -> Poly:
        """Where a table holds a value of its coordinate."""
        loops = self.claim.tables[name].loops
        return at if len(loops) > 1 else at - Integers(self.facts, {}).value(loops[0][0])


def _summands(e: Node) -> Iterator[Node]:
    if e[:2] == ("binary", "+"):
        yield from _summands(e.kids[0])
        yield from _summands(e.kids[1])
    else:
        yield e


def _subscripts(e: Node) -> list[Node]:
    return [*_subscripts(e.kids[0]), e.kids[1]] if e.kind == "index" else []


def _with_names(e: Node, names: list[str]) -> Node:
    if e.kind != "index":
        return e
    return Node("index", "", (_with_names(e.kids[0], names[:-1]), Node("name", names[-1])))
