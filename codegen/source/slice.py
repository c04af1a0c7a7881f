"""Cuts preprocessed text down to a program slice for each region (`RegionSlice`): the region's function and only those
declarations of the file that it needs. Regions of C++ go to cxx/slice.py; one that cannot be sliced gets a refusal.

Preprocessed files are mostly system headers, in dialects that plain C parsers reject. A region needs a handful of
their declarations. The slice keeps those, in order, each under a line marker, so that the parser's coordinates are
those of the user's files.
"""
from __future__ import annotations

import re
from dataclasses import replace
from functools import partial

from codegen.diagnostics import Loc, Unsupported
from codegen.record import record
from codegen.source.gnu import beyond, builtin_types, clean, is_pure, plain_assertions, thread_private
from codegen.source.language import CXX
from codegen.source.layout.chunks import Chunk, declarations, split
from codegen.source.layout.enums import enum_types, has_annotations
from codegen.source.layout.lexis import identifiers
from codegen.source.layout.linemap import LineMap, quote
from codegen.source.preprocess import Preprocessed, display_name
from codegen.source.region_slice import KeptDeclaration, RegionSlice, guarded, not_plain, outside_function
from codegen.source.regions import Region
from codegen.source.statement_expressions import plain_statement_expressions

_HELPERS = 60  # functions whose bodies are read for one region, at most
_ITSELF = re.compile(r"#define (\w+) \1")
_TYPE_OF = re.compile(r"\(\s*\{\s*(?:const\s+)?(?:__typeof|typeof|__auto_type)")
_SCOP = re.compile(r"\n[ \t]*#[ \t]*pragma[ \t]+(end)?scop\b[^\n]*")


@record
class _Unit:
    """A preprocessed text with what is known about it as a whole."""

    text: str
    where: LineMap
    chunks: list[Chunk]
    names: list[set[str]]
    index: dict[str, list[int]]
    thread_private: frozenset[str]


def slice_unit(pre: Preprocessed, main_file: str, regions: tuple[Region, ...]) -> tuple[RegionSlice, ...]:
    """A slice for each region that survives preprocessing; those under a false condition are left out.

    A region that cannot be sliced gets a `refusal`, which `parse_slice` raises: one bad region stops no other.
    """
    if not regions:
        return ()
    pre = replace(pre, text=plain_assertions(pre.text)) if "__assert" in pre.text else pre
    pre = replace(pre, text=plain_statement_expressions(pre.text)) if _TYPE_OF.search(pre.text) else pre
    main_file = display_name(main_file)
    where = LineMap(pre.text)
    begins, ends = _pragmas(pre.text, where, main_file)
    active = [region for region in regions if region.first_line in begins]
    if not active:
        return ()
    if pre.language is CXX:
        return _of_cxx(pre, main_file, active, begins, ends)
    chunks = split(pre.text)
    names = declarations(pre.text, chunks)
    index: dict[str, list[int]] = {}
    for at, declared in enumerate(names):
        for name in declared:
            index.setdefault(name, []).append(at)
    unit = _Unit(pre.text, where, chunks, names, index, thread_private(pre.text))
    sliced = (partial(_slice, unit, main_file, r, begins[r.first_line], ends.get(r.last_line, [])) for r in active)
    return tuple(guarded(region, main_file, work) for region, work in zip(active, sliced, strict=True))


def _of_cxx(
    pre: Preprocessed, file: str, active: list[Region], begins: dict[int, list[int]], ends: dict[int, list[int]]
) -> tuple[RegionSlice, ...]:
    from codegen.source.cxx.names import TranslationUnit
    from codegen.source.cxx.slice import slice_region

    kept = frozenset(m[1] for c in pre.changes if (m := _ITSELF.fullmatch(c.text)) is not None)
    unit = TranslationUnit(pre.text, tuple(begins[r.first_line][0] for r in active), kept)
    return tuple(
        _repeated(r, file) if len(begins[r.first_line]) > 1 else
        guarded(r, file, partial(slice_region, unit, pre, file, r,
                                 (begins[r.first_line][0], min(ends.get(r.last_line, [-1])))))
        for r in active
    )  # fmt: skip


def _pragmas(text: str, where: LineMap, main_file: str) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """Offsets of the scop pragmas and ends of the endscop pragmas of the main file, by line."""
    begins: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    for match in _SCOP.finditer(text):
        loc = where.locate(match.start() + 1)
        if loc.file == main_file:
            if match.group(1):
                ends.setdefault(loc.line, []).append(match.end())
            else:
                begins.setdefault(loc.line, []).append(match.start() + 1)
    return begins, ends


def _slice(unit: _Unit, file: str, region: Region, begins: list[int], ends: list[int]) -> RegionSlice:
    loc = Loc(file, region.first_line, len(region.indent) + 1)
    if len(begins) > 1:
        return _repeated(region, file)
    span = (begins[0], ends[0] if ends else -1)
    root = next((at for at, chunk in enumerate(unit.chunks)
                 if 0 <= chunk.body < span[0] and span[0] < span[1] < chunk.end), -1)
    if root < 0:
        return outside_function(region, file, loc)
    strange = beyond(unit.text, *span)
    if strange is not None:
        return not_plain(region, file, unit.where.locate(strange[0]), strange[1])
    return _assemble(unit, file, region, root, span)


