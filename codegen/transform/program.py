"""The `Program` record (region, dependences, schedule tree and storage choices under transformation), and its legality:
whether the tree keeps all dependences, a sentence about the first that it breaks, and which dependences and reductions
a loop carries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

import islpy as isl

from codegen.plan.model import BlockTile, LocalMemory
from codegen.recognize.reductions import find_reductions
from codegen.record import record
from codegen.scop.dependences import Dependence, Dependences, one_object, order_map, param_space
from codegen.scop.distance import is_zero, same_value
from codegen.scop.isl_helpers import maps_of, sample_pair
from codegen.scop.model import Scop
from codegen.scop.times import Time, in_order, surely_in_order
from codegen.scop.tree import Band, FoundLoop, Node, Slot, kids, order, statements
from codegen.verify.sentences import describe_pair


@record
class Program:
    """A region with its current order. `stores` are storage choices of the plan, by variable; `stays` are tiles that
    stay on cores of a group, by array and first statement, `staging` is what else it says about their local memory,
    and `tiles` what it says about blocks of threads of a device."""

    scop: Scop
    deps: Dependences
    tree: Node
    reassociate: bool = False
    stores: Mapping[str, tuple[str, Slot]] = field(default_factory=dict)
    stays: Mapping[tuple[str, str], int] = field(default_factory=dict)
    staging: tuple[LocalMemory, ...] = ()
    tiles: tuple[BlockTile, ...] = ()

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
        if _keeps(p.tree, d.relation):
            continue
        relation = d.relation
        late = relation.apply_domain(times).apply_range(times).intersect(back)
        if not late.is_empty():
            inverse = times.reverse()
            pairs = late.apply_domain(inverse).apply_range(inverse).intersect(relation)
            return describe_pair(p.scop, d, sample_pair(pairs), "would run backwards")
    return ""


def legal(p: Program) -> bool:
    """Does the tree keep all dependences? Asked level by level: what a level orders is out of the way of those below,
    and most pairs are ordered early. Statements that run when they ran in an order known to be legal are not asked."""
    times: dict[str, Time] = {n: order(p.tree, n) for n in statements(p.tree)}
    as_before = [_unmoved(before, times) for deps, before in _LEGAL if deps is p.deps]
    if not any(len(same) == len(times) for same in as_before):
        for m in maps_of(p.must):
            ends = str(m.get_tuple_name(isl.dim_type.in_)), str(m.get_tuple_name(isl.dim_type.out))
            if not all(n in times for n in ends) or any(same.issuperset(ends) for same in as_before):
                continue
            first, then = times[ends[0]], times[ends[1]]
            if not surely_in_order(m, first, then) and not in_order(m, first, then):
                return False
        _LEGAL[:] = [*_LEGAL[-3:], (p.deps, times)]
    return True


def _keeps(tree: Node, relation: isl.UnionMap) -> bool:
    """Is it seen without whole times that no pair of a relation runs backwards?"""
    times: dict[str, Time] = {n: order(tree, n) for n in statements(tree)}
    for m in maps_of(relation):
        first, then = (times.get(str(m.get_tuple_name(t))) for t in (isl.dim_type.in_, isl.dim_type.out))
        if first is None or then is None or not (surely_in_order(m, first, then) or in_order(m, first, then)):
            return False
    return True


# The orders that were found legal last: most directives change only how loops run, or the order of a few statements.
_LEGAL: list[tuple[Dependences, dict[str, Time]]] = []


def _unmoved(before: Mapping[str, Time], times: Mapping[str, Time]) -> frozenset[str]:
    """The statements whose times are the very same values."""
    return frozenset(
        n for n, t in times.items() if n in before and len(before[n]) == len(t) and all(map(_same, before[n], t))
    )


def _same(x: isl.PwAff | int, y: isl.PwAff | int) -> bool:
    return x is y or (isinstance(x, int) and isinstance(y, int) and x == y)


def _width(times: isl.UnionMap) -> int:
    found = [0]
    times.foreach_map(lambda m: found.append(m.dim(isl.dim_type.out)))
    return max(found)


def pending(p: Program, d: Dependence, place: FoundLoop) -> isl.UnionMap:
    """The pairs of a dependence that reach this loop in the same iteration of all loops around it."""
    return _reaching(p, d.relation, place)


def _reaching(p: Program, relation: isl.UnionMap, place: FoundLoop) -> isl.UnionMap:
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


def carried(p: Program, place: FoundLoop, elements: bool = False) -> Carried:
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


def shared_by_lanes(p: Program, place: FoundLoop) -> str:
    """A variable that each thread has once, of which iterations of this loop use the same elements; empty if none."""
    for name in sorted(n for n, a in p.scop.arrays.items() if a.roomy):
        writes, reads = (one_object(p.scop, name, w) for w in (True, False))
        both = writes.union(reads).reverse()
        met = writes.apply_range(both).union(reads.apply_range(writes.reverse()))
        if not is_zero(_reaching(p, met, place), place.loop.exprs):
            return name
    return ""
