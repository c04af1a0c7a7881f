"""Legality of products: tests whether a statement may run as a blocked or a matrix-vector product, in given loops and
with its operands packed ahead.

The same is asked when the directive is applied, and proven of what is printed; here it decides which loops to try.
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from codegen.scop.dependences import param_space
from codegen.scop.distance import is_zero, same_value
from codegen.scop.model import Statement
from codegen.scop.product import Contraction
from codegen.scop.tree import Loop
from codegen.strategy.orders.distribution import universe
from codegen.transform.program import Program
from codegen.verify.products import unsafe_matvec, unsafe_product


def independent(p: Program, s: Statement, what: Contraction, around: Sequence[Loop], loops: Sequence[Loop]) -> bool:
    """May `loops` (batches, then those of the product) run in this order inside the loops `around`?"""
    here = universe(p.scop, [s.name])
    array = s.accesses[s.target].array
    ties = p.must.intersect_domain(here).intersect_range(here)
    together = isl.UnionMap.from_domain_and_range(*(isl.UnionSet.from_set(s.domain) for _ in range(2)))
    for lp in around:
        ties, together = (same_value(m, lp.exprs) for m in (ties, together))
    if not _runs_forward(p, s, ties, loops):
        return False
    inner = loops[len(loops) - len(what.inner) :]
    for lp in loops[: len(loops) - len(what.inner)]:
        ties, together = (same_value(m, lp.exprs) for m in (ties, together))
    if together.is_empty():
        return False
    if what.columns:
        return not unsafe_product(s, what, inner, isl.Map.from_union_map(together))
    folds = p.deps.folds.get(array)
    if folds is not None:
        ties = ties.union(folds.intersect(together))
    free = [lp for d, lp in zip(what.inner, inner, strict=True) if d in what.rows]
    return all(is_zero(ties, lp.exprs) for lp in free) and not unsafe_matvec(s, isl.Map.from_union_map(together))


def _runs_forward(p: Program, s: Statement, ties: isl.UnionMap, loops: Sequence[Loop]) -> bool:
    space = s.domain.get_space()
    target = param_space(p.scop).set_from_params().add_dims(isl.dim_type.set, len(loops))
    multi = isl.MultiPwAff.zero(space.map_from_domain_and_range(target))
    for k, lp in enumerate(loops):
        multi = multi.set_pw_aff(k, lp.exprs[s.name])
    times = isl.UnionMap.from_map(isl.Map.from_multi_pw_aff(multi))
    back = isl.UnionMap.from_map(isl.Map.lex_ge(target))
    return bool(ties.apply_domain(times).apply_range(times).intersect(back).is_empty())
