"""Proof that no parallel or vector loop carries a dependence, other than reductions in any order and what pipelines
wait for. Returns findings."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from codegen.ast.ctree import For
from codegen.ast.pipelines import stage_of
from codegen.recognize.products.matrix_vector import in_any_order
from codegen.recognize.reductions import find_reductions
from codegen.scop.dependences import Dependence, param_space
from codegen.scop.distance import together
from codegen.scop.isl_helpers import sample_pair
from codegen.scop.tree import CONCURRENT, FOLDED, PIPELINED
from codegen.verify.evidence import Evidence, Finding, between_runs, in_one_run
from codegen.verify.pipelines import unsafe_pipeline, waits_keep
from codegen.verify.readback import StatementRun, same_iteration_until
from codegen.verify.sentences import describe_pair


def parallel_race(e: Evidence) -> Sequence[Finding]:
    """No loop marked parallel or vector carries a dependence; a reduction in an order of its own carries only that
    fold, and a pipeline what its waits cover."""
    out: list[Finding] = []
    seen: set[int] = set()
    for r in e.runs:
        for lp in r.point.loops:
            if id(lp) in seen or lp.loop.kind not in CONCURRENT | {FOLDED, PIPELINED}:
                continue
            seen.add(id(lp))
            if lp.loop.kind == PIPELINED:
                out.extend(_pipeline(e, lp))
                continue
            out.extend(_carried_by(e, lp, r))
            if lp.loop.kind != FOLDED:  # partial results are local to the kernel: no clause touches the variable
                out.extend(_shared_fold(e, lp, r))
    return out


def _pipeline(e: Evidence, lp: For) -> Sequence[Finding]:
    """Without a loop over stages the iterations are printed to run one after the other."""
    stage = stage_of(lp)
    if stage is None or waits_keep(between_runs(e, _together(e, set(), "")), lp, stage):
        return []
    problem = unsafe_pipeline(e.scop, _ties(e, set()), e.runs, lp, stage)
    return [Finding("race", problem)] if problem else []


def _shared_fold(e: Evidence, lp: For, run: StatementRun) -> Sequence[Finding]:
    """A reduction clause adds to its variable even where no statement does; inside another concurrent loop
    that variable must be folded there too, or belong to one iteration of it. No clause names elements of arrays:
    vectors gather them, and touch none but where a statement does."""
    for _, array in lp.loop.reductions:
        if e.scop.arrays[array].rank:
            continue
        own = next((depth for held, depth in run.point.held if held.array == array), 0)
        for outer in run.point.loops[: run.point.loops.index(lp)]:
            if outer.loop.kind not in CONCURRENT or array in {a for _, a in outer.loop.reductions}:
                continue
            if run.point.when.index(outer.var) >= own:
                text = f"every iteration of the {outer.loop.kind} loop `{outer.loop.name}` would add to `{array}`"
                return [Finding("race", text)]
    return []


def _carried_by(e: Evidence, lp: For, run: StatementRun) -> Sequence[Finding]:
    """Only the statements inside the loop and the time up to its variable matter; that keeps this cheap."""
    cut = run.point.when.index(lp.var) + 1
    inside = [r for r in e.runs if any(x is lp for x in r.point.loops)]
    folded = {a for _, a in lp.loop.reductions}
    names = {r.instance.stmt for r in inside}
    for op, array in lp.loop.reductions:
        real = {r.op for r in find_reductions(e.scop) if r.array == array and r.stmt in names}
        if not real <= ({"+", "-"} if op in ("+", "-") else {op}):
            return [Finding("race", f"the clause folds `{array}` with {op}, the source with {', '.join(sorted(real))}")]
    inner = {id(r) for r in inside}
    free = _any_order(e, lp, run, names)
    ties = ((m, a, b) for m, a, b in between_runs(e, _together(e, folded, free)) if id(a) in inner and id(b) in inner)
    if not any(_separates(m, a, b, cut - 1) for m, a, b in ties):
        return []
    times = isl.UnionMap.empty(param_space(e.scop))
    for r in inside:
        times = times.union(isl.UnionMap.from_map(r.executes(e.scop).reverse().apply_range(r.time(cut))))
    times = times.coalesce()
    pairs = isl.UnionMap.from_map(same_iteration_until(param_space(e.scop), cut, run.point.when, lp.var))
    for d in _ties(e, folded, free):
        relation = d.relation
        carried = relation.apply_domain(times).apply_range(times).intersect(pairs)
        if not carried.is_empty():
            back = times.reverse()
            pair = carried.apply_domain(back).apply_range(back).intersect(relation)
            why = f"is carried by the {lp.loop.kind} loop `{lp.loop.name}`"
            return [Finding("race", describe_pair(e.scop, d, sample_pair(pair), why))]
    return []


def _separates(pairs: isl.Map, a: StatementRun, b: StatementRun, depth: int) -> bool:
    """Is there a pair in one run of a loop around both, entry `depth` of their times, but in different iterations?"""
    before, after = a.times[depth], b.times[depth]
    assert not isinstance(before, int) and not isinstance(after, int)
    return not in_one_run(pairs, a, b, depth).is_subset(together(before, after))


def _any_order(e: Evidence, lp: For, run: StatementRun, names: set[str]) -> str:
    """The array into which a product reduces in any order, because it does so on lanes; no other statement is in its
    loop, and this one reads no elements but those it writes."""
    product = run.point.product
    if lp.loop.kind != FOLDED or product is None or names != {product.what.stmt}:
        return ""
    s = e.scop.statement(product.what.stmt)
    return s.accesses[s.target].array if in_any_order(e.scop, s, product.what, product.how.isa) else ""


def _ties(e: Evidence, folded: set[str], free: str = "") -> list[Dependence]:
    """What no loop may carry that is not a reduction of these variables. Storage is judged by `bad_storage`."""
    ties = [*e.deps.all, *(Dependence("output", a, r) for a, r in sorted(e.deps.folds.items()) if a not in folded)]
    return [d for d in ties if not e.scop.arrays[d.array].inside and d.array != free]


def _together(e: Evidence, folded: set[str], free: str) -> isl.UnionMap:
    """All of them in few pieces; most loops fold nothing and ask for the same."""
    known: dict[tuple[str, frozenset[str]], isl.UnionMap] = e.__dict__.setdefault("_together", {})
    key = free, frozenset(folded & e.deps.folds.keys())
    if not free and not e.deps.folds and not any(e.scop.arrays[d.array].inside for d in e.deps.all):
        return e.deps.must
    if key not in known:
        total = isl.UnionMap.empty(param_space(e.scop))
        for d in _ties(e, folded, free):
            total = total.union(d.relation)
        known[key] = total.coalesce()
    return known[key]
