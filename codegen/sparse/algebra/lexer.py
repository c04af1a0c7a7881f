"""Lexer of the descriptor language and of kernels' index notation: returns tokens with their locations."""
from __future__ import annotations

import re
from collections.abc import Iterator

from codegen.diagnostics import InputError, Loc
from codegen.record import record

_TOKEN = re.compile(
    r"(?P<space>[ \t\r\n]+|\#[^\n]*)|(?P<num>\d+)|(?P<word>[A-Za-z_]\w*)"
    r"|(?P<op><=>|->|<=|>=|&&|[<>=+\-*(),:;\[\]{}])|(?P<sign>[∧→≤≥∀⇔])|(?P<other>.)"
)
_SIGNS = {"∧": "and", "→": "->", "≤": "<=", "≥": ">=", "∀": "forall", "⇔": "<=>"}


@record
class Token:
    """kind is num, word, op or end; `start` and `stop` are offsets into the text."""

    kind: str
    text: str
    loc: Loc
    start: int
    stop: int


def bad(message: str, loc: Loc, hint: str = "") -> InputError:
    """An error in a descriptor."""
    return InputError("bad-descriptor", message, loc, hint)


def tokens(name: str, text: str) -> tuple[Token, ...]:
    return tuple(_scan(name, text))


def _scan(name: str, text: str) -> Iterator[Token]:
    at, line, begin = 0, 1, 0
    while at < len(text):
        m = _TOKEN.match(text, at)
        loc = Loc(name, line, at - begin + 1)
        assert m is not None  # `other` takes what nothing else does: it may belong to the C body of a key
        word = m.group()
        if m.lastgroup == "sign":
            word = _SIGNS[word]
        if m.lastgroup != "space":
            kind = "op" if m.lastgroup == "sign" and word not in ("and", "forall") else str(m.lastgroup)
            yield Token("word" if kind == "sign" else kind, "and" if word == "&&" else word, loc, at, m.end())
        line += m.group().count("\n")
        if "\n" in m.group():
            begin = at + m.group().rindex("\n") + 1
        at = m.end()
    yield Token("end", "end of file", Loc(name, line, at - begin + 1), at, at)
