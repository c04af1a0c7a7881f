"""Putting generated text where the regions were, and leaving every other byte alone."""
from __future__ import annotations

import re
from collections.abc import Sequence

from .regions import Region


def splice(text: str, replacements: Sequence[tuple[Region, str]]) -> str:
    """`text` with each region's lines replaced and the hints before it dropped.

    A file with CRLF line ends gets them in the new text too.
    """
    crlf = uses_crlf(text)
    parts: list[str] = []
    at = 0
    for region, new in sorted(replacements, key=lambda pair: pair[0].begin):
        for begin, end in region.leading:
            parts.append(text[at:begin])
            at = end
        parts += [text[at:region.begin], re.sub(r"\r?\n", "\r\n", new) if crlf else new]
        at = region.end
    return "".join([*parts, text[at:]])


def uses_crlf(text: str) -> bool:
    """Whether the file's first line ends in CRLF, which stands for the file."""
    newline = text.find("\n")
    return newline > 0 and text[newline - 1] == "\r"
