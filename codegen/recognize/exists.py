"""Which elements are sure to be there: what may be read although the source would not read it just then.

Packing reads operands ahead of the conditions that stand before them, and reads a whole box where the source visits a
part of it. An element is there if the array is declared that large, or if it lies between elements that the region
reaches in any case.
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from codegen.recognize.boxes import hull
from codegen.scop.expr import Binary, Expr, Ref, Ternary, children, walk
from codegen.scop.model import Array, Scop, Statement


def always(e: Expr) -> Iterator[Expr]:
    """The expression and the parts of it that are evaluated whenever it is."""
    yield e
    parts = children(e)
    if isinstance(e, Ternary) or (isinstance(e, Binary) and e.op in ("&&", "||")):
        parts = parts[:1]
    for part in parts:
        yield from always(part)


def exists(scop: Scop, s: Statement, number: int, instances: isl.Set) -> bool:
    """Is the element that access `number` names there for all these instances of `s`?"""
    wanted = instances.reset_tuple_id().apply(_formula(s, number))
    array = scop.arrays[s.accesses[number].array]
    declared = _declared(scop, array, wanted.get_space())
    if declared is not None and wanted.is_subset(declared):
        return True
    reached = _reached(scop, array)
    if reached is None:
        return False
    reached = reached.align_params(wanted.get_space()).reset_tuple_id()
    wanted = wanted.align_params(reached.get_space()).reset_tuple_id()
    if array.depth > 1:  # rows behind pointers are as long as they are
        return bool(wanted.is_subset(reached))
    above, below = reached.lex_le_set(wanted).range(), wanted.lex_le_set(reached).domain()
    return bool(wanted.is_subset(hull(reached, ()).intersect(above).intersect(below)))


def owned(scop: Scop, s: Statement) -> bool:
    """Does the region write every element that `s` may write, whatever the data?

    Such an element can be written with what it holds at any other time in the region, too: it is there, it can be
    written, and no other thread of the program looks at it meanwhile.
    """
    target = s.accesses[s.target]
    written: isl.Set | None = None
    for t in scop.statements:
        sure = not any(isinstance(e, Ternary) and e.branch for e in walk(t.rhs))
        if sure and t.accesses[t.target].array == target.array:
            one = t.accesses[t.target].relation.intersect_params(scop.context).range()
            written = one if written is None else written.union(one)
    return written is not None and bool(target.relation.intersect_params(scop.context).range().is_subset(written))


def _formula(s: Statement, number: int) -> isl.Map:
    """The access for any values of the iterators."""
    index = s.accesses[number].index
    affs = isl.MultiAff.zero(index.get_space())
    for k in range(index.dim(isl.dim_type.out)):
        affs = affs.set_aff(k, index.get_pw_aff(k).get_pieces()[0][1])
    return isl.Map.from_multi_aff(affs).reset_tuple_id(isl.dim_type.in_)


def _declared(scop: Scop, array: Array, space: isl.Space) -> isl.Set | None:
    """All elements of a declaration such as `double a[n][20]`."""
    if array.depth or not array.rank or len(array.extents) != array.rank:
        return None
    names = {p.text: p.name for p in scop.params}
    total = isl.Set.universe(space)
    for k, text in enumerate(array.extents):
        local = isl.LocalSpace.from_space(space)
        at = isl.Aff.var_on_domain(local, isl.dim_type.set, k)
        if text.isdigit():
            size = isl.Aff.zero_on_domain(local).set_constant_val(isl.Val(int(text)))
        elif text in names:
            where = space.find_dim_by_name(isl.dim_type.param, names[text])
            if where < 0:
                return None
            size = isl.Aff.var_on_domain(local, isl.dim_type.param, where)
        else:
            return None
        total = total.intersect(at.ge_set(isl.Aff.zero_on_domain(local))).intersect(at.lt_set(size))
    return total


def _reached(scop: Scop, array: Array) -> isl.Set | None:
    """The elements that the region reads or writes whatever the data."""
    total: isl.Set | None = None
    for s in scop.statements:
        sure = {e.access for e in always(s.rhs) if isinstance(e, Ref)}
        if not (isinstance(s.rhs, Ternary) and s.rhs.branch):
            sure.add(s.target)
        for k in sorted(sure):
            if s.accesses[k].array == array.name:
                one = s.accesses[k].relation.intersect_params(scop.context).range()
                total = one if total is None else total.union(one)
    return total
