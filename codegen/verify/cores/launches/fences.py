"""Proof that a core's own stores to main memory are there before its commands touch the same array: on every way from
one to the other stands a fence, or a barrier, which begins with one. Where cores have a data cache the same holds for
commands that store and loads behind them: the cache may have what was there before.

A function is summed up by what it leaves open at both ends, so that the text that calls it needs no look inside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from codegen.verify.cores.commands import BARRIERS
from codegen.verify.text.read import Node, Unread, nodes

MEMB, FLUSH = (Node("do", "", (Node("call", name),)) for name in ("memb", "tw_fence"))  # without a cache, and with one
FENCES = (MEMB, FLUSH)
PUTS = ("athread_put", "athread_dma_iput_stride")
COMMANDS = ("athread_get", "athread_dma_iget_stride", *PUTS)
_NO_ACCESS = ("ldm_hold", "ldm_release")  # to what they are given addresses of


class OpenAccesses(NamedTuple):
    """Arrays that commands touch before the first fence, those that are stored to behind the last one, and whether
    there is a fence on every way. With a data cache, those that are loaded before the first fence, and those that
    commands store to behind the last one."""

    commands: frozenset[str] = frozenset()
    stores: frozenset[str] = frozenset()
    fenced: bool = False
    loads: frozenset[str] = frozenset()
    puts: frozenset[str] = frozenset()

    def then(self, later: OpenAccesses) -> OpenAccesses:
        both, stale = self.stores & later.commands, self.puts & later.loads
        if both:
            raise Unread(f"a core's own stores to `{min(both)}` may come later than its commands for the same array")
        if stale:
            raise Unread(f"a core may load from its cache what was in `{min(stale)}` before its commands")
        return OpenAccesses(
            self.commands if self.fenced else self.commands | later.commands,
            later.stores if later.fenced else self.stores | later.stores,
            self.fenced or later.fenced,
            self.loads if self.fenced else self.loads | later.loads,
            later.puts if later.fenced else self.puts | later.puts,
        )

    def either(self, other: OpenAccesses) -> OpenAccesses:
        fenced = self.fenced and other.fenced
        both = (a | b for a, b in ((self.loads, other.loads), (self.puts, other.puts)))
        return OpenAccesses(self.commands | other.commands, self.stores | other.stores, fenced, *both)


NONE = OpenAccesses()


class FenceReader(NamedTuple):
    """Reads statements. `pointers` has each name that points to main memory, with the arrays there and the number of
    subscripts that an element has; `args` is the name of the arguments, which lie there, too; `called` sums up
    functions. `cached`: loads and stores go through a data cache."""

    args: str
    called: Mapping[str, OpenAccesses]
    pointers: dict[str, tuple[frozenset[str], int]]
    cached: bool = False

    def body(self, statements: Sequence[Node]) -> OpenAccesses:
        found = NONE
        for s in statements:
            found = found.then(self._statement(s))
        return found

    def _statement(self, s: Node) -> OpenAccesses:
        if s in FENCES or (s.kind == "do" and s.kids[0] in BARRIERS):
            return OpenAccesses(fenced=True)
        if s.kind in ("block", "several"):
            return self.body(s.kids)
        if s.kind == "if":
            cond, yes, no = s.kids
            return self._values(cond).then(self._statement(yes).either(self._statement(no)))
        if s.kind == "for":
            first, cond, step, inside = s.kids
            turn = self._values(cond).then(self._statement(inside)).then(self._values(step))
            return self._statement(first).then(turn.then(turn).either(NONE)).then(self._values(cond))
        if s.kind == "declare":
            kind, sizes, value = s.kids
            arrays = self._arrays(value)
            if "*" in kind.text and arrays:
                self.pointers[s.text] = arrays, len(sizes.kids) + 1
        return self._values(s)

    def _values(self, e: Node) -> OpenAccesses:
        """Expressions, whose parts may come in any order."""
        called, commands, stores, puts = NONE, set[str](), set[str](), set[str]()
        for n in nodes(e):
            if n.kind in ("assign", "after") or (n.kind == "unary" and n.text in ("++", "--")):
                stores |= self._arrays(n.kids[0])
            elif n.kind == "call" and n.text in self.called:
                called = called.then(self.called[n.text])
            elif n.kind == "call" and n.text not in _NO_ACCESS:
                given = {a for k in n.kids for a in self._addressed(k)}
                (commands if n.text in COMMANDS else stores).update(given)
                puts |= given if self.cached and n.text in PUTS else set()
        loads = self._loaded(e) if self.cached else frozenset[str]()
        found = OpenAccesses(frozenset(commands), frozenset(stores), False, loads, frozenset(puts))
        if not (commands or stores or loads):
            return called
        return called.then(found).then(OpenAccesses(found.commands, loads=loads))

    def _loaded(self, e: Node) -> frozenset[str]:
        """Arrays of main memory that an expression may load elements of."""
        if (e.kind == "call" and e.text in (*COMMANDS, *_NO_ACCESS)) or (e.kind == "unary" and e.text == "&"):
            return frozenset()
        inside = frozenset(a for k in e.kids for a in self._loaded(k))
        return inside | self._arrays(e) if e.kind in ("index", "member") or e.text == "*" else inside

    def _arrays(self, e: Node) -> frozenset[str]:
        """The arrays of main memory in one of which an address, an element or a row lies; none for other memory."""
        while e.kind in ("cast", "index") or (e.kind == "unary" and e.text in "&*") or e.text == "+":
            e = e.kids[0]
        if e.kind == "choose":
            return self._arrays(e.kids[1]) | self._arrays(e.kids[2])
        if e.kind == "member" and e.text == "->" and e.kids[0] == Node("name", self.args):
            return frozenset((e.kids[1].text,))
        return self.pointers[e.text][0] if e.kind == "name" and e.text in self.pointers else frozenset()

    def _addressed(self, e: Node) -> frozenset[str]:
        """Arrays of main memory of which an argument is, or has in it, an address."""
        base, subscripts, depth = e, list[Node](), 0
        while base.kind == "index" or (base.kind == "unary" and base.text == "*"):
            subscripts += base.kids[1:]
            depth, base = depth + 1, base.kids[0]
        if base.kind == "name" and base.text in self.pointers:
            arrays, rank = self.pointers[base.text]
            return arrays if depth < rank else frozenset(a for k in subscripts for a in self._addressed(k))
        if e.kind == "unary" and e.text == "&":
            return self._arrays(e)
        return frozenset(a for k in e.kids for a in self._addressed(k))


def open_accesses(
    body: Sequence[Node], args: str, called: Mapping[str, OpenAccesses], cached: bool = False
) -> OpenAccesses:
    """What the text of a function leaves open. Raises Unread where a fence is missing in it."""
    return FenceReader(args, called, {}, cached).body(body)


def without_fences(body: Sequence[Node]) -> tuple[Node, ...]:
    """Statements as those see them who ask for values alone."""
    return tuple(_without(s) for s in body if s not in FENCES)


def _without(s: Node) -> Node:
    if s.kind == "block":
        return s._replace(kids=without_fences(s.kids))
    if s.kind in ("if", "for"):
        return s._replace(kids=tuple(_without(k) for k in s.kids))
    return s
