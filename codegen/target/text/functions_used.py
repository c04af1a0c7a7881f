"""Leaves out functions of generated support code that a file does not call."""

from __future__ import annotations

import re

_WORD = re.compile(r"[A-Za-z_]\w*")
# A function at the beginning of a line, with the comment above it: up to a brace at the beginning of a line, or all on
# one line.
_FUNCTION = re.compile(
    r"^(?:/\*(?:[^*]|\*(?!/))*\*/\n)?static (?:inline )?[^\n;={}()]*?(\w+)\([^;{}]*\)"
    r"(?:\n\{\n.*?^\}\n| \{[^\n]*\}\n)",
    re.M | re.S,
)


def functions_used(support: str, text: str) -> str:
    """Support code without the functions that neither `text` nor what is left of it names; all of it where the text
    includes files of the user's, which may call them."""
    if re.search(r'^[ \t]*#[ \t]*include[ \t]*[^<\s]', text, re.M):
        return support
    found = {m[1]: m[0] for m in _FUNCTION.finditer(support)}
    rest = _FUNCTION.sub("", support)
    known, new = set[str](), (set(_WORD.findall(text)) | set(_WORD.findall(rest))) & set(found)
    while new:
        known |= new
        new = {w for name in new for w in _WORD.findall(found[name]) if w in found} - known
    return _FUNCTION.sub(lambda m: m[0] if m[1] in known else "", support)
