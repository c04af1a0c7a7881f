"""Steps through the events of a printed text (`events.py`): `Cursor` compares each with what is expected (raises
Unread), and knows which variable every name stands for.

A name that the text declares may hide nothing: neither what the region uses from around it nor another name that is
alive. So at every place a name stands for one variable, or for none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from codegen.verify.loops.events import CLOSE, OPEN, Event, is_void, statement_events
from codegen.verify.text.read import Unread

_BEGIN = ("for", "if", "{")
_END = ("/for", "/if", "}")
_NONE = Event("end")
_WORD = re.compile(r"[A-Za-z_]\w*")


class Cursor:
    """`taken` are names that nothing may be declared by. What was read is in `log`, braces aside."""

    def __init__(self, events: Sequence[Event], taken: Collection[str]) -> None:
        self.events, self.taken, self.at = events, taken, 0
        self.log: list[Event] = []
        self.alive: dict[str, str] = {}
        self._rows: dict[str, str] = {}
        self._scopes: list[list[tuple[str, str | None]]] = [[]]  # names, and what they stood for around the block

    # -- events ------------------------------------------------------------------------------------

    def peek(self) -> Event:
        """The next event that means something."""
        events = self.events
        while self.at < len(events):
            e = events[self.at]
            if e is OPEN or e == OPEN:
                self._scopes.append([])
            elif e is CLOSE or e == CLOSE:
                self._close()
            elif not is_void(e):
                return self._meant(e) if self._rows else e
            self.at += 1
        return _NONE

    def take(self) -> Event:
        e = self.peek()
        if e is _NONE:
            raise Unread("the text ends before its loops do")
        if e.kind in _BEGIN:
            self._scopes.append([])
        elif e.kind in _END:
            self._close()
        elif e.kind == "else":
            self._close()
            self._scopes.append([])
        self.log.append(self.events[self.at])
        self.at += 1
        return e

    def next_statement(self) -> str:
        """The text of the next event, if that is a statement."""
        e = self.peek()
        return e.text if e.kind == "stmt" else ""

    def later(self, count: int) -> str:
        """The text of the statement `count` further on, without a look at what is between."""
        self.peek()
        found = self.at + count
        e = self.events[found] if found < len(self.events) else _NONE
        return self._meant(e).text if e.kind == "stmt" else ""

    def expect(self, kind: str, text: str | None = None) -> Event:
        e = self.take()
        if e.kind != kind or (text is not None and e.text != text):
            raise Unread(_instead(e, kind, text))
        return e

    def statement(self, text: str) -> None:
        """A printed statement has to stand here."""
        if self.peek() == ("stmt", text):
            self.take()
            return
        for wanted in statement_events(text):
            if wanted in (OPEN, CLOSE):
                continue
            self.expect(*wanted)

    def named(self, kind: str, value: str, fixed: bool = True) -> str:
        """The name of a variable of this type that gets this value in the next statement; empty if none does."""
        text, first, last = self.next_statement(), f"const {kind} " if fixed else f"{kind} ", f" = {value};"
        name = text[len(first) : len(text) - len(last)]
        return name if text.startswith(first) and text.endswith(last) and name.isidentifier() else ""

    def variable(self, kind: str, value: str, variable: str, fixed: bool = True) -> str:
        """The same for a variable of the tree, which has to be declared here."""
        name = self.named(kind, value, fixed)
        if not name:
            raise Unread(f"`{self.peek().text or self.peek().kind}` stands where a variable should get `{value}`")
        self.take()
        self.declare(name, variable)
        return name

    def pragma(self) -> str:
        """What stands ahead of a loop."""
        return self.take().text if self.peek().kind == "pragma" else ""

    # -- names -------------------------------------------------------------------------------------

    def declare(self, name: str, variable: str) -> None:
        """From here on, to the end of the block, a name stands for a variable."""
        if name in self.taken or name in self.alive:
            raise Unread(f"`{name}` hides another variable")
        self.known(name, variable)

    def known(self, name: str, variable: str) -> None:
        """The same for a name that the region itself has for the variable."""
        self._scopes[-1].append((name, self.alive.get(name)))
        self.alive[name] = variable

    def declare_row(self, name: str, row: str) -> None:
        """The same for a name of a row behind a pointer: whoever reads on finds the row in its place."""
        self.declare(name, f"row {row}")
        self._rows[name] = row

    def _meant(self, e: Event) -> Event:
        """With rows in place of their names."""
        return Event(e.kind, _WORD.sub(lambda m: self._rows.get(m[0], m[0]), e.text))

    def check_alive(self, name: str, variable: str) -> None:
        if self.alive.get(name) != variable:
            raise Unread(f"`{name}` is gone where it is needed")

    def _close(self) -> None:
        if len(self._scopes) == 1:
            raise Unread("a block ends that did not begin")
        for name, around in reversed(self._scopes.pop()):
            self.alive.pop(name, None)
            self._rows.pop(name, None)
            if around is not None:
                self.alive[name] = around

    # -- parts that others read --------------------------------------------------------------------

    def end_of(self, at: int) -> int:
        """Where the loop, condition or block ends that begins at an event."""
        depth = 0
        for k in range(at, len(self.events)):
            kind = self.events[k].kind
            depth += (kind in _BEGIN) - (kind in _END)
            if not depth:
                return k
        raise Unread("something begins that has no end")

    def skip_to_else(self) -> None:
        """Into the other branch of the condition that was taken last."""
        depth = 0
        for k in range(self.at, len(self.events)):
            kind = self.events[k].kind
            if kind == "else" and not depth:
                self.at = k
                self.expect("else")
                return
            depth += (kind in _BEGIN) - (kind in _END)
            if depth < 0:
                break
        raise Unread("a condition has no other branch")


class Names(Mapping[str, str]):
    """Variables by the names that the text has for them; each is asked for only where its name stands for it."""

    def __init__(self, cursor: Cursor, given: Mapping[str, str]) -> None:
        self._cursor, self._given = cursor, given

    def __getitem__(self, variable: str) -> str:
        name = self._given.get(variable)
        if name is None:
            raise Unread(f"nothing in the text stands for `{variable}`")
        self._cursor.check_alive(name, variable)
        return name

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)

    def get(self, variable: str, default: str | None = None) -> str:  # type: ignore[override]
        return self[variable] if variable in self._given else str(default)

    def __contains__(self, variable: object) -> bool:
        return variable in self._given


def _instead(e: Event, kind: str, text: str | None) -> str:
    wanted = f"`{text}`" if text else {"/for": "the end of a loop", "/if": "the end of a condition"}.get(kind, kind)
    return f"`{e.text or e.kind}` stands where {wanted} should"
