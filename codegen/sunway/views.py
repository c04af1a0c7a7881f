"""What the slave template prints: lines, loops, conditions and blocks. Every decision is already made."""

from __future__ import annotations

from codegen.record import record


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
