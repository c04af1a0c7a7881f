"""Inserts `#pragma scop` and `#pragma endscop` around loop nests that nobody marked (`--auto`), into the text that the
preprocessor reads; `region_of` makes the `Region` of such a nest.

The user's text stays as it is. What the preprocessor reads has the pragmas on lines of their own, with markers that
keep all line numbers, so that from there on such a region is like any other.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from codegen.source.layout.linemap import quote
from codegen.source.regions import Region

if TYPE_CHECKING:
    from codegen.source.nests import SourceNest


def region_of(text: str, nest: SourceNest, index: int) -> Region:
    """The region that a nest would be between pragmas: its whole lines where nothing else stands on them."""
    start = text.rfind("\n", 0, nest.begin) + 1
    newline = text.find("\n", nest.end)
    stop = newline + 1 if newline >= 0 else len(text)
    before, behind = text[start:nest.begin], text[nest.end:stop]
    begin = nest.begin if before.strip() else start
    end = nest.end if behind.strip() or not behind else stop
    indent = before[: len(before) - len(before.lstrip())]
    return Region(index, begin, end, begin, end, nest.line, nest.last_line, indent, found=True,
                  behind_text=begin == nest.begin and bool(before.strip()), before_text=end == nest.end)


def with_marks(text: str, regions: Sequence[Region], name: str) -> str | None:
    """What the preprocessor has to read in place of `text`, the content of the file `name`; None: the text itself."""
    return inserted(text, marks(text, regions, name)) if any(r.found for r in regions) else None


def marks(text: str, regions: Iterable[Region], name: str) -> tuple[tuple[int, str], ...]:
    """Pragmas around the regions that have none, by offsets; in braces, since one statement may be wanted there."""
    out: list[tuple[int, str]] = []
    for r in regions:
        if r.found:
            first, last = f"# {r.first_line} {quote(name)}\n", f"# {r.last_line} {quote(name)}\n"
            out.append((r.begin, f"{{\n{first}#pragma scop\n{first}{_room(text, r.begin)}"))
            next_line = f"# {r.last_line + 1 - r.before_text} {quote(name)}\n"
            lead = "\n" if r.before_text else ""
            out.append((r.end, f"{lead}{last}#pragma endscop\n{last}}}\n{next_line}{_room(text, r.end)}"))
    return tuple(out)


def inserted(text: str, pieces: Iterable[tuple[int, str]]) -> str:
    """A text with pieces put in before offsets."""
    parts: list[str] = []
    at = 0
    for offset, piece in sorted(pieces, key=lambda p: p[0]):
        parts += [text[at:offset], piece]
        at = offset
    return "".join([*parts, text[at:]])


def _room(text: str, offset: int) -> str:
    """The white space that puts what follows into its column."""
    return " " * (offset - text.rfind("\n", 0, offset) - 1)
