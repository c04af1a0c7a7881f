"""Loop distribution around products: each product gets a nest of its own, below the loops whose dependences tie it to
the rest.

The classic way: statements that form a strongly connected component of the dependences share a loop; within one
iteration of that loop fewer dependences are left, and the component may open. Loops are kept only around components
with a product in them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import islpy as isl

from codegen.record import record
from codegen.scop.dependences import Dependence, Dependences, param_space
from codegen.scop.distance import same_value
from codegen.scop.isl_helpers import maps_of
from codegen.scop.model import Scop
from codegen.scop.tree import Band, Hold, Leaf, Loop, Node, Seq, enclosing, kids, seq, statements


@record
class ProductNest:
    """A product's own nest: `depth` source loops around it are shared, the rest are its own."""

    stmt: str
    depth: int


IsProduct = Callable[[str, int], bool]
Arrange = Callable[[tuple[str, ...]], Node]


def distribute(
    scop: Scop, deps: Dependences, source: Node, names: tuple[str, ...], is_product: IsProduct, arrange: Arrange
) -> tuple[Node, tuple[ProductNest, ...]]:
    """The statements `names` of the source's tree with every product alone in its nest. `arrange` gives the tree of
    statements that have no product among them and no shared loops around; below shared loops the rest keeps the
    source's order."""
    found: list[ProductNest] = []
    tree = _level(_Search(scop, deps, source, is_product, arrange, found), deps.must, names, 0)
    return tree, tuple(found)


@record
class _Search:
    """A region whose loops are distributed, what asks for that, and the nests that were `found`."""

    scop: Scop
    deps: Dependences
    source: Node
    is_product: IsProduct
    arrange: Arrange
    found: list[ProductNest]


def _level(region: _Search, must: isl.UnionMap, names: tuple[str, ...], depth: int) -> Node:
    scop, source, is_product = region.scop, region.source, region.is_product
    parts: list[Node] = []
    rest: list[str] = []

    def flush() -> None:
        if rest:
            group = tuple(sorted(rest, key=lambda n: int(n[1:])))
            parts.append(region.arrange(group) if depth == 0 else below(only(source, group), depth))
            rest.clear()

    for component in strongly_connected(scop, must.union(handed_on(scop, region.deps, depth)), names):
        if len(component) == 1 and is_product(component[0], depth):
            flush()
            region.found.append(ProductNest(component[0], depth))
            loops = enclosing(source, component[0])[depth:]
            parts.append(Band(_own(loops, component), Leaf(component[0]), len(loops) > 1))
        elif any(is_product(n, d) for n in component for d in range(depth + 1, _depth(source, n))):
            flush()
            loop = _own((enclosing(source, component[0])[depth],), component)[0]
            inside = same_value(_among(scop, must, component), loop.exprs)
            parts.append(Band((loop,), _level(region, inside, component, depth + 1)))
        else:
            rest.extend(component)
    flush()
    return seq(parts)


def handed_on(scop: Scop, deps: Dependences, depth: int) -> isl.UnionMap:
    """Ties, both ways, between statements that pass values on in a variable of which each iteration of the loop at this
    depth has one: with a loop for each of them, one object would not do."""
    total = isl.UnionMap.empty(param_space(scop))
    for name, flow in deps.flows.items():
        array = scop.arrays[name]
        if array.inside and array.scope > depth:
            total = total.union(flow).union(flow.reverse())
    return total


def _depth(source: Node, name: str) -> int:
    return len(enclosing(source, name))


def _own(loops: Sequence[Loop], names: Sequence[str]) -> tuple[Loop, ...]:
    from dataclasses import replace

    return tuple(replace(lp, exprs={n: lp.exprs[n] for n in names}) for lp in loops)


def strongly_connected(scop: Scop, must: isl.UnionMap, names: Sequence[str]) -> list[tuple[str, ...]]:
    """Statements that form a strongly connected component of the dependences belong together; the groups in an order
    that keeps all dependences, and the source's order where those leave a choice."""
    after: dict[str, set[str]] = {n: set() for n in names}
    for m in maps_of(_among(scop, must, names)):
        if not m.is_empty():
            after[m.get_tuple_name(isl.dim_type.in_)].add(m.get_tuple_name(isl.dim_type.out))
    reach = {n: _reach(after, n) for n in names}
    groups: list[tuple[str, ...]] = []
    for n in names:
        if not any(n in g for g in groups):
            groups.append(tuple(m for m in names if m == n or (m in reach[n] and n in reach[m])))
    out: list[tuple[str, ...]] = []
    while groups:
        ready = next(g for g in groups if not any(g[0] in reach[h[0]] for h in groups if h is not g))
        out.append(ready)
        groups.remove(ready)
    return out


def _reach(after: dict[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    todo = list(after[start])
    while todo:
        n = todo.pop()
        if n not in seen:
            seen.add(n)
            todo.extend(after[n])
    return seen


def _among(scop: Scop, must: isl.UnionMap, names: Sequence[str]) -> isl.UnionMap:
    return must.intersect_domain(universe(scop, names)).intersect_range(universe(scop, names))


def universe(scop: Scop, names: Sequence[str]) -> isl.UnionSet:
    """All instances that statements of these names could have."""
    total = isl.UnionSet.empty(param_space(scop))
    for n in names:
        total = total.union(isl.UnionSet.from_set(isl.Set.universe(scop.statement(n).domain.get_space())))
    return total


def only(node: Node, names: Sequence[str]) -> Node:
    """The part of a tree that holds these statements."""
    if isinstance(node, Leaf):
        return node
    if isinstance(node, Band):
        return Band(_own(node.loops, names_in(node, names)), only(node.child, names), node.permutable, node.split)
    if isinstance(node, Hold):
        return Hold(node.slots, only(node.child, names))
    return seq([only(k, names) for k in kids(node) if set(statements(k)) & set(names)])


def names_in(node: Node, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(n for n in statements(node) if n in names)


def below(node: Node, depth: int) -> Node:
    """A tree without its outermost `depth` loops."""
    if not depth:
        return node
    if isinstance(node, Seq):
        return seq([below(k, depth) for k in node.children])
    assert isinstance(node, Band)
    if len(node.loops) > depth:
        return Band(node.loops[depth:], node.child, node.permutable)
    return below(node.child, depth - len(node.loops))


def part(scop: Scop, deps: Dependences, names: Sequence[str]) -> tuple[Scop, Dependences]:
    """A region that consists of these statements only."""
    from dataclasses import replace

    here = universe(scop, names)

    def cut(m: isl.UnionMap) -> isl.UnionMap:
        return m.intersect_domain(here).intersect_range(here)

    kept = tuple(Dependence(d.kind, d.array, cut(d.relation)) for d in deps.all)
    smaller = Dependences(
        tuple(d for d in kept if not d.relation.is_empty()),
        {a: cut(m) for a, m in deps.folds.items()},
        {a: cut(m) for a, m in deps.flows.items()},
        deps.live_in.intersect_domain(here),
        deps.live_out.intersect_domain(here),
    )
    return replace(scop, statements=tuple(s for s in scop.statements if s.name in names)), smaller
