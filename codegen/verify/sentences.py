"""Writes a dependence with one concrete pair of iterations as a sentence about the user's own source, for messages."""

from __future__ import annotations

import islpy as isl

from codegen.scop.dependences import Dependence
from codegen.scop.model import Scop, Statement

_WHAT = {
    "flow": "the value of `{a}` that {s} computes and {t} uses",
    "anti": "`{a}`, which {s} reads before {t} overwrites it,",
    "output": "`{a}`, which {s} writes before {t} writes it again,",
}


def describe_pair(scop: Scop, dep: Dependence, pair: isl.UnionMap, end: str) -> str:
    """A dependence with one concrete pair of iterations, for example at i = 3, j = 0."""
    array = scop.arrays[dep.array]
    if pair.is_empty():
        return _WHAT[dep.kind].format(a=array.base, s="a statement", t="another") + " " + end
    one = isl.Map.from_union_map(pair)
    source = scop.statement(one.get_tuple_name(isl.dim_type.in_))
    target = scop.statement(one.get_tuple_name(isl.dim_type.out))
    a = _at(source, one.domain())
    b = _at(target, one.range())
    text = _WHAT[dep.kind].format(a=array.base, s=f"line {source.loc.line}{a}", t=f"line {target.loc.line}{b}")
    return f"{text} {end}"


def _at(s: Statement, points: isl.Set) -> str:
    if not s.iterators:
        return ""
    point = points.sample_point()
    values = []
    for k, name in enumerate(s.iterators):
        v = point.get_coordinate_val(isl.dim_type.set, k)
        if v.is_nan():
            return ""
        values.append(f"{name} = {v.to_str()}")
    return f" (at {', '.join(values)})"
