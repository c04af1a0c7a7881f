"""Tokenizer for preprocessed C++, and functions on token lists: the end of a bracket or template argument list,
splitting at a sign, printing as text."""
from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from codegen.source.layout.lexis import CHAR, STRING, blank

_RAW = re.compile(r'(?<![\w$])(?:u8|[uUL])?R"([^()\\\s]{0,16})\([\s\S]*?\)\1"')
_TOKEN = re.compile(
    rf"(?P<line>^[ \t]*\#[^\n]*)|(?P<text>(?:u8|[uUL])?(?:{STRING}|{CHAR}))|(?P<word>[A-Za-z_$][\w$]*)"
    r"|(?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)"
    r"|(?P<sign><=>|<<=|>>=|\.\.\.|->\*|::|->|\.\*|\+\+|--|<<|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[^\s\w])",
    re.M,
)
_CLOSED = {"(": ")", "[": "]", "{": "}"}


class CxxToken(NamedTuple):
    """A word, number, sign, literal (text), or a whole directive (line), and where it stands."""

    text: str
    kind: str
    begin: int
    end: int


Tokens = Sequence[CxxToken]


def plain_strings(text: str) -> str:
    """Raw strings as plain ones of the same length: nothing in them looks like code any more."""
    if 'R"' not in text:
        return text
    return _RAW.sub(lambda m: '""' + blank(m.group()[2:]), text)


def tokens(text: str, begin: int = 0, end: int | None = None) -> list[CxxToken]:
    """The tokens of text[begin:end]; `>>` is two of them, as in the lists of templates."""
    found = _TOKEN.finditer(text, begin, len(text) if end is None else end)
    return [CxxToken(m.group(), str(m.lastgroup), m.start(), m.end()) for m in found]


def code(found: Tokens) -> list[CxxToken]:
    """Without directives."""
    return [t for t in found if t.kind != "line"]


def group_end(found: Tokens, at: int) -> int:
    """Behind the bracket that closes the one at `at`; behind the last token where there is none, and behind the one at
    `at` where that is no bracket."""
    opened, depth = found[at].text if at < len(found) else "", 0
    closed = _CLOSED.get(opened)
    if closed is None:
        return min(at + 1, len(found))
    for k in range(at, len(found)):
        depth += (found[k].text == opened) - (found[k].text == closed)
        if depth == 0:
            return k + 1
    return len(found)


def angle_end(found: Tokens, at: int) -> int:
    """Behind the `>` that closes a list of template arguments, whose `<` is at `at`; -1 where it is no such list."""
    depth, k = 0, at
    while k < len(found):
        text = found[k].text
        if text in _CLOSED:
            k = group_end(found, k)
            continue
        if text in (";", "{", "}", ")", "]", "&&", "||", "=", "?"):
            return -1
        depth += (text == "<") - (text == ">")
        k += 1
        if depth == 0:
            return k
    return -1


def split_at(found: Tokens, sign: str) -> list[list[CxxToken]]:
    """The parts between signs that are in no brackets; those of templates count as brackets, too."""
    out: list[list[CxxToken]] = [[]]
    k = 0
    while k < len(found):
        text = found[k].text
        end = k + 1
        if text in _CLOSED:
            end = group_end(found, k)
        elif text == "<" and k and found[k - 1].kind == "word":
            end = max(angle_end(found, k), k + 1)
        if text == sign:
            out.append([])
        else:
            out[-1] += found[k:end]
        k = end
    return out


def joined(found: Tokens) -> str:
    """As text, with as much white space as C needs."""
    return " ".join(t.text for t in found)


def words(found: Tokens) -> frozenset[str]:
    return frozenset(t.text for t in found if t.kind == "word")
