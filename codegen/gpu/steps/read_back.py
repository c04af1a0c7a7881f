"""Reads cells of tiles from printed statements: which tile, and how far from the cell that is computed. Raises Unread
for any other text."""

from __future__ import annotations

import re

from codegen.gpu.steps.model import PLACE
from codegen.verify.text.read import Unread

_AWAY = r"(?: ([+-]) (\d+))?"
_OWN = re.compile(r"tw_own\[tw_r\]")


def read_cell(text: str, held: str, axes: int) -> tuple[str, tuple[int, ...]]:
    """The tile that a cell is in, and its distance along each axis. Registers hold cells of the tile `held`; those of
    other threads' rows are in shared memory."""
    if _OWN.fullmatch(text) is not None:
        return held, (0,) * axes
    m = re.fullmatch(_cell(axes), text)
    if m is not None:
        return m[1], _shift(m.groups()[1:])
    m = re.fullmatch(rf"\(tw_r (>= |< ROWS - )(\d+) \? tw_own\[tw_r ([+-]) (\d+)\] : {_cell(axes)}\)", text)
    if m is None:
        raise Unread(f"`{text}` is no cell of a tile")
    rows, far = int(m[2]), _shift(m.groups()[5:])
    near = -int(m[4]) if m[3] == "-" else int(m[4])
    if (m[1] == ">= ") != (near < 0) or rows < abs(near):
        raise Unread(f"`{text}` is in registers of another thread")
    if m[5] != held or far != (near, *(0,) * (axes - 1)):
        raise Unread(f"`{text}` is another cell in registers than in shared memory")
    return held, far


def _cell(axes: int) -> str:
    """A cell in shared memory; one beyond the end of a tile is the last one there."""
    place = re.escape(PLACE[axes]).replace("p0", rf"tw_row\(tw_r{_AWAY}\)")
    for k in range(1, axes):
        place = re.sub(rf"(?<!_)\bp{k}\b", rf"(?:tw_within\\(tw_p{k} ([+-]) (\\d+), SIDE_{k}\\)|tw_p{k})", place)
    return rf"(\w+)\[{place}\]"


def _shift(found: tuple[str | None, ...]) -> tuple[int, ...]:
    pairs = zip(found[::2], found[1::2], strict=True)
    return tuple(0 if n is None else -int(n) if sign == "-" else int(n) for sign, n in pairs)
