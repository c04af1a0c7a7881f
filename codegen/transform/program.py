"""The program under transformation, and what it means for a step to be legal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

import islpy as isl

from codegen.recognize.reductions import find_reductions
from codegen.record import record
from codegen.scop.dependences import Dependence, Dependences, order_map, param_space
from codegen.scop.distance import is_zero, same_value
from codegen.scop.isl_helpers import sample_pair
from codegen.scop.model import Scop
from codegen.scop.tree import Band, Node, Place, Slot, kids, statements
from codegen.verify.sentences import describe_pair


@record
class Program:
    """A region with its current order. `stores` are storage choices of the plan, by variable."""

    scop: Scop
    deps: Dependences
    tree: Node
    must: isl.UnionMap  # all pairs whose order has to be kept
    reassociate: bool = False
    stores: Mapping[str, tuple[str, Slot]] = field(default_factory=dict)

    def with_tree(self, tree: Node) -> "Program":
        return replace(self, tree=tree)


def make_program(scop: Scop, deps: Dependences, tree: Node, reassociate: bool) -> Program:
    """A region in the order of `tree`."""
    return Program(scop, deps, tree, deps.union().coalesce(), reassociate)


def violation(p: Program) -> str:
    """A sentence about the first dependence that the tree runs backwards; empty when it is legal."""
    times = order_map(p.scop, p.tree)
    width = _width(times)
    space = param_space(p.scop).set_from_params().add_dims(isl.dim_type.set, width)
    back = isl.UnionMap.from_map(isl.Map.lex_ge(space))
    if p.must.apply_domain(times).apply_range(times).intersect(back).is_empty():
        return ""
    for d in p.deps.all:
        relation = d.relation
        late = relation.apply_domain(times).apply_range(times).intersect(back)
        if not late.is_empty():
            inverse = times.reverse()
            pairs = late.apply_domain(inverse).apply_range(inverse).intersect(relation)
            return describe_pair(p.scop, d, sample_pair(pairs), "would run backwards")
    return ""


def _width(times: isl.UnionMap) -> int:
    found = [0]
    times.foreach_map(lambda m: found.append(m.dim(isl.dim_type.out)))
    return max(found)


def pending(p: Program, d: Dependence, place: Place) -> isl.UnionMap:
    """The pairs of a dependence that reach this loop in the same iteration of all loops around it."""
    return _reaching(p, d.relation, place)


def _reaching(p: Program, relation: isl.UnionMap, place: Place) -> isl.UnionMap:
    inside = isl.UnionSet.empty(param_space(p.scop))
    for n in statements(place.band):
        inside = inside.union(isl.UnionSet.from_set(isl.Set.universe(p.scop.statement(n).domain.get_space())))
    relation = relation.intersect_domain(inside).intersect_range(inside)
    node = p.tree
    for k in place.path:
        relation = _equal(relation, node)
        node = kids(node)[k]
    for lp in place.band.loops[: place.member]:
        relation = same_value(relation, lp.exprs)
    return relation


def _equal(relation: isl.UnionMap, node: Node) -> isl.UnionMap:
    if isinstance(node, Band):
        for lp in node.loops:
            relation = same_value(relation, lp.exprs)
    return relation


@record
class Carried:
    """What a loop carries: a dependence in the way, or reductions that a clause can take care of."""

    blocker: Dependence | None
    pairs: isl.UnionMap | None
    reductions: tuple[tuple[str, str], ...]


def carried(p: Program, place: Place) -> Carried:
    """Which dependences have distance along the loop. Those of scalar reductions are listed apart."""
    if not is_zero(_reaching(p, p.must, place), place.loop.exprs):
        for d in p.deps.all:
            relation = pending(p, d, place)
            if not is_zero(relation, place.loop.exprs):
                return Carried(d, relation, ())
    here = statements(place.band)
    ops = {r.array: r.op for r in find_reductions(p.scop) if r.stmt in here}
    folded: dict[str, str] = {}
    for array in sorted(p.deps.folds):
        free = _reaching(p, p.deps.folds[array], place)
        if not is_zero(free, place.loop.exprs):
            if p.scop.arrays[array].rank:
                return Carried(Dependence("output", array, p.deps.folds[array]), free, ())
            folded[array] = ops[array]
    return Carried(None, None, tuple(sorted((op, a) for a, op in folded.items())))
