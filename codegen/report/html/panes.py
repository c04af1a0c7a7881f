"""The source and the new file as numbered, coloured lines for the report page, with the statements on each, linked both
ways, and refusals below their lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from codegen.pipeline import Generated
from codegen.report.html.highlight import highlight
from codegen.report.html.model import CodeLine, Mark, RegionView

Pane = tuple[CodeLine, ...]
Where = Mapping[int, Sequence[tuple[str, str]]]  # line to (key, name) of its statements
HUES = 6


def panes(text: str, made: Generated, regions: Sequence[RegionView]) -> tuple[Pane, Pane]:
    """The source with refusals below their lines, and the new file. Only statements found in both are marked."""
    lines = split(text)
    old, new = _in_source(lines, regions), _in_result(made)
    both = {k for at in old.values() for k, _ in at} & {k for at in new.values() for k, _ in at}
    return _pane(lines, old, both, "old", "new", _notes(regions)), _pane(split(made.text), new, both, "new", "old", {})


def plain_pane(text: str) -> Pane:
    """A file without links."""
    return tuple(CodeLine(number, line) for number, line in enumerate(coloured(split(text)), 1))


def hue_of(stmt: str) -> int:
    """The colour of a statement, the same wherever it is shown."""
    number = re.sub(r"\D", "", stmt)
    return int(number or 0) % HUES


def coloured(lines: Sequence[str]) -> list[tuple[tuple[str, str], ...]]:
    """The lines in pieces, each with the class of its colour."""
    out: list[list[tuple[str, str]]] = [[]]
    for kind, piece in highlight("\n".join(lines)):
        first, *more = piece.split("\n")
        out[-1].append((kind, first))
        out += [[(kind, part)] for part in more]
    return [tuple(p for p in line if p[1]) for line in out]


def split(text: str) -> list[str]:
    """Lines that a page can hold: what is no character becomes the sign for that."""
    clean = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").replace("\r\n", "\n")
    lines = re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", "\ufffd", clean).split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _in_source(lines: Sequence[str], regions: Iterable[RegionView]) -> Where:
    """A statement reaches from its line to the next semicolon."""
    out: dict[int, list[tuple[str, str]]] = {}
    for r in regions:
        for s in r.details.statements:
            last = s.line
            while last < min(r.last, len(lines)) and ";" not in lines[last - 1]:
                last += 1
            for number in range(s.line, last + 1):
                out.setdefault(number, []).append((_key(r.index, s.name), s.name))
    return out


def _in_result(made: Generated) -> Where:
    out: dict[int, list[tuple[str, str]]] = {}
    for r in made.regions:
        for line, stmt in r.links:
            out.setdefault(line, []).append((_key(r.index, stmt), stmt))
    return out


def _key(region: int, stmt: str) -> str:
    return f"r{region}-{stmt}"


def _notes(regions: Iterable[RegionView]) -> dict[int, str]:
    out: dict[int, str] = {}
    for r in regions:
        why = r.details.refusal
        if why is not None:
            words = f"region {r.index} is left as it is: {why.message} [{why.id}]"
            more = f"{words}; {why.hint}" if why.hint else words
            out[why.line] = f"{out[why.line]}\n{more}" if why.line in out else more
    return out


def _pane(lines: Sequence[str], at: Where, both: set[str], here: str, there: str, notes: Mapping[int, str]) -> Pane:
    out: list[CodeLine] = []
    seen: set[str] = set()
    above: set[str] = set()
    for number, pieces in enumerate(coloured(lines), 1):
        marks = []
        for key, name in at.get(number, ()):
            if key in both:
                to = "" if key in above else f"{there}-{key}"
                marks.append(Mark(key, name, hue_of(name), to, "" if key in seen else f"{here}-{key}"))
        above = {m.key for m in marks}
        seen |= above
        out.append(CodeLine(number, pieces, tuple(marks), notes.get(number, "")))
    return tuple(out)
