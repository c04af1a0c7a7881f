"""Offsets in preprocessed text, turned into the file, line and column they came from."""
from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from typing import NamedTuple

from codegen.diagnostics import Loc
from codegen.source.encoding import decode, encode
from codegen.source.layout.lexis import MARKER

_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")


class Marker(NamedTuple):
    """A line marker: the text from offset `start` on is line `line` of `file`."""

    offset: int
    start: int
    file: str
    line: int
    flags: str


class LineMap:
    """Positions in one preprocessed text."""

    def __init__(self, text: str, file: str = "") -> None:
        self._text = text
        self.markers = [Marker(0, 0, file, 1, ""), *_markers(text, file)]
        self._starts = [marker.start for marker in self.markers]

    def locate(self, offset: int) -> Loc:
        """Where the character at `offset` came from."""
        marker = self.markers[bisect_right(self._starts, offset) - 1]
        line = marker.line + self._text.count("\n", marker.start, offset)
        return Loc(marker.file, line, self.column(offset))

    def column(self, offset: int) -> int:
        """The column, counted from 1, of `offset` within its line."""
        return offset - self._text.rfind("\n", 0, offset)


def quote(name: str) -> str:
    """A file name as a line marker spells it."""
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def unquote(name: str) -> str:
    """The file name that a line marker spells; gcc writes some bytes as octal escapes."""
    if "\\" not in name:
        return name
    return decode(_ESCAPE.sub(_unescaped, encode(name)))


def _unescaped(match: re.Match[bytes]) -> bytes:
    body = match.group(1)
    return bytes([int(body, 8) & 255]) if len(body) == 3 else body


@lru_cache(maxsize=8)
def _markers(text: str, file: str) -> tuple[Marker, ...]:
    """All line markers. Hash signs at line starts are found by plain search, which beats one regular expression.

    Kept for the last texts: slices, names and macros of one file are all looked up in the same one.
    """
    found: list[Marker] = []
    at = 0 if text.startswith("#") else text.find("\n#") + 1
    while at > 0 or (at == 0 and not found and text.startswith("#")):
        match = MARKER.match(text, at)
        if match:
            line, name, flags = match.groups()
            file = unquote(name) if name is not None else file
            found.append(Marker(at, match.end() + 1, file, int(line), flags))
        at = text.find("\n#", at) + 1
    return tuple(found)
