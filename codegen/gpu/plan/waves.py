"""Wavefronts, for nests without a parallel loop whose outer loops' dependences all point forward: returns a schedule
tree with an outer loop over the sum of those loops, a wave, and marks all but the last of them as parallel inside it.

The sum of the loops' values, a wave, is larger at the end of each dependence between different points than at its
beginning. So waves follow each other as launches, and all points of one run on threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import islpy as isl

from codegen.scop.distance import seen
from codegen.scop.model import Scop
from codegen.scop.tree import Band, Loop, Node, kids, statements, with_kids
from codegen.strategy.orders.distribution import universe
from codegen.strategy.orders.reshape import active

AXES = 3  # of a grid


def waves(scop: Scop, ties: isl.UnionMap, node: Node) -> Node:
    """A tree in which nests without a parallel loop have waves of their first loops, whose points are marked as
    parallel. `ties` are all dependences."""
    loops, below = _nest(node)
    names = statements(node)
    inside = universe(scop, names)
    among = ties.intersect_domain(inside).intersect_range(inside)
    count = next((k for k, lp in enumerate(loops) if not _is_forward(among, lp)), len(loops))
    used = [lp for lp in loops[:count] if any(active(scop, lp, n) for n in names)][: AXES + 1]
    if any(lp.coincident for lp in loops) or len(used) < 2:
        return with_kids(node, tuple(waves(scop, ties, k) for k in kids(node)))
    rest = [lp for lp in loops if all(lp is not x for x in used)]
    wave = Loop(_free_name(loops), _sums([lp.exprs for lp in used]), note=" + ".join(lp.name for lp in used))
    # One of them follows from the wave and the others.
    threads = tuple(replace(lp, coincident=True) for lp in used[:-1])
    for lp in reversed(rest):
        below = Band((lp,), below)
    return Band((wave,), Band(threads, below))


def _nest(node: Node) -> tuple[list[Loop], Node]:
    """Loops directly inside each other, and what they are around."""
    loops: list[Loop] = []
    while isinstance(node, Band):
        loops += node.loops
        node = node.child
    return loops, node


def _is_forward(ties: isl.UnionMap, lp: Loop) -> bool:
    """Does no dependence lead to a smaller value of the loop?"""
    return all(m.is_disjoint(a.gt_map(b)) for m, a, b in seen(ties, lp.exprs))


def _free_name(loops: Sequence[Loop]) -> str:
    taken = {lp.name for lp in loops}
    return next(n for n in ("wave", *(f"wave{k}" for k in range(len(taken) + 1))) if n not in taken)


def _sums(parts: Sequence[Mapping[str, isl.PwAff]]) -> dict[str, isl.PwAff]:
    """Values of several loops, added up."""
    out = dict(parts[0])
    for one in parts[1:]:
        out = {n: out[n].add(one[n]) for n in out}
    return out
