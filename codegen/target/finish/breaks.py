"""Breaks a long expression, declaration or loop head over several lines, at its loosest operators first.

Breaks come at spaces only, so that tokens stay what they are. What follows stands under its own kind: arguments under
arguments, operands of a sum under operands.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from codegen.record import record

HANG = 4  # how far the rest of a statement stands to the right of its first line
_DEEPEST = 64  # brackets that open further to the right are not lined up with

# Loosest first. A break comes behind `;` `,` and assignments, and before all others.
_RANKS: tuple[frozenset[str], ...] = (
    frozenset(";"),
    frozenset(","),
    frozenset(("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=")),
    frozenset(("?", ":", ": :")),
    frozenset(("||",)),
    frozenset(("&&",)),
    frozenset("|^&"),
    frozenset(("==", "!=")),
    frozenset(("<", ">", "<=", ">=")),
    frozenset(("<<", ">>")),
    frozenset("+-"),
    frozenset("*/%"),
)
_BEHIND = 3  # ranks below break behind the operator
_ASSIGNS = 2
_TIGHT = 6  # from this rank on, what stands in brackets is rather broken
_RANK = {word: rank for rank, words in enumerate(_RANKS) for word in words}
_TOKEN = re.compile(
    r"""(?P<atom>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|/\*.*?\*/|[A-Za-z_0-9.]+)"""
    r"""|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<behind>[;,](?= ))"""
    r"""|(?<=\ )(?P<binary>:\ :|[-+*/%<>=&|^!?:]{1,3})(?=\ )"""
)
_CONTROLLED = re.compile(r"(?:\} )?(?:else )?(?:for|if|while) (?=\()")


@record
class _Break:
    """A place where a line may end: the text goes on at `at`, inside of `depth` brackets."""

    at: int
    depth: int
    rank: int
    bracket: int  # where the innermost of them opens; -1 outside of all


def broken(code: str, start: int, hang: int, width: int, tail: int) -> list[str]:
    """`code`, whose first character stands in column `start`, on several lines; `tail` more characters follow the last.
    Lines but the first come with their indentation."""
    if start + len(code) + tail <= width:
        return [code]
    body = _body(code)
    if body:
        return _controlled(code[:body].rstrip(), code[body:], start, hang, width, tail)
    breaks = _breaks(code)
    if not breaks:
        spaces = _spaces(code)
        return filled(cut(code, spaces), start, hang, width, tail) if spaces else [code]
    outer = [b for b in breaks if b.depth == 0]
    if outer:
        rank = min(b.rank for b in outer)
        pieces = cut(code, [b.at for b in outer if b.rank == rank])
        if rank == _ASSIGNS:
            return _assigned(pieces, start, hang, width, tail)
        if rank < _TIGHT or _worth(pieces) or not _held(code, breaks):
            return filled(pieces, start, hang, width, tail)
    return _inside(code, breaks, start, hang, width, tail)


def placed(code: str, column: int, width: int, tail: int) -> list[str]:
    """The same on a line of its own."""
    lines = broken(code, column, column + HANG, width, tail)
    return [" " * column + lines[0], *lines[1:]]


def _body(code: str) -> int:
    """Where the statement begins that a loop or a condition on the same line controls; 0 without one."""
    head = _CONTROLLED.match(code)
    if head is None:
        return 0
    at = _closing(code, head.end())
    return at + 1 if code[at : at + 1] == " " and code[at + 1 :] not in ("{", "") else 0


def _controlled(head: str, body: str, start: int, hang: int, width: int, tail: int) -> list[str]:
    """A loop or a condition and what it controls; a block of that is opened."""
    lines, column = broken(head, start, hang, width, 2), hang - HANG
    if body[0] != "{":
        return [*lines, *placed(body, column + 2, width, tail)]
    end = _closing(body, 0)
    inner, rest = body[1 : end - 1].strip(), body[end:].strip()
    lines = [*lines[:-1], f"{lines[-1]} {{", *placed(inner, column + 2, width, 0)]
    return [*lines, *placed(f"}} {rest}".rstrip(), column, width, tail)]


def _closing(code: str, at: int) -> int:
    """The place behind the bracket that closes the one at `at`."""
    return _closings(code).get(at, len(code))


@lru_cache(256)
def _closings(code: str) -> Mapping[int, int]:
    """The same for all brackets: most places for a break ask."""
    out: dict[int, int] = {}
    stack: list[int] = []
    for m in _TOKEN.finditer(code):
        if m.lastgroup == "open":
            stack.append(m.start())
        elif m.lastgroup == "close" and stack:
            out[stack.pop()] = m.end()
    return out


@lru_cache(256)
def _breaks(code: str) -> tuple[_Break, ...]:
    """Every place for a break, in order."""
    out: list[_Break] = []
    stack: list[int] = []
    for m in _TOKEN.finditer(code):
        if m.lastgroup == "open":
            stack.append(m.start())
        elif m.lastgroup == "close":
            del stack[-1:]
        elif m.lastgroup in ("behind", "binary") and m.group() in _RANK:
            rank = _RANK[m.group()]
            at = m.end() + 1 if rank < _BEHIND else m.start()
            if at < len(code):
                out.append(_Break(at, len(stack), rank, stack[-1] if stack else -1))
    return tuple(out)


def _spaces(code: str) -> list[int]:
    """Where words begin behind a space, outside of brackets: a type and what it declares."""
    depth, out = 0, []
    for m in re.finditer(_TOKEN.pattern + r"|(?P<space>(?<=[\w*]) (?=[A-Za-z_]))", code):
        depth += (m.lastgroup == "open") - (m.lastgroup == "close")
        out += [m.end()] if m.lastgroup == "space" and depth == 0 else []
    return out


def cut(code: str, places: Sequence[int]) -> list[str]:
    """The parts between these places, without spaces at their ends."""
    return [code[a:b].rstrip() for a, b in zip([0, *places], [*places, len(code)], strict=True)]


def _worth(pieces: Sequence[str]) -> bool:
    """Not where nearly everything is one piece, as in `0.2 * (...)`: that is better broken inside of it."""
    return max(map(len, pieces)) < 0.75 * sum(map(len, pieces))


def _held(code: str, breaks: Sequence[_Break]) -> bool:
    """Whether one pair of brackets with breaks in it holds most of the text."""
    return any(_closing(code, b) - b > 0.5 * len(code) for b in {b.bracket for b in breaks if b.depth == 1})


def _assigned(pieces: Sequence[str], start: int, hang: int, width: int, tail: int) -> list[str]:
    """What is assigned stands on a line of its own if it fits there, else goes on behind the sign."""
    left, right = " ".join(pieces[:-1]), pieces[-1]
    column, hang = start + len(left) + 1, max(hang, start + HANG)
    if column > width:
        place, _, sign = left.rpartition(" ")
        above = broken(place, start, hang, width, len(sign) + 1)
        return [*above[:-1], f"{above[-1]} {sign}", *placed(right, hang, width, tail)]
    lines = broken(right, hang, hang + HANG, width, tail)
    below = [left, " " * hang + lines[0], *lines[1:]]
    if hang + len(right) + tail <= width or column > _DEEPEST:
        return below
    lines = broken(right, column, column, width, tail)
    behind = [f"{left} {lines[0]}", *lines[1:]]
    return min((behind, below), key=lambda x: _beyond(x, start, width, tail))


def _beyond(lines: Sequence[str], start: int, width: int, tail: int) -> int:
    """How far the longest of the lines passes the end."""
    ends = [*(len(x) for x in lines[:-1]), len(lines[-1]) + tail]
    ends[0] += start
    return max(0, *(end - width for end in ends))


def filled(pieces: Sequence[str], start: int, column: int, width: int, tail: int) -> list[str]:
    """As many pieces on a line as fit; those that fit on none are broken themselves. Parts of a `for` stand alone."""
    lines: list[str] = []
    now, at = "", start
    for k, piece in enumerate(pieces):
        behind = tail if k == len(pieces) - 1 else 0
        if now and at + len(now) + 1 + len(piece) + behind <= width and not now.endswith(";"):
            now += " " + piece
            continue
        if now:
            lines.append(now if not lines else " " * column + now)
            at = column
        parts = broken(piece, at, at + HANG, width, behind)
        if len(parts) > 1:
            lines += [parts[0] if not lines else " " * column + parts[0], *parts[1:-1]]
            now, at = parts[-1][column:] if parts[-1].startswith(" " * column) else parts[-1].lstrip(), column
        else:
            now = piece
    return [*lines, now if not lines else " " * column + now]


def _inside(code: str, breaks: Sequence[_Break], start: int, hang: int, width: int, tail: int) -> list[str]:
    """Broken inside the outermost brackets, those of them that hold the most text."""
    depth = min(b.depth for b in breaks if b.depth)
    ends = {b.bracket: _closing(code, b.bracket) - 1 for b in breaks if b.depth == depth}
    bracket = max(ends, key=lambda b: ends[b] - b)
    first, last = bracket + 1 + (code[bracket + 1] == " "), ends[bracket]
    column, behind = start + first, tail + len(code) - last
    lines = broken(code[first:last], column, column, width, behind)
    lines = [code[:first] + lines[0], *lines[1:]]
    if hang < column - HANG and (column > _DEEPEST or _beyond(lines, start, width, behind)):
        below = broken(code[first:last], hang, hang, width, behind)
        below = [code[:first].rstrip(), " " * hang + below[0], *below[1:]]
        if column > _DEEPEST or _beyond(below, start, width, behind) < _beyond(lines, start, width, behind):
            lines = below
    at = len(lines[-1]) + (start if len(lines) == 1 else 0)
    more = broken(code[last:], at, hang, width, tail)
    return [*lines[:-1], lines[-1] + more[0], *more[1:]]
