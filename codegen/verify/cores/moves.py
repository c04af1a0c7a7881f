"""Base class of the reader of a kernel's text (`walk.py`, `kernel.py`): recognizes statements that only move data (DMA
commands, waits, words that count them) and notes in `frame.py` what they do to the boxes in local memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from codegen.ast.ctree import CExpr, Name
from codegen.scop.model import Scop
from codegen.verify.cores.commands import BARRIERS, CoreBuffer, command_of, is_transfer, wait_of
from codegen.verify.cores.frame import PUTS, STAYS, LocalMemoryFrame
from codegen.verify.cores.records import KernelNames, Part, PrintedStatement, ReorderedNest
from codegen.verify.cores.values import NameScope
from codegen.verify.text.lanes import show
from codegen.verify.text.read import NOTHING, Node, Unread


@dataclass
class Moves:
    """What is known about a kernel, from its text."""

    scop: Scop
    words: KernelNames
    wide: int  # bound loops, one inside the other
    names: dict[str, str]
    parts: Mapping[str, Part] = field(default_factory=dict)  # variables that all cores gather in, by this core's part
    buffers: dict[str, CoreBuffer] = field(default_factory=dict)
    leaves: list[PrintedStatement] = field(default_factory=list)
    nests: list[ReorderedNest] = field(default_factory=list)
    late: dict[str, str] = field(default_factory=dict)  # buffers whose puts are waited for later, by their counter
    _counters: dict[str, str] = field(default_factory=dict)  # reply words of puts, by their counter
    _puts: dict[str, str] = field(default_factory=dict)  # the buffer whose puts a reply word counts
    _replies: set[str] = field(default_factory=set)
    _nought: set[str] = field(default_factory=set)  # words that begin with nought
    _done: set[str] = field(default_factory=set)
    limits: dict[str, int] = field(default_factory=dict)  # of tiles that stay, by what tells whether one does
    _begun: set[str] = field(default_factory=set)  # parts that have a value
    _counts: bool = False  # a core counts its tiles
    _bound: int = 0
    _turn: bool = False  # tiles are shared out one by one
    _mine: bool = False  # this one is this core's
    _only: bool = False  # beside the second of two bound loops, on one of the cores that share the first one's tile

    @property
    def dealt_in_turn(self) -> bool:
        """Do tiles go to the cores one by one, whatever loops they are of?"""
        return self._turn

    def _find_puts(self, body: Sequence[Node], words: set[str]) -> None:
        """Which reply word counts the puts of which buffer, and what remembers how many there are."""
        for n in body:
            if n.kind == "call" and n.text in PUTS:
                ldm, reply = n.kids[1], n.kids[4 if n.text == PUTS[0] else 5]
                while ldm.kind in ("binary", "index"):
                    ldm = ldm.kids[0]
                word = reply.kids[0] if reply.kind == "cast" else reply
                self._puts[show(word.kids[0])] = ldm.text
            if n.kind == "declare" and n.kids[0].text == "int" and not n.kids[1].kids:
                words.add(n.text)
            w = wait_of(n) if n.kind == "call" else None
            if w is not None and w.much.kind == "name" and w.much.text in words:
                self._counters[w.much.text] = w.reply
            self._find_puts(n.kids, words)

    def _transfer(self, s: Node, sc: NameScope, f: LocalMemoryFrame, when: CExpr | None, alone: bool = False) -> bool:
        """A statement that only moves data, or counts what moves."""
        if s.kind == "do" and s.kids[0].kind == "assign":
            left, right = s.kids[0].kids
            name = show(left)
            if left.kind == "name" and left.text in self._counters and s.kids[0].text == "=":
                buffer = self._puts.get(self._counters[left.text], "")
                f.counted(sc, buffer, right, when)
                return True
            base = left.kids[0] if left.kind == "index" else left
            if base.kind == "name" and base.text in self._replies and right == Node("number", "0"):
                f.zero[name] = when
                f.met = False
                return True
            return False
        if not is_transfer(s):
            return False
        if s.kind == "do":
            call = s.kids[0]
            if call in BARRIERS:
                f.met = True
                return True
            w = wait_of(call)
            if w is not None:
                if w.much.kind == "name" and self._counters.get(w.much.text) == w.reply:
                    if not {w.reply, w.much.text} <= self._nought:
                        raise Unread(f"`{w.reply}` or `{w.much.text}` does not begin with nought")
                    f.free[self._puts.get(w.reply, "")] = when
                    self._done.add(w.much.text)
                    return True
                f.wait(sc, w, when)
                return True
        c = command_of(sc, self.buffers, s)
        if c is None:
            return False
        self._done.discard(next((n for n, r in self._counters.items() if r == c.reply), ""))
        if alone and self._bound:
            raise Unread(f"`{c.buffer}` is fetched for all cores where not all of them come")
        f.command(c, when, alone)
        return True

    def _guarded(self, s: Node, sc: NameScope, f: LocalMemoryFrame) -> bool:
        """Transfers where a condition holds."""
        body = s.kids[1].kids if s.kids[1].kind == "block" else (s.kids[1],)
        if not all(map(self._moves, body)):
            return False
        when = self._test(sc, s.kids[0])
        for x in body:
            if x.kind == "if":
                inner = x.kids[1].kids if x.kids[1].kind == "block" else (x.kids[1],)
                if not self._first(x.kids[0]) or not all(self._transfer(y, sc, f, when, True) for y in inner):
                    raise Unread("a condition among transfers")
            elif not self._transfer(x, sc, f, when, self._first(s.kids[0])):
                raise Unread("something else among transfers")
        return True

    def _moves(self, s: Node) -> bool:
        """Is it a transfer, a word that counts them, or such behind the test for one core?"""
        if s.kind == "if":
            return s.kids[2] == NOTHING and is_transfer(s.kids[1])
        if s.kind != "do" or s.kids[0].kind != "assign":
            return is_transfer(s)
        left = s.kids[0].kids[0]
        word = left.kids[0] if left.kind == "index" else left
        return word.text in self._replies or word.text in self._counters

    def _first(self, cond: Node) -> bool:
        """Is it the test for the first core?"""
        return cond == Node("binary", "==", (Node("name", self.words.id), Node("number", "0")))

    def _test(self, sc: NameScope, cond: Node) -> CExpr | None:
        """The condition of transfers; None where it only asks for the first core."""
        if cond.kind == "unary" and cond.text == "!" and cond.kids[0].text in self.limits:
            return Name(f"{STAYS}{cond.kids[0].text}")
        return None if self._first(cond) else sc.integer(cond)
