"""Moves loop directives that stand in front of a region (`#pragma omp parallel for`, then `#pragma scop`) behind its
`#pragma scop`: returns the text that regions are searched in, with as many lines.

What replaces the region may be no loop, and where the region stays they belong to it. So they are read as if they stood
behind `#pragma scop`: the text as written keeps them, wherever it ends up.
"""
from __future__ import annotations

import re

from codegen.source.layout.lexis import FOR_LOOPS, SPLICE, blank_comments
from codegen.source.regions import DIRECTIVES

_OWN = re.compile(r"(?:#|%:)\s*pragma\s+(scop|tilewright)\b")


def with_directives_inside(text: str) -> str:
    """The text with directives about the first loop of a region moved behind its `#pragma scop`; lines stay as many."""
    if "scop" not in text:
        return text
    moves: list[tuple[int, int, int]] = []  # from, up to, behind
    held: list[tuple[int, int]] = []  # directives with nothing but blank lines and comments after them so far
    last = 0
    for match in DIRECTIVES.finditer(text):
        if match["directive"] is None:
            continue
        newline = text.find("\n", match.end())
        end = newline + 1 if newline >= 0 else len(text)
        if blank_comments(text[last:match.start()]).strip():
            held = []
        words = blank_comments(SPLICE.sub("", match["directive"]))
        own = _OWN.match(words)
        if own is not None and own[1] == "scop":
            moves += [(a, b, end) for a, b in held]
        if own is None:
            held = [*held, (match.start(), end)] if FOR_LOOPS.match(words) else []
        last = match.end()
    return _moved(text, moves)


def _moved(text: str, moves: list[tuple[int, int, int]]) -> str:
    parts: list[str] = []
    at = 0
    for k, (begin, end, behind) in enumerate(moves):
        parts.append(text[at:begin])
        at = end
        if k + 1 == len(moves) or moves[k + 1][2] != behind:
            parts.append(text[at:behind])
            parts += [text[a:b] for a, b, c in moves if c == behind]
            at = behind
    return "".join([*parts, text[at:]])
