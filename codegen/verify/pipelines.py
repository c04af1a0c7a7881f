"""Proof of pipelined loops: which dependences their waits cover.

Iterations of a pipelined loop are shared out to threads in order. At stage b, iteration a waits until a - 1 has
finished stage b or a later one, or has ended; and it ends only after a - 1 has ended. By induction (a, b) begins after
(a', b') has ended for all a' < a and b' <= b: iteration a - 1 has passed b only after a - 2 had, and so on. Within an
iteration all work is in one loop over the stages, which rise. So a dependence between two iterations is kept if its
source lies in the earlier one, at the same stage or before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import islpy as isl

from codegen.ast.ctree import For, Name
from codegen.scop.dependences import Dependence, param_space
from codegen.scop.distance import after, before
from codegen.scop.isl_helpers import sample_pair
from codegen.scop.model import Scop
from codegen.verify.evidence import in_one_run
from codegen.verify.readback import StatementRun, same_iteration_until
from codegen.verify.sentences import describe_pair


def waits_keep(ties: Iterable[tuple[isl.Map, StatementRun, StatementRun]], lp: For, stage: For) -> bool:
    """Is every one of these ties of two places that lies in one run of the loop kept? Asked place by place and loop by
    loop, which is far cheaper than with whole times, but gives no example."""
    for pairs, a, b in ties:
        if not all(any(x is lp for x in r.point.loops) for r in (a, b)):
            continue
        depth = a.point.when.index(lp.var)
        first, then = a.times[depth], b.times[depth]
        early, late = (r.point.value(Name(stage.var)) for r in (a, b))
        assert not isinstance(first, int) and not isinstance(then, int)
        together = in_one_run(pairs, a, b, depth)
        if not together.is_disjoint(after(first, then)):
            return False
        if not together.intersect(after(early, late)).is_disjoint(before(first, then)):
            return False
    return True


def unsafe_pipeline(scop: Scop, ties: Sequence[Dependence], runs: Sequence[StatementRun], lp: For, stage: For) -> str:
    """A sentence about a dependence that no wait keeps; empty when there is none."""
    inside = [r for r in runs if any(x is lp for x in r.point.loops)]
    when = inside[0].point.when
    cut = when.index(lp.var) + 1
    times = isl.UnionMap.empty(param_space(scop))
    for r in inside:
        at = isl.Map.from_pw_aff(r.point.value(Name(stage.var)))
        both = r.time(cut).flat_range_product(at)
        times = times.union(isl.UnionMap.from_map(r.executes(scop).reverse().apply_range(both)))
    apart = isl.UnionMap.from_map(_uncovered(scop, cut, when, lp.var))
    times = times.coalesce()
    here = times.domain().universe()
    for d in ties:
        relation = d.relation.intersect_domain(here).intersect_range(here)
        early = relation.apply_domain(times).apply_range(times).intersect(apart)
        if not early.is_empty():
            back = times.reverse()
            pair = early.apply_domain(back).apply_range(back).intersect(relation)
            why = f"is not covered by the waits of the pipelined loop `{lp.loop.name}`"
            return describe_pair(scop, d, sample_pair(pair), why)
    return ""


def _uncovered(scop: Scop, cut: int, when: tuple[int | str, ...], var: str) -> isl.Map:
    """Pairs of times (up to the loop, then the stage) in one run of the loop that no wait puts in order."""
    pairs = same_iteration_until(param_space(scop), cut, when, var)
    pairs = pairs.insert_dims(isl.dim_type.in_, cut, 1).insert_dims(isl.dim_type.out, cut, 1)
    backwards = pairs.order_gt(isl.dim_type.in_, cut - 1, isl.dim_type.out, cut - 1)
    return backwards.union(pairs.order_gt(isl.dim_type.in_, cut, isl.dim_type.out, cut))
