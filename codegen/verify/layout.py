"""Proof of an array's other layout (`transform/layout.py`): every read finds the value that it found, every cell lies
in its memory, and the array holds at the end what it held. `wrong_layout` returns what would differ, or nothing.

Two regions are compared, the one before and the one after, with nothing taken from the way the second was made: the
statements are the same but for where the array lives, and two statements more at most copy it there and back.
"""

from __future__ import annotations

import islpy as isl

from codegen.recognize.privatize.lastprivate_proof import wrong_privatization
from codegen.scop.expr import Ref
from codegen.scop.model import RegionBuffer, Scop, Statement
from codegen.scop.tree import Node
from codegen.verify.expansion import alike
from codegen.verify.guards import Parameters
from codegen.verify.text.read import read_expression


def wrong_layout(before: Scop, order: Node, after: Scop, new_order: Node, buffer: RegionBuffer) -> str:
    """What would differ; empty when nothing does."""
    if len(after.statements) < len(before.statements):
        return "a statement would be missing"
    for s, t in zip(before.statements, after.statements, strict=False):
        if not alike(s, t, buffer):
            return f"{s.name} (`{s.source}`) would be another statement"
    extra = after.statements[len(before.statements) :]
    if not all(_copies(s, buffer) for s in extra):
        return f"`{buffer.variable}` would not be copied as it is"
    path = next(a.path for _, a in before.accesses() if a.array == buffer.variable)
    if any(a.path != path for s in extra for a in s.accesses if a.array == buffer.variable):
        return f"another element of `{buffer.variable}` would be copied"
    if before.arrays[buffer.variable].elem != after.arrays[buffer.array].elem:
        return f"`{buffer.variable}` would have another type"
    if not _fits(after, buffer):
        return f"`{buffer.variable}` would be accessed outside its memory"
    return wrong_privatization(before, order, after, new_order, buffer.variable, buffer.array)


def _copies(s: Statement, buffer: RegionBuffer) -> bool:
    """Is it a plain copy, one way or the other?"""
    names = [a.array for a in s.accesses]
    plain = s.op == "=" and s.target == 0 and s.rhs == Ref(1) and [a.write for a in s.accesses] == [True, False]
    return plain and sorted(names) == sorted((buffer.array, buffer.variable))


def _fits(after: Scop, buffer: RegionBuffer) -> bool:
    """Does every access lie in the memory, and is it printed as the cell of the model?"""
    params = Parameters(after)
    if not all(params.equal(read_expression(t), s) for t, s in zip(buffer.texts, buffer.sizes, strict=True)):
        return False
    strides = tuple(" * ".join(buffer.texts[k + 1 :]) or "1" for k in range(len(buffer.texts)))
    for s, a in after.accesses():
        if a.array != buffer.array:
            continue
        if len(a.path) != 1 or a.path[0].kind != "flat" or a.path[0].strides != strides:
            return False
        used = a.relation.intersect_domain(s.domain).intersect_params(after.context).range().reset_tuple_id()
        for k, size in enumerate(buffer.sizes):
            if not _below(used, k, size):
                return False
    return True


def _below(used: isl.Set, k: int, size: isl.PwAff) -> bool:
    """Do subscripts lie between 0 and this value of the parameters?"""
    past = isl.Set.from_pw_aff(size)
    one = used.project_out(isl.dim_type.set, k + 1, used.dim(isl.dim_type.set) - k - 1)
    one = one.project_out(isl.dim_type.set, 0, k)
    zero = isl.Set.universe(one.get_space()).lower_bound_val(isl.dim_type.set, 0, isl.Val(0))
    return bool(one.is_subset(zero) and one.lex_ge_set(past.align_params(one.get_space())).is_empty())
