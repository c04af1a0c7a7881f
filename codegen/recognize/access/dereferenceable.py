"""Decides which elements surely exist and may be read speculatively, although the source would not read them at that
point (`exists`, `certain`); and whether the region writes all that a statement may write, whatever the data (`owned`).

Packing reads operands ahead of the conditions that stand before them, and reads a whole box where the source visits a
part of it. An element is there if the array is declared that large, or if it lies between elements that the region
reaches in any case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import islpy as isl

from codegen.recognize.access.boxes import hull
from codegen.scop.expr import Expr, Ref, may_skip, sure_parts, walk
from codegen.scop.model import Array, Scop, Statement


def always(e: Expr) -> Iterator[Expr]:
    """The expression and the parts of it that are evaluated whenever it is."""
    yield e
    for part in sure_parts(e):
        yield from always(part)


def certain(scop: Scop, s: Statement, number: int) -> bool:
    """Is the access made by every instance of `s`, or the element there in any case? Not so for a target that `s` may
    leave alone."""
    if s.accesses[number].write or number not in {e.access for e in walk(s.rhs) if isinstance(e, Ref)}:
        return not may_skip(s.rhs)
    made = any(isinstance(e, Ref) and e.access == number for e in always(s.rhs))
    return made or exists(scop, s, number, s.domain)


def exists(scop: Scop, s: Statement, number: int, instances: isl.Set) -> bool:
    """Is the element that access `number` names there for all these instances of `s`?"""
    index = s.accesses[number].index
    if any(index.get_pw_aff(k).n_piece() != 1 for k in range(index.dim(isl.dim_type.out))):
        return False
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
    if array.depth > 1 or wanted.is_subset(reached):  # rows behind pointers are as long as they are
        return bool(wanted.is_subset(reached))
    above, below = reached.lex_le_set(wanted).range(), wanted.lex_le_set(reached).domain()
    return bool(wanted.is_subset(hull(reached, ()).intersect(above).intersect(below)))


def owned(scop: Scop, s: Statement) -> bool:
    """Does the region write every element that `s` may write, whatever the data?

    Such an element can be written with what it holds at any other time in the region, too: it is there, it can be
    written, and no other thread of the program looks at it meanwhile.
    """
    target = s.accesses[s.target]
    if scop.arrays[target.array].opaque:
        return False
    written: isl.Set | None = None
    for t in scop.statements:
        sure = not any(map(may_skip, walk(t.rhs)))
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
    """All elements of a declaration such as `double a[n + 1][20]`."""
    if array.depth or not array.rank or len(array.extents) != array.rank:
        return None
    local = isl.LocalSpace.from_space(space)
    names = {p.text: space.find_dim_by_name(isl.dim_type.param, p.name) for p in scop.params}
    total = isl.Set.universe(space)
    for k, text in enumerate(array.extents):
        size = isl.Aff.zero_on_domain(local)
        for sign, word in _terms(text):
            if word.isdigit():
                size = size.add_constant_val(isl.Val(int(sign + word)))
            elif names.get(word, -1) >= 0:
                one = isl.Aff.var_on_domain(local, isl.dim_type.param, names[word])
                size = size.sub(one) if sign == "-" else size.add(one)
            else:
                return None
        at = isl.Aff.var_on_domain(local, isl.dim_type.set, k)
        total = total.intersect(at.ge_set(isl.Aff.zero_on_domain(local))).intersect(at.lt_set(size))
    return total


def _terms(text: str) -> list[tuple[str, str]]:
    """A sum of names and numbers as signs and words; anything else is one word that nobody knows."""
    found: list[tuple[str, str]] = re.findall(r"([+-]?)\s*(\w+)\s*", text)
    plain = re.fullmatch(r"\s*\w+\s*([+-]\s*\w+\s*)*", text)
    return found if plain else [("", "?")]


def _reached(scop: Scop, array: Array) -> isl.Set | None:
    """The elements that the region reads or writes whatever the data."""
    total: isl.Set | None = None
    for s in scop.statements:
        sure = {e.access for e in always(s.rhs) if isinstance(e, Ref)}
        if not may_skip(s.rhs):
            sure.add(s.target)
        for k in sorted(sure):
            if s.accesses[k].array == array.name:
                one = s.accesses[k].relation.intersect_params(scop.context).range()
                total = one if total is None else total.union(one)
    return total
