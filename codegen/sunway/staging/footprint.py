"""Footprints: the elements that a part of the C tree touches, as sets that depend on the loops around it.

Loop variables count as parameters here, so that a footprint is a set of elements. Of reads is asked as well whether
what they find was written in the same iteration.
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from codegen.record import record
from codegen.scop.model import Access, Scop
from codegen.verify.readback import StatementRun, TreePoint

_PARAM, _SET, _IN, _OUT = isl.dim_type.param, isl.dim_type.set, isl.dim_type.in_, isl.dim_type.out


@record
class BoxUse:
    """One access of one statement in the tree, and the elements it touches in an iteration of the loops around."""

    run: StatementRun
    number: int
    access: Access
    elements: isl.Set

    @property
    def write(self) -> bool:
        return self.access.write

    @property
    def key(self) -> tuple[int, int]:
        return id(self.run.instance), self.number


def uses_below(scop: Scop, runs: Sequence[StatementRun], at: TreePoint) -> list[BoxUse]:
    """All accesses to memory outside the region's own variables."""
    out = []
    for r in runs:
        s = scop.statement(r.instance.stmt)
        for k, a in enumerate(s.accesses):
            if not scop.arrays[a.array].inside:
                out.append(BoxUse(r, k, a, elements(scop, r, k, len(at.vars))))
    return out


def elements(scop: Scop, r: StatementRun, number: int, depth: int) -> isl.Set:
    """The elements an access touches while the first `depth` loops stand still."""
    return _fixed(touches(scop, r, number), r.point.vars, depth).range()


def touches(scop: Scop, r: StatementRun, number: int) -> isl.Map:
    """Loop variables to elements, in those iterations alone in which the access happens: what a condition of the
    statement's expression keeps from being read may lie outside of the array."""
    s, index = scop.statement(r.instance.stmt), r.instance.accesses[number]
    a = s.accesses[number]
    space = r.point.domain.get_space()
    target = space.params().set_from_params().add_dims(_SET, len(index)).set_tuple_name(_SET, a.array)
    multi = isl.MultiPwAff.zero(space.map_from_domain_and_range(target))
    for k, e in enumerate(index):
        multi = multi.set_pw_aff(k, r.point.value(e))
    there = r.executes(scop).intersect_range(s.instances(a)).domain().coalesce() if a.partial else r.point.domain
    return isl.Map.from_multi_pw_aff(multi).intersect_domain(there)


def _fixed(m: isl.Map, names: Sequence[str], depth: int) -> isl.Map:
    """The outer loop variables as parameters, the inner ones gone."""
    have = m.dim(_IN)
    m = m.project_out(_IN, depth, have - depth)
    first = m.dim(_PARAM)
    m = m.move_dims(_PARAM, first, _IN, 0, depth)
    for k in range(depth):
        m = m.set_dim_name(_PARAM, first + k, names[k])
    return m


def of_region(scop: Scop, array: str) -> isl.Set:
    """All elements of an array that the region touches."""
    every = [a.relation.intersect_domain(s.domain).range() for s, a in scop.accesses_to(array)]
    total = every[0]
    for more in every[1:]:
        total = total.union(more)
    return total.intersect_params(scop.context).coalesce()


def level_domain(at: TreePoint) -> isl.Set:
    """The values that the loop variables take here, as a set of parameters."""
    s = at.domain
    first, depth = s.dim(_PARAM), s.dim(_SET)
    s = s.move_dims(_PARAM, first, _SET, 0, depth) if depth else s
    for k in range(depth):
        s = s.set_dim_name(_PARAM, first + k, at.vars[k])
    return s.params()


def prefix_map(scop: Scop, runs: Sequence[StatementRun], depth: int) -> isl.UnionMap:
    """Statement instances to the values of the first `depth` loop variables."""
    total: isl.UnionMap | None = None
    for r in runs:
        m = r.executes(scop).project_out(_IN, depth, len(r.point.vars) - depth).reverse()
        m = m.set_tuple_name(_OUT, "level")
        one = isl.UnionMap.from_map(m)
        total = one if total is None else total.union(one)
    assert total is not None
    return total


def unfed(scop: Scop, flow: isl.UnionMap, reads: Sequence[BoxUse], writes: Sequence[BoxUse],
          runs: Sequence[StatementRun], depth: int) -> bool:
    """Does any of the reads take a value that was not written in the same iteration of the loops around?"""
    given = _given(scop, flow, writes, runs, depth)
    return any(not _read(scop, r).is_subset(given) for r in reads)


def fed(
    scop: Scop, flow: isl.UnionMap, read: BoxUse, writes: Sequence[BoxUse], runs: Sequence[StatementRun], depth: int
) -> bool:
    """Does the read take any value that was written in the same iteration of the loops around?"""
    return not _read(scop, read).is_disjoint(_given(scop, flow, writes, runs, depth))


def _given(
    scop: Scop, flow: isl.UnionMap, writes: Sequence[BoxUse], runs: Sequence[StatementRun], depth: int
) -> isl.UnionMap:
    """Instances to the elements whose values they get from these writes, within an iteration."""
    prefix = prefix_map(scop, runs, depth)
    inside = flow.intersect(prefix.apply_range(prefix.reverse()))
    written: isl.UnionMap = isl.UnionMap.empty(flow.get_space())
    for w in writes:
        written = written.union(isl.UnionMap.from_map(w.access.relation.intersect_domain(_instances(scop, w.run))))
    return inside.reverse().apply_range(written)


def _read(scop: Scop, r: BoxUse) -> isl.UnionMap:
    return isl.UnionMap.from_map(r.access.relation.intersect_domain(_instances(scop, r.run)))


def _instances(scop: Scop, r: StatementRun) -> isl.Set:
    return r.executes(scop).range()
