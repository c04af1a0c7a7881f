"""The program under transformation, and what it means for a step to be legal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

import islpy as isl

from codegen.recognize.reductions import find_reductions
from codegen.record import record
from codegen.scop.dependences import Dependence, Dependences, order_map, param_space
from codegen.scop.distance import is_zero, same_value
from codegen.scop.isl_helpers import maps_of, sample_pair
from codegen.scop.model import Scop
from codegen.scop.tree import Band, Node, Place, Slot, kids, order, statements
from codegen.verify.sentences import describe_pair


@record
class Program:
    """A region with its current order. `stores` are storage choices of the plan, by variable."""

    scop: Scop
    deps: Dependences
    tree: Node
    reassociate: bool = False
    stores: Mapping[str, tuple[str, Slot]] = field(default_factory=dict)

    @property
    def must(self) -> isl.UnionMap:
        """All pairs whose order has to be kept."""
        return self.deps.must

    def with_tree(self, tree: Node) -> "Program":
        return replace(self, tree=tree)


def make_program(scop: Scop, deps: Dependences, tree: Node, reassociate: bool) -> Program:
    """A region in the order of `tree`."""
    return Program(scop, deps, tree, reassociate)


def violation(p: Program) -> str:
    """A sentence about the first dependence that the tree runs backwards; empty when it is legal."""
    if legal(p):
        return ""
    times = order_map(p.scop, p.tree)
    width = _width(times)
    space = param_space(p.scop).set_from_params().add_dims(isl.dim_type.set, width)
    back = isl.UnionMap.from_map(isl.Map.lex_ge(space))
    for d in p.deps.all:
        relation = d.relation
        late = relation.apply_domain(times).apply_range(times).intersect(back)
        if not late.is_empty():
            inverse = times.reverse()
            pairs = late.apply_domain(inverse).apply_range(inverse).intersect(relation)
            return describe_pair(p.scop, d, sample_pair(pairs), "would run backwards")
    return ""


def legal(p: Program) -> bool:
    """Does the tree keep all dependences? Asked level by level: what a level orders is out of the way of those below,
    and most pairs are ordered early."""
    times = {n: order(p.tree, n) for n in statements(p.tree)}
    if not any(deps is p.deps and _same_times(before, times) for deps, before in _LEGAL):
        for m in maps_of(p.must):
            first, then = (times.get(str(m.get_tuple_name(t))) for t in (isl.dim_type.in_, isl.dim_type.out))
            if first is not None and then is not None and not _forward(m, first, then):
                return False
        _LEGAL[:] = [*_LEGAL[-3:], (p.deps, times)]
    return True


Time = list[isl.PwAff | int]  # as `order` gives it

# The orders that were found legal last: most directives change only how loops run, or the order of a few statements.
_LEGAL: list[tuple[Dependences, dict[str, Time]]] = []


def _same_times(a: dict[str, Time], b: dict[str, Time]) -> bool:
    """The very same values in the same order?"""
    return a.keys() == b.keys() and all(len(a[n]) == len(b[n]) and all(map(_same, a[n], b[n])) for n in a)


def _same(x: isl.PwAff | int, y: isl.PwAff | int) -> bool:
    return x is y or (isinstance(x, int) and isinstance(y, int) and x == y)


def _forward(m: isl.Map, first: Time, then: Time) -> bool:
    """Does each pair of one statement and another run in this order? Times are padded with zeros."""
    source, target = m.get_space().domain(), m.get_space().range()
    for k in range(max(len(first), len(then))):
        a, b = (t[k] if k < len(t) else 0 for t in (first, then))
        if isinstance(a, int) and isinstance(b, int):
            if a != b:
                return a < b
            continue
        before, after = _on(a, source), _on(b, target)
        if not m.is_disjoint(before.gt_map(after)):
            return False
        m = m.intersect(before.eq_map(after))
        if m.is_empty():
            return True
    return bool(m.is_empty())


def _on(value: isl.PwAff | int, space: isl.Space) -> isl.PwAff:
    if not isinstance(value, int):
        return value
    zero = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(space))
    return isl.PwAff.from_aff(zero.add_constant_val(isl.Val(value)))


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


def carried(p: Program, place: Place, elements: bool = False) -> Carried:
    """Which dependences have distance along the loop. Those of scalar reductions are listed apart, and those of
    reductions in elements of arrays if `elements`."""
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
            if p.scop.arrays[array].rank and not elements:
                return Carried(Dependence("output", array, p.deps.folds[array]), free, ())
            folded[array] = ops[array]
    return Carried(None, None, tuple(sorted((op, a) for a, op in folded.items())))
