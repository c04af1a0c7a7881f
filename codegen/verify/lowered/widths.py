"""Forms for vectors of several widths, written out for one of them: the macro that has the lanes gets its value, and
what is counted in vectors is counted in elements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from codegen.ast.ctree import Bin, Cond, For, Fun, Int, Name, Neg, substitute
from codegen.ast.lowered import (
    WIDTHS,
    Enough,
    Form,
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
    return (form.lanes is not None and form.lanes.wider) or any(map(_is_open, _inside(form)))


def _inside(form: Strips) -> Iterator[Strips]:
    """Loops of vectors in the rows of a form."""
    for p in form.parts:
        yield from (x for x in (p.body if isinstance(p, While) else ()) if isinstance(x, Strips))


def _rows_at(form: Strips, width: int) -> Strips:
    """With its vectors, or those of the loops in its rows, of that width."""
    if form.lanes is not None:
        return _AtWidth(form.lanes, width).of(form) if form.lanes.wider else form  # type: ignore[no-any-return]
    parts = (
        replace(p, body=tuple(_rows_at(x, width) if isinstance(x, Strips) else x for x in p.body))
        if isinstance(p, While)
        else p
        for p in form.parts
    )
    return replace(form, parts=tuple(parts))


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
