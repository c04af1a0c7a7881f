"""Writes out a printed kernel whose vector width is left open, once for each width: the macro that has the lanes gets
its value, that of lines taken together what it is then, and macros that shuffle lanes what the preprocessor would
choose. Texts of any other form raise `Unread`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from codegen.isa.model import Isa
from codegen.isa.widths import WIDTHS, at_width, is_open, lanes_at, lanes_macro
from codegen.verify.text.read import Unread

_CASE = re.compile(r"#(?:el)?if (\w+) == (\d+)")
_DEFINE = re.compile(r"#define (\w+)\(x, y\) (\w+\(x, y, [\d, ]+\))")
_NUMBER = re.compile(r"#define (\w+) \((\w+) < (\d+) \? ([1-9]\d*) : ([1-9]\d*)\)")


class Macros(NamedTuple):
    """What names stand for where vectors have a certain width: calls on two vectors, and numbers."""

    shuffles: dict[str, str]
    numbers: dict[str, int]


def written_out(isa: Isa, elem: str, text: str, together: str, macros: str) -> Iterator[tuple[Isa, str, int]]:
    """For every width the instruction set, the text, and how many lines are taken `together`; as they are where nothing
    is open. `macros` is their printed text."""
    if not is_open(isa):
        yield isa, text, int(together)
        return
    lanes = lanes_macro(elem)
    for width in WIDTHS:
        count = lanes_at(elem, width)
        chosen = _chosen(macros, lanes, count)
        made = text
        for name, value in (chosen.numbers | {lanes: count}).items():
            made = re.sub(rf"\b{name}\b", str(value), made)
        for name, body in chosen.shuffles.items():
            call = re.compile(rf"\b{name}\((\w+), (\w+)\)")
            made = call.sub(lambda m, body=body: body.replace("(x, y,", f"({m[1]}, {m[2]},"), made)  # type: ignore[misc]
        if not together.isdigit() and together not in chosen.numbers:
            raise Unread(f"`{together}` is not defined")
        yield at_width(isa, width), made, chosen.numbers[together] if together in chosen.numbers else int(together)


def _chosen(text: str, lanes: str, count: int) -> Macros:
    """Macros by their names, where vectors have so many lanes."""
    found = Macros({}, {})
    taken, done, depth = True, False, 0
    for line in text.splitlines():
        case, define, number = _CASE.fullmatch(line), _DEFINE.fullmatch(line), _NUMBER.fullmatch(line)
        if case is not None and case[1] == lanes and depth == line.startswith("#el"):
            taken, depth = not done and int(case[2]) == count, 1
        elif line == "#else" and depth:
            taken = not done
        elif line == "#endif" and depth:
            taken, done, depth = True, False, 0
            continue
        elif number is not None and number[2] == lanes and not depth and number[1] not in (lanes, *found.numbers):
            found.numbers[number[1]] = int(number[4] if count < int(number[3]) else number[5])
        elif define is None:
            raise Unread(f"a line {line}")
        elif taken and found.shuffles.setdefault(define[1], define[2]) != define[2]:
            raise Unread(f"`{define[1]}` is defined twice")
        done = done or (taken and depth > 0)
    return found
