"""Clusters of statements that isl's scheduler treats as one node, where a region has many statements.

The scheduler's linear programs grow with the number of statements: a region of 45 takes seconds. Neighbours that run
for the same iterations are one node of its graph then, as a basic block is to other compilers; they stay side by side,
in the order of the source. A statement whose own iterations depend on each other does not share a node with one that
is free of that, so that loops can still be distributed between them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import islpy as isl

from codegen.record import record
from codegen.scop.isl_helpers import maps_of
from codegen.scop.model import Scop
from codegen.scop.tree import Band, Leaf, Node, Seq, kids, seq, walk, with_kids

MANY = 20  # statements from which on they are clustered


@record
class Clusters:
    """Names of statements by that of the first in their cluster."""

    members: Mapping[str, tuple[str, ...]]
    first: isl.UnionMap  # instances to those of the first
    ids: Mapping[str, isl.Id]  # of the statements' instances

    def merged(self, relation: isl.UnionMap) -> isl.UnionMap:
        """Between clusters. What holds within one iteration of a cluster, its own order keeps."""
        moved = relation.apply_domain(self.first).apply_range(self.first)
        return moved.subtract(self.first.range().identity())

    def restored(self, tree: Node) -> Node:
        """An order of clusters as one of statements."""
        if isinstance(tree, Leaf):
            return seq([Leaf(n) for n in self.members[tree.stmt]])
        if isinstance(tree, Band):
            tree = replace(tree, loops=tuple(replace(lp, exprs=self._each(lp.exprs)) for lp in tree.loops))
        return with_kids(tree, tuple(self.restored(k) for k in kids(tree)))

    def _each(self, exprs: Mapping[str, isl.PwAff]) -> dict[str, isl.PwAff]:
        return {
            n: e if n == name else e.set_tuple_id(isl.dim_type.in_, self.ids[n])
            for name, e in exprs.items()
            for n in self.members[name]
        }


def clusters(scop: Scop, source: Node, validity: isl.UnionMap) -> Clusters | None:
    """None where there are few statements, or none has such a neighbour."""
    if len(scop.statements) <= MANY:
        return None
    recurrent = {m.get_tuple_name(isl.dim_type.in_) for m in maps_of(validity) if _carries(m)}
    members: dict[str, tuple[str, ...]] = {}
    for _, node in walk(source):
        if isinstance(node, Seq):
            members |= {names[0]: tuple(names) for names in _runs(scop, node.children, recurrent)}
    together = {n for names in members.values() for n in names}
    members |= {s.name: (s.name,) for s in scop.statements if s.name not in together}
    if len(members) == len(scop.statements):
        return None
    first = isl.UnionMap.empty(scop.context.get_space())
    for name, names in sorted(members.items()):
        for n in names:
            space = scop.statement(n).domain.get_space()
            same = isl.Map.identity(space.map_from_set()).intersect_domain(scop.statement(n).domain)
            first = first.union(isl.UnionMap.from_map(same.set_tuple_name(isl.dim_type.out, name)))
    return Clusters(members, first, {s.name: s.domain.get_tuple_id() for s in scop.statements})


def _carries(m: isl.Map) -> bool:
    """A dependence of a statement on itself."""
    return bool(m.get_tuple_name(isl.dim_type.in_) == m.get_tuple_name(isl.dim_type.out))


def _runs(scop: Scop, children: Sequence[Node], recurrent: set[str]) -> list[list[str]]:
    """Leaves side by side that run for the same iterations."""
    out: list[list[str]] = [[]]
    for c in children:
        if not isinstance(c, Leaf):
            out.append([])
        elif out[-1] and _alike(scop, out[-1][-1], c.stmt, recurrent):
            out[-1].append(c.stmt)
        else:
            out.append([c.stmt])
    return [names for names in out if names]


def _alike(scop: Scop, one: str, two: str, recurrent: set[str]) -> bool:
    if (one in recurrent) != (two in recurrent):
        return False
    a, b = (scop.statement(n).domain for n in (one, two))
    return a.dim(isl.dim_type.set) == b.dim(isl.dim_type.set) and bool(
        a.reset_tuple_id().is_equal(b.reset_tuple_id())
    )
