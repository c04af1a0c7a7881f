"""Writes out a printed kernel whose vector width is left open, once for each width: the macro that has the lanes gets
its value, and macros that shuffle them what the preprocessor would choose. Texts of any other form raise `Unread`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from codegen.isa.model import Isa
from codegen.isa.widths import at_width, is_open, lanes_at, lanes_macro, widths
from codegen.verify.text.read import Unread

_CASE = re.compile(r"#(?:el)?if (\w+) == (\d+)")
_DEFINE = re.compile(r"#define (\w+)\(x, y\) (\w+\(x, y, [\d, ]+\))")


def written_out(isa: Isa, elem: str, text: str, shuffles: str) -> Iterator[tuple[Isa, str]]:
    """The instruction set and the text for every width; as they are where nothing is open. `shuffles` is the printed
    text of the macros."""
    if not is_open(isa):
        yield isa, text
        return
    lanes = lanes_macro(elem, isa.bits // 8)
    for width in widths(isa):
        count = lanes_at(elem, width)
        made = re.sub(rf"\b{lanes}\b", str(count), text)
        for name, body in _chosen(shuffles, lanes, count).items():
            call = re.compile(rf"\b{name}\((\w+), (\w+)\)")
            made = call.sub(lambda m, body=body: body.replace("(x, y,", f"({m[1]}, {m[2]},"), made)  # type: ignore[misc]
        yield at_width(isa, width), made


def _chosen(text: str, lanes: str, count: int) -> dict[str, str]:
    """Macros by their names, where vectors have so many lanes."""
    found: dict[str, str] = {}
    taken, done, depth = True, False, 0
    for line in text.splitlines():
        case, define = _CASE.fullmatch(line), _DEFINE.fullmatch(line)
        if case is not None and case[1] == lanes and depth == line.startswith("#el"):
            taken, depth = not done and int(case[2]) == count, 1
        elif line == "#else" and depth:
            taken = not done
        elif line == "#endif" and depth:
            taken, done, depth = True, False, 0
            continue
        elif define is None:
            raise Unread(f"a line {line}")
        elif taken and found.setdefault(define[1], define[2]) != define[2]:
            raise Unread(f"`{define[1]}` is defined twice")
        done = done or (taken and depth > 0)
    return found
