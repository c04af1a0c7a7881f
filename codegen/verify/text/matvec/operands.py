"""Checks the declarations and copies around a printed matrix-vector kernel against what was asked for: sizes, pointers
to operands, strides, copies of vectors and back. Raises Unread where the text differs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from codegen.isa.load import load as load_isa
from codegen.isa.model import C_TYPES
from codegen.target.matvec.kernel import MatvecKernel, grouped
from codegen.target.matvec.kernel import name as kernel_name
from codegen.target.matvec.view import MatvecWanted
from codegen.verify.poly import ONE, ZERO, Poly, var
from codegen.verify.text.compare import DEPTH as STEP
from codegen.verify.text.compare import ROW, distances, neighbours, same, where_several
from codegen.verify.text.facts import Facts
from codegen.verify.text.integers import UNKNOWN, IntegerCondition, Integers, is_test
from codegen.verify.text.lanes import show
from codegen.verify.text.read import NOTHING, Node, Unread, pointee
from codegen.verify.text.samples import FEW
from codegen.verify.text.spans import CountedLoop

_OTHERS = re.compile(r"tw_(?:u\d+|w\d+|z)")  # what the other one of two products has
SIZE, ME = var("tw_team_size()"), "tw_thread()"


class OtherProduct(NamedTuple):
    """A second product that the kernel carries out: how many vectors and constants it has, and whether the kernel gets
    those, and its numbers of rows and steps, ahead of the own ones. It is shown where it is the own one."""

    operands: int
    consts: int
    ahead: bool


class MatvecClaim(NamedTuple):
    """What the block is compared with."""

    left: tuple[Node, ...]
    right: tuple[Node, ...]
    target: Node
    consts: tuple[Node, ...]
    first: tuple[Node, Node]
    past: tuple[Node, Node]
    whole: frozenset[Node]
    kernel: str
    lanes: bool
    streams: int  # lines taken together, 0 where the kernel is not told how many
    elem: str  # C type
    other: OtherProduct | None = None


def claimed(
    w: MatvecWanted,
    mk: MatvecKernel,
    streams: int,
    read: Callable[[str], Node],
    other: OtherProduct | None = None,
) -> MatvecClaim:
    """Of a kernel that takes so many lines together; `read` reads expressions."""
    isa = load_isa(w.how.isa, w.how.bits)
    return MatvecClaim(
        tuple(map(read, w.left)),
        tuple(map(read, w.right)),
        read(w.target),
        tuple(map(read, w.consts)),
        (read(w.first[0]), read(w.first[1])),
        (read(w.past[0]), read(w.past[1])),
        frozenset(map(read, w.whole)),
        kernel_name(isa, mk),
        w.how.form == "lanes",
        streams if grouped(isa, mk) else 0,
        C_TYPES[mk.elem],
        other,
    )


class PointerPlace(NamedTuple):
    """A pointer: `of` is a matrix (a0, ...), a vector (x0, ...), the result (y) or the memory for copies (room)."""

    of: str
    at: Poly = ZERO


class OperandBuffer(NamedTuple):
    """Memory for so many elements; none where there was no work."""

    size: Poly
    work: IntegerCondition


class Operands:
    """What the check of a whole matrix-vector kernel (block.py) asks of declarations and copies: its base class."""

    def __init__(self, claim: MatvecClaim) -> None:
        self.claim, self.facts = claim, Facts()
        ints = Integers(self.facts, {})
        (self.row, past), (self.step, end) = (
            tuple(map(ints.value, p)) for p in zip(claim.first, claim.past, strict=True)
        )
        self.rows, self.depth = past - self.row, end - self.step
        self.facts.samples.draw([self.rows - 1, self.depth - 1], FEW)
        self.names: dict[str, Any] = {}
        self.work: IntegerCondition = UNKNOWN
        self.used = ZERO  # elements of the memory for copies that have a use
        self.room: OperandBuffer | None = None
        self.team: Poly | None = None
        self.called = False  # a kernel was
        self.copied = False  # the result is in the memory for copies

    def _ints(self) -> Integers:
        return Integers(self.facts, self.names)

    def _cond(self, e: Node) -> IntegerCondition:
        try:
            return self._ints().cond(e)
        except Unread:
            return UNKNOWN

    # -- declarations ------------------------------------------------------------------------------

    def _declare(self, node: Node) -> None:
        kind, sizes, value = node.kids
        name = node.text
        if sizes.kids or value is NOTHING:
            raise Unread(f"a declaration of {name}")
        if self.claim.other is not None and _OTHERS.fullmatch(name) and name not in self.names:
            return  # shown with the other product
        if name == "tw_work":
            if kind.text != "const double":
                raise Unread(f"the amount of work has another type: {kind.text}")
            self._declare_work(value)
        elif "*" in kind.text:
            if pointee(kind.text) != self.claim.elem:
                raise Unread(f"{name} points to another type: {kind.text}")
            self.names[name] = self._pointer(name, value)
        elif name.startswith("tw_pitch"):
            self._pitch(name, value)
        elif name.startswith("tw_s") and name[4:].isdigit():
            if kind.text != f"const {self.claim.elem}" or not self._same(value, self.claim.consts[int(name[4:])], {}):
                raise Unread(f"{name} is another value")
            self.names[name] = PointerPlace(name[3:])
        elif kind.text == "const int":
            if not is_test(value):
                raise Unread(f"{name} is no test: {show(value)}")
            self.names[name] = self._cond(value)
        elif kind.text == "const long":
            self.names[name] = self._number(value)
        else:
            raise Unread(f"a declaration of {name}")

    def _declare_work(self, value: Node) -> None:
        """`there is something to do ? that much : -1`."""
        if value.kind != "choose" or value.kids[2] != Node("unary", "-", (Node("number", "1"),)):
            raise Unread("the amount of work is something else")
        self.work = self._cond(value.kids[0])
        self.names["tw_work"] = UNKNOWN

    def _worth(self, cond: Node) -> IntegerCondition | None:
        """What is known where there is work enough; None where that is not asked."""
        room = self.names.get(cond.text) if cond.kind == "name" else None
        if isinstance(room, OperandBuffer):
            return room.work
        if cond[:2] == ("binary", "&&") and cond.kids[1].kind == "name":
            return self._worth(cond.kids[0])
        if cond[:2] == ("binary", ">=") and cond.kids[0] == Node("name", "tw_work"):
            return self.work if self.facts.holds(self._ints().value(cond.kids[1])) else None
        return None

    def _number(self, value: Node) -> Poly:
        if value.kind == "call" and value.text in ("tw_team_size", "tw_thread"):
            if self.team is None:
                raise Unread("threads outside of a team")
            me, team, samples = var(ME), self.team, self.facts.samples
            samples.give(str(SIZE), lambda most: max(1, min(6, most)), team)
            samples.give(ME, samples.random.randrange, SIZE)
            self.facts.learn(SIZE - 1, self.team - SIZE, me, SIZE - 1 - me)
            return SIZE if value.text == "tw_team_size" else me
        if value.kind == "choose" and self._cond(value.kids[0]) == UNKNOWN:
            ints = self._ints()
            either = [ints.value(k) for k in value.kids[1:]]
            chosen = self.facts.fresh("chosen")
            self.facts.learn(*([chosen - 1] if all(self.facts.holds(x - 1) for x in either) else []))
            return chosen
        return self._ints().value(value)

    def _pointer(self, name: str, value: Node) -> PointerPlace | OperandBuffer:
        of = name.removeprefix("tw_")
        if name == "tw_room":
            return self._allocated(value)
        if value.kind == "name":
            base = self.names.get(value.text)
            if isinstance(base, OperandBuffer) and name == "tw_next":
                return PointerPlace("room", ZERO)
            if not isinstance(base, PointerPlace) or base.of != "room":
                raise Unread(f"a pointer {name} = {show(value)}")
            self.copied = self.copied or of == "y"
            return PointerPlace("copy", base.at)
        wanted = self._element(of)
        if not self._viewed(value) or value.kids[0][:2] != ("unary", "&"):
            raise Unread(f"a pointer {name} = {show(value)}")
        if not self._same(value.kids[0].kids[0], wanted, {ROW: self.row, STEP: self.step}):
            raise Unread(f"{name} is another element: {show(value)}")
        if wanted not in self.claim.whole or not self._in_line(of, wanted):
            raise Unread(f"elements of {show(wanted)} are taken to lie side by side")
        return PointerPlace(of)

    def _viewed(self, e: Node) -> bool:
        """Is it cast to a pointer to elements of the computation?"""
        return e.kind == "cast" and e.text.removeprefix("const ") == f"{self.claim.elem} *"

    def _element(self, of: str) -> Node:
        kind, number = of[:1], of[1:]
        found = {"a": self.claim.left, "x": self.claim.right, "y": (self.claim.target,)}.get(kind)
        if found is None or not (number or "0").isdigit() or int(number or "0") >= len(found):
            raise Unread(f"a pointer tw_{of}")
        return found[int(number or "0")]

    def _in_line(self, of: str, wanted: Node) -> bool:
        """Do neighbours in memory follow each other as the kernel takes them to? Lines of a matrix lie at one
        distance."""
        along, across = (ROW, STEP) if self.claim.lanes else (STEP, ROW)
        if of[0] == "a":
            distances(wanted, across, self.facts)
            return neighbours(wanted, along, self.facts)
        return neighbours(wanted, STEP if of[0] == "x" else ROW, self.facts)

    def _pitch(self, name: str, value: Node) -> None:
        """The distance of two lines: from the matrix's first element to that of the next line. A single line has none,
        and nothing is added to its address."""
        k = name.removeprefix("tw_pitch")
        base = self.names.get(f"tw_a{k}")
        if value[:2] != ("binary", "-") or value.kids[1] != Node("name", f"tw_a{k}") or base != PointerPlace(f"a{k}"):
            raise Unread(f"{name} is something else")
        later, at = value.kids[0], {ROW: self.row, STEP: self.step}
        at[STEP if self.claim.lanes else ROW] = at[STEP if self.claim.lanes else ROW] + 1
        count = Node("name", "tw_depth" if self.claim.lanes else "tw_rows")
        address = where_several(later.kids[0], count) if self._viewed(later) else NOTHING
        if address[:2] != ("unary", "&") or not self._same(address.kids[0], self._element(f"a{k}"), at):
            raise Unread(f"{name} is the distance of something else")
        self.names[name] = var(name)

    def _same(self, printed: Node, wanted: Node, at: Mapping[str, Poly]) -> bool:
        return same(printed, wanted, at, self.names, self.facts)

    # -- copies ------------------------------------------------------------------------------------

    def _allocated(self, value: Node) -> OperandBuffer:
        if value.kind != "choose" or value.kids[2] != Node("number", "0") or value.kids[1].text != "tw_alloc":
            raise Unread("memory of another kind")
        each = var(f"sizeof {self.claim.elem}")
        size = self._ints().value(value.kids[1].kids[0]).over(each)
        work = self._worth(value.kids[0])
        if size is None or work is None:
            raise Unread("memory of a part of an element, or without a test")
        self.room = OperandBuffer(size, work)
        return self.room

    def _copied(self, lp: CountedLoop, name: str, body: Node) -> bool:
        """A loop that copies a vector, or the result. False where it does something else."""
        e = body.kids[0] if body.kind == "do" else NOTHING
        if e[:2] != ("assign", "=") or lp.step != ONE or lp.first != ZERO:
            return False
        v = var(lp.name)
        self.names[name] = v
        try:
            to, value = e.kids
            if to == Node("unary", "*", (Node("after", "++", (Node("name", "tw_next"),)),)):
                self._copy_in(lp, v, value)
            elif to.kind == "index" and to.kids == (Node("name", "tw_y"), Node("name", name)):
                self._copy_result(lp, v, value)
            elif value.kind == "index" and value.kids == (Node("name", "tw_y"), Node("name", name)):
                self._copy_back(lp, v, to)
            else:
                return False
        finally:
            del self.names[name]
        return True

    def _copy_in(self, lp: CountedLoop, v: Poly, value: Node) -> None:
        """The next vector, behind what is in the memory already."""
        here = self.names.get("tw_next")
        mine = [
            n
            for n, x in self.names.items()
            if n.startswith("tw_x") and x == PointerPlace("copy", getattr(here, "at", ONE))
        ]
        if not isinstance(here, PointerPlace) or len(mine) != 1 or lp.past != self.depth:
            raise Unread("a copy of no vector, or of a part of one")
        if not self._same(value, self._element(mine[0][3:]), {STEP: self.step + v}):
            raise Unread(f"the copy {mine[0]} gets another value: {show(value)}")
        self._takes(here.at, self.depth)
        self.names["tw_next"] = here._replace(at=here.at + self.depth)
        self.names[mine[0]] = PointerPlace(mine[0][3:])

    def _copy_result(self, lp: CountedLoop, v: Poly, value: Node) -> None:
        here = self.names.get("tw_y")
        if not isinstance(here, PointerPlace) or here.of != "copy" or lp.past != self.rows or self.called:
            raise Unread("a copy of a part of the result")
        if not self._same(value, self.claim.target, {ROW: self.row + v}):
            raise Unread(f"the result's copy gets another value: {show(value)}")
        self._takes(here.at, self.rows)
        self.names["tw_y"] = PointerPlace("y")

    def _takes(self, at: Poly, count: Poly) -> None:
        """A part of the memory gets a use, behind all that had one."""
        if self.room is None or at != self.used or not self.facts.holds(self.room.size - at - count):
            raise Unread("copies overlap, or go past their memory")
        self.used = at + count

    def _copy_back(self, lp: CountedLoop, v: Poly, to: Node) -> None:
        there = self._same(to, self.claim.target, {ROW: self.row + v})
        here = isinstance(self.names.get("tw_y"), PointerPlace)
        if not here or not self.copied or not self.called or lp.past != self.rows or not there:
            raise Unread(f"the result is copied back to another place: {show(to)}")
        self.copied = False
