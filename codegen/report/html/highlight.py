"""C text as pieces with a class each, for colours; joining the pieces gives the text back."""
from __future__ import annotations

import re
from collections.abc import Iterator

_WORDS = (
    "auto|break|case|char|const|continue|default|do|double|else|enum|extern|float|for|goto|if|inline|int|long|register|"
    "restrict|return|short|signed|sizeof|static|struct|switch|typedef|union|unsigned|void|volatile|while|_Bool|_Complex"
)
_PIECE = re.compile(
    r"(?P<c>/\*.*?(?:\*/|\Z)|//[^\n]*)"
    r"|(?P<p>^[ \t]*\#(?:[^\n\\]|\\.)*)"
    r"|(?P<s>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')"
    rf"|(?P<k>\b(?:{_WORDS}|\w+_t)\b)"
    r"|(?P<n>\b\d[\w.]*)"
    r"|(?P<o>\w+|[^\w\"'/#]+|.)",
    re.M | re.S,
)


def highlight(text: str) -> Iterator[tuple[str, str]]:
    """(class, piece): c comment, p preprocessor, s string, k keyword or type, n number, "" anything else."""
    plain = ""
    for match in _PIECE.finditer(text):
        kind = match.lastgroup or "o"
        if kind == "o":
            plain += match.group()
            continue
        if plain:
            yield "", plain
            plain = ""
        yield kind, match.group()
    if plain:
        yield "", plain
