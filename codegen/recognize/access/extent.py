"""An upper bound of a loop's trip count (`longest`), whatever the parameters: from the array sizes within which the
source has a meaning. None where there is no bound."""

from __future__ import annotations

import islpy as isl

from codegen.scop.model import Scop
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
