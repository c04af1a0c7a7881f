"""Symbolic execution of the register block, the innermost part of a mesh product.

Small loops of fixed length are run. The loop over depth is read once, for any depth: every register that stands for
elements of the tile gets what the statement adds there.
"""

from __future__ import annotations

from typing import Protocol

from codegen.verify.cores.lanes import VECTOR
from codegen.verify.cores.loop_heads import step_of
from codegen.verify.cores.mesh.names import LocalPlace, MeshScope, statements
from codegen.verify.cores.mesh.sizes import MeshSizes
from codegen.verify.cores.mesh.values import RunningSum, SlicedElement, VectorValue, of_text, operation, replaced, splat
from codegen.verify.poly import ZERO, Poly, poly
from codegen.verify.text.lanes import show
from codegen.verify.text.read import NOTHING, Node, Unread

# What sends, and what receives. Loads that send put a vector from memory, or one element in all lanes, into the
# register first.
_BUSES = {
    **dict.fromkeys(("simd_putc", "simd_loadc", "simd_loadec"), "simd_getc"),
    **dict.fromkeys(("simd_putr", "simd_loadr", "simd_loader"), "simd_getr"),
}
_LOADS = {"simd_load": True, "simd_loadc": True, "simd_loadr": True, "simd_loadec": False, "simd_loader": False}
_OPERATIONS = {"simd_vmuld": "*", "simd_vaddd": "+"}


class SumJudge(Protocol):
    """Who knows what registers are to hold."""

    def added_depth(self, sc: MeshScope, end: Poly, done: Poly) -> Poly:
        """The depth that a loop adds to sums that are complete below `done`; where that is the end, to which."""

    def added(self, sc: MeshScope, k: str, was: RunningSum, now: VectorValue) -> None:
        """Raises Unread unless a sum gets the value of depth `was.done + k`."""


