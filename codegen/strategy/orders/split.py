"""Index-set splitting: rows and columns that a step both reads and changes get statements of their own, so that the
rest runs in parallel. Returns the directive that cuts at the value of the outermost loop, or None.

In `d[i][j] = f(d[i][j], d[i][k], d[k][j])` row k and column k of step k stand between all others: rows before k read
what the row was, those after it what it becomes. Cut at i = k and j = k, what is left of a step is parallel.
"""

from __future__ import annotations

import islpy as isl

from codegen.plan.model import StripMine
from codegen.recognize.access.strides import coefficients
from codegen.scop.model import Access, Scop, Statement
from codegen.transform.block import fresh
from codegen.transform.program import Program


def split_at(p: Program) -> StripMine | None:
    """Cut at the value of the outermost loop those that move a subscript which that loop moves elsewhere."""
    scop = p.scop
    if any(not s.iterators for s in scop.statements) or len({s.iterators[0] for s in scop.statements}) != 1:
        return None
    apart = {s.name: _meeting(scop, s) for s in scop.statements}
    if not any(apart.values()):
        return None
    values = {s.name: iterator_of(s, 0) for s in scop.statements}
    lines = {s.name: tuple(iterator_of(s, k) for k in apart[s.name]) for s in scop.statements}
    return StripMine(fresh(scop, f"{scop.statements[0].iterators[0]}s"), values, 1, lines)


def _meeting(scop: Scop, s: Statement) -> tuple[int, ...]:
    """Iterators of a written element's subscripts where a read has the outermost iterator."""
    target = s.accesses[s.target]
    found = set()
    for a in (a for a in s.accesses if not a.write and a.array == target.array):
        for mine, theirs in zip(movers(target, s), movers(a, s), strict=True):
            if theirs == (0,) and len(mine) == 1 and mine != (0,):
                found |= set(mine)
    return tuple(sorted(found))


def movers(a: Access, s: Statement) -> list[tuple[int, ...]]:
    """The iterators in each subscript."""
    rows = (coefficients(a.index.get_pw_aff(d), len(s.iterators)) for d in range(a.index.dim(isl.dim_type.out)))
    return [tuple(k for k, c in enumerate(row or ()) if c) for row in rows]


def iterator_of(s: Statement, number: int) -> isl.PwAff:
    """The value of an iterator."""
    local = isl.LocalSpace.from_space(s.domain.get_space())
    return isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, number))
