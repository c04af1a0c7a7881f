"""Finds pieces of C text that are equal up to names and small offsets, and the substitution between them.

`a[i + 1][j] = b0;` is `a[i][j] = b1;` with `i + 1` for `i` and `b0` for `b1`. A substitution gives every name of the
first piece a name and an offset. Whether it is right is asked of the tokens after it: they have to be the second
piece's, where integers of sums in square brackets are added up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

Tokens = tuple[str, ...]
Substitution = dict[str, tuple[str, int]]  # for each name another one, and what is added to it

_TOKEN = re.compile(
    r"""[A-Za-z_]\w*|(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)\w*"""
    r"""|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|->|\+\+|--|<<|>>|[<>=!]=|&&|\|\||[-+*/%&|^]=|\S"""
)
_NUMBER = re.compile(r"\d+")
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
    return None if any(found.get(name, (name, 0)) != (name, 0) for name in members) else found


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
        meant = (two[k], theirs - mine)
        if found.setdefault(one[i], meant) != meant or (meant != (one[i], 0) and _fixed(one, i)):
            return None
        if meant[1] and not _loose(one, i):
            return None
        i, k = i_next, k_next
    right = i == len(one) and k == len(two)
    return found if right and added_up(substituted(one, found)) == added_up(two) else None


def substituted(piece: Tokens, names: Mapping[str, tuple[str, int]]) -> Tokens:
    """The piece with names exchanged, as the preprocessor does it."""
    out: list[str] = []
    for token in piece:
        out += argument(*names[token]) if token in names else (token,)
    return tuple(out)


def argument(name: str, offset: int) -> Tokens:
    return (name, "+" if offset > 0 else "-", str(abs(offset))) if offset else (name,)


@lru_cache(4096)
def added_up(piece: Tokens) -> Tokens:
    """The piece with the integers of each sum in square brackets added up: they are subscripts, far from any limit."""
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
            out += argument(token, offset)[1:]
        else:
            at += 1
    return tuple(out)


def _opened(piece: Tokens, at: int) -> int:
    """The place behind the next square bracket."""
    try:
        return piece.index("[", at) + 1
    except ValueError:
        return len(piece)


def _offset(piece: Tokens, at: int) -> tuple[int, int]:
    """What is added to the name at this place, and where the text goes on behind it."""
    total, at = 0, at + 1
    while at + 1 < len(piece) and piece[at] in ("+", "-") and _NUMBER.fullmatch(piece[at + 1]):
        if at + 2 < len(piece) and piece[at + 2] in _TIGHT:
            break
        total += int(piece[at + 1]) if piece[at] == "+" else -int(piece[at + 1])
        at += 2
    return total, at


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
