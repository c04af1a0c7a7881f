"""Adds the identifiers on inactive preprocessor lines of the function around a region to the slice's `hidden`: another
compilation may have these lines, and use variables there. `UNSEEN_JUMP` is added where the lines may jump or are no
whole statements."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from codegen.source.layout.lexis import CHAR, IDENT, STRING, blank_comments
from codegen.source.layout.linemap import LineMap
from codegen.source.preprocess import Preprocessed
from codegen.source.region_slice import UNSEEN_JUMP, RegionSlice

_JUMPS = frozenset({"goto", "break", "continue", "case", "default", "else"})


def with_inactive(slices: Sequence[RegionSlice], pre: Preprocessed, source: str) -> tuple[RegionSlice, ...]:
    """The slices, with the words on such lines around a region among what is hidden from the parser."""
    if not slices or "#" not in source.replace("#pragma", "").replace("#include", "").replace("#define", ""):
        return tuple(slices)
    lines = blank_comments(source).split("\n")
    seen = _seen(pre, slices[0].file)
    return tuple(s if s.refusal is not None else replace(s, hidden=s.hidden | _hidden(s, lines, seen)) for s in slices)


def _hidden(s: RegionSlice, lines: Sequence[str], seen: frozenset[int]) -> frozenset[str]:
    where, root = LineMap(s.text, s.file), s.parts[s.root]
    body = max(s.text.find("{", root.begin, root.end), root.begin)  # another header of the function uses nothing
    first, last = where.locate(body).line, min(where.locate(root.end - 1).line, len(lines))
    around = [n for n in range(first, last + 1) if not s.region.first_line <= n <= s.region.last_line]
    gone = [n for n in around if n not in seen and lines[n - 1].strip() and not _is_directive(lines[n - 1])]
    words = frozenset(word for n in gone for word in IDENT.findall(lines[n - 1]))
    return words if all(_is_plain(g, lines) for g in _groups(gone, lines)) else words | {UNSEEN_JUMP}


def _is_directive(line: str) -> bool:
    return line.lstrip().startswith("#")


def _groups(gone: Sequence[int], lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The first and the last line of those with nothing but blank lines between them."""
    k = 0
    while k < len(gone):
        end = k
        while end + 1 < len(gone) and not any(lines[n - 1].strip() for n in range(gone[end] + 1, gone[end + 1])):
            end += 1
        yield gone[k], gone[end]
        k = end + 1


def _is_plain(group: tuple[int, int], lines: Sequence[str]) -> bool:
    """Are these lines all that stands between `#if` and `#endif`, and whole statements that do not jump? Then all else
    in the function is done as without them. A macro may do anything."""
    before = next((x for x in reversed(lines[: group[0] - 1]) if x.strip()), "")
    after = next((x for x in lines[group[1] :] if x.strip()), "")
    alone = re.match(r"\s*#\s*if", before) and re.match(r"\s*#\s*endif", after)
    text = re.sub(rf"{STRING}|{CHAR}", '""', "\n".join(lines[group[0] - 1 : group[1]]))
    depth, kinds = 0, {**dict.fromkeys("([{", 1), **dict.fromkeys(")]}", -1)}
    for char in text:
        depth += kinds.get(char, 0)
        if depth < 0:
            return False
    jumps = ":" in text or re.search(r"\b[A-Z_][A-Z_\d]*\s*\(", text) or not _JUMPS.isdisjoint(IDENT.findall(text))
    return bool(alone) and depth == 0 and not jumps and text.rstrip().endswith((";", "}"))


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
