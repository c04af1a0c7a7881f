"""Decides whether a printed overlap test covers the memory that a region touches: elements of arrays, rows behind
tables of pointers, single values. Raises Uncovered for what the test leaves out, Unread where it reads pointers that
the source does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import islpy as isl

from codegen.ast.ctree import Bin, CExpr, Name
from codegen.recognize.access.reach import reach
from codegen.scop.isl_helpers import val
from codegen.scop.model import Access, AccessStep, Array, Scop, Statement
from codegen.scop.unconditional import certain, followed, leads, may_be_skipped
from codegen.verify.guards import Parameters
from codegen.verify.overlap.elements import (
    ONE,
    ZERO,
    AccessedElement,
    Subscript,
    element,
    factors,
    holders,
    index_of,
)
from codegen.verify.overlap.entries import ComparedMemory, ComparedRows, ReadTest
from codegen.verify.readback import TreePoint
from codegen.verify.text.read import Node, Unread, nodes, read_expression

SET, PARAM = isl.dim_type.set, isl.dim_type.param
_X = "\0x"


class Uncovered(Unread):
    """Memory that the test does not hold."""


class CoveredMemory:
    """A printed test beside the region that it stands ahead of."""

    def __init__(self, scop: Scop, test: ReadTest) -> None:
        self.scop, self.test = scop, test
        self.p = Parameters(scop)
        self.known = self.p.ranges.intersect(self._params(scop.context))
        self.valid = self._guarded()
        self._arrays: dict[str, frozenset[int] | Uncovered] = {}
        self._elements: dict[tuple[str, tuple[AccessStep, ...]], AccessedElement] = {}
        self._spans: dict[tuple[Node, Node], isl.Set] = {}

    def _guarded(self) -> isl.Set:
        """Where the region's guard holds. Elsewhere the region runs as it was written, whatever the test says."""
        valid = self.known.intersect(self._params(self.scop.guard.valid))
        for name in sorted(self.scop.guard.wide):  # `tw_fits`
            at = valid.find_dim_by_name(PARAM, name)
            valid = valid.upper_bound_val(PARAM, at, val(2**60 - 1)) if at >= 0 else valid
        return valid

    def of_array(self, array: Array) -> frozenset[int]:
        """The entries that hold the elements of an array which are touched. Raises Uncovered."""
        if array.name not in self._arrays:
            try:
                self._arrays[array.name] = frozenset(self._entries(array))
            except Uncovered as problem:
                self._arrays[array.name] = problem
        found = self._arrays[array.name]
        if isinstance(found, Uncovered):
            raise found
        return found

    def _entries(self, array: Array) -> set[int]:
        out = set()
        for s in self.scop.statements:
            for number, a in enumerate(s.accesses):
                if a.array != array.name or a.relation.intersect_domain(s.domain).is_empty():
                    continue
                entry = self._opaque(array, a) if array.opaque else self._access(s, number)
                if a.write and entry >= self.test.written:
                    raise Uncovered(f"`{array.base}` is written, and not compared with all others")
                out.add(entry)
        return out

    def _element(self, s: Statement, number: int) -> AccessedElement:
        """Where an access finds its element; the same for all that take the same way."""
        a = s.accesses[number]
        key = a.array, a.path
        if key not in self._elements:
            self._elements[key] = element(self.scop, s, number)
        return self._elements[key]

    # -- elements ----------------------------------------------------------------------------------

    def _access(self, s: Statement, number: int) -> int:
        a = s.accesses[number]
        at = self._element(s, number)
        name = self.scop.arrays[a.array].base
        touched = a.relation.intersect_domain(s.domain).range()
        if self.scop.arrays[a.array].scattered:
            return self._row(name, at, touched)

        def check(x: ComparedMemory) -> None:
            if not at.subscripts:
                if (x.first, x.past, x.stride) != (ZERO, ONE, None):
                    raise Uncovered(f"`{name}` is one element")
                self._check_when(name, touched.params(), x.when)
                return
            if factors(x.stride) != at.subscripts[0].strides:
                raise Uncovered(f"`{name}` is compared by rows of another length")
            self._check_line(name, self._line(touched, at.subscripts[0]), x.first, x.past, x.when)

        return self._find(name, (at.subscripts[0].behind,) if at.subscripts else at.holders, check)

    def _row(self, name: str, at: AccessedElement, touched: isl.Set) -> int:
        """Elements of a row behind a table of pointers, or behind pointers that are the same for all elements."""
        problem = Uncovered(f"`{name}` is not in the test")
        for k, x in enumerate(self.test.entries):
            try:
                if isinstance(x, ComparedRows) and self._is_row_of(x, at, touched):
                    self._check_row(name, x, at, touched)
                    return k
                if isinstance(x, ComparedMemory) and self._same_way(x.pointer, at.subscripts[-1].behind, touched):
                    if factors(x.stride) != at.subscripts[-1].strides:
                        raise Uncovered(f"`{name}` is compared by rows of another length")
                    self._check_line(name, self._line(touched, at.subscripts[-1]), x.first, x.past, x.when)
                    return k
            except Uncovered as other:
                problem = other
        raise problem

    def _check_row(self, name: str, x: ComparedRows, at: AccessedElement, touched: isl.Set) -> None:
        one, two = at.subscripts[-2:]
        if one.strides:
            raise Uncovered(f"`{name}` is found through several pointers")
        self._check_line(name, self._line(touched, one), x.first, x.past, x.when)
        low, high = (_rest(e, two.strides) for e in (x.low, x.high))
        self._check_line(name, self._line(touched, two), low, high, x.when)

    def _is_row_of(self, x: ComparedRows, at: AccessedElement, touched: isl.Set) -> bool:
        """Do the last two subscripts stand behind the rows that are compared?"""
        return (
            len(at.subscripts) > 1
            and self._same_way(x.table, at.subscripts[-2].behind, touched)
            and self._same_way(x.row, at.first_row(), touched)
        )

    def _same_way(self, given: Node, own: Node, touched: isl.Set) -> bool:
        """Is a pointer of the test the one of an access, whose indices have the same values for all elements?"""
        number = index_of(own)
        if number is not None:
            line = self._line(touched, Subscript(own, number, ()))
            return bool(line.is_subset(self._between(line, given, Node("binary", "+", (given, ONE)))))
        alike = (given.kind, given.text, len(given.kids)) == (own.kind, own.text, len(own.kids))
        return alike and all(self._same_way(a, b, touched) for a, b in zip(given.kids, own.kids, strict=True))

    def _opaque(self, array: Array, a: Access) -> int:
        """All that subscripts which depend on data may reach: a whole object, or what types and masks leave."""
        text = array.base
        for step in a.path:
            if step.kind not in ("member", "arrow"):
                break
            text += ("->" if step.kind == "arrow" else ".") + step.text
        pointer = read_expression(text)
        whole = array.place in ("global", "local") and array.depth == 0 and bool(array.extents and array.extents[0])
        ends = (0, 0) if whole else reach(self.scop, array.name)
        if ends is None or array.scattered:
            raise Uncovered(f"`{array.base}` is used by subscripts that depend on data")
        line = isl.Set(f"{{ [x] : {ends[0]} <= x <= {ends[1]} }}").align_params(self.known.get_space())
        line = line.intersect_params(self._params(a.relation.params())).intersect_params(self.known)
        pointers = (Node("unary", "&", (pointer,)),) if whole else (pointer,)
        return self._find(array.base, pointers, partial(self._check_plain, array.base, line))

    def _find(self, name: str, pointers: tuple[Node, ...], check: Callable[[ComparedMemory], None]) -> int:
        """An entry behind one of these pointers that holds what has to be there. Raises Uncovered."""
        problem = Uncovered(f"`{name}` is not in the test")
        for k, x in enumerate(self.test.entries):
            if isinstance(x, ComparedMemory) and x.pointer in pointers:
                try:
                    check(x)
                    return k
                except Uncovered as other:
                    problem = other
        raise problem

    def _line(self, touched: isl.Set, at: Subscript) -> isl.Set:
        """The values of one index, by parameters."""
        line = touched.project_out(SET, at.number + 1, touched.dim(SET) - at.number - 1)
        line = line.project_out(SET, 0, at.number).reset_tuple_id()
        return line.align_params(self.known.get_space()).intersect_params(self.known)

    def _check_line(self, name: str, line: isl.Set, first: Node, past: Node, when: Node | None) -> None:
        if not line.is_subset(self._between(line, first, past)):
            raise Uncovered(f"`{name}` is touched where the test does not look")
        self._check_when(name, line.params(), when)

    def _between(self, line: isl.Set, first: Node, past: Node) -> isl.Set:
        if (first, past) not in self._spans:
            here = TreePoint(isl.Set.universe(line.get_space()), (_X,), (), (), ())
            inside = Bin("&&", Bin("<=", self._value(first), Name(_X)), Bin("<", Name(_X), self._value(past)))
            self._spans[first, past] = here.condition(inside)
        return self._spans[first, past]

    def _check_when(self, name: str, used: isl.Set, when: Node | None) -> None:
        if when is not None and not self._params(used).intersect(self.known).is_subset(self._holds(when)):
            raise Uncovered(f"`{name}` is touched where the test does not look at all")

    def _value(self, e: Node) -> CExpr:
        try:
            return self.p.value(e)
        except KeyError as name:
            raise Unread(f"a test of another form: {name}") from None

    def _holds(self, when: Node | None) -> isl.Set:
        if when is None:
            return isl.Set.universe(self.known.get_space())
        found = self.p.point.condition(self._value(when))
        return self._params(found if found.is_params() else found.params())

    def _params(self, s: isl.Set) -> isl.Set:
        return (s if s.is_params() else s.params()).align_params(self.p.ranges.get_space())

    # -- single values -----------------------------------------------------------------------------

    def check_value(self, text: str, used: isl.Set | None) -> None:
        """A value, or the object that it is a member of, is in the test wherever it is looked at. Raises Uncovered."""
        places = tuple(holders(read_expression(text)))
        mine = [x for x in self.test.entries if isinstance(x, ComparedMemory) and x.pointer in places]
        where = self.known if used is None else self._params(used)
        for x in mine:
            if (x.first, x.past, x.stride) == (ZERO, ONE, None):
                where = where.subtract(self._holds(x.when))
        if not where.intersect(self.valid).is_empty():
            raise Uncovered(f"`{text}` may be changed by a store, and is not in the test")

    # -- what the test itself looks at -------------------------------------------------------------

    def check_reads(self) -> None:
        """It reads pointers where the source reads them, whatever the data are. Raises Unread."""
        for x in self.test.entries:
            runs = self.known.intersect(self._holds(x.when))
            for first in self.scop.guard.first:
                runs = runs.intersect(self._params(first))
            if isinstance(x, ComparedRows):
                self._check_table(x, runs)
            pointer = x.table if isinstance(x, ComparedRows) else x.pointer
            if self._loads(pointer):
                self._check_loads(pointer, runs)
            elif "->" in _spelled(pointer) and not runs.is_subset(self._computed(pointer)):
                self._check_leads(pointer, runs)

    def _loads(self, pointer: Node) -> bool:
        """Does a pointer lie behind subscripts, so that there are others to be read on the way?"""
        return any(n.kind == "index" for n in nodes(_within(pointer)))

    def _check_loads(self, pointer: Node, runs: isl.Set) -> None:
        """Such a pointer is read where the source surely reads what it leads to."""
        where = self._computed(pointer)
        for s in self.scop.statements:
            for number, a in enumerate(s.accesses):
                touched = a.relation.intersect_domain(s.domain).range()
                behind = [x.behind for x in self._element(s, number).subscripts] if certain(s, a) else []
                if any(self._same_way(_within(pointer), x, touched) for x in behind):
                    where = where.union(self._params(s.instances(a).params()))
        if not runs.is_subset(where):
            raise Unread("the test reads pointers that the source may not read")

    def _check_leads(self, pointer: Node, runs: isl.Set) -> None:
        """An address within an object takes one step less than what is found there."""
        found = leads(_spelled(pointer))
        for lead in found[:-1] if pointer.kind == "unary" else found:
            if not runs.is_subset(self._followed(lead)):
                raise Unread(f"the test follows `{lead}` where the source may not follow it")

    def _followed(self, lead: str) -> isl.Set:
        """For which parameters the source follows a pointer for sure, before or in its loops."""
        if any(p.asked and p.text.startswith(lead) for p in self.scop.params):
            return self.known
        where = isl.Set.empty(self.known.get_space())
        for c in self.scop.computed:
            if lead in leads(c.text) and not may_be_skipped(c.text):
                where = where.union(self._params(c.where))
        for other, here in followed(self.scop):
            where = where.union(self._params(here)) if other == lead else where
        return where

    def _computed(self, pointer: Node) -> isl.Set:
        """For which parameters the element at an address is read ahead of the loops."""
        where = isl.Set.empty(self.known.get_space())
        for c in self.scop.computed:
            if any(Node("unary", "&", (read_expression(r.text),)) == pointer for r in c.reads if r.base):
                where = where.union(self._params(c.where))
        return where

    def _check_table(self, x: ComparedRows, runs: isl.Set) -> None:
        """Pointers to rows are read where there are rows, and elements in them."""
        sure = None
        strides: tuple[Node, ...] = ()
        for s, number, at in self._rows_of(x):
            a = s.accesses[number]
            strides = at.subscripts[-1].strides
            if certain(s, a):
                rows = self._line(a.relation.intersect_domain(s.domain).range(), at.subscripts[-2])
                sure = rows if sure is None else sure.union(rows)
        if sure is None:
            raise Unread("the test reads pointers that the source may not read")
        read = self._between(sure, x.first, x.past).intersect_params(runs)
        some = self.p.point.condition(Bin("<", *(self._value(_rest(e, strides)) for e in (x.low, x.high))))
        if not read.intersect_params(self._params(some)).is_subset(sure):
            raise Unread("the test reads pointers that the source may not read")

    def _rows_of(self, x: ComparedRows) -> Iterator[tuple[Statement, int, AccessedElement]]:
        for s in self.scop.statements:
            for number, a in enumerate(s.accesses):
                if self.scop.arrays[a.array].scattered and not self.scop.arrays[a.array].opaque:
                    at = self._element(s, number)
                    if self._is_row_of(x, at, a.relation.intersect_domain(s.domain).range()):
                        yield s, number, at

    def check_pointers(self, array: Array) -> None:
        """The pointers to the rows of an array are in the test themselves. Raises Uncovered."""
        for s in self.scop.statements:
            for number, a in enumerate(s.accesses):
                if a.array == array.name:
                    at = self._element(s, number).subscripts[0]
                    line = self._line(a.relation.intersect_domain(s.domain).range(), at)
                    self._find(array.base, (at.behind,), partial(self._check_plain, array.base, line))

    def _check_plain(self, name: str, line: isl.Set, x: ComparedMemory) -> None:
        if x.stride is not None:
            raise Uncovered(f"`{name}` is compared by rows of another length")
        self._check_line(name, line, x.first, x.past, x.when)


def _rest(e: Node, strides: tuple[Node, ...]) -> Node:
    """A number of elements as a number of rows of so many."""
    if not strides:
        return e
    if e.kind != "binary" or e.text != "*" or factors(e.kids[1]) != strides:
        raise Uncovered("rows are compared by another length")
    return e.kids[0]


def _within(pointer: Node) -> Node:
    """What is read for a pointer: an address of an element takes the pointer to it alone."""
    inner = pointer.kids[0] if (pointer.kind, pointer.text) == ("unary", "&") else pointer
    return inner.kids[0] if inner is not pointer and inner.kind == "index" else inner


def _spelled(e: Node) -> str:
    """C text of a pointer, without parentheses."""
    if e.kind == "member":
        return f"{_spelled(e.kids[0])}{e.text}{e.kids[1].text}"
    if e.kind == "index":
        return f"{_spelled(e.kids[0])}[{_spelled(e.kids[1])}]"
    return e.text + "".join(_spelled(k) for k in e.kids)
