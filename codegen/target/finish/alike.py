"""Finds pieces of C text that are equal up to names and small offsets, and the substitution between them.

`a[i + 1][j] = b0;` is `a[i][j] = b1;` with `i + 1` for `i` and `b0` for `b1`. A substitution gives every name of the
first piece a name and an offset: an integer and a multiple of the macro that has the lanes of a vector. Whether it is
right is asked of the tokens after it: they have to be the second piece's, where such terms of sums in square brackets
are added up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

Tokens = tuple[str, ...]


class Offset(NamedTuple):
    """What is added to a name: `number`, and `vectors` times `macro`."""

    number: int = 0
    vectors: int = 0
    macro: str = ""

    def text(self) -> Tokens:
        """The tokens behind the name."""
        out: Tokens = ()
        if self.vectors:
            times = () if abs(self.vectors) == 1 else (str(abs(self.vectors)), "*")
            out = ("+" if self.vectors > 0 else "-", *times, self.macro)
        if self.number:
            out = (*out, "+" if self.number > 0 else "-", str(abs(self.number)))
        return out


NOTHING = Offset()
Substitution = dict[str, tuple[str, Offset]]  # for each name another one, and what is added to it

_TOKEN = re.compile(
    r"""[A-Za-z_]\w*|(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)\w*"""
    r"""|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|->|\+\+|--|<<|>>|[<>=!]=|&&|\|\||[-+*/%&|^]=|\S"""
)
_NUMBER = re.compile(r"\d+")
_MACRO = re.compile(r"TW_\w+_LANES(?:_\d+)?")
_TIGHT = frozenset("*/%")  # binds a number to what stands before it
_MEMBER = frozenset((".", "->"))
_WORDS = frozenset(
    ("char", "const", "double", "enum", "float", "int", "long", "restrict", "short", "signed", "sizeof", "struct",
     "union", "unsigned", "void", "volatile")
)  # fmt: skip


@lru_cache(4096)
def tokens(text: str) -> Tokens:
    """The tokens of a text without comments."""
    return tuple(_TOKEN.findall(text))


@lru_cache(4096)
def is_name(token: str) -> bool:
    return (token[0].isalpha() or token[0] == "_") and token not in _WORDS


@lru_cache(4096)
def shape(piece: Tokens) -> Tokens:
    """The same for pieces that may be alike: names are left out, and what is added to them."""
    out: list[str] = []
    at = 0
    while at < len(piece):
        out.append("name" if is_name(piece[at]) else piece[at])
        at = _offset(piece, at)[1] if is_name(piece[at]) else at + 1
    return tuple(out)


def substitution(one: Sequence[Tokens], two: Sequence[Tokens]) -> Substitution | None:
    """What makes the second statements of the first, as many, if names and offsets are all that differs."""
    found: Substitution = {}
    for mine, theirs in zip(one, two, strict=True):
        names = _of_statement(mine, theirs)
        if names is None or any(found.setdefault(name, meant) != meant for name, meant in names.items()):
            return None
    members = frozenset[str]().union(*map(_members, one))
    return None if any(found.get(name, (name, NOTHING)) != (name, NOTHING) for name in members) else found


@lru_cache(4096)
def _of_statement(one: Tokens, two: Tokens) -> Substitution | None:
    """The same of one statement: brackets are closed in it, so that what others hold has no say, but for members."""
    found: Substitution = {}
    i = k = 0
    while i < len(one) and k < len(two):
        if not is_name(one[i]):
            if one[i] != two[k]:
                return None
            i, k = i + 1, k + 1
            continue
        if not is_name(two[k]):
            return None
        (mine, i_next), (theirs, k_next) = _offset(one, i), _offset(two, k)
        apart = _sum(theirs, mine, -1)
        if apart is None:
            return None
        meant = (two[k], apart)
        if found.setdefault(one[i], meant) != meant or (meant != (one[i], NOTHING) and _fixed(one, i)):
            return None
        if apart != NOTHING and not _loose(one, i):
            return None
        i, k = i_next, k_next
    right = i == len(one) and k == len(two)
    return found if right and added_up(substituted(one, found)) == added_up(two) else None


def substituted(piece: Tokens, names: Mapping[str, tuple[str, Offset]]) -> Tokens:
    """The piece with names exchanged, as the preprocessor does it."""
    out: list[str] = []
    for token in piece:
        out += argument(*names[token]) if token in names else (token,)
    return tuple(out)


def argument(name: str, offset: Offset) -> Tokens:
    return (name, *offset.text())


@lru_cache(4096)
def added_up(piece: Tokens) -> Tokens:
    """The piece with the integers of each sum in square brackets added up, and the vectors: they are subscripts, far
    from any limit."""
    out: list[str] = []
    depth = at = 0
    while at < len(piece):
        if not depth:
            opened = _opened(piece, at)
            out += piece[at:opened]
            depth, at = 1, opened
            continue
        token = piece[at]
        depth += (token == "[") - (token == "]")
        out.append(token)
        if depth and is_name(token) and piece[at - 1] not in (*_TIGHT, "-"):
            offset, at = _offset(piece, at)
            out += offset.text()
        else:
            at += 1
    return tuple(out)


def _opened(piece: Tokens, at: int) -> int:
    """The place behind the next square bracket."""
    try:
        return piece.index("[", at) + 1
    except ValueError:
        return len(piece)


def _offset(piece: Tokens, at: int) -> tuple[Offset, int]:
    """What is added to the name at this place, and where the text goes on behind it."""
    total, at = NOTHING, at + 1
    while at + 1 < len(piece) and piece[at] in ("+", "-"):
        term, end = _term(piece, at + 1)
        added = None if term is None else _sum(total, term, 1 if piece[at] == "+" else -1)
        if added is None:
            break
        total, at = added, end
    return total, at


def _term(piece: Tokens, at: int) -> tuple[Offset | None, int]:
    """An integer, a macro of lanes or a multiple of one at this place, and where it ends; None for anything else."""
    number, end = 1, at
    if _NUMBER.fullmatch(piece[at]):
        number, end = int(piece[at]), at + 1
        if piece[end : end + 1] != ("*",):
            return (None, at) if piece[end : end + 1] and piece[end] in _TIGHT else (Offset(number), end)
        end += 1
    macro = piece[end] if end < len(piece) else ""
    end += 1
    bound = end < len(piece) and piece[end] in _TIGHT
    return (Offset(0, number, macro), end) if _MACRO.fullmatch(macro) and not bound else (None, at)


def _sum(a: Offset, b: Offset, sign: int) -> Offset | None:
    """Of two offsets, or their difference; None where they count vectors of different lanes."""
    if a.vectors and b.vectors and a.macro != b.macro:
        return None
    vectors = a.vectors + sign * b.vectors
    return Offset(a.number + sign * b.number, vectors, (a.macro or b.macro) if vectors else "")


def _fixed(piece: Sequence[str], at: int) -> bool:
    """Names that stay: of functions, macros and types (before a bracket or another name)."""
    after = piece[at + 1] if at + 1 < len(piece) else ";"
    return after == "(" or is_name(after) or after in _WORDS


@lru_cache(4096)
def _members(piece: Tokens) -> frozenset[str]:
    """Names of members: they stay wherever they stand, for a macro would replace those, too."""
    return frozenset(() if _MEMBER.isdisjoint(piece) else (b for a, b in pairwise(piece) if a in _MEMBER))


def _loose(piece: Sequence[str], at: int) -> bool:
    """May something be added to the name here, as it is written?"""
    before, after = piece[at - 1] if at else "(", piece[at + 1] if at + 1 < len(piece) else ")"
    return before in ("(", "[", "{", ",", "+") and after in (")", "]", "}", ",", "+", "-")
