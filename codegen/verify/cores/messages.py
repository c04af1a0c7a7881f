"""Proof about mesh messages: sends and receives of a kernel come in pairs.

All cores run the same text, so a message finds its receivers where they all come to it equally often and in the same
order, one core of the row or column sends it, and all others receive it. For that, loops and conditions around messages
must not depend on which core runs them. What an expression comes to is a polynomial: the first row of a core's tile
less its own offset depends on no core any more.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.verify.cores.commands import BARRIERS
from codegen.verify.cores.records import KernelNames
from codegen.verify.poly import Poly, poly, var
from codegen.verify.text.lanes import show
from codegen.verify.text.read import NOTHING, Node, Unread, nodes

# Who sends, who receives, and what tells the sender from the others.
_BUSES = {
    **dict.fromkeys(("simd_putc", "simd_loadc", "simd_loadec"), ("simd_getc", "row")),
    **dict.fromkeys(("simd_putr", "simd_loadr", "simd_loader"), ("simd_getr", "column")),
}
_GETS = tuple(get for get, _ in _BUSES.values())
_BROADCASTS = {"athread_rma_row_ibcast": "column", "athread_rma_col_ibcast": "row"}
_WAITS = ("athread_rma_wait_value",)
_CALLS = frozenset((*_BUSES, *_GETS, *_BROADCASTS, *_WAITS))
_COMPARE = ("<", "<=", ">", ">=", "==", "!=")


def check_messages(body: Sequence[Node], words: KernelNames) -> int:
    """How many places messages are sent from. Raises Unread where one may find no receiver, or a core wait for none."""
    found, own = _Cores(words), _Renaming()
    text = own.all(body, {})
    alone = _sent_words(text)
    text = tuple(_without(s, alone) for s in text)
    found.spread(text)
    found.walk(text)
    return found.sent


class _Renaming:
    """Gives variables that are declared several times a name each."""

    def __init__(self) -> None:
        self.count: dict[str, int] = {}

    def all(self, body: Sequence[Node], names: dict[str, str]) -> tuple[Node, ...]:
        return tuple(self._one(s, names) for s in body)

    def _one(self, s: Node, names: dict[str, str]) -> Node:
        if s.kind == "declare":
            kids = self.all(s.kids, names)
            self.count[s.text] = number = self.count.get(s.text, 0) + 1
            names[s.text] = s.text if number == 1 else f"{s.text} {number}"
            return Node("declare", names[s.text], kids)
        if s.kind == "name":
            return Node("name", names.get(s.text, s.text))
        if s.kind == "member":
            return Node("member", s.text, (self._one(s.kids[0], names), s.kids[1]))
        return Node(s.kind, s.text, self.all(s.kids, dict(names) if s.kind in ("for", "block", "if") else names))


class _Cores:
    def __init__(self, words: KernelNames) -> None:
        self.words = words
        self.own = {words.row, words.column, words.id}  # names that stand for other values on other cores
        self.fixed: dict[str, Poly] = {}  # constants
        self.sent = 0

    # -- what differs from core to core ------------------------------------------------------------

    def spread(self, body: Sequence[Node]) -> None:
        """Find all variables that may differ, from what is assigned to them and where."""
        count = -1
        while count != len(self.own):
            count = len(self.own)
            for s in body:
                self._assigned(s, False)

    def _assigned(self, s: Node, apart: bool) -> None:
        """`apart`: cores may come here differently often."""
        if s.kind == "declare" and s.kids[2] != NOTHING:
            constant = "const" in s.kids[0].text and "*" not in s.kids[0].text and not s.kids[1].kids
            if constant and s.text not in (self.words.row, self.words.column):
                self.fixed[s.text] = self.value(s.kids[2])
            elif s.text not in self.own and (apart or self._differs(s.kids[2])):
                self.own.add(s.text)
        elif s.kind == "if":
            inside = apart or self._differs(s.kids[0])
            for k in s.kids[1:]:
                self._assigned(k, inside)
        elif s.kind == "for":
            self._assigned(s.kids[0], apart)
            inside = apart or self._differs(s.kids[1])
            self._changed(s.kids[2], inside)
            self._assigned(s.kids[3], inside)
        elif s.kind == "do":
            self._changed(s.kids[0], apart)
        else:
            for k in s.kids:
                self._assigned(k, apart)

    def _changed(self, e: Node, apart: bool) -> None:
        for n in nodes(e):
            target, value = n, NOTHING
            if n.kind == "assign":
                target, value = n.kids
                if value.kind == "call" and value.text in _GETS:
                    self.own |= {_base(target)} - {""}
                    continue
            elif n.kind == "after":
                (target,) = n.kids
            elif n.kind == "call" and n.text.startswith("simd_load"):
                self.own |= {_base(n.kids[0])} - {""}
                continue
            else:
                continue
            if apart or self._differs(value):
                self.own |= {_base(target)} - {""}

    def _differs(self, e: Node) -> bool:
        """May the value of an expression be another one on another core?"""
        if e.kind == "binary" and e.text in ("&&", "||"):
            return any(map(self._differs, e.kids))
        if e.kind == "binary" and e.text in _COMPARE:
            return self._mentions(self.value(e.kids[0]) - self.value(e.kids[1]))
        return e != NOTHING and self._mentions(self.value(e))

    def _mentions(self, p: Poly) -> bool:
        return any(n in self.own for n in p.names)

    def value(self, e: Node) -> Poly:
        """An expression; what is no sum or product stands for itself."""
        if e.kind == "number" and e.text.rstrip("L").isdigit():
            return poly(int(e.text.rstrip("L")))
        if e.kind == "name":
            return self.fixed.get(e.text, var(e.text))
        if e.kind == "cast":
            return self.value(e.kids[0])
        if e.kind == "binary" and e.text in ("+", "-", "*"):
            a, b = map(self.value, e.kids)
            return a + b if e.text == "+" else a - b if e.text == "-" else a * b
        if e.kind == "unary" and e.text == "-":
            return -self.value(e.kids[0])
        if e.kind in ("index", "member", "unary"):
            name = f"{show(e)}"
            tracked = e.kind == "index" and e.kids[0].kind == "name" and e.kids[0].text not in self.own
            if (e.kind != "member" and not tracked) or self._differs_inside(e):
                self.own.add(name)
            return var(name)
        name = f"{e.kind} {e.text}({', '.join(str(self.value(k)) for k in e.kids)})"
        if any(self._differs(k) for k in e.kids):
            self.own.add(name)
        return var(name)

    def _differs_inside(self, e: Node) -> bool:
        return any(self._differs(k) for k in (e.kids[1:] if e.kind == "index" else ())) or _base(e) in self.own

    # -- messages ------------------------------------------------------------------------------------

    def walk(self, body: Sequence[Node], apart: bool = False) -> None:
        for s in body:
            self._statement(s, apart)

    def _statement(self, s: Node, apart: bool) -> None:
        if s.kind in ("return", "continue", "break") and apart:
            raise Unread("a core leaves where others go on")
        if not _talks(s) and not any(n.kind in ("return", "continue", "break") for n in nodes(s)):
            return
        if s.kind == "if":
            self._choice(s, apart)
        elif s.kind == "for":
            first = s.kids[0].kids[2] if s.kids[0].kind == "declare" else NOTHING
            differs = self._differs(first) or self._differs(s.kids[1])
            if differs and _talks(s):
                raise Unread(f"cores run a loop over `{s.kids[0].text}` with messages in it differently often")
            self._statement(s.kids[3], apart or differs)
        elif s.kind == "do":
            self._call(s.kids[0], apart)
        else:
            self.walk(s.kids, apart)

    def _choice(self, s: Node, apart: bool) -> None:
        cond, then, otherwise = s.kids
        differs = self._differs(cond)
        if differs and _talks(s):
            if apart:
                raise Unread("not all cores come to a message")
            self._send(cond, then, otherwise)
            return
        self._statement(then, apart or differs)
        if otherwise != NOTHING:
            self._statement(otherwise, apart or differs)

    def _send(self, cond: Node, then: Node, otherwise: Node) -> None:
        """One core of a row or column sends, all others receive the same; or a loop of that beside the same loop."""
        then, otherwise = self._inside_loops(then, otherwise)
        mine, theirs = (_messages(x) for x in (then, otherwise))
        plain = cond.kind == "binary" and cond.text == "==" and cond.kids[0].kind == "name"
        if not plain or len(mine) != 1 or self._differs(cond.kids[1]):
            raise Unread("a message from cores that are not told apart")
        who = {self.words.row: "row", self.words.column: "column"}.get(cond.kids[0].text)
        call = mine[0]
        if call.text in _BUSES:
            get, side = _BUSES[call.text]
            if who != side or [m.text for m in theirs] != [get] or not _into(otherwise, theirs[0], call.kids[0]):
                raise Unread(f"{call.text} without others that receive it")
        elif _BROADCASTS.get(call.text) != who or theirs:
            raise Unread(f"{call.text} from another core")
        if any(n.kind in ("for", "if") and _talks(n) for x in (then, otherwise) for n in nodes(x)):
            raise Unread("a message that is sent several times")
        self.sent += 1

    def _inside_loops(self, then: Node, otherwise: Node) -> tuple[Node, Node]:
        """The bodies of loops with the same heads, which run as often on all cores and change nothing but their own
        variables."""
        a, b = _only(then), _only(otherwise)
        while a.kind == b.kind == "for" and a.kids[0].kind == b.kids[0].kind == "declare":
            b = _renamed(b, b.kids[0].text, a.kids[0].text)
            if a.kids[:3] != b.kids[:3] or not self._alike(a) or any(_sets(x.kids[3], a.kids[0].text) for x in (a, b)):
                break
            then, otherwise = a.kids[3], b.kids[3]
            a, b = _only(then), _only(otherwise)
        return then, otherwise

    def _alike(self, loop: Node) -> bool:
        """Does a loop run as often on all cores, if nothing but its head changes its variable?"""
        first, end, step, _ = loop.kids
        saved = set(self.own)
        self.own.discard(first.text)
        alike = not self._differs(first.kids[2]) and not self._differs(end) and step.kind == "assign"
        alike = alike and step.kids[0].text == first.text and not self._differs(step.kids[1])
        self.own |= saved
        return alike

    def _call(self, e: Node, apart: bool) -> None:
        if e in BARRIERS or (e.kind == "call" and e.text in _WAITS):
            if apart:
                raise Unread("cores wait for others that do not come")
            return
        raise Unread(f"{e.text} by all cores")


def _sent_words(body: Sequence[Node]) -> frozenset[str]:
    """Words that nothing but a core's own broadcasts count in: waiting for one of them, a core waits for no other."""
    sends = [n for s in body for n in nodes(s) if n.kind == "call" and n.text in _BROADCASTS and len(n.kids) == 5]
    return frozenset(_base(n.kids[3]) for n in sends) - {_base(n.kids[4]) for n in sends}


