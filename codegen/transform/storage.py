"""Inserts declarations of the region's local variables (`Hold`) into the schedule tree: inside the loop that a plan
names, else as deep as their live ranges allow; arrays that each thread has once as far outside as loops on threads
allow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import islpy as isl

from codegen.scop.dependences import Dependences, param_space
from codegen.scop.distance import is_zero, same_value
from codegen.scop.model import Scop
from codegen.scop.tree import ON_THREADS, Band, Hold, Node, Slot, kids, put, statements


def place_storage(scop: Scop, deps: Dependences, tree: Node, given: Mapping[str, tuple[str, Slot]]) -> Node:
    """Insert a `Hold` for every variable of the region that has none. `given` names loops chosen by a plan."""
    for name in sorted(scop.arrays):
        array = scop.arrays[name]
        if not array.inside:
            continue
        users = tuple(s.name for s in scop.statements if any(a.array == name for a in s.accesses))
        if name in given:
            loop, slot = given[name]
            tree = _hold_in(tree, users, loop, slot)
        else:
            slot = Slot(name, (0,) * array.scope + (-1,) * array.rank, ("",) * array.dims)
            deepest = _hold(tree, users, _flow(scop, deps, name), slot)
            tree = _hold_for_thread(tree, users, deepest, slot) if array.roomy else deepest
    return tree


def _hold_for_thread(tree: Node, users: Sequence[str], deepest: Node, slot: Slot) -> Node:
    """Storage that a thread has once: declared as far outside as the loops on threads allow."""
    path: tuple[Node, ...] = next(p for p in _paths(deepest) if isinstance(p[-1], Hold) and slot in p[-1].slots)
    names = [lp.name for n in path if isinstance(n, Band) for lp in n.loops if lp.kind in ON_THREADS]
    return _hold_in(tree, users, names[-1], slot) if names else hold(tree, slot)


def _paths(node: Node) -> Iterator[tuple[Node, ...]]:
    """Every node with those around it, outermost first."""
    yield (node,)
    for child in kids(node):
        yield from ((node, *rest) for rest in _paths(child))


def _flow(scop: Scop, deps: Dependences, name: str) -> isl.UnionMap:
    """Everything that ties accesses to the variable together."""
    empty = isl.UnionMap.empty(param_space(scop))
    total = deps.flows.get(name, empty).union(deps.folds.get(name, empty))
    for d in deps.all:
        if d.array == name:
            total = total.union(d.relation)
    return total


def _hold(node: Node, users: Sequence[str], flow: isl.UnionMap, slot: Slot) -> Node:
    """Descend while one child holds all users and the loops on the way keep every value within an iteration."""
    if isinstance(node, Band):
        depth = 0
        while depth < len(node.loops) and is_zero(flow, node.loops[depth].exprs):
            flow = same_value(flow, node.loops[depth].exprs)
            depth += 1
        if depth == len(node.loops):
            return put(node, (0,), _hold(node.child, users, flow, slot))
        return split_band(node, depth, slot)
    for k, child in enumerate(kids(node)):
        if set(users) <= set(statements(child)):
            return put(node, (k,), _hold(child, users, flow, slot))
    return hold(node, slot)


def hold(node: Node, slot: Slot) -> Node:
    if isinstance(node, Hold):
        return Hold((*node.slots, slot), node.child)
    return Hold((slot,), node)


def split_band(band: Band, depth: int, slot: Slot) -> Node:
    """Declare the variable between two loops of a band."""
    if depth == 0:
        return hold(band, slot)
    inner = Band(band.loops[depth:], band.child, band.permutable, False)
    return Band(band.loops[:depth], hold(inner, slot), band.permutable, band.split)


def _hold_in(node: Node, users: Sequence[str], loop: str, slot: Slot) -> Node:
    """Declare the variable directly inside the loop with this name."""
    if isinstance(node, Band) and set(users) <= set(statements(node)):
        for k, lp in enumerate(node.loops):
            if lp.name == loop:
                if k + 1 == len(node.loops):
                    return put(node, (0,), hold(node.child, slot))
                return split_band(node, k + 1, slot)
    for k, child in enumerate(kids(node)):
        if set(users) <= set(statements(child)):
            return put(node, (k,), _hold_in(child, users, loop, slot))
    return hold(node, slot)
