"""Replaces the regions of a source text by generated text, and leaves every other byte alone, but for the tool's own
pragmas: hints before a replaced region go, pragmas of regions that stay become empty lines."""
from __future__ import annotations

import re
from collections.abc import Sequence

from codegen.source.regions import Region, pragma_spans


def splice(
    text: str, replacements: Sequence[tuple[Region, str]], around: Sequence[tuple[int, int, str]] = ()
) -> str:
    """`text` with each region's lines replaced and the hints before it dropped; `around` are changes elsewhere.

    Of regions that stay, the pragmas are empty lines: compilers may warn of those that they do not know. A file with
    CRLF line ends gets them in the new text too. A result begins on a line of its own.
    """
    crlf = uses_crlf(text)
    edits: list[tuple[int, int, str]] = list(around)
    for region, new in replacements:
        edits += [(begin, end, "") for begin, end in region.leading]
        new = "\n" + new if region.behind_text else new
        edits.append((region.begin, region.end, re.sub(r"\r?\n", "\r\n", new) if crlf else new))
    gone = [(begin, end) for begin, end, _ in edits]
    for begin, end in pragma_spans(text):
        if not any(first <= begin < last for first, last in gone if first < last):
            edits.append((begin, end, re.sub(r"[^\r\n]", "", text[begin:end])))
    parts: list[str] = []
    at = 0
    for begin, end, new in sorted(edits):
        parts += [text[at:begin], new]
        at = end
    return "".join([*parts, text[at:]])


def uses_crlf(text: str) -> bool:
    """Whether the file's first line ends in CRLF, which stands for the file."""
    newline = text.find("\n")
    return newline > 0 and text[newline - 1] == "\r"
