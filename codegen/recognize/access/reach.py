"""Bounds the indirect subscripts of an array from types and masks alone, `lut[pixel]` with bytes for pixels: the least
and the largest (`reach`), None where they are not known or too far away for any memory."""

from __future__ import annotations

from codegen.recognize.access.intervals import Interval, interval, union
from codegen.scop.expr import Gather, walk
from codegen.scop.model import Scop, Statement

FAR = 1 << 20  # elements; an array is not taken for larger than that


def reach(scop: Scop, name: str) -> tuple[int, int] | None:
    """The least and the largest subscript of an array with one subscript; None where that may be anything."""
    total: Interval | None = None
    for s in scop.statements:
        for e in walk(s.rhs):
            if isinstance(e, Gather) and s.accesses[e.access].array == name:
                one = _subscript(scop, s, e)
                total = one if total is None else union(total, one)
                if total is None:
                    return None
    return None if total is None or far(total) else (int(total[0]), int(total[1]))


def far(ends: Interval) -> bool:
    """Is it further than anybody would have memory for?"""
    return ends[0] < -FAR or ends[1] > FAR


def _subscript(scop: Scop, s: Statement, e: Gather) -> Interval | None:
    path = s.accesses[e.access].path
    behind = path[next(k for k, step in enumerate(path) if step.kind == "data") + 1 :] if e.args else ()
    if len(e.args) != 1 or any(step.kind != "member" for step in behind):
        return None
    return interval(scop, s, e.args[0], lambda x: None)
