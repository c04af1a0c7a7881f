"""Inserts `#line` directives into a region's new text, so that compilers and debuggers count each line as that of the
source statement that it carries out; and spells the file's name for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

from codegen.options import GenOptions, shown_name
from codegen.source.layout.lexis import blank_comments
from codegen.source.layout.linemap import quote
from codegen.source.regions import Region
from codegen.target.finish.links import Links


def line_name(name: str, options: GenOptions, region: Region | None = None) -> str:
    """The file as `#line` directives spell it, between the quotes; at a region as the source itself calls it there."""
    if region is not None and region.presumed is not None and region.presumed[1] != quote(name):
        return region.presumed[1][1:-1]
    return quote(options.line_name or shown_name(name, options))[1:-1]


def at_statements(text: str, links: Links, lines: Mapping[str, int], first: int, name: str) -> tuple[str, Links]:
    """A region's new text in which every line counts as that of the statement it carries out, and the links in it.
    `lines` are those of the statements; loops and all else count as the region's `first` line."""
    old = text.split("\n")
    of: dict[int, list[str]] = {k: [s for _, s in found] for k, found in groupby(links, key=lambda link: link[0])}
    out: list[str] = []
    moved: list[tuple[int, str]] = []
    starts, counted = set(_starts(text)), -1
    for k, line in enumerate(old):
        wanted = min((lines[s] for s in of.get(k, ())), default=first)
        if k in starts and wanted != counted:
            out.append(f'#line {wanted} "{name}"')
            counted = wanted
        moved += [(len(out), s) for s in of.get(k, ())]
        out.append(line)
        counted += 1
    return "\n".join(out), tuple(moved)


def _starts(text: str) -> Iterator[int]:
    """Lines that begin outside of comments, brackets and directives: between them a directive may stand."""
    depth, directive = 0, False
    for k, line in enumerate(blank_comments(text).split("\n")):
        if depth == 0 and not directive and line.strip():
            yield k
        directive = line.endswith("\\") and (directive or line.lstrip()[:1] == "#")
        depth += sum(line.count(c) for c in "([") - sum(line.count(c) for c in ")]")
