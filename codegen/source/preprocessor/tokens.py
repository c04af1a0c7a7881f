"""Splits C text into preprocessing tokens by logical lines (`lines_of`), as gcc does it: spliced lines are joined,
comments are a space, trigraphs mean nothing, digraphs are what they stand for."""
from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import NamedTuple

from codegen.diagnostics import InputError, Loc
from codegen.patterns import pattern

# gcc splices lines across white space, too. A carriage return before a newline belongs to that.
_SPLICE = pattern(r"\\[ \t\f\v\0\r]*\n")
_TOKEN = pattern(
    r"(?P<space>[ \t\f\v\0\r]+|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)|(?P<newline>\n)|(?P<open>/\*)"
    r"|(?P<raw>(?:u8|[uUL])?R\")"
    r"|(?P<string>(?:u8|[uUL])?\"(?:[^\"\\\n]|\\[^\n])*\")|(?P<char>(?:u8|[uUL])?'(?:[^'\\\n]|\\[^\n])+')"
    r"|(?P<name>(?:[A-Za-z_$]|[^\x00-\x7f])(?:[\w$]|[^\x00-\x7f])*)"
    r"|(?P<number>\.?[0-9](?:[eEpP][+-]|[\w.$])*)"
    r"|(?P<mark>%:%:|\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|[<>=!*/%+\-&^|]=|&&|\|\||\#\#|%:|<:|:>|<%|%>"
    r"|[\[\](){}.&*+\-~!/%<>^|?:;=,\#])"
    r"|(?P<other>[\"'][^\n]*|.)"
)
_DIGRAPHS = {"%:": "#", "%:%:": "##", "<:": "[", ":>": "]", "<%": "{", "%>": "}"}
NAME, NUMBER, STRING, CHAR, MARK, OTHER = "name", "number", "string", "char", "mark", "other"
EMPTY = "empty"  # the operand of ## that an empty argument is


class Token(NamedTuple):
    """A preprocessing token. `space`: white space comes before it. `blocked`: a name that is never a macro again, since
    it was met while that macro was being expanded."""

    kind: str
    text: str
    space: bool
    line: int
    blocked: bool = False

    @property
    def meaning(self) -> str:
        """The text; of a digraph, what it stands for."""
        return _DIGRAPHS.get(self.text, self.text)


def lines_of(text: str, name: str) -> Iterator[list[Token]]:
    """The tokens of each logical line that has any, with the physical lines that they begin on."""
    joined, line_at = _joined(text.replace("\r\n", "\n"))
    line: list[Token] = []
    space = False
    for m in _TOKEN.finditer(joined):
        kind = m.lastgroup or OTHER
        if kind == "space":
            space = True
        elif kind == "newline":
            if line:
                yield line
            line, space = [], False
        elif kind in ("open", "raw"):
            words = "this comment has no end" if kind == "open" else "raw strings are not read here"
            raise InputError("preprocess-failed", words, Loc(name, line_at(m.start())))
        else:
            line.append(Token(kind, m.group(), space, line_at(m.start())))
            space = False
    if line:
        yield line


def _joined(text: str) -> tuple[str, Callable[[int], int]]:
    """The text without spliced newlines, and what gives the physical line of an offset in it."""
    parts: list[str] = []
    starts: list[int] = []  # offsets in the result where a physical line begins
    at = size = 0
    for m in _SPLICE.finditer(text):
        parts.append(text[at : m.start()])
        starts += [size + n.end() for n in re.finditer("\n", parts[-1])]
        size += len(parts[-1])
        starts.append(size)
        at = m.end()
    parts.append(text[at:])
    starts += [size + n.end() for n in re.finditer("\n", parts[-1])]
    return "".join(parts), lambda offset: 1 + bisect_right(starts, offset)


def tokens_of(text: str, line: int = 0) -> list[Token]:
    """The tokens of a piece of text, all on one line."""
    return [t._replace(line=line) for found in lines_of(text, "") for t in found]


def single(text: str) -> tuple[str, str] | None:
    """The kind and text of what is one token; None for anything else."""
    m = _TOKEN.match(text)
    kind = m.lastgroup if m is not None and m.end() == len(text) else None
    return (kind, text) if kind in (NAME, NUMBER, STRING, CHAR, MARK) else None


def would_merge(left: str, right: str) -> bool:
    """Whether two tokens printed without a space between them are read as others."""
    m = _TOKEN.match(left + right)
    return m is None or m.end() != len(left)


def spelled(tokens: list[Token]) -> str:
    """The text of tokens, with a space where there was white space."""
    return "".join((" " if t.space else "") + t.text for t in tokens).strip()
