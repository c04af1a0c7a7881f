"""The judge of `lasting.py`: with a variable of its own in each iteration, every read has the writer it had, and what
is there after the region is what was."""

from __future__ import annotations

import islpy as isl

from codegen.scop.dependences import accesses_of, last_writers, order_map, param_space, union_maps
from codegen.scop.model import Scop
from codegen.scop.tree import Node


def wrong_lasting(before: Scop, order: Node, after: Scop, new_order: Node, name: str, own: str) -> str:
    """What would differ; empty when nothing does."""
    copy = after.statements[-1]
    times, new_times = order_map(before, order), order_map(after, new_order)
    writes, reads = _of(before, name, True), _of(before, name, False)
    flow, unfed = last_writers(reads, writes, times)
    new_flow, new_unfed = last_writers(_of(after, own, False), _of(after, own, True), new_times)
    if not unfed.is_empty() or not new_unfed.is_empty():
        return f"`{name}` is read before it is written"
    here = isl.UnionSet.from_set(copy.domain)
    copied = new_flow.intersect_range(here)
    if not flow.is_equal(new_flow.subtract_range(here)):
        return f"a value of `{name}` would not reach the statement that reads it"
    brought = _of(after, name, True)
    whole = brought.range().is_equal(writes.range()) and brought.is_bijective()
    if accesses_of(after, name, False) or not whole:
        return f"`{name}` would not get its last value"
    latest = writes.reverse().apply_range(times).lexmax().apply_range(times.reverse())
    last = latest.intersect(writes.reverse())  # element to its last writer
    found = brought.reverse().apply_range(copied.reverse())
    return "" if last.is_equal(found) else f"`{name}` would not get its last value"


def _of(scop: Scop, name: str, write: bool) -> isl.UnionMap:
    return union_maps(accesses_of(scop, name, write), param_space(scop)).intersect_params(scop.context)
