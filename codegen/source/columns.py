"""Moves the columns of diagnostics on a region from the preprocessed line to the line as the user wrote it; inside a
macro's expansion the column is that of the macro's name."""
from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from codegen.diagnostics import Diagnostic
from codegen.source.layout.lexis import CHAR, MARKER, STRING, blank_comments, closing
from codegen.source.layout.linemap import LineMap
from codegen.source.region_slice import RegionSlice

_TOKEN = re.compile(rf"{STRING}|{CHAR}|[\w$.]+|[^\s\w]")

Token = tuple[str, int]  # its text, and its column from 0


def placed(messages: Iterable[Diagnostic], s: RegionSlice, source: str) -> tuple[Diagnostic, ...]:
    """The messages on a region with columns of the source."""
    lines = source.replace("\r\n", "\n").split("\n")
    seen = _seen(s)

    def moved(d: Diagnostic) -> Diagnostic:
        loc, notes = d.loc, tuple(map(moved, d.notes))
        if loc.file == s.file and loc.col and loc.line in seen and loc.line <= len(lines):
            loc = replace(loc, col=source_column(seen[loc.line], lines[loc.line - 1], loc.col))
        return d if loc == d.loc and notes == d.notes else replace(d, loc=loc, notes=notes)

    return tuple(map(moved, messages))


def _seen(s: RegionSlice) -> Mapping[int, str]:
    """The region's lines as the preprocessor gave them."""
    if s.refusal is not None or s.span[1] <= s.span[0]:
        return {}
    number = LineMap(s.text, s.file).locate(s.span[0]).line
    out: dict[int, str] = {}
    for line in s.text[s.span[0] : s.span[1]].split("\n"):
        marker = MARKER.match(line)
        if marker:
            number = int(marker.group(1))
            continue
        if line.strip():
            out.setdefault(number, line)
        number += 1
    return out


def source_column(seen: str, written: str, column: int) -> int:
    """The column of `written` that `column` of the preprocessed line `seen` came from; for what a macro stands for,
    where its name is."""
    if seen == written:
        return column
    there, here = _tokens(seen), _with_macros(blank_comments(written), {t for t, _ in _tokens(seen)})
    at = next((k for k, (text, start) in enumerate(there) if start <= column - 1 < start + len(text)), None)
    if at is None or not here:
        return column
    from difflib import SequenceMatcher  # only then: start-up time counts in a build

    before = 0  # the first token of the line that may have become this one
    for a, b, size in SequenceMatcher(None, [t for t, _ in there], [t for t, _ in here], False).get_matching_blocks():
        if a <= at < a + size:
            return here[b + at - a][1] + 1
        if a + size <= at:
            before = b + size
    return here[min(before, len(here) - 1)][1] + 1


def _tokens(line: str) -> list[Token]:
    return [(m.group(), m.start()) for m in _TOKEN.finditer(line)]


def _with_macros(line: str, known: set[str]) -> Sequence[Token]:
    """The tokens of a line, in which a name that was replaced, with its arguments, is one token like no other."""
    out: list[Token] = []
    past = 0
    for text, start in _tokens(line):
        if start < past:
            continue
        if re.match(r"[A-Za-z_$]", text) and text not in known:
            bracket = re.compile(r"\s*\(").match(line, start + len(text))
            past = closing(line, bracket.end() - 1) if bracket else -1
            past = past if past > 0 else start + len(text)
            text = f"macro {start}"
        out.append((text, start))
    return out
