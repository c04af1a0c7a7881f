"""Finds the conditional subexpressions (`c ? a : b`) that a statement evaluates for certain and contains more than
once, which then get a name, as in `MIN(a, MIN(b, c))` with its macros expanded: under a name of its own compilers
select where they would branch (dtw-banded, Neoverse N1, takes 0.8 of the time)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from codegen.ast.ctree import Instance
from codegen.ast.lowered import Place
from codegen.recognize.access.ctypes import type_of
from codegen.scop.expr import Affine, Expr, Ref, Ternary, is_code, sure_parts, walk, with_leaves
from codegen.scop.model import Scop, Statement


def repeated_choices(scop: Scop, s: Statement, at: Instance, places: Sequence[Place]) -> tuple[Expr, ...]:
    """Choices that are made for sure and come again, what lies inside another one first."""
    again = Counter(_alike(e, s, at, places) for e in walk(s.rhs) if isinstance(e, Ternary) and not is_code(e))
    out: list[Expr] = []
    for e in sorted(always_made(s.rhs), key=lambda x: sum(1 for _ in walk(x))):
        if isinstance(e, Ternary) and not e.branch and type_of(scop, s, e) is not None:
            key = _alike(e, s, at, places)
            if again[key] > 1:
                again[key] = 0
                out.append(e)
    return tuple(out)


def always_made(e: Expr) -> Iterator[Expr]:
    """Parts that are evaluated whatever the values are."""
    yield e
    for part in sure_parts(e):
        yield from always_made(part)


def _alike(e: Expr, s: Statement, at: Instance, places: Sequence[Place]) -> Expr:
    """The expression with one number for all accesses to an element, and for all values that are the same."""

    def element(k: int) -> object:
        return s.accesses[k].array, s.accesses[k].path, places[k]

    def named(x: Expr) -> Expr:
        if isinstance(x, Ref):
            return replace(x, access=next(k for k in range(len(places)) if element(k) == element(x.access)))
        if isinstance(x, Affine):
            return replace(x, value=at.values.index(at.values[x.value]))
        return x

    return with_leaves(e, named)
