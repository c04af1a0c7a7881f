"""Parses affine formulas in the text of a plan (None where the text is no such formula), and checks that their values,
and those of loops, stay within 64 bits, and that loops tell all iterations of a statement apart.

isl's parser knows more than a formula may say: choices, conditions, fractions. What it finds is taken only where it is
one formula, with a whole value for every instance.
"""

from __future__ import annotations

from functools import lru_cache

import islpy as isl

from codegen.frontend.context.guards import LIMIT, parameter_ranges
from codegen.scop.model import Scop, Statement
from codegen.scop.tree import Node, loops, order

ROOM = 1 << 62  # what values of generated loops stay within: their type has 64 bits, and ends of tiles lie beyond them


def value_of(s: Statement, text: str) -> isl.PwAff | None:
    """A formula over a statement's iterators and the parameters; None where the text is none."""
    space = s.domain.get_space()
    params = ", ".join(str(space.get_dim_name(isl.dim_type.param, k)) for k in range(space.dim(isl.dim_type.param)))
    found = _read(f"[{params}] -> {{ {s.name}[{', '.join(s.iterators)}] -> [({text})] }}")
    if found is None or found.dim(isl.dim_type.in_) != len(s.iterators):
        return None
    found = found.align_params(space.params()).set_tuple_id(isl.dim_type.in_, s.domain.get_tuple_id())
    if not found.get_pieces()[0][1].get_denominator_val().is_one():
        whole = isl.Map.from_pw_aff(found).intersect_domain(s.domain).domain()
        return found if s.domain.is_subset(whole) else None
    return found


def size_of(scop: Scop, text: str) -> isl.PwAff | None:
    """A sum of parameters, each times an integer, and of a number; None where the text is something else."""
    found = _read(f"[{', '.join(p.name for p in scop.params)}] -> {{ [({text})] }}")
    if found is None or found.dim(isl.dim_type.in_):
        return None
    aff = found.get_pieces()[0][1]
    if aff.dim(isl.dim_type.div) or not aff.get_denominator_val().is_one():
        return None
    most = abs(int(aff.get_constant_val().to_str()))
    for p in scop.params:
        at = aff.find_dim_by_name(isl.dim_type.param, p.name)
        most += abs(int(aff.get_coefficient_val(isl.dim_type.param, at).to_str())) * min(LIMIT, p.ctype.range()[1] + 1)
    return found if most <= ROOM else None


def value_in_room(scop: Scop, stmt: str, value: isl.PwAff) -> bool:
    """Can C compute the value, whatever the parameters' types allow?"""
    return _in_room(scop, isl.Map.from_pw_aff(value).intersect_domain(scop.statement(stmt).domain).range())


def too_wide(scop: Scop, tree: Node) -> str:
    """A loop whose values C could not compute; empty where there is none."""
    for place in loops(tree):
        if not all(value_in_room(scop, stmt, value) for stmt, value in sorted(place.loop.exprs.items())):
            return f"values of loop {place.loop.name} go beyond 64 bits"
    return ""


def same_time(scop: Scop, tree: Node) -> str:
    """A statement with iterations that no loop tells apart; empty where there is none.

    Only for what the region assumes: the tool's own plans have no loop where that leaves a single iteration."""
    for s in scop.statements:
        there = s.domain.intersect_params(scop.context)
        pairs = isl.Map.lex_lt(there.get_space()).intersect_domain(there).intersect_range(there)
        for t in order(tree, s.name):
            pairs = pairs if isinstance(t, int) else pairs.intersect(t.eq_map(t))
        if not pairs.is_empty():
            return f"several iterations of {s.name} would run at the same time"
    return ""


def _in_room(scop: Scop, values: isl.Set) -> bool:
    ranges = parameter_ranges(scop.params, scop.context.get_space())
    values = values.intersect_params(ranges.intersect(scop.context)).reset_tuple_id()
    count = values.dim(isl.dim_type.param)
    values = values.project_out(isl.dim_type.param, 0, count)
    room = isl.Val.read_from_str(values.get_ctx(), str(ROOM))
    inside = isl.Set.universe(values.get_space())
    inside = inside.upper_bound_val(isl.dim_type.set, 0, room).lower_bound_val(isl.dim_type.set, 0, room.neg())
    return bool(values.is_subset(inside))


@lru_cache(maxsize=256)
def _read(text: str) -> isl.PwAff | None:
    try:
        found = isl.PwAff.read_from_str(isl.DEFAULT_CONTEXT, text).coalesce()
    except isl.Error:
        return None
    pieces = found.get_pieces()
    return found if len(pieces) == 1 and pieces[0][0].plain_is_universe() else None
