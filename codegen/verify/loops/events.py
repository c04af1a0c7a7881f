"""Splits C text, or the pieces (`View`) that it is printed from, into a list of events: loops, conditions, blocks,
statements, in the order in which they begin and end.

Only the structure is read: what stands between parentheses and up to a semicolon stays as it is. Comments are gone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from codegen.patterns import pattern
from codegen.target.text.pieces import View
from codegen.verify.text.read import Unread

_STRING = r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'"
_WORDS = r"TW_(?:SIMD|IVDEP|AHEAD)\b|TW_STRIP\(\d+\)"
_NEXT = pattern(
    r"(?:\s|/\*.*?\*/|//[^\n]*)*"
    rf"(?:(for|if) \(|(else)\b|([{{}}])|(\#[^\n]*|{_WORDS})|"
    r"([^;{}\"'\#/]*(?:/(?![*/])[^;{}\"'\#/]*)*;)|(.)|$)", re.S
)  # fmt: skip
_PARENTHESIS = pattern(rf"{_STRING}|[()]", re.S)
_SIGN = pattern(rf"/\*.*?\*/|{_STRING}|[()\[\]{{}};]", re.S)
_BREAK = pattern(r"\s*\n\s*")
_COMMENT = pattern(rf"{_STRING}|/\*.*?\*/", re.S)
_VOID = pattern(r"\(void\)\w+;")


class Event(NamedTuple):
    """`kind`: for and if, which begin, else, and /for and /if, which end; { and }; pragma; stmt; product."""

    kind: str
    text: str = ""


OPEN, CLOSE, ELSE, PRODUCT = Event("{"), Event("}"), Event("else"), Event("product")
_PLAIN = (OPEN, CLOSE)


def read_events(text: str) -> list[Event]:
    """Raises Unread where the text is of another form."""
    reader = _Reader(text)
    at = 0
    while at < len(text):
        at = reader.statement(at)
    return reader.out


def view_events(views: Sequence[View]) -> list[Event]:
    """What a template prints of views, braces aside. Of products only that they are there."""
    out: list[Event] = []
    _add_views(out, views)
    return list(bare(out))


def all_view_events(views: Sequence[View]) -> list[Event]:
    """The same with braces, but for those of loops and conditions."""
    out: list[Event] = []
    _add_views(out, views)
    return out


def _add_views(out: list[Event], views: Sequence[View]) -> None:
    for v in views:
        if v.kind in ("for", "if"):
            if v.pragma:
                out.append(Event("pragma", v.pragma))
            out.append(Event(v.kind, v.head))
            _add_views(out, v.body)
            if v.orelse:
                out.append(ELSE)
                _add_views(out, v.orelse)
            out.append(Event(f"/{v.kind}"))
        elif v.kind == "block":
            out.append(OPEN)
            _add_views(out, v.body)
            out.append(CLOSE)
        elif v.kind in ("product", "matvec", "nested"):
            out.append(PRODUCT)
            if v.nested is None or not v.nested.always:
                _add_views(out, v.body)
        else:
            out += statement_events(v.head)


def bare(events: Sequence[Event]) -> Iterator[Event]:
    """Without braces, and without what only keeps compilers from warning."""
    return (e for e in events if e not in _PLAIN and not is_void(e))


def is_void(e: Event) -> bool:
    """Does it say to compilers that a variable is used, or where rows end, and nothing else?"""
    if e.text == "TW_NEXT_ROWS();":
        return True
    return e.text.startswith("(void)") and e.kind == "stmt" and _VOID.fullmatch(e.text) is not None


def statement_events(text: str) -> list[Event]:
    """The events of one printed statement."""
    if text.endswith(";") and text.find(";") == len(text) - 1 and not text.startswith(("if (", "for (", "{")):
        return [Event("stmt", text)]
    return read_events(text)


class _Reader:
    def __init__(self, text: str) -> None:
        self.text, self.out = text, list[Event]()

    def statement(self, at: int) -> int:
        """Reads one, and gives where it ends."""
        m = _NEXT.match(self.text, at)
        assert m is not None  # anything matches
        word, other, brace, pragma, plain, sign = m.groups()
        if plain is not None:
            self._plain(plain)
            return m.end()
        if word is not None:
            return self._compound(word, m.end())
        if brace == "{":
            self.out.append(OPEN)
            at = self._rest(m.end())
            self.out.append(CLOSE)
            return at
        if pragma is not None:
            self.out.append(Event("pragma", pragma.rstrip()))
            return m.end()
        if other is not None or brace is not None:
            raise Unread(f"`{other or brace}` stands where it belongs to nothing")
        return m.end() if sign is None else self._long(m.start(6))

    def _compound(self, word: str, at: int) -> int:
        end = self._closed(at)
        self.out.append(Event(word, self.text[at : end - 1]))
        end = self._body(end)
        if word == "if":
            m = _NEXT.match(self.text, end)
            if m is not None and m[2] is not None:
                self.out.append(ELSE)
                end = self._body(m.end())
        self.out.append(Event(f"/{word}"))
        return end

    def _body(self, at: int) -> int:
        """One statement, or several in braces."""
        m = _NEXT.match(self.text, at)
        if m is not None and m[3] == "{":
            return self._rest(m.end())
        while m is not None and m[4] is not None:
            at = self.statement(at)
            m = _NEXT.match(self.text, at)
        return self.statement(at)

    def _rest(self, at: int) -> int:
        """Statements up to a closing brace, and behind it."""
        while True:
            m = _NEXT.match(self.text, at)
            if m is None or (m.end() == len(self.text) and m[3] is None):
                raise Unread("a block without an end")
            if m[3] == "}":
                return m.end()
            at = self.statement(at)

    def _closed(self, at: int) -> int:
        """Behind the parenthesis that closes one that was opened before `at`."""
        depth = 1
        for m in _PARENTHESIS.finditer(self.text, at):
            depth += (m[0] == "(") - (m[0] == ")")
            if not depth:
                return m.end()
        raise Unread("a parenthesis without an end")

    def _long(self, at: int) -> int:
        """A statement with braces, strings or comments in it."""
        depth = 0
        for m in _SIGN.finditer(self.text, at):
            if m[0] == ";" and not depth:
                self._plain(_COMMENT.sub(_uncommented, self.text[at : m.end()]))
                return m.end()
            depth += (m[0] in "([{") - (m[0] in ")]}")
            if depth < 0:
                break
        raise Unread("a statement without an end")

    def _plain(self, text: str) -> None:
        self.out.append(Event("stmt", _BREAK.sub(" ", text).strip() if "\n" in text else text.strip()))


def _uncommented(m: re.Match[str]) -> str:
    return "" if m[0].startswith("/*") else m[0]
