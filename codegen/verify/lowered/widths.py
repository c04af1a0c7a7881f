"""Writes out lowered loops (`ast/lowered.py`) whose text leaves the vector width open, once for each width: the macro
that has the lanes gets its value, and what is counted in vectors is counted in elements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from codegen.ast.ctree import Bin, Cond, For, Fun, Int, Name, Neg, substitute
from codegen.ast.lowered import (
    WIDTHS,
    ByWidth,
    Enough,
    Form,
    Item,
    Lanes,
    Lead,
    Load,
    OverlappingSteps,
    Strips,
    Until,
    While,
    Work,
)
from codegen.record import record
from codegen.verify.lowered.elements import Wrong

_EXPRESSIONS = (Int, Name, Bin, Neg, Fun, Cond)
_STEPS = (While, OverlappingSteps, Lead, Enough)


def written_out(form: Form) -> Iterator[Form]:
    """A form for every width that its vectors may have: itself, where the text leaves nothing open."""
    if not isinstance(form, Strips) or not _is_open(form):
        yield form
        return
    for width in WIDTHS:
        yield _rows_at(form, width)


def _is_open(form: Strips) -> bool:
    if form.lanes is not None:
        return form.lanes.wider
    inside = (x for p in form.parts if isinstance(p, While) for x in p.body)
    return any(isinstance(x, ByWidth) or (isinstance(x, Strips) and _is_open(x)) for x in inside)


def _rows_at(form: Strips, width: int) -> Strips:
    """With its vectors, or those of the loops in its rows, of that width."""
    if form.lanes is not None:
        return _AtWidth(form.lanes, width).of(form) if form.lanes.wider else form
    parts = (
        replace(p, body=tuple(_item_at(x, width) for x in p.body)) if isinstance(p, While) else p for p in form.parts
    )
    return replace(form, parts=tuple(parts))


def _item_at(x: Item, width: int) -> Item:
    if isinstance(x, ByWidth):
        lanes = x.narrow.lanes
        if lanes is None or lanes.wider or x.wide.lanes is None or not x.wide.lanes.wider:
            raise Wrong("chooses between vectors whose widths do not say how")
        return _rows_at(x.wide, width) if width // lanes.elem.bytes > lanes.count else x.narrow
    return _rows_at(x, width) if isinstance(x, Strips) else x


@record
class _AtWidth:
    lanes: Lanes
    width: int

    def of(self, x: Any) -> Any:
        """A part of the form at that width. Loops of the tree know nothing of vectors."""
        if isinstance(x, tuple):
            return tuple(map(self.of, x))
        if isinstance(x, _EXPRESSIONS):
            return substitute(x, {self.lanes.macro: Int(self._count(self.lanes.count))})
        if isinstance(x, For) or not hasattr(x, "__match_args__"):
            return x
        if isinstance(x, While) and x.lanes is not None:
            return x  # of a length of its own
        made = {name: self.of(x.__dict__[name]) for name in x.__match_args__}
        if isinstance(x, _STEPS):
            made["step"] = self._count(x.step)
        elif isinstance(x, (Work, Load)):
            made["count"] = self._count(x.count)
        elif isinstance(x, Lanes):
            made |= {"count": self._count(x.count), "wider": False}
        elif isinstance(x, Until):
            made["bytes"] = self.width
        return type(x)(**made)

    def _count(self, count: int) -> int:
        """A number of iterations, as the text has it: some vectors' elements, or single ones."""
        vectors, single = divmod(count, self.lanes.count)
        return count if single else vectors * self.width // self.lanes.elem.bytes