class RegisterBlockReader:
    """Registers and what they hold."""

    def __init__(self, x: MeshSizes, sc: MeshScope, view: str, done: Poly, judge: SumJudge) -> None:
        self.x, self.sc, self.view, self.done, self.judge = x, sc, view, done, judge
        self.types: dict[str, tuple[int, ...]] = {}  # sizes of vectors
        self.arrays: dict[str, int] = {}  # of numbers and addresses
        self.registers: dict[str, VectorValue] = {}
        self.pointers: dict[str, LocalPlace] = {}
        self.scalars: dict[str, VectorValue] = {}
        self.loaded: dict[tuple[Poly, Poly], None] = {}
        self.stored: dict[tuple[Poly, Poly], Poly] = {}

    def run(self, body: list[Node]) -> None:
        for s in body:
            self._statement(s)

    def _statement(self, s: Node) -> None:
        if s.kind == "declare":
            self._declare(s)
        elif s.kind == "block":
            self.run(statements(s))
        elif s.kind == "for":
            self._loop(s)
        elif s.kind == "if":
            self._message(s)
        elif s.kind == "do" and s.kids[0].kind == "call":
            self._memory(s.kids[0])
        elif s.kind == "do" and s.kids[0].kind == "assign" and s.kids[0].text == "=":
            self._assign(*s.kids[0].kids)
        else:
            raise Unread(f"`{s.kind}` in a block of the tile")

    def _declare(self, s: Node) -> None:
        kind, sizes, value = s.kids
        vector = VECTOR.fullmatch(kind.text.removeprefix("const "))
        if vector is not None:
            if (vector[1], int(vector[2])) != ("double", self.x.shape.lanes):
                raise Unread(f"`{s.text}` is a vector of another type")
            self.types[s.text] = tuple(self._size(k) for k in sizes.kids)
            self.registers = {n: v for n, v in self.registers.items() if n.split("[")[0] != s.text}
            if value != NOTHING:
                self.registers[self._register(Node("name", s.text))] = self._vector(value)
        elif kind.text == "const double" and not sizes.kids and value != NOTHING:
            self.scalars[s.text] = self._value(value)
        elif kind.text.replace(" ", "") in ("long", "constdouble*") and len(sizes.kids) == 1 and value == NOTHING:
            self.arrays[s.text] = self._size(sizes.kids[0])
        else:
            self.sc = self.sc.declared(s)

    def _size(self, e: Node) -> int:
        number = self.sc.value(e).number
        if number is None:
            raise Unread("an array of no fixed size")
        return number

    def _loop(self, s: Node) -> None:
        first, cond, step, inside = s.kids
        name, by = first.text, step_of(step, first.text)
        if first.kind != "declare" or cond.kind != "binary" or cond.text != "<" or cond.kids[0] != Node("name", name):
            raise Unread("a loop in a block of the tile that is not counted")
        start, end = self.sc.value(first.kids[2]), self.sc.value(cond.kids[1])
        if start.number is None or not by:
            raise Unread(f"the loop over `{name}` begins or goes on elsewhere")
        if end.number is None:
            if start.number or by != 1:
                raise Unread(f"the loop over `{name}` begins or goes on elsewhere")
            self._fold(name, end, inside)
            return
        for k in range(start.number, end.number, by):
            self.sc = self.sc.named(name, poly(k))
            self.run(statements(inside))

    def _fold(self, k: str, end: Poly, inside: Node) -> None:
        """Any depth of those that a loop runs through."""
        deep = self.judge.added_depth(self.sc, end, self.done)
        before = dict(self.registers)
        sums = {n: v for n, v in before.items() if isinstance(v, RunningSum)}
        if not sums or any(v.done != self.done for v in sums.values()):
            raise Unread("sums that are not complete so far")
        outside = self.sc
        self.sc = outside.counted(k, ZERO, end)
        self.run(statements(inside))
        for name, was in sums.items():
            self.judge.added(self.sc, k, was, self.registers[name])
        self.done = self.done + deep
        self.sc = outside
        self.registers = {n: v._replace(done=self.done) for n, v in sums.items()}

    # -- messages ------------------------------------------------------------------------------------

    def _message(self, s: Node) -> None:
        """One core of a row or column has the value and sends it; all others receive it."""
        cond, then, other = s.kids
        mine, theirs = statements(then), statements(other)
        if len(mine) == len(theirs) == 1 and mine[0].kind == theirs[0].kind == "for":
            self._messages(cond, mine[0], theirs[0])
            return
        put = mine[-1].kids[0] if mine and mine[-1].kind == "do" else NOTHING
        get = theirs[0].kids[0] if len(theirs) == 1 and theirs[0].kind == "do" else NOTHING
        known = put.kind == "call" and put.text in _BUSES and get == Node(
            "assign", "=", (put.kids[0], Node("call", _BUSES[put.text], put.kids[:1]))
        )
        if not known or len(put.kids) != 2 or (put.text not in _LOADS and put.kids[1] != Node("number", "8")):
            raise Unread("a condition in a block of the tile")
        side = self.x.words.row if _BUSES[put.text] == "simd_getc" else self.x.words.column
        if cond.kind != "binary" or cond.text != "==" or cond.kids[0] != Node("name", side):
            raise Unread("a message from another core")
        sender = self.sc.value(cond.kids[1])
        self.run(mine[:-1])
        name = self._register(put.kids[0])
        if put.text in _LOADS:
            self.registers[name] = self._loaded(put)

        def there(c: SlicedElement | RunningSum) -> VectorValue:
            if isinstance(c, RunningSum) or c.core is not None:
                raise Unread("a message that passes on another one")
            return c._replace(core=(side, sender))

        self.registers[name] = replaced(self._held(name), there)

    def _messages(self, cond: Node, mine: Node, theirs: Node) -> None:
        """Several messages: two loops that run alike, one that sends and one that receives."""
        if mine.kids[:3] != theirs.kids[:3]:
            raise Unread("others receive than are sent")
        head, (then, other) = mine.kids[:3], (mine.kids[3], theirs.kids[3])
        self._loop(Node("for", "", (*head, Node("if", "", (cond, then, other)))))

    # -- registers and memory ------------------------------------------------------------------------

    def _register(self, e: Node) -> str:
        subscripts: list[int] = []
        while e.kind == "index":
            at = self.sc.value(e.kids[1]).number
            if at is None:
                raise Unread("a register of an unknown number")
            subscripts.insert(0, at)
            e = e.kids[0]
        sizes = self.types.get(e.text) if e.kind == "name" else None
        if sizes is None or len(sizes) != len(subscripts):
            raise Unread(f"`{e.text}` is no register")
        if not all(0 <= k < n for k, n in zip(subscripts, sizes, strict=True)):
            raise Unread(f"`{e.text}` has fewer registers")
        return e.text + "".join(f"[{k}]" for k in subscripts)

    def _held(self, name: str) -> VectorValue:
        if name not in self.registers:
            raise Unread(f"`{name}` has no value")
        return self.registers[name]

    def _assign(self, left: Node, right: Node) -> None:
        if left.kind == "index" and left.kids[0].kind == "name" and left.kids[0].text not in self.types:
            name, number = self.sc.ints.element(left), self.sc.value(left.kids[1]).number
            if number is None or not 0 <= number < self.arrays.get(left.kids[0].text, 0):
                raise Unread(f"`{name}` is outside of its array")
            if right.kind == "unary" and right.text == "&":
                self.pointers[name] = self.x.place(self.sc, right)
            else:
                self.sc = self.sc.named(name, self.sc.value(right))
            return
        self.registers[self._register(left)] = self._vector(right)

    def _vector(self, e: Node) -> VectorValue:
        if e.kind in ("name", "index"):
            return self._held(self._register(e))
        lanes = self.x.shape.lanes
        if e.kind == "call" and e.text == f"simd_set_doublev{lanes}":
            return splat([self._value(k) for k in e.kids], lanes)
        if e.kind == "call" and e.text == "simd_vcpyfd" and len(e.kids) == 1:
            return splat([self._value(e.kids[0])] * lanes, lanes)
        if e.kind == "call" and e.text == "simd_vmad" and len(e.kids) == 3:
            a, b, c = map(self._vector, e.kids)
            return operation("+", c, operation("*", a, b))
        if e.kind == "call" and e.text in _OPERATIONS and len(e.kids) == 2:
            return operation(_OPERATIONS[e.text], *map(self._vector, e.kids))
        raise Unread(f"`{e.text}` on vectors")

    def _value(self, e: Node) -> VectorValue:
        """A number: an element of local memory, or what the region has."""
        return of_text(e, self._leaf)

    def _leaf(self, e: Node) -> VectorValue | None:
        if e.kind == "name" and e.text in self.scalars:
            return self.scalars[e.text]
        if e.kind != "index":
            return None
        base, at = e.kids
        if base.kind == "index" and base.kids[0].kind == "name" and base.kids[0].text not in self.x.regions:
            held = self.pointers.get(self.sc.ints.element(base))
            if held is None:
                raise Unread(f"{show(e)} lies nowhere")
            return SlicedElement(held.region, held.copy, held.offset + self.sc.value(at), False)
        place = self.x.place(self.sc, base)
        return SlicedElement(place.region, place.copy, place.offset + self.sc.value(at), False)

    def _loaded(self, call: Node) -> VectorValue:
        """What a load finds in local memory beside the tile: a vector, or one element for all lanes."""
        if _LOADS[call.text]:
            place = self.x.place(self.sc, call.kids[1])
            return SlicedElement(place.region, place.copy, place.offset, True)
        to = call.kids[1]
        found = self._leaf(to.kids[0]) if to.kind == "unary" and to.text == "&" else None
        if found is None:
            raise Unread("an element that lies nowhere")
        return found

    def _memory(self, call: Node) -> None:
        if call.text not in ("simd_load", "simd_store") or len(call.kids) != 2:
            raise Unread(f"`{call.text}` in a block of the tile")
        name, to = self._register(call.kids[0]), call.kids[1]
        e = to.kids[0] if to.kind == "unary" and to.text == "&" else NOTHING
        mine = e.kind == "index" and e.kids[0].kind == "index" and e.kids[0].kids[0] == Node("name", self.view)
        if mine:
            row, column = self.sc.value(e.kids[0].kids[1]), self.sc.value(e.kids[1])
        if call.text == "simd_load" and mine:
            self.loaded[row, column] = None
            self.registers[name] = RunningSum(row, column, self.done)
        elif call.text == "simd_load":
            self.registers[name] = self._loaded(call)
        else:
            held = self._held(name)
            if not mine or not isinstance(held, RunningSum) or (held.row, held.column) != (row, column):
                raise Unread("a register is stored where it does not belong")
            if (row, column) in self.stored:
                raise Unread("a part of the tile is stored twice")
            self.stored[row, column] = held.done
