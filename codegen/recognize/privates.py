"""Scalars declared before the region that only carry values within it: they become variables of the region.

C programmers often declare `double t;` at the top of a function. If every value that `t` takes in the region is
used within the same iteration of some loops, and nobody looks at `t` afterwards, each iteration can have its
own `t`, and loops become parallel.
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from codegen.frontend.symbols import RegionSite
from codegen.scop.dependences import Dependences
from codegen.scop.model import Access, Array, Scop, Statement
from codegen.scop.tree import Node, enclosing


def privatize(scop: Scop, tree: Node, deps: Dependences, site: RegionSite) -> Scop:
    """The scop with such scalars made variables of the region; the same object when there are none."""
    changed = scop
    for name in sorted(scop.arrays):
        array = scop.arrays[name]
        if array.rank or array.inside or not _is_candidate(array, site):
            continue
        depth = _depth(scop, tree, deps, name)
        if depth is not None:
            changed = _make_inside(changed, name, depth)
    return changed


def _is_candidate(array: Array, site: RegionSite) -> bool:
    var = site.variables.get(array.base)
    return (
        var is not None
        and var.place in ("local", "param")
        and not var.static
        and array.name == array.base
        and not var.shape.layers
        and not site.used_outside(array.base)
    )


def _depth(scop: Scop, tree: Node, deps: Dependences, name: str) -> int | None:
    """How many outer loops separate its values; None when a value from before the region is read."""
    fed_from_outside = []
    deps.live_in.foreach_map(lambda m: fed_from_outside.append(m.get_tuple_name(isl.dim_type.out)))
    if name in fed_from_outside:
        return None
    users = [s for s in scop.statements if any(a.array == name for a in s.accesses)]
    common = _common_loops(tree, users)
    flow = [deps.flows[name]] if name in deps.flows else []
    depth = 0
    while depth < common and all(_same_iterator(r, depth) for r in flow):
        depth += 1
    return depth


def _common_loops(tree: Node, users: list[Statement]) -> int:
    """Loops of the source that enclose all users."""
    paths = [enclosing(tree, s.name) for s in users]
    depth = 0
    while all(len(p) > depth for p in paths) and len({id(p[depth]) for p in paths}) == 1:
        depth += 1
    return depth


def _same_iterator(relation: isl.UnionMap, pos: int) -> bool:
    ok = [True]

    def check(m: isl.Map) -> None:
        same = m.equate(isl.dim_type.in_, pos, isl.dim_type.out, pos)
        ok[0] = ok[0] and bool(m.is_subset(same))

    relation.foreach_map(check)
    return ok[0]


def _make_inside(scop: Scop, name: str, depth: int) -> Scop:
    array = replace(scop.arrays[name], inside=True, scope=depth, place="inside")
    statements = tuple(_rescoped(s, name, depth) for s in scop.statements)
    return replace(scop, arrays={**scop.arrays, name: array}, statements=statements)


def _rescoped(s: Statement, name: str, depth: int) -> Statement:
    accesses = tuple(_with_scope(s, a, depth) if a.array == name else a for a in s.accesses)
    return replace(s, accesses=accesses)


def _with_scope(s: Statement, a: Access, depth: int) -> Access:
    """Index the scalar by the first `depth` iterators."""
    source = s.domain.get_space()
    target = source.params().set_from_params().add_dims(isl.dim_type.set, depth)
    target = target.set_tuple_name(isl.dim_type.set, a.array)
    multi = isl.MultiPwAff.zero(source.map_from_domain_and_range(target))
    for k in range(depth):
        var = isl.Aff.var_on_domain(isl.LocalSpace.from_space(source), isl.dim_type.set, k)
        multi = multi.set_pw_aff(k, isl.PwAff.from_aff(var))
    relation = isl.Map.from_multi_pw_aff(multi).intersect_domain(s.domain)
    return replace(a, index=multi, relation=relation)
