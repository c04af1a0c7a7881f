"""Walks the text of a kernel beside the part of the proven tree that it is to run, statement by statement.

Loops, conditions and statements have to be those of the tree; around them the text fetches boxes of arrays and brings
them back. What comes out is where each statement finds its elements, for `staging.py`, and in which order nests run.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace

from codegen.ast.ctree import Block, CExpr, CNode, Declare, Int, Name
from codegen.verify.cores.commands import CoreBuffer
from codegen.verify.cores.frame import BufferView, LocalMemoryFrame, puts_in
from codegen.verify.cores.loop_heads import with_integer
from codegen.verify.cores.memory import outside_of
from codegen.verify.cores.moves import Moves
from codegen.verify.cores.parts import check_begin, without_leaving
from codegen.verify.cores.records import Fetch, StagedBoxes
from codegen.verify.cores.types import plain_type, type_of, value_type
from codegen.verify.cores.values import NameScope
from codegen.verify.readback import TreePoint
from codegen.verify.text.lanes import show
from codegen.verify.text.read import NOTHING, Node, Unread


class KernelWalk(Moves, ABC):
    """The text of one kernel."""

    def run(self, body: Sequence[Node], kernel: CNode, sc: NameScope, at: TreePoint) -> None:
        """Raises Unread with what the text does differently."""
        inner = without_leaving(body, self.parts, self.words)
        self._find_puts(inner, set())
        left = self._list(inner, [kernel], sc, at, ())
        if self._begun != set(self.parts):
            raise Unread("a core's part of a variable has no value")
        if left:
            raise Unread("a part of the kernel is left out")
        if not set(self.late.values()) <= self._done:
            raise Unread("the last puts are not waited for")

    # -- lists of statements -----------------------------------------------------------------------

    def _list(
        self, body: Sequence[Node], nodes: Sequence[CNode], sc: NameScope, at: TreePoint,
        stages: tuple[StagedBoxes, ...],
        frame: LocalMemoryFrame | None = None,
    ) -> list[CNode]:  # fmt: skip
        """Runs a list of statements on nodes of the tree; gives those that it does not run."""
        f = frame or LocalMemoryFrame(self.buffers)
        todo = _flat(nodes)
        left = list(body)
        first: Fetch | None = None
        now = ""
        while left:
            s = left.pop(0)
            if s.kind == "several":
                left[:0] = s.kids
            elif s.kind == "declare" and todo and isinstance(todo[0], Declare) and s.text in _slots(todo[0]):
                sc, todo = self._held(s, todo, sc)
            elif s.kind == "declare" and s.kids[0].text == "int" and s.text.endswith("_now"):
                now = s.text
                if sc.integer(s.kids[2]) != Int(0):
                    raise Unread(f"`{now}` begins elsewhere")
            elif s.kind == "declare" and s.text in self.parts and not self._bound:
                check_begin(sc, self.parts[s.text], s)
                sc = sc._replace(parts={**sc.parts, s.text: self.parts[s.text].array})
                self._begun.add(s.text)
            elif _is_counter(s) and s.text not in self.words.counted:
                todo = self._nest([s, *left], todo, sc, at, stages)
                left = []
            elif self._tile(s):
                pass
            elif s.kind == "declare":
                sc = self._declare(s, sc, f)
            elif self._transfer(s, sc, f, None):
                pass
            elif s.kind == "if" and fetches(s):
                fetch = self._fetch(s, sc, f)
                first = fetch if f.loop is None else None
            elif s.kind == "if" and s.kids[2] == NOTHING and self._guarded(s, sc, f):
                pass
            elif s.kind == "if" and s.kids[1] == Node("continue"):
                self._deal(s, f)
            else:
                copies = f.begin(puts_in(sc, self.buffers, left, self._test))
                if copies:
                    sc = sc._replace(copies={**sc.copies, **copies})
                    stages = (*stages, StagedBoxes(tuple(copies.values()), at))
                todo = self._node(s, todo, sc, at, stages, (now, first))
        f.end()
        for b in f.late:
            self.late[b] = next(c for c, r in self._counters.items() if self._puts[r] == b)
        return todo

    def _held(self, s: Node, todo: list[CNode], sc: NameScope) -> tuple[NameScope, list[CNode]]:
        node = todo[0]
        assert isinstance(node, Declare)
        slot = next(h for h in node.slots if h.array == s.text)
        array = self.scop.arrays[slot.array]
        sizes = [array.extents[k - array.scope] if n < 0 else str(n) for k, n in enumerate(slot.sizes) if n]
        if [show(x) for x in s.kids[1].kids] != sizes:
            raise Unread(f"`{s.text}` has another size")
        sc = sc._replace(held={**sc.held, s.text: slot}, shared=sc.shared - {s.text})
        rest = tuple(h for h in node.slots if h is not slot)
        return sc, [replace(node, slots=rest), *todo[1:]] if rest else [*_flat([node.body]), *todo[1:]]

    def _tile(self, s: Node) -> bool:
        """Does it begin to count this core's tiles, or ask whether one of them stays?"""
        w = self.words
        if s.kind != "declare" or not (s.text == w.tile or s.text.endswith(w.stays)):
            return False
        kind, _, value = s.kids
        if s.text == w.tile:
            before = Node("unary", "-", (Node("number", "1"),))
            if kind.text != "long" or value != before or self._bound or self._counts:
                raise Unread("tiles are counted in another way")
            self._counts = True
            return True
        first = value.kind == "binary" and value.text == "<" and value.kids[0] == Node("name", w.tile)
        if kind.text != "const int" or not first or not value.kids[1].text.isdigit() or self._bound != self.wide:
            raise Unread(f"`{s.text}` says something else than whether a tile stays")
        self.limits[s.text] = int(value.kids[1].text)
        return True

    # -- declarations ------------------------------------------------------------------------------

    def _declare(self, s: Node, sc: NameScope, f: LocalMemoryFrame) -> NameScope:
        kind, sizes, value = s.kids
        words = kind.text.replace("*", " * ").split()
        if "*" in words:
            return self._pointer(s, sc, f)
        if words[0] == "const" and words[-1] in ("long", "int") and not sizes.kids:
            member = self._member(value)
            if member:
                self._check_value(s, member)
                known = next((p for p in self.scop.params if p.text == member), None)
                return sc if known is None else with_integer(sc, s.text, Name(known.name))
            return with_integer(sc, s.text, self._own(s.text, value, sc))
        if self._member(value):
            self._check_value(s, self._member(value))
            return sc
        if s.text == self.words.turn and words == ["long"] and sc.integer(value) == Int(0):
            self._turn = True
            return sc
        begins = value != NOTHING and sc.integer(value) == Int(0)
        if words == ["volatile", "int"] and (value == NOTHING or begins):
            self._replies.add(s.text)
            self._nought |= {s.text} if begins else set()
            return sc
        if words == ["int"] and begins and not sizes.kids:
            self._nought.add(s.text)
            return sc
        if sizes.kids and value == NOTHING:
            numbers = [sc.integer(x) for x in sizes.kids]
            if len(numbers) > 2 or not all(isinstance(x, Int) for x in numbers):
                raise Unread(f"`{s.text}` has no fixed size")
            known_sizes = [x.value for x in numbers if isinstance(x, Int)]
            copies = known_sizes[0] if len(known_sizes) == 2 else 1
            self.buffers[s.text] = CoreBuffer(known_sizes[-1], copies, plain_type(kind.text))
            return sc
        raise Unread(f"`{s.text}`")

    def _check_value(self, s: Node, member: str) -> None:
        """A value of the launch's arguments has the name and the type that it has in the region."""
        given = value_type(self.scop, member)
        if member != s.text or given is None or s.kids[1].kids or plain_type(s.kids[0].text) != type_of(given):
            raise Unread(f"`{s.text}` has the value or the type of another")

    def _own(self, name: str, value: Node, sc: NameScope) -> CExpr:
        """The value of a constant; the number of a core's row and column are names of their own."""
        w = self.words
        id_, columns = Node("name", w.id), Node("number", str(w.columns))
        if name == w.row and value == Node("binary", "/", (id_, columns)):
            return Name(w.row)
        if name == w.column and value == Node("binary", "%", (id_, columns)):
            return Name(w.column)
        if name in (w.row, w.column):
            raise Unread("cores are counted in another way")
        return sc.integer(value)

    def _member(self, e: Node) -> str:
        if e.kind == "cast" and e.text == "void *":
            e = e.kids[0]
        plain = e.kind == "member" and e.text == "->" and e.kids[0] == Node("name", self.words.args)
        return e.kids[1].text if plain else ""

    def _pointer(self, s: Node, sc: NameScope, f: LocalMemoryFrame) -> NameScope:
        _, sizes, value = s.kids
        shape = tuple(sc.integer(x) for x in sizes.kids)
        member = self._member(value)
        if member:
            array = next((a for a in self.scop.arrays.values() if a.base == member and not a.inside), None)
            if array is None or member != s.text or plain_type(s.kids[0].text) != type_of(array.elem):
                raise Unread(f"`{s.text}` is another array")
            texts = {p.text: Name(p.name) for p in self.scop.params}
            return sc._replace(outsides={**sc.outsides, s.text: outside_of(self.scop, array, shape, texts)})
        if value.kind == "cast" and value.text == "void *":
            value = value.kids[0]
        kept = stays = ""
        if value.kind == "choose":
            cond, there, value = value.kids
            tile = there.kind == "index" and there.kids[1] == Node("name", self.words.tile)
            if cond.text not in self.limits or not tile or not self._counts:
                raise Unread(f"`{s.text}` addresses something else where a tile stays")
            kept, stays = there.kids[0].text, cond.text
        copy = ""
        if value.kind == "index":
            value, at = value.kids
            copy = show(at)
        if value.kind != "name" or value.text not in self.buffers or f.open:
            raise Unread(f"`{s.text}` addresses no buffer")
        if plain_type(s.kids[0].text) != self.buffers[value.text].elem:
            raise Unread(f"`{s.text}` addresses elements of another type")
        f.views.append(BufferView(s.text, value.text, copy, shape, kept, stays))
        return sc

    # -- what the tree has ---------------------------------------------------------------------------

    @abstractmethod
    def _node(
        self, s: Node, todo: list[CNode], sc: NameScope, at: TreePoint, stages: tuple[StagedBoxes, ...],
        ahead: tuple[str, Fetch | None],
    ) -> list[CNode]:  # fmt: skip
        """A statement that runs the first of these nodes; gives the others."""

    @abstractmethod
    def _nest(
        self, body: Sequence[Node], todo: list[CNode], sc: NameScope, at: TreePoint, stages: tuple[StagedBoxes, ...]
    ) -> list[CNode]:
        """A loop nest that runs the first of these nodes; gives the others."""

    @abstractmethod
    def _fetch(self, s: Node, sc: NameScope, f: LocalMemoryFrame) -> Fetch:
        """A command that fetches a box of an array, with what it waits on."""

    @abstractmethod
    def _deal(self, s: Node, f: LocalMemoryFrame) -> None:
        """A statement that says which turns of a loop this core takes."""


def _is_counter(s: Node) -> bool:
    """Is a `long` declared, and no array of them?"""
    return s.kind == "declare" and s.kids[0].text == "long" and not s.kids[1].kids


def _flat(nodes: Sequence[CNode]) -> list[CNode]:
    return [x for n in nodes for x in (_flat(n.children) if isinstance(n, Block) else [n])]


def _slots(node: Declare) -> set[str]:
    return {h.array for h in node.slots}


def fetches(s: Node) -> bool:
    """Does a condition hold commands for another iteration?"""
    body = s.kids[1].kids if s.kids[1].kind == "block" else (s.kids[1],)
    return bool(body) and body[0].kind == "declare" and body[0].text.endswith("_next")
