"""Record `Place`: what is known at a place of the tree while its printed text is read (names of loop variables,
storage, values read ahead, `int` counters, threads, pipeline stage, lanes)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from codegen.ast.ctree import For, Held, Instance
from codegen.ast.lowered import Lanes
from codegen.record import record
from codegen.scop.model import Param, Scop
from codegen.target.text.cexpr import IntPrinter
from codegen.verify.loops.cursor import Cursor, Names


@record
class Place:
    """Names of loops' variables and of a form's own, storage, values that were read ahead, counters of type int;
    whether threads are at work, and the loop over stages of a pipeline around, with the name of its turn."""

    scop: Scop
    cursor: Cursor
    params: Mapping[str, Param]
    names: Mapping[str, str]
    held: dict[str, Held]
    known: Mapping[tuple[Instance, int], str]
    narrow: frozenset[str] = frozenset()
    inside: bool = False
    stage: tuple[For, str] | None = None
    own: Mapping[str, str] = field(default_factory=dict)
    lanes: Lanes | None = None

    @property
    def ints(self) -> IntPrinter:
        return IntPrinter(self.params, Names(self.cursor, self.names), set(), self.narrow)


def first_place(scop: Scop, cursor: Cursor) -> Place:
    return Place(scop, cursor, {p.name: p for p in scop.params}, {}, {}, {})
