"""Puts unrolled statements that differ in numbers alone on one line, as the rows of a table.

Only white space changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from codegen.target.finish.wrap import WIDTH, comment_open, lines_of, wrap

_CONTROL = re.compile(r"(?:for|if|else|while|do|switch|case|default|return|goto|break|continue)\b")
_MORE = re.compile(r"""/\*|\*/|//|["'\\]""")  # comments, strings and lines that go on
_SHARE = 4 / 3  # rows of equal length are worth so many more lines


@lru_cache(4096)
def is_statement(line: str) -> bool:
    """One declaration or expression on a line of its own."""
    text = line.strip()
    return (
        text.endswith(";")
        and text.count(";") == 1
        and text[0] not in "#{}"
        and _MORE.search(text) is None
        and all(text.count(a) == text.count(b) for a, b in ("()", "[]", "{}"))
        and _CONTROL.match(text) is None
    )


def laid_out(text: str, kept: Sequence[str] = ()) -> tuple[str, tuple[int, ...]]:
    """The text with statements side by side and long lines broken, and for each of its lines the new one that it begins
    on. Lines of `kept` texts are the user's, and stay."""
    own = {n for part in kept if part for n in lines_of(text, part)}
    blocks, inside = _short_blocks(text.split("\n"), own)
    lines, where = side_by_side(blocks, {inside[n] for n in own})
    out, firsts = wrap("\n".join(lines), kept)
    return out, tuple(firsts[where[n]] for n in inside)


def _short_blocks(lines: Sequence[str], own: set[int]) -> tuple[list[str], list[int]]:
    """Blocks of a single statement on a line, and for each old line the new one it is on."""
    out: list[str] = []
    where: list[int] = []
    for n, line in enumerate(lines):
        block = [x.strip() for x in lines[n - 2 : n + 1]]
        closes = n >= 2 and block[::2] == ["{", "}"] and is_statement(block[1]) and out[-2:] == list(lines[n - 2 : n])
        if closes and own.isdisjoint((n - 2, n - 1, n)) and len(line) + len(block[1]) + 3 <= WIDTH:
            out[-2:] = [f"{line[:-1]}{{ {block[1]} }}"]
            where[-2:] = [len(out) - 1] * 2
            where.append(len(out) - 1)
        else:
            where.append(len(out))
            out.append(line)
    return out, where


def side_by_side(lines: Sequence[str], kept: Iterable[int] = (), width: int = WIDTH) -> tuple[list[str], list[int]]:
    """The lines with those alike put together, and for each old one the new line it is on. `kept` ones stay."""
    own, out = frozenset(kept), list[str]()
    where: list[int] = []
    shapes = _shapes(lines, own)
    at = 0
    while at < len(lines):
        end = at + 1
        while end < len(lines) and shapes[at] and shapes[end] == shapes[at]:
            end += 1
        if end == at + 1:  # as nearly all of them
            where.append(len(out))
            out.append(lines[at])
            at = end
            continue
        run = lines[at:end]
        each = _per_row([run[0], *(x.strip() for x in run[1:])], width)
        for first in range(0, len(run), each):
            row = run[first : first + each]
            where += [len(out)] * len(row)
            out.append(" ".join([row[0], *(x.strip() for x in row[1:])]))
        at = end
    return out, where


def _shapes(lines: Sequence[str], own: frozenset[int]) -> list[str]:
    """What lines side by side have in common; empty for those that stand alone."""
    out: list[str] = []
    comment = macro = False
    for number, line in enumerate(lines):
        free = not comment and not macro and number not in own
        out.append(_shape(line) if free and (is_statement(line) or _is_block(line)) else "")
        comment = comment_open(line, comment)
        macro = line.endswith("\\")
    return out


def _is_block(line: str) -> bool:
    """A block of a single statement."""
    text = line.strip()
    return text.startswith("{ ") and text.endswith("; }") and is_statement(text[2:-2])


@lru_cache(4096)
def _shape(line: str) -> str:
    """Without numbers, and what is added."""
    return re.sub(r"\d+", "#", re.sub(r" [-+] \d+(?![\w.])", "", line))


def _per_row(run: Sequence[str], width: int) -> int:
    """How many of these fit on each line, as evenly as may be."""
    count = len(run)
    indent = len(run[0]) - len(run[0].lstrip())
    longest = max(len(x.strip()) for x in run)
    fit = max(1, (width - indent + 1) // (longest + 1))
    rows = -(-count // fit)
    even = max(n for n in range(1, fit + 1) if count % n == 0)
    return even if count // even <= rows * _SHARE else -(-count // rows)
