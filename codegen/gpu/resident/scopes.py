"""Finds where arrays stay on the device: between `#pragma tilewright data` and `#pragma tilewright end data`, and from
one region to the next where nothing between them touches memory. Returns the edits of the file for that, and why parts
were refused (`Stays`)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from codegen.gpu.resident.effects import Around, Effect, effect_of
from codegen.gpu.resident.statements import Crossing, Leaves, StatementWalk, stands_alone
from codegen.record import record
from codegen.source.edits import Edit
from codegen.source.nests import TokenFinder

_DATA = re.compile(r"(?:#|%:)\s*pragma\s+tilewright\s+(data|end\s+data)\s*$")


@record
class DeviceRegion:
    """A region in the text, and the host's names of its arrays; without any, it runs on the host."""

    index: int
    begin: int
    end: int
    arrays: frozenset[str]

    @property
    def span(self) -> tuple[int, int, bool]:
        return self.begin, self.end, bool(self.arrays)


@record
class Refused:
    """A part of the program in which nothing stays: why, and where."""

    why: str
    offset: int


@record
class Stays:
    """What has to be written into a file so that arrays stay. Regions of `first` begin such a part, those of `last` end
    one."""

    edits: tuple[Edit, ...] = ()
    first: frozenset[int] = frozenset()
    last: frozenset[int] = frozenset()
    crossings: tuple[Crossing, ...] = ()
    refused: tuple[Refused, ...] = ()

    @property
    def any(self) -> bool:
        return bool(self.edits or self.first)


@record
class _Program:
    """A file with its regions, what is known of its statements, and what names of functions begin with."""

    finder: TokenFinder
    regions: tuple[DeviceRegion, ...]
    around: Around
    name: str

    def walk(self, kind: type[StatementWalk] = StatementWalk) -> StatementWalk:
        return kind(self.finder, self.around, [r.span for r in self.regions], self.name)


def may_stay(text: str, regions: Sequence[DeviceRegion]) -> bool:
    """Is there anything to look for?"""
    return ("tilewright" in text and "data" in text) or sum(bool(r.arrays) for r in regions) > 1


def staying(text: str, regions: Sequence[DeviceRegion], around: Around, name: str) -> Stays:
    """All places of a file where arrays stay on the device; functions that say so have names that begin with `name`."""
    bodies = _functions(TokenFinder(text))
    around = replace(around, functions=frozenset(n for n, _, _ in bodies))
    program = _Program(TokenFinder(text), tuple(regions), around, name)
    program = replace(program, around=replace(around, resident=_resident(program, bodies)))
    return _with_neighbours(_marked(program), program)


def _functions(finder: TokenFinder) -> list[tuple[str, int, int]]:
    """Names of functions, and the tokens of their bodies."""
    out, at = list[tuple[str, int, int]](), 0
    while at < len(finder.tokens):
        end = finder.after_group(at)
        if finder.tokens[at].text == "{":
            name = finder.name_before(at)
            if name:
                out.append((name, at + 1, end - 1))
        at = end
    return out


def _resident(p: _Program, bodies: Sequence[tuple[str, int, int]]) -> frozenset[str]:
    """Functions whose regions are all that they do with memory. Those that call themselves are none."""
    found = frozenset[str]()
    while True:
        now = replace(p, around=replace(p.around, resident=found))
        more = [n for n, begin, end in bodies if _is_resident(now, begin, end)]
        unique = frozenset(n for n in more if sum(n == b[0] for b in bodies) == 1)
        if unique == found:
            return found
        found = unique


def _is_resident(p: _Program, begin: int, end: int) -> bool:
    try:
        p.walk(_Body).statements(begin, end)
    except Leaves:
        return False
    return True


class _Body(StatementWalk):
    """The statements of a function, which may return, and may do nothing with memory."""

    def around_statement(self, begin: int, stop: int, effect: Effect, in_block: bool) -> None:
        if effect not in (Effect.NONE, Effect.RESIDENT):
            raise Leaves("it uses memory", begin)

    def statement(self, at: int, loops: int, in_block: bool) -> int:
        token = self.tokens[at]
        if token.text != "return" or self.region_at(token.begin) is not None:
            return super().statement(at, loops, in_block)
        end = self.finder.after_statement(at)
        value = self.finder.text[token.end : self.tokens[end - 1].begin]
        if value.strip() and effect_of(value, self.around, True) not in (Effect.NONE, Effect.RESIDENT):
            raise Leaves("a value is read from memory", token.begin)
        return end


