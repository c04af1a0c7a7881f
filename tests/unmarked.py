"""What a file without transformed regions looks like afterwards."""

from __future__ import annotations

import re

_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+(?:scop|endscop|tilewright)\b[^\r\n]*", re.M)


def unmarked(text: str) -> str:
    """The text with empty lines in place of the tool's own pragmas."""
    return _PRAGMA.sub("", text)
