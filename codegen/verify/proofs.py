"""The proofs. Each check is named after what it forbids and looks only at the C tree that will be printed.

A failed check is an InternalError when the tool chose the schedule itself and a refusal of the plan when a
user wrote it; `prove` returns the findings and leaves that judgement to its caller.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import islpy as isl

from codegen.ast.ctree import CNode, For
from codegen.ast.pipelines import stage_of
from codegen.recognize.reductions import find_reductions
from codegen.record import record
from codegen.scop.dependences import Dependence, Dependences, param_space
from codegen.scop.isl_helpers import sample_pair
from codegen.scop.model import Scop
from codegen.scop.product import Nested
from codegen.scop.tree import BLOCKED, CONCURRENT, FOLDED, PACKED, PIPELINED
from codegen.verify.matvec import unsafe_sweep
from codegen.verify.pipelines import unsafe_pipeline
from codegen.verify.products import unsafe_product
from codegen.verify.readback import Run, runs, same_iteration_until
from codegen.verify.sentences import describe_pair
from codegen.verify.storage import wrong_storage


@record
class Finding:
    """A broken promise. `check` is the name of the check that found it."""

    check: str
    message: str


@record
class Evidence:
    """What the checks look at; computed once."""

    scop: Scop
    deps: Dependences
    runs: tuple[Run, ...]
    times: isl.UnionMap  # instance to time
    width: int


Check = Callable[[Evidence], Sequence[Finding]]


def collect(scop: Scop, deps: Dependences, tree: CNode) -> Evidence:
    """Read the tree back."""
    found = runs(scop, tree)
    width = max((len(r.point.when) for r in found), default=0)
    times = isl.UnionMap.empty(param_space(scop))
    for r in found:
        when = r.executes(scop).reverse().apply_range(r.time(width))
        times = times.union(isl.UnionMap.from_map(when))
    return Evidence(scop, deps, found, times.coalesce(), width)


def not_exactly_once(e: Evidence) -> Sequence[Finding]:
    """Every instance runs, none runs twice, nothing else runs."""
    out = []
    ran = e.times.domain()
    for s in e.scop.statements:
        want = isl.UnionSet.from_set(s.domain.intersect_params(e.scop.context))
        got = ran.intersect(isl.UnionSet.from_set(isl.Set.universe(s.domain.get_space())))
        for label, gap in (("missing", want.subtract(got)), ("extra", got.subtract(want))):
            if not gap.is_empty():
                out.append(
                    Finding("exactly-once", f"{label} iteration of {s.name} (`{s.source}`): {gap.sample_point()}")
                )
    if not e.times.is_single_valued():
        out.append(Finding("exactly-once", "some iteration runs more than once"))
    return out


def broken_dependence(e: Evidence) -> Sequence[Finding]:
    """Every dependence runs forward in time."""
    out: list[Finding] = []
    back = _not_before(e)
    # All at once first: flow and output dependences mostly coincide, and usually there is nothing to find.
    if e.deps.must.apply_domain(e.times).apply_range(e.times).intersect(back).is_empty():
        return out
    for d in e.deps.all:
        late = _in_time(e, d).intersect(back)
        if not late.is_empty():
            out.append(Finding("dependence", describe_pair(e.scop, d, _witness(e, d, late), "would run backwards")))
    return out


def parallel_race(e: Evidence) -> Sequence[Finding]:
    """No loop marked parallel or vector carries a dependence; a fold in an order of its own carries only that fold, and
    a pipeline what its waits cover."""
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
    problem = unsafe_pipeline(e.scop, _ties(e, set()), e.runs, lp, stage) if stage is not None else ""
    return [Finding("race", problem)] if problem else []


def _shared_fold(e: Evidence, lp: For, run: Run) -> Sequence[Finding]:
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


def _carried_by(e: Evidence, lp: For, run: Run) -> Sequence[Finding]:
    """Only the statements inside the loop and the time up to its variable matter; that keeps this cheap."""
    cut = run.point.when.index(lp.var) + 1
    inside = [r for r in e.runs if any(x is lp for x in r.point.loops)]
    times = isl.UnionMap.empty(param_space(e.scop))
    for r in inside:
        times = times.union(isl.UnionMap.from_map(r.executes(e.scop).reverse().apply_range(r.time(cut))))
    times = times.coalesce()
    pairs = isl.UnionMap.from_map(same_iteration_until(param_space(e.scop), cut, run.point.when, lp.var))
    folded = {a for _, a in lp.loop.reductions}
    names = {r.instance.stmt for r in inside}
    for op, array in lp.loop.reductions:
        real = {r.op for r in find_reductions(e.scop) if r.array == array and r.stmt in names}
        if not real <= ({"+", "-"} if op in ("+", "-") else {op}):
            return [Finding("race", f"the clause folds `{array}` with {op}, the source with {', '.join(sorted(real))}")]
    ties = _ties(e, folded)
    here = times.domain().universe()
    together = _together(e, folded).intersect_domain(here).intersect_range(here)
    if together.apply_domain(times).apply_range(times).intersect(pairs).is_empty():
        return []
    for d in ties:
        relation = d.relation
        carried = relation.apply_domain(times).apply_range(times).intersect(pairs)
        if not carried.is_empty():
            back = times.reverse()
            pair = carried.apply_domain(back).apply_range(back).intersect(relation)
            why = f"is carried by the {lp.loop.kind} loop `{lp.loop.name}`"
            return [Finding("race", describe_pair(e.scop, d, sample_pair(pair), why))]
    return []


def _ties(e: Evidence, folded: set[str]) -> list[Dependence]:
    """What no loop may carry that is not a fold of these variables. Storage is judged by `bad_storage`."""
    ties = [*e.deps.all, *(Dependence("output", a, r) for a, r in sorted(e.deps.folds.items()) if a not in folded)]
    return [d for d in ties if not e.scop.arrays[d.array].inside]


def _together(e: Evidence, folded: set[str]) -> isl.UnionMap:
    """All of them in few pieces; most loops fold nothing and ask for the same."""
    known: dict[frozenset[str], isl.UnionMap] = e.__dict__.setdefault("_together", {})
    key = frozenset(folded & e.deps.folds.keys())
    if key not in known:
        total = isl.UnionMap.empty(param_space(e.scop))
        for d in _ties(e, folded):
            total = total.union(d.relation)
        known[key] = total.coalesce()
    return known[key]


def wrong_subscript(e: Evidence) -> Sequence[Finding]:
    """Every printed subscript touches the element that the source's statement touches."""
    out = []
    for r in e.runs:
        s = e.scop.statement(r.instance.stmt)
        does = r.executes(e.scop)
        for a, printed in zip(s.accesses, r.instance.accesses, strict=True):
            want = does.apply_range(a.relation)
            multi = isl.MultiPwAff.zero(want.get_space())
            for k, expr in enumerate(printed):
                multi = multi.set_pw_aff(k, r.point.value(expr))
            # What stands behind a condition is touched when that holds; the values in it are compared elsewhere.
            where = want.domain() if a.partial else r.point.domain
            got = isl.Map.from_multi_pw_aff(multi).intersect_domain(where)
            if not got.is_equal(want):
                out.append(
                    Finding(
                        "subscript", f"an access to `{a.array}` in {s.name} (`{s.source}`) would touch another element"
                    )
                )
        for value, expr in zip(s.values, r.instance.values, strict=True):
            want = does.apply_range(isl.Map.from_pw_aff(value))
            if not isl.Map.from_pw_aff(r.point.value(expr)).intersect_domain(r.point.domain).is_equal(want):
                out.append(Finding("subscript", f"a value in {s.name} (`{s.source}`) would differ"))
    return out


