"""The tree that the template of a core's kernel prints: lines, loops, conditions and blocks; and its clean-up
(constants that nobody reads, equal tests side by side, needless braces)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from codegen.record import record

_CONSTANT = re.compile(r"(?:const (?:long|int|double|float)|\w+(?: \w+)? \(?\*const) (\w+)\W")
_WORD = re.compile(r"[A-Za-z_]\w*")


@record
class SlaveView:
    """kind: line, for, if, block. `head` is the line, the loop's head or the condition."""

    kind: str
    head: str = ""
    body: tuple["SlaveView", ...] = ()
    orelse: tuple["SlaveView", ...] = ()
    comment: str = ""


def line(text: str, comment: str = "") -> SlaveView:
    return SlaveView("line", text, comment=comment)


@record
class SlaveFunction:
    """A function of the slave file."""

    head: str
    comment: str
    body: tuple[SlaveView, ...]
    static: bool = True


def texts(views: tuple[SlaveView, ...]) -> list[str]:
    out: list[str] = []
    for v in views:
        out += [v.head, *texts(v.body), *texts(v.orelse)]
    return out


def prune(views: tuple[SlaveView, ...]) -> tuple[SlaveView, ...]:
    """Without constants that nothing after them mentions, without braces inside braces and without a test twice."""
    out: list[SlaveView] = []
    for v in reversed(views):
        found = _CONSTANT.match(v.head) if v.kind == "line" else None
        if found is None:
            one = replace(v, body=_alone(v.kind, prune(v.body)), orelse=prune(v.orelse))
            if out and _same_test(one, out[0]):
                out[0] = replace(one, body=(*one.body, *out[0].body))
            else:
                out.insert(0, one)
        elif _mentions(out, found[1]):
            out.insert(0, v)
    return tuple(out)


def _same_test(a: SlaveView, b: SlaveView) -> bool:
    """Do two conditions, one after the other, ask for the same constant?"""
    plain = re.fullmatch(r"!?\w*stays\w*", a.head) is not None
    return plain and a.kind == b.kind == "if" and a.head == b.head and not a.orelse and not b.orelse


def _alone(kind: str, body: tuple[SlaveView, ...]) -> tuple[SlaveView, ...]:
    """What a loop or a branch holds needs no braces of its own."""
    return body[0].body if kind in ("for", "if") and len(body) == 1 and body[0].kind == "block" else body


def _mentions(views: Sequence[SlaveView], name: str) -> bool:
    """Is the name used here, up to where another variable takes it over?"""
    for v in views:
        found = _CONSTANT.match(v.head) if v.kind == "line" else None
        text = v.head.partition("=")[2] if found is not None and found[1] == name else v.head
        if name in _WORD.findall(text) or _mentions(v.body, name) or _mentions(v.orelse, name):
            return True
        if found is not None and found[1] == name:
            return False
    return False
