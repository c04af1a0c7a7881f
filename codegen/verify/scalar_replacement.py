"""Proof of scalar replacement: each variable holds what memory would hold where it is used.

A read may take a value of `age` iterations ago when its element is the one that the source touched then, and nobody
has written the element since. What iterations before the first would have touched is read ahead of the loop: it is
what the first iterations read, and nobody may write it before they do; that is the same question.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl

from codegen.ast.ctree import For, Instance, ReplacedElements
from codegen.recognize.access.dereferenceable import certain
from codegen.scop.isl_helpers import relation_of
from codegen.scop.model import Scop
from codegen.scop.tree import SEQUENTIAL
from codegen.verify.evidence import Evidence, Finding
from codegen.verify.readback import StatementRun, TreePoint


def stale_value(e: Evidence) -> Sequence[Finding]:
    """Every value kept from an earlier iteration is what memory holds."""
    out: list[Finding] = []
    for lp, body in _loops(e):
        for c in lp.carried:
            problem = _problem(e.scop, lp, body, c)
            if problem:
                out.append(Finding("carried", f"loop `{lp.loop.name}` would keep `{c.array}`, {problem}"))
    return out


def _loops(e: Evidence) -> Iterator[tuple[For, list[StatementRun]]]:
    """Loops that keep values, with the statements in them in order."""
    seen: dict[int, tuple[For, list[StatementRun]]] = {}
    for r in e.runs:
        for lp in r.point.loops:
            if lp.carried:
                seen.setdefault(id(lp), (lp, []))[1].append(r)
    return iter(seen.values())


def _problem(scop: Scop, lp: For, body: Sequence[StatementRun], c: ReplacedElements) -> str:
    if lp.step != 1 or lp.loop.kind != SEQUENTIAL or any(r.point.loops[-1] is not lp for r in body):
        return "but it is no plain loop over statements"
    if any(not r.point.domain.is_equal(body[0].point.domain) for r in body):
        return "but not all its statements run in every iteration"
    used = [(k, n) for k, n in (c.source, *((k, n) for k, n, _ in c.reads))]
    if not all(certain(scop, scop.statement(body[k].instance.stmt), n) for k, n in used):
        return "which the source may leave alone"
    at = body[0].point
    source = _element(scop, body, *c.source)
    own = scop.statement(body[c.source[0]].instance.stmt).accesses[c.source[1]].write
    writes = [(k, _element(scop, body, k, n)) for k, n in _touching(scop, body, c.array, True)]
    for k, n, age in c.reads:
        element = _element(scop, body, k, n)
        if age < 0 or (age == 0 and (k < c.source[0] or (own and k == c.source[0]))):
            return "but it is used before it is there"
        if not _shifted(source, age).intersect_domain(at.domain).is_equal(element.intersect_domain(at.domain)):
            return "but another element is read"
        for w, target in writes:
            pairs = _same_run(at, element, target)
            since = _ages(pairs, age, w > c.source[0] or (w == c.source[0] and not own))
            if not _now(since, w < k).is_empty():
                return "which is written again in between"
    return _wrong_end(scop, body, c, source) if c.last else ""


def _wrong_end(scop: Scop, body: Sequence[StatementRun], c: ReplacedElements, source: isl.Map) -> str:
    """Memory gets only the last value: nobody else may look at the element, or write it, while the loop runs."""
    at = body[0].point
    if not source.intersect_domain(at.domain).is_equal(_shifted(source, 1).intersect_domain(at.domain)):
        return "but it is not one element"
    served = {(k, n) for k, n, _ in c.reads}
    for write in (False, True):
        for k, n in _touching(scop, body, c.array, write):
            other = (k, n) != c.source and (k, n) not in served
            if other and not _same_run(at, source, _element(scop, body, k, n)).is_empty():
                return "whose memory is looked at before the loop ends"
    return ""


def _touching(scop: Scop, body: Sequence[StatementRun], array: str, write: bool) -> Iterator[tuple[int, int]]:
    for k, r in enumerate(body):
        for n, a in enumerate(scop.statement(r.instance.stmt).accesses):
            if a.array == array and a.write == write:
                yield k, n


def _element(scop: Scop, body: Sequence[StatementRun], k: int, number: int) -> isl.Map:
    """Loop variables to the element of an access, by the printed subscripts."""
    at: TreePoint = body[k].point
    instance: Instance = body[k].instance
    space = at.domain.get_space()
    printed = instance.accesses[number]
    target = space.params().set_from_params().add_dims(isl.dim_type.set, len(printed))
    multi = isl.MultiPwAff.zero(space.map_from_domain_and_range(target))
    for d, expr in enumerate(printed):
        multi = multi.set_pw_aff(d, at.value(expr))
    return relation_of(multi)


def _shifted(element: isl.Map, age: int) -> isl.Map:
    """The element of so many iterations ago."""
    space = element.get_space().domain()
    multi = isl.MultiAff.identity(space.map_from_set())
    last = multi.dim(isl.dim_type.out) - 1
    earlier = multi.set_aff(last, multi.get_aff(last).add_constant_val(isl.Val(-age)))
    return isl.Map.from_multi_aff(earlier).apply_range(element)


def _same_run(at: TreePoint, a: isl.Map, b: isl.Map) -> isl.Map:
    """Pairs of iterations in one run of the loop that meet in an element, the first by `a` and the second by `b`."""
    pairs = a.intersect_domain(at.domain).apply_range(b.intersect_domain(at.domain).reverse())
    for k in range(len(at.vars) - 1):
        pairs = pairs.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    return pairs


def _difference(pairs: isl.Map) -> tuple[isl.PwAff, isl.PwAff]:
    """The loop's variable at both ends."""
    space = pairs.get_space()
    ends = []
    for side in (space.domain(), space.range()):
        local = isl.LocalSpace.from_space(side)
        last = side.dim(isl.dim_type.set) - 1
        ends.append(isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, last)))
    return ends[0], ends[1]


def _ages(pairs: isl.Map, age: int, from_then_on: bool) -> isl.Map:
    """Writes in the iterations after the one `age` ago, and in that one if `from_then_on`."""
    now, then = _difference(pairs)
    source = now.add_constant_val(isl.Val(-age))
    return pairs.intersect(source.le_map(then) if from_then_on else source.lt_map(then))


def _now(pairs: isl.Map, too: bool) -> isl.Map:
    """Writes in earlier iterations, and in this one if `too`."""
    now, then = _difference(pairs)
    return pairs.intersect(now.ge_map(then) if too else now.gt_map(then))


def written_before(scop: Scop, body: Sequence[StatementRun], k: int, number: int) -> bool:
    """May the element that an access of statement `k` reads be written before, in the same run of the loop that these
    statements are the body of?"""
    at = body[k].point
    array = scop.statement(body[k].instance.stmt).accesses[number].array
    for w, n in _touching(scop, body, array, True):
        pairs = _same_run(at, _element(scop, body, k, number), _element(scop, body, w, n))
        if not _now(pairs, w < k).is_empty():
            return True
    return False
