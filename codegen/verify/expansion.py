"""Proof of array expansion (memory of the region in place of a variable): every read of an expanded variable still
finds its value, and the variable its last one. `wrong_expansion` returns what would differ, or the empty string.

Two regions are compared, the one before and the one after, with nothing taken from the way the second was made. All
that may differ is where one variable lives: every read of it has the same writer in both, every cell lies in its
memory, and what the variable holds after the region is brought back to it.
"""

from __future__ import annotations

import islpy as isl

from codegen.record import record
from codegen.scop.dependences import accesses_of, flow_through, order_map, param_space, union_maps
from codegen.scop.expr import Ref
from codegen.scop.model import Access, Array, RegionBuffer, Scop, Statement
from codegen.scop.tree import Node
from codegen.verify.guards import Parameters
from codegen.verify.text.read import read_expression


def wrong_expansion(before: Scop, order: Node, after: Scop, new_order: Node, buffer: RegionBuffer) -> str:
    """What would differ; empty when nothing does."""
    extra = after.statements[len(before.statements) :]
    if len(extra) > 1 or bool(extra) == before.arrays[buffer.variable].inside:
        return f"`{buffer.variable}` would not be brought back once"
    for s, t in zip(before.statements, after.statements, strict=False):
        if not alike(s, t, buffer):
            return f"{s.name} (`{s.source}`) would be another statement"
    if not _fits(after, buffer):
        return f"`{buffer.variable}` would be accessed outside its memory"
    if before.arrays[buffer.variable].elem != after.arrays[buffer.array].elem:
        return f"`{buffer.variable}` would have another type"
    space = param_space(before)
    flow, unfed = flow_through(before, order, buffer.variable)
    new_flow, new_unfed = flow_through(after, new_order, buffer.array)
    if not unfed.is_empty() or not new_unfed.is_empty():
        return f"`{buffer.variable}` is read before it is written"
    copied = isl.UnionMap.empty(space)
    if extra:
        here = isl.UnionSet.from_set(extra[0].domain)
        copied = new_flow.intersect_range(here)
        new_flow = new_flow.subtract_range(here)
    if not flow.is_equal(new_flow):
        return f"a value of `{buffer.variable}` would not reach the statement that reads it"
    if not extra:
        return ""
    writes = _of(before, buffer.variable, True)
    return _wrong_end(before, after, extra[0], _LastWrites(writes, order_map(before, order), copied), buffer)


def _of(scop: Scop, name: str, write: bool) -> isl.UnionMap:
    return union_maps(accesses_of(scop, name, write), param_space(scop)).intersect_params(scop.context)


def alike(s: Statement, t: Statement, buffer: RegionBuffer) -> bool:
    """The same statement, with the memory in place of the variable."""
    same = (s.name, s.iterators, s.op, s.target, s.rhs) == (t.name, t.iterators, t.op, t.target, t.rhs)
    if not same or not s.domain.is_equal(t.domain) or len(s.accesses) != len(t.accesses):
        return False
    if len(s.values) != len(t.values) or not all(a.is_equal(b) for a, b in zip(s.values, t.values, strict=True)):
        return False
    for a, b in zip(s.accesses, t.accesses, strict=True):
        if a.write != b.write:
            return False
        if a.array == buffer.variable:
            if b.array != buffer.array:
                return False
        elif a.array != b.array or a.path != b.path or not a.relation.is_equal(b.relation):
            return False
    return True


def _fits(after: Scop, buffer: RegionBuffer) -> bool:
    """Does every access lie in the memory wherever all its extents, as they are printed, are positive?"""
    array, params = after.arrays[buffer.array], Parameters(after)
    scope = array.scope
    if not all(params.equal(read_expression(t), s) for t, s in zip(buffer.texts, buffer.sizes, strict=True)):
        return False
    for s, a in after.accesses():
        if a.array != buffer.array:
            continue
        if a.index.dim(isl.dim_type.out) != scope + len(buffer.sizes) or not _reaches(array, a, buffer):
            return False
        used = a.relation.intersect_domain(s.domain).intersect_params(after.context).range()
        local = isl.LocalSpace.from_space(used.get_space())
        for k, size in enumerate(buffer.sizes):
            at = isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, scope + k))
            zero = isl.PwAff.from_aff(isl.Aff.zero_on_domain(local))
            wide = isl.PwAff.from_aff(_spread(size.get_pieces()[0][1], local))
            outside = at.lt_set(zero).union(at.ge_set(wide))
            if not used.intersect(outside).is_empty():
                return False
    return True


def _reaches(array: Array, a: Access, buffer: RegionBuffer) -> bool:
    """Is an access printed as the element of the model? A variable of the region has the extents and one subscript for
    each, other memory is one line of elements."""
    if array.inside:
        return array.extents == buffer.texts and all(step.kind == "sub" for step in a.path)
    strides = tuple(" * ".join(buffer.texts[k + 1 :]) or "1" for k in range(len(buffer.texts)))
    return a.path[0].strides == strides


def _spread(size: isl.Aff, local: isl.LocalSpace) -> isl.Aff:
    """A formula of the parameters on a larger space."""
    out = isl.Aff.zero_on_domain(local).set_constant_val(size.get_constant_val())
    for k in range(size.dim(isl.dim_type.param)):
        pos = local.find_dim_by_name(isl.dim_type.param, str(size.get_dim_name(isl.dim_type.param, k)))
        out = out.set_coefficient_val(isl.dim_type.param, pos, size.get_coefficient_val(isl.dim_type.param, k))
    return out


@record
class _LastWrites:
    """Writes to a variable, when they run, and the writes to memory of which the copy reads the result."""

    writes: isl.UnionMap
    times: isl.UnionMap
    copied: isl.UnionMap


def _wrong_end(before: Scop, after: Scop, copy: Statement, last: _LastWrites, buffer: RegionBuffer) -> str:
    """The copy: `variable = memory`, once for every element that the region writes, fed by that element's last writer,
    after everything else that touches the variable (which is nothing)."""
    message, writes = f"`{buffer.variable}` would not get its last value back", last.writes
    target = copy.accesses[copy.target]
    others = [s.name for s, a in after.accesses() if a.array == buffer.variable and s is not copy]
    plain = copy.op == "=" and isinstance(copy.rhs, Ref) and copy.accesses[copy.rhs.access].array == buffer.array
    if others or not plain or target.array != buffer.variable or len(copy.accesses) != 2:
        return message
    path = next(a.path for _, a in before.accesses() if a.array == buffer.variable)
    brought = isl.UnionMap.from_map(target.relation).intersect_params(after.context)
    if target.path != path or not brought.is_bijective() or not brought.range().is_equal(writes.range()):
        return message
    latest = writes.reverse().apply_range(last.times).lexmax().apply_range(last.times.reverse())
    by_element = latest.intersect(writes.reverse())  # element to its last writer
    found = brought.reverse().apply_range(last.copied.reverse())
    return "" if by_element.is_equal(found) else message
