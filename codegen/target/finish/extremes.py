"""Writes the least or greatest of several numbers as one call: `tw_max3(a, b, c)`, not `tw_max(tw_max(a, b), c)`.

These are macros that stand for the nested calls.
"""

from __future__ import annotations

import re

_CALL = re.compile(r"\b(tw_(?:min|max))\(")
_MOST = 4  # arguments of a call
EXTREMES = frozenset(f"tw_{name}{n}" for name in ("min", "max") for n in range(3, _MOST + 1))


def flattened(text: str) -> str:
    """The text with nested calls as one, as far as there are macros for so many arguments."""
    if "tw_min(tw_min(" not in text and "tw_max(tw_max(" not in text:
        return text
    out, at = [], 0
    while (m := _CALL.search(text, at)) is not None:
        end, arguments = _arguments(text, m.end())
        if len(arguments) != 2:  # no call of ours
            out.append(text[at : m.end()])
            at = m.end()
            continue
        out += [text[at : m.start()], _joined(m[1], *(flattened(x) for x in arguments))]
        at = end
    return "".join([*out, text[at:]])


def _joined(name: str, first: str, second: str) -> str:
    """The call of two arguments, with those of the first in place of it where that is a call of the same."""
    head = re.match(rf"{name}(\d?)\(", first)
    if head is not None:
        end, inner = _arguments(first, head.end())
        if end == len(first) and len(inner) == int(head[1] or 2) < _MOST:
            return f"{name}{len(inner) + 1}({', '.join([*inner, second])})"
    return f"{name}({first}, {second})"


def _arguments(text: str, start: int) -> tuple[int, list[str]]:
    """Where a call ends whose arguments begin at `start`, and its arguments."""
    depth, first, found = 0, start, []
    for k in range(start, len(text)):
        c = text[k]
        if depth == 0 and c in ",)":
            found.append(text[first:k].strip())
            first = k + 1
            if c == ")":
                return k + 1, found
        depth += (c in "([{") - (c in ")]}")
    return len(text), []


def used(text: str) -> frozenset[str]:
    """Those of the macros that a text uses."""
    return EXTREMES & frozenset(re.findall(r"\btw_(?:min|max)\d\b", text))
