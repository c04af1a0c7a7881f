"""Lines that the preprocessor left out of a function: another compilation may have them, and use variables there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from codegen.source.layout.lexis import IDENT, blank_comments
from codegen.source.layout.linemap import LineMap
from codegen.source.preprocess import Preprocessed
from codegen.source.slice import RegionSlice


def with_inactive(slices: Sequence[RegionSlice], pre: Preprocessed, source: str) -> tuple[RegionSlice, ...]:
    """The slices, with the words on such lines around a region among what is hidden from the parser."""
    if not slices or "#" not in source.replace("#pragma", "").replace("#include", "").replace("#define", ""):
        return tuple(slices)
    lines = blank_comments(source).split("\n")
    seen = _seen(pre, slices[0].file)
    return tuple(s if s.refusal is not None else replace(s, hidden=s.hidden | _hidden(s, lines, seen)) for s in slices)


def _hidden(s: RegionSlice, lines: Sequence[str], seen: frozenset[int]) -> frozenset[str]:
    where, root = LineMap(s.text, s.file), s.parts[s.root]
    first, last = where.locate(root.begin).line, where.locate(root.end - 1).line
    around = (n for n in range(first, min(last, len(lines)) + 1) if not s.region.first_line <= n <= s.region.last_line)
    gone = (lines[n - 1] for n in around if n not in seen and not lines[n - 1].lstrip().startswith("#"))
    return frozenset(word for line in gone for word in IDENT.findall(line))


def _seen(pre: Preprocessed, name: str) -> frozenset[int]:
    """The lines of the file that have come out of the preprocessor."""
    where = LineMap(pre.text)
    ends = [m.offset for m in where.markers[1:]] + [len(pre.text)]
    out: set[int] = set()
    for marker, end in zip(where.markers, ends, strict=True):
        if marker.file == name and end > marker.start:
            found = enumerate(pre.text[marker.start : end].split("\n"), marker.line)
            out.update(n for n, line in found if line.strip())
    return frozenset(out)
