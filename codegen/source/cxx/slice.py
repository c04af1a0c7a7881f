"""Builds the `RegionSlice` of one region in a C++ source: a small C unit with the region translated, the declarations
it needs, and the line markers of the user's file; or a refusal (`not-c`) where something has no counterpart in C."""
from __future__ import annotations

import re

from codegen.diagnostics import Loc, Unsupported
from codegen.source.cxx.around import EnclosingFunction, function_around
from codegen.source.cxx.body import Body, edited
from codegen.source.cxx.names import TranslationUnit
from codegen.source.cxx.outside import FunctionContext
from codegen.source.cxx.refusal import NotC
from codegen.source.cxx.tokens import Tokens, tokens
from codegen.source.cxx.writer import CxxWriter
from codegen.source.gnu import beyond, clean, thread_private
from codegen.source.language import CXX
from codegen.source.layout.linemap import quote
from codegen.source.preprocess import Preprocessed
from codegen.source.region_slice import KeptDeclaration, RegionSlice, not_plain, outside_function
from codegen.source.regions import Region

_BOOL = '# 1 "<built-in>"\ntypedef _Bool bool;\n'
_HINT = "regions are plain C, in C++ files too: keep it out of the region"


def slice_region(
    unit: TranslationUnit, pre: Preprocessed, file: str, region: Region, span: tuple[int, int]
) -> RegionSlice:
    """The slice of one region, whose pragmas begin and end at `span`; with a refusal where it is not C."""
    loc = Loc(file, region.first_line, len(region.indent) + 1)
    e = unit.around(span[0])
    if e is None or e.kind != "function" or not e.body < span[0] < span[1] < e.end:
        return outside_function(region, file, loc)
    strange = beyond(unit.text, *span)
    if strange is not None:
        return not_plain(region, file, unit.where.locate(strange[0]), strange[1])
    try:
        function = function_around(unit, e, span)
        return _Assembly(unit, pre, file, region, span, function).slice()
    except NotC as error:
        where = unit.where.locate(error.offset)
        return RegionSlice(region, "", file, refusal=Unsupported(
            "not-c", error.message, where, error.hint or _HINT))


def _using(name: str) -> str:
    return f"using namespace {name.removesuffix('::')};" if name.endswith("::") else f"using std::{name};"


class _Assembly:
    """The text of a slice as it is put together, piece by piece."""

    def __init__(self, unit: TranslationUnit, pre: Preprocessed, file: str, region: Region, span: tuple[int, int],
                 function: EnclosingFunction) -> None:  # fmt: skip
        self.unit = unit
        self.pre = pre
        self.file = file
        self.region = region
        self.span = span
        self.function = function
        self.text = _BOOL
        self.parts: list[KeptDeclaration] = []

    def slice(self) -> RegionSlice:
        unit, span, function = self.unit, self.span, self.function
        writer = CxxWriter(unit, function, self.pre.system_headers)
        body = Body(tokens(unit.text, *span), writer.names())
        edits = body.translate()
        writer.finish(frozenset(body.written))
        outside = FunctionContext(writer)
        for piece in (p for p in writer.types.pieces if not p.local):
            begin = self._add(piece.begin, clean(piece.text).text + "\n" * piece.lines)
            self.parts.append(KeptDeclaration(begin, len(self.text)))
            self.text += "\n"
        root = self._add(function.entity.begin, f"{clean(outside.header()).text}\n")
        brace = len(self.text)
        self.text += "{\n"
        for piece in (p for p in writer.types.pieces if p.local):
            self._add(piece.begin, clean(piece.text).text + "\n")
        for number, level in enumerate(function.levels):
            if number:
                self._lines(level.pragmas)
                self.text += "{\n"
            for statement in (level.header, *level.statements):
                for offset, line in outside.statement(statement):
                    self._add(offset, clean(line).text + "\n")
        self._lines(function.pragmas)
        begin = self._add(span[0], edited(unit.text, *span, edits))
        end = len(self.text)
        self.text += "\n" + "}\n" * (len(function.levels) - 1)
        self._add(function.entity.end - 1, outside.after() + "}\n")
        self.parts.append(KeptDeclaration(root, len(self.text) - 1, brace))
        pure = frozenset(t for t in writer.pure() if t)
        return RegionSlice(
            self.region, self.text, self.file, function.name.text, pure, frozenset(), tuple(self.parts),
            len(self.parts) - 1, (begin, end), unit.text.count("\n", 0, span[0]), None, thread_private(unit.text),
            language=CXX, scope=writer.namespaces(), usings=tuple(_using(x) for x in sorted(function.usings)),
            objects=tuple(re.sub(r"\brestrict\b", "__restrict", x) for x in writer.objects.values()),
        )  # fmt: skip

    def _add(self, offset: int, text: str) -> int:
        """Text under a line marker that puts it where the character at `offset` was; where it begins."""
        loc = self.unit.where.locate(offset)
        self.text += "" if self.text.endswith("\n") else "\n"
        self.text += f"# {loc.line} {quote(loc.file)}\n" + " " * (loc.col - 1)
        begin = len(self.text)
        self.text += text
        return begin

    def _lines(self, found: Tokens) -> None:
        for t in found:
            if t.text.lstrip(" \t#").startswith("pragma"):
                self._add(t.begin, t.text.lstrip() + "\n")
