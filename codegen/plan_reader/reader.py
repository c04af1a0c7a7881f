"""Splits plan text into tokens (`tokens`), and reads names, numbers, loops, lists and formulas from them
(`PlanReader`); InputError (bad-plan) with the place where something else stands."""

from __future__ import annotations

import re
from dataclasses import field

from codegen.diagnostics import InputError, Loc
from codegen.plan.model import LoopRef
from codegen.record import mutable, record
from codegen.scop.model import Scop

# Sizes and factors beyond this say nothing of use, and leave too little of 64 bits for the loops that have them.
MOST = 1 << 31
_NUMBER = re.compile(r"0*[0-9]{1,13}\Z")
_TOKEN = re.compile(r"\s+|#[^\n]*|(?P<word>\w+)|(?P<sign>.)", re.S)


_SYNTAX = "docs/plans.md lists the directives"
DEEPEST, LONGEST = 64, 1000  # parentheses inside each other, and words, in a formula


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "...")


@record
class PlanToken:
    text: str
    loc: Loc


def tokens(text: str, file: str) -> list[PlanToken]:
    out, line, start = [], 1, 0
    for m in _TOKEN.finditer(text):
        if m.group("word") or m.group("sign"):
            out.append(PlanToken(m.group(), Loc(file, line, m.start() - start + 1)))
        newlines = m.group().count("\n")
        if newlines:
            line += newlines
            start = m.start() + m.group().rindex("\n") + 1
    return out


@mutable
class PlanReader:
    tokens: list[PlanToken]
    end: Loc
    pos: int = 0
    scop: Scop | None = field(default=None)
    blocks: dict[str, int] = field(default_factory=dict)  # iterators over blocks, and the sizes of those

    def more(self) -> bool:
        return self.pos < len(self.tokens)

    def peek(self, ahead: int = 0) -> str:
        return self.tokens[self.pos + ahead].text if self.pos + ahead < len(self.tokens) else ""

    def loc(self) -> Loc:
        return self.tokens[self.pos].loc if self.more() else self.end

    def take(self, expected: str = "") -> PlanToken:
        if not self.more():
            where = f"where {expected!r} was expected" if expected else "in the midst of a directive"
            raise InputError("bad-plan", f"the plan ends {where}", self.end, _SYNTAX)
        token = self.tokens[self.pos]
        if expected and token.text != expected:
            raise InputError("bad-plan", f"expected {expected!r} but found {_short(token.text)}", token.loc, _SYNTAX)
        self.pos += 1
        return token

    def accept(self, text: str) -> bool:
        if self.peek() == text:
            self.pos += 1
            return True
        return False

    def word(self, what: str) -> PlanToken:
        token = self.take()
        if not re.fullmatch(r"[A-Za-z_]\w*", token.text, re.ASCII):
            raise InputError("bad-plan", f"expected {what} but found {_short(token.text)}", token.loc, _SYNTAX)
        return token

    def number(self, most: int = MOST) -> int:
        """An integer from -most to most."""
        negative = self.accept("-")
        token = self.take()
        if not (token.text.isascii() and token.text.isdigit()):
            raise InputError("bad-plan", f"expected a number but found {_short(token.text)}", token.loc, _SYNTAX)
        if not _NUMBER.match(token.text) or int(token.text) > most:
            raise InputError("bad-plan", "the number is too large", token.loc, f"it may be {most} at most")
        return -int(token.text) if negative else int(token.text)

    def loop(self) -> LoopRef:
        first = self.word("a loop")
        if self.accept("."):
            return LoopRef(self.word("a loop").text, first.text, first.loc)
        return LoopRef(first.text, loc=first.loc)

    def loops(self) -> tuple[LoopRef, ...]:
        out = [self.loop()]
        while self.accept(","):
            out.append(self.loop())
        return tuple(out)

    def names(self) -> tuple[str, ...]:
        out = [self.word("a loop").text]
        while self.accept(","):
            out.append(self.word("a loop").text)
        return tuple(out)

    def size(self, word: str, most: int = MOST) -> int:
        self.take(word)
        loc, size = self.loc(), self.number(most)
        if size < 0:
            raise InputError("bad-plan", "a size cannot be negative", loc, "leave out the sign")
        return size

    def until(self, *stops: str) -> str:
        """Raw text up to a stop at parenthesis depth 0; a closing parenthesis as stop is consumed."""
        parts, depth = [], 0
        while depth or self.peek() not in stops:
            if self.peek().isdigit():
                parts.append(str(self.number()))
                continue
            token = self.take()
            depth += {"(": 1, ")": -1}.get(token.text, 0)
            if depth < 0 or depth > DEEPEST or len(parts) > LONGEST:
                raise InputError("bad-plan", "this is no formula", token.loc, "as in `(2*t + i)`")
            parts.append(token.text)
        if stops[0] == ")":
            self.take(")")
        return " ".join(parts)
