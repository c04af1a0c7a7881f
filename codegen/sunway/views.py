"""What the slave template prints: lines, loops, conditions and blocks. Every decision is already made."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from codegen.record import record

_CONSTANT = re.compile(r"(?:const (?:long|int|double|float)|\w+(?: \w+)? \(?\*const) (\w+)\W")
_WORD = re.compile(r"[A-Za-z_]\w*")


@record
class View:
    """kind: line, for, if, block. `head` is the line, the loop's head or the condition."""

    kind: str
    head: str = ""
    body: tuple["View", ...] = ()
    orelse: tuple["View", ...] = ()
    comment: str = ""


def line(text: str, comment: str = "") -> View:
    return View("line", text, comment=comment)


@record
class Function:
    """A function of the slave file."""

    head: str
    comment: str
    body: tuple[View, ...]
    static: bool = True


def texts(views: tuple[View, ...]) -> list[str]:
    out: list[str] = []
    for v in views:
        out += [v.head, *texts(v.body), *texts(v.orelse)]
    return out


def prune(views: tuple[View, ...]) -> tuple[View, ...]:
    """Without constants that nobody mentions."""
    while True:
        lines = texts(views)
        words = Counter(_WORD.findall(" ".join(lines)))
        words.subtract(found[1] for found in map(_CONSTANT.match, lines) if found is not None)
        kept = _kept(views, words)
        if kept == views:
            return views
        views = kept


def _kept(views: tuple[View, ...], words: Counter[str]) -> tuple[View, ...]:
    out = []
    for v in views:
        found = _CONSTANT.match(v.head) if v.kind == "line" else None
        if found is None or words[found[1]] > 0:
            out.append(replace(v, body=_kept(v.body, words), orelse=_kept(v.orelse, words)))
    return tuple(out)
