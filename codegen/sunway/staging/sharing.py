"""Data sharing between cores: along which parallel loops a reference touches elements of one core alone.

A reference that no bound loop shares stays in one core's local memory while all other loops run. One that only the loop
over rows keeps to itself is the same for all cores of a row, and can be handed along it; likewise for columns.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.ast.ctree import For
from codegen.recognize.ownership.extract import axis, reference
from codegen.recognize.ownership.linear import theorem1
from codegen.recognize.ownership.model import ThreadAxis
from codegen.scop.model import Scop
from codegen.scop.tree import THREADED
from codegen.sunway.staging.local import SNode, staged_nodes

WORDS = {
    (True,): "one core's own",
    (False,): "shared with other cores",
    (True, True): "one core's own",
    (True, False): "the same for the cores of a row",
    (False, True): "the same for the cores of a column",
    (False, False): "shared with other cores",
}


def bound_axes(scop: Scop, kernel: SNode) -> tuple[ThreadAxis, ...]:
    """The loops that share out a kernel as thread coordinates: those that its bound tile loops cut."""
    loops = [n.loop for n in staged_nodes(kernel) if isinstance(n, For)]
    cut = list(dict.fromkeys(lp.of for lp in loops if lp.kind in THREADED))
    values = {n: {s: e for lp in loops if lp.name == n and not lp.tile for s, e in lp.exprs.items()} for n in cut}
    return tuple(axis(scop, n, values[n]) for n in cut if values[n])


def owned(scop: Scop, stmt: str, number: int, axes: Sequence[ThreadAxis]) -> tuple[bool, ...]:
    """For each axis: do cores that differ along it use different elements through this reference?"""
    ref = reference(scop, scop.statement(stmt), number)
    return tuple(stmt in x.values and theorem1(ref, (x,)) for x in axes)


def sharing_text(scop: Scop, array: str, stmts: Sequence[str], axes: Sequence[ThreadAxis]) -> str:
    """In words, for all references of a kernel to an array; empty where they differ or nothing is known."""
    found = {
        owned(scop, s.name, k, axes)
        for s in scop.statements if s.name in stmts
        for k, a in enumerate(s.accesses) if a.array == array
    }  # fmt: skip
    return WORDS.get(found.pop(), "") if len(found) == 1 else ""
