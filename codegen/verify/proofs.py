"""The proofs of a C tree: `prove` runs all checks (instances, dependences, races, subscripts, storage, products, kept
and shared values, lowered loops) and returns the findings; an empty result is the proof. Each check is named after what
it forbids and looks only at the C tree that will be printed.

A failed check is an InternalError when the tool chose the schedule itself and a refusal of the plan when a
user wrote it; `prove` returns the findings and leaves that judgement to its caller.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import takewhile

import islpy as isl

from codegen.ast.ctree import CNode
from codegen.scop.dependences import Dependence, Dependences, param_space
from codegen.scop.isl_helpers import relation_of, sample_pair
from codegen.scop.model import Scop
from codegen.scop.product import in_registers
from codegen.scop.times import in_order
from codegen.scop.tree import BLOCKED, PACKED
from codegen.verify.evidence import Evidence, Finding, between_runs, collect
from codegen.verify.instances import Executed, executed
from codegen.verify.invariant_reads import unlike_value
from codegen.verify.matvec import unsafe_matvec
from codegen.verify.products import unsafe_product
from codegen.verify.races import parallel_race
from codegen.verify.scalar_replacement import stale_value
from codegen.verify.sentences import describe_pair
from codegen.verify.storage import wrong_storage

Check = Callable[[Evidence], Sequence[Finding]]


def not_exactly_once(e: Evidence) -> Sequence[Finding]:
    """Every instance runs, none runs twice, nothing else runs."""
    out, once = [], True
    for s in e.scop.statements:
        want, found = s.domain.intersect_params(e.scop.context), _executed(e, s.name)
        got, once = found.instances, once and found.once
        for label, gap in (("missing", want.subtract(got)), ("extra", got.subtract(want))):
            if not gap.is_empty():
                out.append(
                    Finding("exactly-once", f"{label} iteration of {s.name} (`{s.source}`): {gap.sample_point()}")
                )
    if not once:
        out.append(Finding("exactly-once", "some iteration runs more than once"))
    return out


def _executed(e: Evidence, stmt: str) -> Executed:
    """What all places in the tree together execute of a statement."""
    each = (executed(r.point.domain, r.iterators(e.scop)) for r in e.runs if r.instance.stmt == stmt)
    known = list(takewhile(lambda x: x is not None, each))
    if known and len(known) == sum(r.instance.stmt == stmt for r in e.runs):
        return reduce(Executed.union, [x for x in known if x is not None])
    here = isl.UnionSet.from_set(isl.Set.universe(e.scop.statement(stmt).domain.get_space()))
    times = e.times.intersect_domain(here)
    instances = times.domain()
    empty = isl.Set.empty(e.scop.statement(stmt).domain.get_space())
    return Executed(empty if instances.is_empty() else isl.Set.from_union_set(instances), times.is_single_valued())


def broken_dependence(e: Evidence) -> Sequence[Finding]:
    """Every dependence runs forward in time."""
    out: list[Finding] = []
    # All at once first: flow and output dependences mostly coincide, and usually there is nothing to find.
    if all(in_order(m, a.times, b.times) for m, a, b in between_runs(e, e.deps.must)):
        return out
    back = _not_before(e)
    for d in e.deps.all:
        late = _in_time(e, d).intersect(back)
        if not late.is_empty():
            out.append(Finding("dependence", describe_pair(e.scop, d, _witness(e, d, late), "would run backwards")))
    return out


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
            got = relation_of(multi).intersect_domain(where)
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
    """A product reads its operands when it copies or loads them; it must not write what it should see later. Where it
    is planned over a box with cut corners, the plain nest that stands for it has the same iterations."""
    out = []
    for r in e.runs:
        if r.packed is not None and not r.packed.is_equal(r.point.domain):
            out.append(Finding("operand", f"{r.instance.stmt}'s plain nest has other iterations than the product"))
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
        if first.loop.kind == BLOCKED or (not problem and in_registers(r.point.product.how)):
            problem = unsafe_matvec(s, together)
        if problem:
            out.append(Finding("operand", problem))
    return out


def wrong_form(e: Evidence) -> Sequence[Finding]:
    """How loops are carried out in detail; asked where one is, as the proofs about it take time to load."""
    if not any(lp.otherwise for r in e.runs for lp in r.point.loops):
        return ()
    from codegen.verify.lowered.check import wrong_form as check

    return check(e)


CHECKS: tuple[Check, ...] = (
    not_exactly_once,
    broken_dependence,
    parallel_race,
    wrong_subscript,
    bad_storage,
    stale_operand,
    stale_value,
    unlike_value,
    wrong_form,
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