def _without(s: Node, alone: frozenset[str]) -> Node:
    """A statement without waits for these words."""
    if s.kind == "do" and s.kids[0].kind == "call" and s.kids[0].text in _WAITS and _base(s.kids[0].kids[0]) in alone:
        return Node("block")
    return Node(s.kind, s.text, tuple(_without(k, alone) for k in s.kids))


def _only(s: Node) -> Node:
    """The one statement of a block."""
    while s.kind == "block" and len(s.kids) == 1:
        s = s.kids[0]
    return s


def _sets(s: Node, name: str) -> bool:
    """Is something stored to this variable?"""
    return any(n.kind in ("assign", "after") and n.kids[0].kind == "name" and n.kids[0].text == name for n in nodes(s))


def _renamed(s: Node, old: str, new: str) -> Node:
    """The same with another name for a variable."""
    text = new if s.kind in ("name", "declare") and s.text == old else s.text
    return Node(s.kind, text, tuple(_renamed(k, old, new) for k in s.kids))


def _into(s: Node, get: Node, register: Node) -> bool:
    """Does what is received go to this register, and nowhere else?"""
    return get.kids == (register,) and any(n.kind == "assign" and n.kids == (register, get) for n in nodes(s))


def _messages(s: Node) -> list[Node]:
    return [n for n in nodes(s) if (n.kind == "call" and n.text in _CALLS) or n in BARRIERS]


def _talks(s: Node) -> bool:
    return bool(_messages(s))


def _base(e: Node) -> str:
    while e.kind in ("index", "unary", "member") and e.kids:
        e = e.kids[0]
    return e.text if e.kind == "name" else ""
