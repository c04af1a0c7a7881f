"""Symbolic run of declarations: integers, conditions, pointers into buffers, memory, and thread numbers."""

from __future__ import annotations

from operator import floordiv, mod

from codegen.verify.poly import ZERO, Poly, poly, var
from codegen.verify.text.blocked.depths import Depths
from codegen.verify.text.blocked.offsets import NEXT, SymbolicTable
from codegen.verify.text.blocked.state import NOUGHT, BufferPointer, Heap, LocalArray
from codegen.verify.text.compare import COLUMN, DEPTH
from codegen.verify.text.integers import IntegerCondition, decided, is_test, ways
from codegen.verify.text.lanes import show
from codegen.verify.text.read import NOTHING, Node, Unread, nodes, pointee

HALF, TWO = var("tw_half"), Node("number", "2")


class Declarations(Depths):
    """What a declaration makes known."""

    def _declare(self, node: Node) -> None:
        kind, sizes, value = node.kids
        name = node.text
        if sizes.kids:
            self._array_typed(name, kind.text, len(sizes.kids))
            self.names[name] = LocalArray(self._integers().value(sizes.kids[0]))
            if value is not NOTHING and value != Node("braces", "", (NOUGHT,)):
                raise Unread(f"the content of {name}")
            self.staged[name] = []
            self.tiles.pop(name, None)
        elif value is NOTHING:
            raise Unread(f"{name} without a value")
        elif "*" in kind.text:
            self.names[name] = found = self._pointed(name, value)
            if pointee(kind.text) != self._behind(name, found):
                raise Unread(f"{name} points to another type: {kind.text}")
        elif name in self._const_names():
            if kind.text != f"const {self.claim.elem}":
                raise Unread(f"{name} has another type: {kind.text}")
            self._const(name, value)
        elif kind.text == "const int":
            self.names[name] = self._tested(name, value)
        elif kind.text in ("const long", "long"):
            self.names[name] = number = self._bound(name, self._long(name, value))
            if isinstance(number, Poly) and number.number is None and len(number.terms) == 1:
                self.facts.bounded(number)
                self.facts.learn(*[p for p in (number - 1, number) if self.facts.holds(p)][:1])
        else:
            raise Unread(f"a declaration of {name}")

    def _const(self, name: str, value: Node) -> None:
        if not self._same(value, self.claim.consts[int(name[4:])], {}):
            raise Unread(f"{name} is another value")
        self.names[name] = BufferPointer("const", poly(int(name[4:])))

    def _long(self, name: str, value: Node) -> Poly | BufferPointer:
        if value.kind == "call" and value.text in ("tw_team_size", "tw_thread"):
            return self._thread_number(value.text)
        if name == str(HALF):
            return self._turn(value)
        if value.kind == "call" and value.text == "tw_grid":
            size = self._integers().value(value.kids[0])
            down = var("tw_grid()")
            self.facts.samples.give(str(down), lambda n: n // 2 if n in (2, 4, 6) else 1, size)
            self.facts.learn(down - 1, size - down)
            self.team.grid["down"] = down
            return down
        if value.kind == "binary" and value.text == "/" and "down" in self.team.grid:
            x, y = (self._integers().value(k) for k in value.kids)
            if x == var("tw_team_size()") and y == self.team.grid["down"]:
                return self._across(x, y)
        if name == "tw_apart":
            return self._looked_at(value)
        if value.kind in ("choose", "binary") and takes_address(value):
            taken = self._taken(value)
            return BufferPointer("distance", ZERO, taken) if takes_address(taken) else self._integers().value(taken)
        return self._integers().value(value)

    def _thread_number(self, call: str) -> Poly:
        if self.team.most is None or self.team.tasks:
            raise Unread("threads outside of a team")
        self.team.numbered = True
        size, me = var("tw_team_size()"), var("tw_thread()")
        team, samples = self.team.most, self.facts.samples
        samples.give(str(size), lambda most: max(1, min(6, most)), team)
        samples.give(str(me), samples.random.randrange, size)
        self.facts.learn(size - 1, self.team.most - size, me, size - 1 - me)
        return size if call == "tw_team_size" else me

    def _turn(self, value: Node) -> Poly:
        """The number of an iteration of the team's outermost loop, modulo two."""
        number, halves = value.kids if value[:2] == ("binary", "%") else (NOUGHT, NOUGHT)
        if number[:2] != ("binary", "/") or halves != TWO or len(self.open) != 1 or not self.team.inside:
            raise Unread(f"a half of buffers: {show(value)}")
        (lp,), (way, step) = self.open, map(self._integers().value, number.kids)
        if way != var(lp.name) - lp.first or step != lp.step:
            raise Unread(f"halves of buffers are not used in turn: {show(value)}")
        self.facts.samples.give(str(HALF), lambda w, s: w // max(1, s) % 2, way, step)
        self.facts.learn(HALF, 1 - HALF)
        self.team.turn = 1
        return HALF

    def _across(self, size: Poly, down: Poly) -> Poly:
        """The grid's rows divide the threads, so its columns are an integer, and each thread has a place in it."""
        across, g, h = var("tw_team_size()/tw_grid()"), var("row of tw_me"), var("column of tw_me")
        f = self.facts
        f.samples.give(str(across), floordiv, size, down)
        f.samples.give(str(g), floordiv, var("tw_thread()"), across)
        f.samples.give(str(h), mod, var("tw_thread()"), across)
        f.learn(across - 1, g, down - 1 - g, h, across - 1 - h).same(size, down * across)
        f.same(var("tw_thread()"), g * across + h)
        self.team.grid["across"] = across
        f.places[var("tw_thread()"), across] = (g, h)
        return across

    def _taken(self, value: Node) -> Node:
        """Of a choice, what is taken."""
        if value.kind != "choose":
            return value
        known = decided(self._integers().cond(value.kids[0]), self.facts)
        if known is None:
            raise Unread(f"a choice {show(value)}")
        return self._taken(value.kids[1] if known else value.kids[2])

    def _looked_at(self, value: Node) -> BufferPointer:
        """An address or a distance that kernels only fetch by: what is computed for it on some condition are addresses
        of elements of the right operand that are there then."""
        if value.kind != "choose":
            raise Unread(f"no condition says whether there is what is looked at: {show(value)}")
        cond, elements, other = value.kids
        places = elements.kids if elements[:2] == ("binary", "-") else (elements,)
        kept = self.facts
        for facts in filter(None, map(kept.assume, ways(self._integers().cond(cond)))):
            self.facts = facts
            there = all(map(self._is_there, places))
            self.facts = kept
            if not there:
                raise Unread(f"something else than an element of the right operand is looked at: {show(elements)}")
        if other != NOUGHT and not isinstance(self.names.get(other.text), BufferPointer):
            raise Unread(f"something else than a buffer is looked at: {show(other)}")
        return BufferPointer("fetched")

    def _is_there(self, place: Node) -> bool:
        """Is it the address of an element of the right operand, in column tw_over and the block's first depth or the
        one behind it, and do these exist?"""
        column, first = self.names.get("tw_over"), self._block("k")
        if place[:2] != ("unary", "&") or not isinstance(column, Poly) or not self._in_range("j", column):
            return False
        return any(
            self._in_range("k", k) and self._same(place.kids[0], wanted, {COLUMN: column, DEPTH: k})
            for k in (first, first + 1)
            for wanted in self.claim.right.values
        )

    def _tested(self, name: str, value: Node) -> IntegerCondition:
        """A condition that is kept in an `int`, which is too small for other numbers."""
        if not is_test(value):
            raise Unread(f"{name} is no test: {show(value)}")
        return self._integers().cond(value)

    def _array_typed(self, name: str, kind: str, sizes: int) -> None:
        """Tiles hold elements of the target, other local arrays values on their way into a buffer."""
        wanted = self.claim.elem if name in ("tw_tile", "tw_was") else self.claim.packed
        wanted = self.claim.same if name == "tw_same" else wanted
        if kind != wanted or sizes != 1:
            raise Unread(f"the array {name} has another type: {kind}")

    def _behind(self, name: str, found: BufferPointer | Heap | SymbolicTable) -> str:
        """The type of what a pointer points to."""
        if name in self.claim.bases:
            return self.claim.bases[name]
        if isinstance(found, SymbolicTable):
            return "long"
        packed = isinstance(found, Heap) or found.of not in ("element", "tw_tile")
        return self.claim.packed if packed else self.claim.elem

    def _pointed(self, name: str, value: Node) -> BufferPointer | Heap | SymbolicTable:
        if name == NEXT.text:
            return self._table_memory(value)
        if value == NEXT:
            return self._table(name)
        if name == "tw_far":
            return self._looked_at(value)
        if value.kind == "choose" and value.kids[2].kind == "call" and value.kids[2].text == "tw_alloc":
            if value.kids[1] != NOUGHT:
                raise Unread(f"{name} may be no memory: {show(value)}")
            return self._allocated(value.kids[0], value.kids[2].kids[0])
        value = self._taken(value)
        if value.kind == "unary" and value.text == "&":
            return BufferPointer("element", ZERO, value.kids[0])
        base, at = value, ZERO
        while base.kind == "binary" and base.text == "+":
            at = at + self._integers().value(base.kids[1])
            base = base.kids[0]
        found = self.names.get(base.text) if base.kind == "name" else None
        if isinstance(found, LocalArray):
            return BufferPointer(base.text, at)
        if isinstance(found, Heap) and self.team.turn:
            return self._half(name, found, at)
        if isinstance(found, Heap):
            if name == "tw_left" and "left" not in self.buffers.areas:
                return self._divided(found, at)
            return BufferPointer("right", at)
        if isinstance(found, BufferPointer) and found.of in ("left", "right"):
            return BufferPointer(found.of, found.at + at)
        raise Unread(f"a pointer {name} = {show(value)}")

    def _allocated(self, unless: Node, size: Node) -> Heap:
        each = var(f"sizeof {self.claim.packed}")
        elements, rest = self._integers().value(size).divided(each)
        if not self.claim.tables and rest != ZERO:
            raise Unread(f"memory of {rest} bytes more")
        # Offsets begin at a multiple of 64 bytes, which is less than 64 bytes further on.
        offsets = (rest - 64).over(var("sizeof long")) if self.claim.tables else ZERO
        if offsets is None:
            raise Unread(f"memory of {rest} bytes for offsets")
        return Heap(elements, offsets, unless)

    def _divided(self, heap: Heap, at: Poly) -> BufferPointer:
        """The left operand's buffer begins behind the right one's; each thread may have its own."""
        me = "tw_thread()"
        size = at.part(me) if me in at.names else heap.size - at
        start = self.facts.put(at, {me: ZERO})
        if me in at.names:
            self.team.own.add("left")
        if not (self.facts.holds(start) and self.facts.holds(heap.size - at - size) and self.facts.holds(size)):
            raise Unread(f"a buffer of {heap.size} elements is too small for {at + size}")
        self.buffers.areas = {"right": start, "left": size}
        return BufferPointer("left", ZERO)

    def _half(self, name: str, heap: Heap, at: Poly) -> BufferPointer:
        """One of the halves of an operand's buffer: those of the right one come first."""
        start, size = self.facts.put(at, {str(HALF): ZERO}), at.part(str(HALF))
        areas = self.buffers.areas
        right = name == "tw_right" and start == ZERO
        left = name == "tw_left" and "right" in areas and self.facts.holds(start - areas["right"] * 2)
        room = self.facts.holds(size) and self.facts.holds(heap.size - start - size * 2)
        if not self.team.turn or at != start + HALF * size or not (right or left) or not room:
            raise Unread(f"{name} is no half of a buffer")
        areas[name[3:]] = size
        return BufferPointer(name[3:], ZERO)


def takes_address(node: Node) -> bool:
    return any(n.kind == "unary" and n.text == "&" for n in nodes(node))
