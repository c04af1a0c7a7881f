"""Proof for `lastprivate.py`: with a variable of its own in each iteration every read has the writer it had, and the
region leaves the same values. `wrong_privatization` returns what would differ; empty if nothing does.

Values come into iterations and leave them by copies. Who wrote what a read finds is followed through those; no copy may
read what another has brought.
"""

from __future__ import annotations

import islpy as isl

from codegen.scop.dependences import accesses_of, flow_through, order_map, param_space, union_maps
from codegen.scop.model import Scop, Statement
from codegen.scop.tree import Node


def wrong_privatization(before: Scop, order: Node, after: Scop, new_order: Node, name: str, own: str) -> str:
    """What would differ; empty when nothing does."""
    times, new_times = order_map(before, order), order_map(after, new_order)
    writes = _of(before, name, True)
    flow, unfed = flow_through(before, order, name)
    shared, shared_unfed = flow_through(after, new_order, name)
    inner, inner_unfed = flow_through(after, new_order, own)
    into, back = _copies(before, after, own, True), _copies(before, after, own, False)
    if not inner_unfed.is_empty() or not unfed.is_equal(_unfed(after, name, shared_unfed, inner, into)):
        return f"`{name}` is read before it is written"
    entering, leaving = shared.intersect_range(into), inner.intersect_range(back)
    if not entering.intersect_domain(back).is_empty() or not leaving.intersect_domain(into).is_empty():
        return f"a value of `{name}` would be copied twice"
    found = inner.subtract_domain(into).subtract_range(back)
    found = found.union(entering.apply_range(inner.intersect_domain(into)))
    found = found.union(shared.subtract_domain(back).subtract_range(into))
    found = found.union(leaving.apply_range(shared.intersect_domain(back)))
    if not flow.is_equal(found):
        return f"a value of `{name}` would not reach the statement that reads it"
    end = _last(_of(after, name, True), new_times)
    end = end.subtract_range(back).union(end.intersect_range(back).apply_range(leaving.reverse()))
    return "" if _last(writes, times).is_equal(end) else f"`{name}` would not get its last value"


def _unfed(after: Scop, name: str, unfed: isl.UnionMap, inner: isl.UnionMap, into: isl.UnionSet) -> isl.UnionMap:
    """Reads of what was there before the region, by themselves or through a copy."""
    copied = inner.intersect_domain(into).reverse().apply_range(unfed.intersect_domain(into))
    return unfed.subtract_domain(into).union(copied)


def _last(writes: isl.UnionMap, times: isl.UnionMap) -> isl.UnionMap:
    """From elements to whoever writes them last."""
    latest = writes.reverse().apply_range(times).lexmax().apply_range(times.reverse())
    return latest.intersect(writes.reverse())


def _copies(before: Scop, after: Scop, own: str, write: bool) -> isl.UnionSet:
    """The instances of copies that write, or read, the iterations' own variable."""
    known = {s.name for s in before.statements}
    total = isl.UnionSet.empty(param_space(after))
    for s in (s for s in after.statements if s.name not in known and _touches(s, own, write)):
        total = total.union(isl.UnionSet.from_set(s.domain.intersect_params(after.context)))
    return total


def _touches(s: Statement, own: str, write: bool) -> bool:
    return any(a.array == own and a.write == write for a in s.accesses)


def _of(scop: Scop, name: str, write: bool) -> isl.UnionMap:
    return union_maps(accesses_of(scop, name, write), param_space(scop)).intersect_params(scop.context)
