"""Proof of a region's text: read beside the proven tree, from the first brace to the last.

Around the loops there are the test of what the model assumes, with the source's own text in its other branch, and the
memory that the region asks for and gives back; what the tests and sizes say is proven elsewhere (`verify/guards.py`,
`verify/overlap`, `verify/workspace.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from codegen.ast.ctree import For
from codegen.patterns import pattern
from codegen.record import record
from codegen.scop.model import Scop
from codegen.target.emit import RegionText, Surroundings, deeper
from codegen.target.guards.guard import all_of
from codegen.target.region_views import RegionViews
from codegen.target.text.pieces import View
from codegen.target.view import reserved
from codegen.verify.loops.cursor import Cursor
from codegen.verify.loops.events import Event, read_events, view_events
from codegen.verify.loops.products import ProvenProducts, RegionReader
from codegen.verify.loops.scope import first_place
from codegen.verify.loops.tree import asks_for_work
from codegen.verify.text.read import Unread

_MEMORY = pattern(r"void \*const tw_memory = (.*) \? tw_alloc\(.*\) : 0;")
_PART = pattern(r"(?:.+ ?\*const \w+ = (?:tw_align\(.*\)|tw_memory)|const long tw_bytes_\w+ = .*);")


def wrong_region(made: RegionViews, text: RegionText, around: Surroundings) -> str:
    """What is other in the text of a region than in its proven tree; empty where nothing is."""
    try:
        read = read_region(made, text, around)
        check_views(read.log, read.loops, made.views)
    except Unread as problem:
        return str(problem)
    return ""


@record
class ReadLoops:
    """The events of a region's loops, and the loops among them by their places."""

    log: Sequence[Event]
    loops: Mapping[int, For]


def read_region(made: RegionViews, text: RegionText, around: Surroundings) -> ReadLoops:
    """Reads a region's text. Raises Unread unless it is what the tree says, from its first brace to the last."""
    region = _Region(made, text, around)
    region.check()
    return ReadLoops(region.log, region.loops)


