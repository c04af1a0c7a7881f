"""Maps lines of a region's new text to the statements that they carry out.

The template writes a mark behind such lines, with `+` and `-` at the first and the last line of a longer part; here the
marks are taken out again. A text of the user's that holds the mark's character itself is not marked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

FIRST = "\x01"
_MARK = re.compile("\x01(S\\d+)([+-]?)\x02")

Links = tuple[tuple[int, str], ...]  # number of a line, counted from 0, and a statement


def unmark(text: str) -> tuple[str, Links]:
    """The text without marks, and what they said."""
    links: set[tuple[int, str]] = set()
    opened: dict[str, int] = {}
    for number, line in enumerate(text.split("\n")):
        for stmt, sign in _MARK.findall(line) if FIRST in line else ():
            if sign == "+":
                opened[stmt] = number
            first = opened.pop(stmt) if sign == "-" else number
            links.update((k, stmt) for k in range(first, number + 1))
    return _MARK.sub("", text), tuple(sorted(links))


def parts(text: str) -> frozenset[int]:
    """The lines of longer parts, in a text with marks."""
    found, opened = set[int](), 0
    for number, line in enumerate(text.split("\n")):
        signs = [sign for _, sign in _MARK.findall(line)] if FIRST in line else []
        opened += signs.count("+")
        if opened:
            found.add(number)
        opened -= signs.count("-")
    return frozenset(found)


def spread(links: Links, firsts: Sequence[int]) -> Links:
    """The links after lines were broken or put side by side; `firsts` are the lines that the old ones begin on."""
    starts = sorted(set(firsts))
    past = dict(zip(starts, [*starts[1:], starts[-1] + 1], strict=True))
    new = {(k, stmt) for line, stmt in links for k in range(firsts[line], past[firsts[line]])}
    return tuple(sorted(new))
