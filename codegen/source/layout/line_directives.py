"""Reads the `#line` directives of a source, as generators of C leave them: returns the presumed line and file of a
physical line, and restores physical lines in the line markers of preprocessed text."""

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
class LineDirective:
    """A directive on line `line` of the file: the next line is presumed line `number` of `file`, which is spelled with
    its quotes."""

    line: int
    number: int
    file: str


def line_directives(text: str, name: str) -> tuple[LineDirective, ...]:
    """The directives of a file that is called `name`."""
    out: list[LineDirective] = []
    file = quote(name)
    for m in _ANY.finditer(text) if "#" in text else ():
        found = _NUMBERED.match(m.group())
        if found is not None:
            file = found[2] or file
            out.append(LineDirective(text.count("\n", 0, m.start()) + 1, int(found[1]), file))
    return tuple(out)


def with_distinct_files(text: str) -> str:
    """For the preprocessor: each directive names a file of its own, so that line markers in its output tell which
    directive they come from."""
    count = 0

    def named(m: re.Match[str]) -> str:
        nonlocal count
        found = _NUMBERED.match(m.group())
        if found is None:
            return ""
        count += 1
        return f'#line {found[1]} "<line {count - 1}>"'

    return _ANY.sub(named, text)


def with_physical_lines(out: str, directives: Sequence[LineDirective], name: str) -> str:
    """Preprocessed text whose line markers name physical lines of the file `name`; the values of `__LINE__` and
    `__FILE__` stay."""
    if not directives:
        return out

    def real(m: re.Match[str]) -> str:
        of = directives[int(m[2])]
        return f"# {int(m[1]) - of.number + of.line + 1} {quote(name)}"

    return _FILE.sub(lambda m: directives[int(m[1])].file, _MARKER.sub(real, out))


def presumed_location(directives: Sequence[LineDirective], line: int) -> tuple[int, str] | None:
    """The presumed number of a physical line, and the file with its quotes; None where no directive comes before it."""
    before = [d for d in directives if d.line < line]
    return (before[-1].number + line - before[-1].line - 1, before[-1].file) if before else None
