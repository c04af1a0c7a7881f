"""isl calls that are awkward, differ between versions, or are easy to misuse: here and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

import islpy as isl

_SCHEDULE_KINDS = ("band", "sequence", "set", "filter", "context", "guard", "mark", "leaf", "domain")


def _kinds(enum: Any, names: tuple[str, ...]) -> dict[Any, str]:
    """Enumerators to plain names; Python keywords carry an underscore in islpy."""
    out = {}
    for n in names:
        value = getattr(enum, n, None) or getattr(enum, n + "_", None)
        if value is not None:
            out[value] = n
    return out


_SCHEDULE = _kinds(isl.schedule_node_type, _SCHEDULE_KINDS)
_AST = _kinds(isl.ast_node_type, ("block", "mark", "if", "for", "user"))
_EXPR = _kinds(isl.ast_expr_type, ("id", "int", "op"))


def in_words(error: isl.Error) -> str:
    """Why isl gave up, without its functions and the lines of its source."""
    said = str(error).partition("\n")[0]
    return f"isl gave up: {re.sub(r'^call to [^:]* failed: | in [^ ]*:[0-9]+$', '', said)}"


def schedule_kind(node: isl.ScheduleNode) -> str:
    """band, sequence, set, filter, context, guard, mark, leaf or domain."""
    kind: Any = node.get_type()
    return _SCHEDULE[kind]


def ast_kind(node: isl.AstNode) -> str:
    """block, mark, if, for or user."""
    kind: Any = node.get_type()
    return _AST[kind]


def expr_kind(e: isl.AstExpr) -> str:
    """id, int or op."""
    kind: Any = e.get_type()
    return _EXPR[kind]


def sample_pair(relation: isl.UnionMap) -> isl.UnionMap:
    """One pair of a relation, or the empty relation."""
    if relation.is_empty():
        return relation
    one: Any = relation.sample()
    return isl.UnionMap.from_basic_map(one) if isinstance(one, isl.BasicMap) else one


def maps_of(relation: isl.UnionMap) -> list[isl.Map]:
    """The maps of a union, in an order that does not depend on hashing."""
    found: list[isl.Map] = []
    relation.foreach_map(found.append)
    return sorted(
        found, key=lambda m: (m.get_tuple_name(isl.dim_type.in_) or "", m.get_tuple_name(isl.dim_type.out) or "")
    )


def formula(value: isl.PwAff) -> isl.PwAff:
    """A value without the points that it is given for, where it is one formula. For comparisons of instances, which are
    among those points: the constraints of their domains are most of what isl would compare. At other points there is
    more then to be ordered, never less."""
    return isl.PwAff.from_aff(value.get_pieces()[0][1]) if value.n_piece() == 1 else value


def relation_of(value: isl.MultiPwAff) -> isl.Map:
    """Points to their values. Values without cases take isl a third of the time."""
    return isl.Map.from_multi_aff(value.as_multi_aff()) if value.isa_multi_aff() else isl.Map.from_multi_pw_aff(value)


def union_of(maps: Sequence[isl.Map], space: isl.Space) -> isl.UnionMap:
    """Their union. By halves, since each step copies what is there already."""
    if len(maps) > 1:
        half = len(maps) // 2
        return union_of(maps[:half], space).union(union_of(maps[half:], space))
    return isl.UnionMap.from_map(maps[0]) if maps else isl.UnionMap.empty(space)


def parted(
    relation: isl.UnionMap, names: Collection[str], ends: Sequence[isl.dim_type]
) -> tuple[isl.UnionMap, isl.UnionMap]:
    """The maps with a statement of these at one of the ends, and the others. What is asked about all of a statement's
    instances is asked without their constraints then."""
    mine: list[isl.Map] = []
    others: list[isl.Map] = []
    for m in maps_of(relation):
        (mine if any(m.get_tuple_name(end) in names for end in ends) else others).append(m)
    return union_of(mine, relation.get_space()), union_of(others, relation.get_space())


def val(number: int) -> isl.Val:
    """An integer of any size."""
    return isl.Val.read_from_str(isl.DEFAULT_CONTEXT, str(number))