def _repeated(region: Region, file: str) -> RegionSlice:
    loc = Loc(file, region.first_line, len(region.indent) + 1)
    return RegionSlice(region, "", file, refusal=Unsupported(
        "region-repeated", "the region is compiled more than once, perhaps differently each time", loc,
        "the file seems to include itself; move the region to a file of its own"))


def _assemble(unit: _Unit, file: str, region: Region, root: int, span: tuple[int, int]) -> RegionSlice:
    inside = identifiers(unit.text[span[0]:span[1]])
    kept = _closure(unit, root, inside)
    pieces: list[str] = []
    parts: list[KeptDeclaration] = []
    pure: set[str] = set()
    hidden: frozenset[str] = frozenset()
    enums: dict[str, str] = {}
    size = root_at = 0
    at_span = (0, 0)
    for at, whole in kept:
        chunk = unit.chunks[at]
        lead = _lead(unit, chunk.begin)
        keep = (span[0] - chunk.begin, span[1] - chunk.begin) if at == root else (-1, -1)
        text = unit.text[chunk.begin:chunk.end if whole else chunk.head_end]
        if has_annotations(text):
            text, more = enum_types(text)
            enums.update(more)
        cleaned = clean(_without_other_regions(text, keep), keep)
        if "__attribute" in text or "[[" in text:
            pure |= unit.names[at] if is_pure(unit.text[chunk.begin:chunk.head_end]) else set()
        begin = size + len(lead)
        body = begin + chunk.body - chunk.begin if whole and chunk.body >= 0 else -1
        if at == root:
            root_at, hidden, at_span = len(parts), cleaned.hidden, (begin + keep[0], begin + keep[1])
        pieces.append(lead + cleaned.text + ("" if whole else ";") + "\n")
        size += len(pieces[-1])
        parts.append(KeptDeclaration(begin, size - 1, body))
    return _finished(RegionSlice(
        region, "".join(pieces), file, _function_name(unit, root), frozenset(pure), hidden, tuple(parts), root_at,
        at_span, unit.text.count("\n", 0, span[0]), None, unit.thread_private, enum_types=tuple(sorted(enums.items()))))


def _without_other_regions(text: str, keep: tuple[int, int]) -> str:
    """Without the pragmas of other regions: where one is all of a branch, an `else` may follow its end."""

    def blank(m: re.Match[str]) -> str:
        return m[0] if keep[0] <= m.start() + 1 < keep[1] else "\n" + " " * (len(m[0]) - 1)

    return _SCOP.sub(blank, text) if "scop" in text else text


def _closure(unit: _Unit, root: int, inside: frozenset[str]) -> list[tuple[int, bool]]:
    """The chunks to keep, in order, and whether whole: the bodies of other functions only if the region names them, or
    one of those that it names, and if the parser sees all of what they do.

    A helper may be defined after the function that calls it; everything else is declared before its use.
    """
    kept: dict[int, bool] = {}
    todo = [root]
    inside = _called(unit, root, inside)
    while todo:
        at = todo.pop()
        chunk = unit.chunks[at]
        named = not inside.isdisjoint(unit.names[at]) and beyond(unit.text, chunk.body, chunk.end) is None
        whole = at == root or chunk.body < 0 or named
        kept[at] = whole
        for name in identifiers(unit.text[chunk.begin:chunk.end if whole else chunk.head_end]):
            for other in unit.index.get(name, ()):
                if other not in kept and (other < root or (unit.chunks[other].body >= 0 and name in inside)):
                    kept[other] = False
                    todo.append(other)
    return sorted(kept.items())


def _called(unit: _Unit, root: int, inside: frozenset[str]) -> frozenset[str]:
    """With the identifiers of functions that are named in it, and so on."""
    seen: set[int] = {root}
    found = set(inside)
    todo = sorted(inside)
    while todo and len(seen) < _HELPERS:
        for at in unit.index.get(todo.pop(), ()):
            chunk = unit.chunks[at]
            if chunk.body >= 0 and at not in seen:
                seen.add(at)
                more = identifiers(unit.text[chunk.body:chunk.end]) - found
                found |= more
                todo += sorted(more)
    return frozenset(found)


def _lead(unit: _Unit, offset: int) -> str:
    """The line marker and the white space that put the character at `offset` where it was."""
    loc = unit.where.locate(offset)
    return f"# {loc.line} {quote(loc.file)}\n" + " " * (loc.col - 1)


def _function_name(unit: _Unit, root: int) -> str:
    chunk = unit.chunks[root]
    head = re.sub(r"\b__attribute(?:__)?\s*\(\(.*?\)\)", " ", unit.text[chunk.begin:chunk.body], flags=re.S)
    names = [name for name in re.findall(r"([A-Za-z_$][\w$]*)\s*\)?\s*\(", head) if name in unit.names[root]]
    return names[0] if names else ""


def _finished(made: RegionSlice) -> RegionSlice:
    """Put the compiler's own types in front, on a line of their own, and shift the offsets by its length."""
    types = builtin_types(identifiers(made.text))
    front = f'# 1 "<built-in>"\n{types}\n' if types else ""
    shift = len(front)
    parts = tuple(KeptDeclaration(p.begin + shift, p.end + shift,
                                  p.body + shift if p.body >= 0 else -1) for p in made.parts)
    return replace(made, text=front + made.text, parts=parts, span=(made.span[0] + shift, made.span[1] + shift))
