"""Finds the statements that enclose a position by brackets and semicolons alone, for text that does not parse."""
from __future__ import annotations

import re

from codegen.patterns import pattern
from codegen.source.layout.lexis import CHAR, STRING

_TOKEN = pattern(rf"[;{{}}()]|^[ \t]*\#[^\n]*|{STRING}|{CHAR}", re.M)
_LEAD = pattern(r"\s*(?:#[^\n]*\n\s*)*")  # a pragma before a statement, such as endscop, is no part of it
_WORD = pattern(r"\s*(\w*|\S)")
# What, after a closing brace, shows that the statement goes on.
_GOES_ON = frozenset({";", ",", "=", ")", "[", ".", "-", "*", "while", "else", "("})
_DECLARATION = pattern(r"\s*(?:typedef|static|const|struct|union|enum|register)\b|[^=]*=\s*$")


class _Block:
    """An open brace: where the statement being read started, and the parentheses open in it."""

    def __init__(self, start: int) -> None:
        self.start = start
        self.parens = 0


def enclosing(text: str, begin: int, end: int, position: int) -> list[tuple[int, int]]:
    """The spans of the statements in text[begin:end], the inside of a function body, that contain `position`.

    Innermost first. A semicolon in parentheses ends nothing, so the header of a `for` stays whole.
    """
    stack = [_Block(begin)]
    found: list[tuple[int, int]] = []

    def finish(block: _Block, stop: int, reach: int) -> None:
        lead = _LEAD.match(text, block.start, stop)
        first = lead.end() if lead else block.start
        if first <= position < reach and first < stop:
            found.append((first, stop))
        block.start = stop

    for match in _TOKEN.finditer(text, begin, end):
        char, block = match.group(), stack[-1]
        if char in "()":
            block.parens += 1 if char == "(" else -1
        elif char == ";" and block.parens <= 0:
            finish(block, match.end(), match.end())
            block.parens = 0
        elif char == "{":
            stack.append(_Block(match.end()))
        elif char == "}" and len(stack) > 1:
            finish(block, match.start(), match.end())
            stack.pop()
            outer = stack[-1]
            if outer.parens <= 0 and _ends(text, outer.start, match.end()):
                finish(outer, match.end(), match.end())
    finish(stack[0], end, end + 1)
    return found


def _ends(text: str, start: int, after: int) -> bool:
    """Whether the statement from `start` ends with the brace before `after`."""
    word = _WORD.match(text, after)
    if word and word.group(1) in _GOES_ON:
        return False
    return _DECLARATION.match(text[start:text.find("{", start)]) is None