def _marked(p: _Program) -> Stays:
    """Parts between pragmas."""
    tokens, out, opened = p.finder.tokens, Stays(), -1
    for at, token in enumerate(tokens):
        word = _DATA.match(token.text.strip()) if token.is_directive else None
        if word is None:
            continue
        if word[1] == "data":
            if opened >= 0:
                out = replace(out, refused=(*out.refused, Refused("another one begins inside", tokens[opened].begin)))
            opened = at
            continue
        if opened < 0:
            out = replace(out, refused=(*out.refused, Refused("none was begun here", token.begin)))
            continue
        out, opened = _part(out, p, opened, at), -1
    if opened >= 0:
        missing = Refused("`#pragma tilewright end data` is missing", tokens[opened].begin)
        out = replace(out, refused=(*out.refused, missing))
    return out


def _part(out: Stays, p: _Program, first: int, last: int) -> Stays:
    """One part, if everything in it is understood."""
    finder, tokens, name, walk = p.finder, p.finder.tokens, p.name, p.walk()
    try:
        if not stands_alone(tokens, first) or not _balanced(finder, first + 1, last):
            raise Leaves("it is no sequence of whole statements of a block", tokens[first].begin)
        walk.statements(first + 1, last)
    except Leaves as error:
        return replace(out, refused=(*out.refused, Refused(error.why, error.offset)))
    calls = [Edit(tokens[at].begin, tokens[at].end, f"{_indent(finder, first + 1)}{name}_{word}();")
             for at, word in ((first, "begin"), (last, "end"))]  # fmt: skip
    return replace(out, edits=(*out.edits, *calls, *walk.edits), crossings=(*out.crossings, *walk.crossings))


def _indent(finder: TokenFinder, at: int) -> str:
    """As far as a statement stands from the left."""
    begin = finder.tokens[at].begin
    line = finder.text[finder.text.rfind("\n", 0, begin) + 1 : finder.text.find("\n", begin)]
    return line[: len(line) - len(line.lstrip())]


def _balanced(finder: TokenFinder, first: int, last: int) -> bool:
    """Do whole statements stand between two tokens?"""
    at = first
    while at < last:
        if finder.tokens[at].text in ("}", ")", "]"):
            return False
        at = finder.after_group(at)
    return at == last


def _with_neighbours(out: Stays, p: _Program) -> Stays:
    """Runs of regions that hand arrays on, as far as no part around them does that already."""
    spans = [(e.begin, e.end) for e in out.edits if e.new.endswith(("_begin();", "_end();"))]
    inside = [(a[0], b[1]) for a, b in zip(spans[::2], spans[1::2], strict=True)]
    alone = [r for r in p.regions if r.arrays and not any(a <= r.begin < b for a, b in inside)]
    runs: list[list[DeviceRegion]] = []
    for r in alone:
        if runs and _hands_on(p, runs[-1], r):
            runs[-1].append(r)
        else:
            runs.append([r])
    several = [run for run in runs if len(run) > 1]
    first, last = (frozenset(run[k].index for run in several) for k in (0, -1))
    return replace(out, first=first, last=last)


def _hands_on(p: _Program, run: Sequence[DeviceRegion], r: DeviceRegion) -> bool:
    """Is nothing between a run of regions and the next one that touches memory, and do they share arrays?"""
    finder = p.finder
    if not r.arrays & frozenset[str]().union(*(x.arrays for x in run)):
        return False
    starts = [k for k, t in enumerate(finder.tokens) if t.begin >= run[0].begin]
    at = [k for k in starts if finder.tokens[k].begin >= run[-1].end]
    last = next((k for k in starts if finder.tokens[k].begin >= r.begin), None)
    if last is None or not at or not stands_alone(finder.tokens, starts[0]) or not _balanced(finder, at[0], last):
        return False
    walk = p.walk()
    try:
        walk.statements(at[0], last)
    except Leaves:
        return False
    return not walk.crossings
