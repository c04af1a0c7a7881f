"""Macros kept as parameters: a region is preprocessed a second time with size macros such as N left as names.

Its model holds for every value then, and so does the result. A second run of the preprocessor, in which such a macro
stands for itself, gives the text; it is used only if the values put in for the names give the first text again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from codegen.diagnostics import InputError
from codegen.options import CppOptions
from codegen.source.layout.lexis import IDENT, MARKER
from codegen.source.layout.line_directives import line_directives
from codegen.source.layout.linemap import LineMap, quote
from codegen.source.macro_tables import Macro, used
from codegen.source.macros.baked import Baked, read_or_empty
from codegen.source.macros.branches import conditions
from codegen.source.marks import inserted, marks
from codegen.source.preprocess import Preprocessed, display_name, preprocess
from codegen.source.region_slice import KeptDeclaration, RegionSlice
from codegen.source.regions import Region
from codegen.source.slice import slice_unit

SMALL = 16  # the width of a window or a vector: such loops are unrolled, and known values are worth more than names
_SIZE = re.compile(r"\(?[ \t]*(\d{1,9})[ \t]*\)?")
_TOKEN = re.compile(r'[\w$]+|"(?:[^"\\\n]|\\.)*"|[^\w\s]')


def with_names(
    path: str, text: str, cpp: CppOptions, pre: Preprocessed, slices: Sequence[RegionSlice], found: Mapping[int, Baked]
) -> tuple[RegionSlice, ...]:
    """The slices, each with the one in which macros have kept their names, where there is one."""
    asked = "\n".join(conditions(t) for t in (text, *(read_or_empty(f) for f in pre.user_deps)))
    names = {s.region.index: _candidates(found[s.region.index], asked) for s in slices}
    places = {(name, _line(pre, name, s)) for s in slices for name in names[s.region.index]}
    if not places or line_directives(text, path):
        return tuple(slices)
    regions = tuple(s.region for s in slices)
    try:
        again = preprocess(path, text, cpp, instead=_marked(path, text, pre, places, regions))
    except InputError:
        return tuple(slices)
    other = {s.region.index: s for s in slice_unit(again, path, regions)}
    return tuple(_paired(s, other.get(s.region.index), names[s.region.index]) for s in slices)


def _candidates(found: Baked, asked: str) -> dict[str, str]:
    """Sizes that something outside of the file's own text decides on, and that no `#if` has `asked` for: names and
    bodies."""
    shaping = used(asked, found.known)
    return {n: m.body for n, m in found.macros.items()
            if _is_size(m) and n not in found.fixed and n not in found.elsewhere and n not in shaping}  # fmt: skip


def _is_size(macro: Macro) -> bool:
    value = _SIZE.fullmatch(macro.body) if macro.params is None else None
    return value is not None and int(value[1]) > SMALL and not re.match(r"0\d", value[1])


def _line(pre: Preprocessed, name: str, s: RegionSlice) -> int:
    """The line of the preprocessed text on which a name has got the meaning it has in a region."""
    return max(c.line for c in pre.changes if c.line < s.line and re.match(rf"#define {name}\b", c.text))


def _marked(
    path: str, text: str, pre: Preprocessed, places: Iterable[tuple[str, int]], regions: Sequence[Region]
) -> str:
    """The source with names that stand for themselves from where they are defined."""
    name = display_name(path)
    starts = [0, *(m.end() for m in re.finditer("\n", text))]
    above: list[tuple[int, str]] = []
    for macro, at in sorted(places):
        line = _source_line(pre.text, name, at)
        if line <= len(starts):
            above.append((starts[line - 1], f"#undef {macro}\n#define {macro} {macro}\n# {line} {quote(name)}\n"))
    return f"# 1 {quote(name)}\n" + inserted(text, [*above, *marks(text, regions, name)])


def _source_line(text: str, name: str, at: int) -> int:
    """The first line of the file itself behind a line of the preprocessed text."""
    begin = 0
    for _ in range(at + 1):
        begin = text.find("\n", begin) + 1
    where = LineMap(text)
    here = where.locate(begin)
    if here.file == name and not MARKER.match(text, begin):
        return here.line
    return next((m.line for m in where.markers if m.offset >= begin and m.file == name), 1 << 30)


def _paired(s: RegionSlice, other: RegionSlice | None, names: Mapping[str, str]) -> RegionSlice:
    if other is None or s.refusal is not None or other.refusal is not None or not names:
        return s
    kept = {n: b for n, b in names.items() if n in IDENT.findall(other.text[slice(*other.span)])}
    if not kept or _tokens(s.text) != _tokens(substituted(other.text, names)):
        return s
    rest = {n: b for n, b in names.items() if n not in kept}
    other = _without(replace(other, region=s.region, hidden=s.hidden), rest)
    return replace(s, named=replace(_declared(other, kept), values=tuple(sorted(kept.items()))))


def without_names(s: RegionSlice, names: Iterable[str]) -> RegionSlice:
    """A slice with values for some of its names."""
    gone = {n: b for n, b in s.values if n in set(names)}
    return replace(_without(s, gone), values=tuple((n, b) for n, b in s.values if n not in gone))


def _without(s: RegionSlice, values: Mapping[str, str]) -> RegionSlice:
    """Values for names, and the offsets moved along."""

    def moved(offset: int) -> int:
        return len(substituted(s.text[:offset], values)) if offset >= 0 else offset

    if not values:
        return s
    parts = tuple(KeptDeclaration(moved(p.begin), moved(p.end), moved(p.body)) for p in s.parts)
    return replace(s, text=substituted(s.text, values), parts=parts, span=(moved(s.span[0]), moved(s.span[1])))


def _declared(s: RegionSlice, names: Iterable[str]) -> RegionSlice:
    """The names as integers that nobody changes."""
    front = '# 1 "<built-in>"\n' + "".join(f"extern const int {n};\n" for n in sorted(names))
    size = len(front)
    parts = tuple(KeptDeclaration(p.begin + size, p.end + size, p.body + size if p.body >= 0 else -1) for p in s.parts)
    return replace(s, text=front + s.text, parts=parts, span=(s.span[0] + size, s.span[1] + size))


def substituted(text: str, values: Mapping[str, str]) -> str:
    """A text with values for names, but for their declarations."""
    pieces = re.split(r'("(?:[^"\\\n]|\\.)*"|extern const int \w+;)', text)
    for at in range(0, len(pieces), 2):
        pieces[at] = IDENT.sub(lambda m: values.get(m.group(), m.group()), pieces[at])
    return "".join(pieces)


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)
