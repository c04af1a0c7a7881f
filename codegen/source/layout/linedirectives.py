"""`#line` in the user's own text, as generators of C leave it: what `__LINE__` and `__FILE__` say from there on."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codegen.patterns import pattern
from codegen.record import record
from codegen.source.layout.linemap import quote

_ANY = pattern(r"^[ \t]*#[ \t]*(?:line\b|\d).*$", re.M)
_NUMBERED = pattern(r'[ \t]*#[ \t]*(?:line\b)?[ \t]*(\d+)(?:[ \t]+("(?:[^"\\]|\\.)*"))?')
_MARKER = pattern(r'^# (\d+) "<line (\d+)>"', re.M)
_FILE = pattern(r'"<line (\d+)>"')


@record
class Said:
    """After line `line` of the file comes line `number` of `file`, which is spelled with its quotes."""

    line: int
    number: int
    file: str


def line_directives(text: str, name: str) -> tuple[Said, ...]:
    """The directives of a file that is called `name`."""
    out: list[Said] = []
    file = quote(name)
    for m in _ANY.finditer(text) if "#" in text else ():
        found = _NUMBERED.match(m.group())
        if found is not None:
            file = found[2] or file
            out.append(Said(text.count("\n", 0, m.start()) + 1, int(found[1]), file))
    return tuple(out)


def with_own_names(text: str) -> str:
    """For the preprocessor: each directive names a file of its own, so that one can tell whose lines come out."""
    count = 0

    def named(m: re.Match[str]) -> str:
        nonlocal count
        found = _NUMBERED.match(m.group())
        if found is None:
            return ""
        count += 1
        return f'#line {found[1]} "<line {count - 1}>"'

    return _ANY.sub(named, text)


def with_real_lines(out: str, said: Sequence[Said], name: str) -> str:
    """Preprocessed text with the lines of the file `name` itself; the values of `__LINE__` and `__FILE__` stay."""
    if not said:
        return out

    def real(m: re.Match[str]) -> str:
        of = said[int(m[2])]
        return f"# {int(m[1]) - of.number + of.line + 1} {quote(name)}"

    return _FILE.sub(lambda m: said[int(m[1])].file, _MARKER.sub(real, out))


def said_at(said: Sequence[Said], line: int) -> tuple[int, str] | None:
    """What a line of the file is called: its number, and the file with its quotes; None where nobody says so."""
    before = [s for s in said if s.line < line]
    return (before[-1].number + line - before[-1].line - 1, before[-1].file) if before else None