def bad_storage(e: Evidence) -> Sequence[Finding]:
    """Variables of the region fit their storage, and every read finds there what the source would."""
    return [Finding("storage", text) for text in wrong_storage(e.scop, e.deps, e.runs, e.times, e.width)]


def stale_operand(e: Evidence) -> Sequence[Finding]:
    """A product reads its operands when it copies or loads them; it must not write what it should see later."""
    out = []
    for r in e.runs:
        first = next((lp for lp in r.point.loops if lp.loop.kind in (PACKED, BLOCKED)), None)
        if first is None or r.point.product is None:
            continue
        s = e.scop.statement(r.instance.stmt)
        prefix = r.executes(e.scop).reverse().apply_range(r.time(r.point.when.index(first.var)))
        nest = [lp.loop for lp in r.point.loops[r.point.loops.index(first) :]]
        together = prefix.apply_range(prefix.reverse())
        problem = ""
        if first.loop.kind == PACKED:
            problem = unsafe_product(s, r.point.product.what, nest, together)
        if first.loop.kind == BLOCKED or (not problem and isinstance(r.point.product.how, Nested)):
            problem = unsafe_sweep(s, together)
        if problem:
            out.append(Finding("operand", problem))
    return out


CHECKS: tuple[Check, ...] = (
    not_exactly_once,
    broken_dependence,
    parallel_race,
    wrong_subscript,
    bad_storage,
    stale_operand,
)


def prove(scop: Scop, deps: Dependences, tree: CNode, checks: Sequence[Check] = CHECKS) -> tuple[Finding, ...]:
    """Run all checks; the empty tuple is a proof."""
    evidence = collect(scop, deps, tree)
    return tuple(f for check in checks for f in check(evidence))


def _in_time(e: Evidence, d: Dependence) -> isl.UnionMap:
    """A dependence between times."""
    return d.relation.apply_domain(e.times).apply_range(e.times)


def _not_before(e: Evidence) -> isl.UnionMap:
    space = param_space(e.scop).set_from_params().add_dims(isl.dim_type.set, e.width)
    return isl.UnionMap.from_map(isl.Map.lex_ge(space))


def _witness(e: Evidence, d: Dependence, late: isl.UnionMap) -> isl.UnionMap:
    """One pair of instances whose times are in `late`."""
    back = e.times.reverse()
    pairs = late.apply_domain(back).apply_range(back).intersect(d.relation)
    return sample_pair(pairs)
