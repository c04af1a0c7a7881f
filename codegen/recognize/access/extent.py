"""Upper bounds of loops' trip counts, whatever the parameters: of all values of a loop (`longest`), from the array
sizes within which the source has a meaning, and of those in one iteration of the loops around it (`longest_within`).
None where there is no bound."""

from __future__ import annotations

import islpy as isl

from codegen.scop.model import Scop, Statement
from codegen.scop.tree import Loop


def longest(scop: Scop, lp: Loop) -> int | None:
    """How many values a loop has at most, whatever the parameters; None: any number. Arrays of fixed sizes bound it,
    and compilers that see a step beyond the end of one warn."""
    low, high = None, None
    for stmt in sorted(lp.exprs):
        there = scop.statement(stmt).domain.intersect_params(scop.context)
        image = isl.Map.from_pw_aff(lp.exprs[stmt]).intersect_domain(there).range()
        if image.is_empty():
            continue
        first, last = image.dim_min_val(0), image.dim_max_val(0)
        if not (first.is_int() and last.is_int()):
            return None
        low = first.to_python() if low is None else min(low, first.to_python())
        high = last.to_python() if high is None else max(high, last.to_python())
    return None if low is None or high is None else high - low + 1


def longest_within(scop: Scop, s: Statement, outer: tuple[int, ...], number: int) -> int | None:
    """How many values an iterator of a statement has at most while the `outer` ones stay; None: any number."""
    wanted = {*outer, number}
    there = s.domain.intersect_params(scop.context)
    for k in reversed(range(there.dim(isl.dim_type.set))):
        if k not in wanted:
            there = there.project_out(isl.dim_type.set, k, 1)
    pairs = isl.Map.from_domain_and_range(there, there)
    place = sorted(wanted)
    for k in (place.index(x) for x in outer):
        pairs = pairs.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    most = pairs.deltas().dim_max_val(place.index(number))
    return most.to_python() + 1 if most.is_int() else None