class _Region:
    def __init__(self, made: RegionViews, text: RegionText, around: Surroundings) -> None:
        self.made, self.text, self.around = made, text, around
        self.cursor = Cursor(read_events(self._without_source()), reserved(made.short))
        self.declared: list[str] = []
        self.log: list[Event] = []
        self.loops: dict[int, For] = {}

    def check(self) -> None:
        cursor = self.cursor
        self._read_ahead()
        test = self._test()
        memory = _MEMORY.fullmatch(cursor.next_statement())
        if memory is not None:
            self._check_memory(memory[1], test)
        elif test:
            cursor.expect("if", test)
        elif self.text.kept:
            raise Unread("the source's text runs beside the loops")
        self._read_loops()
        if memory is not None:
            cursor.expect("stmt", "tw_free(tw_memory);")
        if self.text.kept:
            cursor.expect("else")
        elif memory is not None or (test and not _idle(self.made.scop)):
            raise Unread("nothing runs where the test does not hold")
        if memory is not None or test:
            cursor.expect("/if")
        if cursor.peek().kind != "end":
            raise Unread(f"`{cursor.peek().text}` stands behind the loops")

    def _without_source(self) -> str:
        """The text without the source's own, which has to be the other branch of its test."""
        kept, plain = self.text.kept, self.text.plain
        if not kept:
            return plain
        before, _, after = plain.rpartition(kept)
        if kept != deeper(self.around.original.rstrip("\n")) or not before.rstrip().endswith("} else {"):
            raise Unread("the source's text is not kept as it is")
        if after.split() != ["}", "}"]:
            raise Unread("something stands behind the source's text")
        return before + after

    def _read_ahead(self) -> None:
        """What is declared ahead of everything: computed parameters and variables of the region."""
        cursor, scop = self.cursor, self.made.scop
        if self.made.threads == "team":
            cursor.expect("pragma", "#pragma omp barrier")
        begins = {o.begin for o in scop.own}
        starts = tuple(f"const {c.ctype.spelling} {c.name} = " for c in self.text.computed)
        while (text := cursor.next_statement()) and (text in begins or (starts and text.startswith(starts))):
            self.declared.append(cursor.take().text)

    def _check_declared(self) -> None:
        """Variables that stand for something of the region are there, each once, where they are used."""
        made = self.made
        names = [*made.declarations, *(x.param for x in made.short.aheads), *(c.name for c in self.text.computed),
                 *(o.name for o in made.scop.own)]  # fmt: skip
        for name in names:
            count = sum(re.search(rf"\b{name}\b[^=]* = |\b{name};", x) is not None for x in self.declared)
            used = any(name in e.text and re.search(rf"\b{name}\b", e.text) for e in self.cursor.log)
            if used and not count:
                raise Unread(f"`{name}` is used and not declared")

    def _test(self) -> str:
        """What has to hold for the loops to run: all that the model assumes, and that arrays do not overlap."""
        made = self.made
        if made.enough and not asks_for_work(made.enough):
            raise Unread(f"`{made.enough}` is no test of how much there is to do")
        threads = "tw_max_threads() > 1" if made.threads_only else ""
        return all_of((self.text.guard, self.around.alias, threads, made.enough))

    def _check_memory(self, when: str, test: str) -> None:
        """Memory is asked for where the test holds, and its parts come first."""
        if test and when != test and not when.startswith(f"{test} && "):
            raise Unread("memory is asked for where the loops may not run")
        self.cursor.take()
        self.cursor.expect("if", "tw_memory")
        while _PART.fullmatch(self.cursor.next_statement()) is not None:
            self.cursor.take()

    def _read_loops(self) -> None:
        """The loops themselves, and that all directives stand ahead of the loops that they were proven for."""
        made, cursor = self.made, self.cursor
        first = len(cursor.log)
        t = self.text
        reader = RegionReader(cursor, ProvenProducts(t.products, t.matvecs, t.nests))
        starts = tuple(f"const long {x.param} = " for x in made.short.aheads)
        lines = set(made.declarations.values())
        while (text := cursor.next_statement()) and (text in lines or (starts and text.startswith(starts))):
            self.declared.append(cursor.take().text)
        reader.node(made.tree, first_place(made.short, cursor))
        reader.check_all_read()
        for o in made.scop.own:
            if o.end:
                cursor.statement(o.end)
        self._check_declared()
        self.log = cursor.log[first:]
        self.loops = {place - first: node for place, node in reader.loops}


def check_views(log: Sequence[Event], loops: Mapping[int, For], views: Sequence[View]) -> None:
    """Raises Unread unless the views, of which directives were proven, are what was read, each loop the same."""
    if log != view_events(views):
        raise Unread("the text is another one than that whose directives were proven")
    places = [k for k, e in enumerate(log) if e.kind == "for"]
    for place, loop in zip(places, _loops(views), strict=True):
        node = loops.get(place)
        if loop is not None and (node is None or node.loop is not loop.loop or node.body is not loop.body):
            raise Unread("a directive was proven for another loop")


def _loops(views: Sequence[View]) -> Iterator[For | None]:
    """The loops of the tree that the views are, in the order of the text."""
    for v in views:
        if v.nested is not None and v.nested.always:
            continue
        if v.kind == "for":
            yield v.loop
        elif v.kind in ("stmt", "decl"):
            yield from (None for e in view_events((v,)) if e.kind == "for")
        yield from _loops(v.body)
        yield from _loops(v.orelse)


def _idle(scop: Scop) -> bool:
    """Does the source do nothing where the test of the model does not hold?"""
    runs = [s.domain.params() for s in scop.statements]
    return not scop.guard.wide and all(r.is_subset(t) for t in (*scop.guard.first, scop.guard.rest) for r in runs)
