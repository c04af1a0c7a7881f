"""Reads cells of planes from printed statements: which version's, how many steps old, and how far from the cell that is
computed. Raises Unread for any other text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codegen.gpu.stream.model import PLACE, Version
from codegen.verify.text.read import Unread

_AWAY = r"(?: ([+-]) (\d+))?"
_SLOT = r"\(tw_phase \+ (\d+)\) % (\d+)"
_NEW = re.compile(r"tw_new_(\d+)\[tw_r\]")
_OLD = re.compile(rf"tw_old_(\d+)\[{_SLOT}\]\[tw_r{_AWAY}\]")
_SHARED = re.compile(
    r"tw_plane_(\d+)\["
    + re.escape(PLACE)
    .replace("plane", rf"\({_SLOT}\)")
    .replace("p1", rf"tw_row\(tw_r{_AWAY}\)")
    .replace("p2", r"(?:tw_within\(tw_p2 ([+-]) (\d+), SIDE_2\)|tw_p2)")
    + r"\]"
)
_EITHER = re.compile(r"\(tw_r (>= |< ROWS - )(\d+) \? (.*?) : (.*)\)")

StreamCell = tuple[int, int, tuple[int, int]]  # number of the version, age in steps, distance along the plane's axes


def read_cell(text: str, versions: Sequence[Version]) -> StreamCell:
    """The cell that a text stands for, in any phase."""
    m = _NEW.fullmatch(text)
    if m is not None:
        return int(m[1]), 0, (0, 0)
    m = _OLD.fullmatch(text)
    if m is not None and not m[4]:
        return _old(m, versions)
    m = _SHARED.fullmatch(text)
    if m is not None:
        number = _number(m[1], versions)
        return number, _age(m[2], m[3], versions[number].shared), (_shift(m[4], m[5]), _shift(m[6], m[7]))
    m = _EITHER.fullmatch(text)
    near = _OLD.fullmatch(m[3]) if m is not None else None
    if m is None or near is None or not near[4]:
        raise Unread(f"`{text}` is no cell of a plane")
    found, other = _old(near, versions), read_cell(m[4], versions)
    d = found[2][0]
    if (m[1] == ">= ") != (d < 0) or int(m[2]) < abs(d):
        raise Unread(f"`{text}` is in registers of another thread")
    if found != other:
        raise Unread(f"`{text}` is another cell in registers than in shared memory")
    return found


def _old(m: re.Match[str], versions: Sequence[Version]) -> StreamCell:
    number = _number(m[1], versions)
    return number, _age(m[2], m[3], versions[number].kept), (_shift(m[4], m[5]), 0)


def _number(text: str, versions: Sequence[Version]) -> int:
    if int(text) >= len(versions):
        raise Unread(f"there is no version {text}")
    return int(text)


def _age(ahead: str, ring: str, planes: int) -> int:
    """How old the plane is that lies so far ahead of the place of the newest, or of the one that it will take."""
    if int(ring) != planes or not 0 <= int(ahead) < planes:
        raise Unread(f"a ring has {planes} planes, not {ring}")
    return planes - int(ahead)


def _shift(sign: str | None, n: str | None) -> int:
    return 0 if n is None else -int(n) if sign == "-" else int(n)
