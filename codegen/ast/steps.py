"""Finds innermost loops that are counted in steps: where the region says `i += 2`, or one statement runs for even `i`
and another for odd ones. So subscripts need no division, and compilers see what lies side by side."""

from __future__ import annotations

from itertools import combinations

import islpy as isl

from codegen.recognize.access.strides import coefficients
from codegen.record import record
from codegen.scop.model import Scop, Statement
from codegen.scop.tree import PARALLEL, PARALLEL_VECTOR, VECTOR, Band, Loop, has_band, statements


@record
class Steps:
    """A loop's values are `size` apart; those from `first` on to before `first + size` are one step. Several: its
    statements have different values in a step, so that some may miss the first or last one."""

    size: int = 1
    first: int = 0
    several: bool = False

    def number(self, value: isl.PwAff) -> isl.PwAff:
        """Which step a value belongs to."""
        if self.size == 1:
            return value
        return value.add_constant_val(isl.Val(-self.first)).scale_down_val(isl.Val(self.size)).floor()


@record
class _Run:
    """What the innermost loop's values are modulo a size where a statement runs, and the values of loops around it."""

    residue: int
    outer: isl.Set


def steps(node: isl.ScheduleNode, scop: Scop, band: Band) -> Steps:
    """The steps of an innermost loop whose body uses how many were made, as in `a[i / 3]`; of one for others.
    even-odd-split, Neoverse N1: its last loop takes 0.82 of the time, interleave's first one 0.8."""
    last = band.loops[-1]
    if has_band(band.child) or last.tile or last.carry or last.kind not in ("", VECTOR, PARALLEL, PARALLEL_VECTOR):
        return Steps()
    names = statements(band)
    sizes = {_step(scop.statement(name), last) for name in names}
    if len(sizes) > 1 or not any(_divides(scop.statement(name), last) for name in names):
        return Steps()
    size = sizes.pop()
    if size == 1:
        return Steps()
    found = _runs(node, scop, band, size)
    first = None if found is None else _first(found, size)
    if found is None or first is None:
        return Steps()
    return Steps(size, first, len({run.residue for run in found}) > 1)


def _first(found: list[_Run], size: int) -> int | None:
    """Where steps have to begin so that the statements of one come in the order of the text; None for nowhere."""
    meeting = [(a.residue, b.residue) for a, b in combinations(found, 2) if not a.outer.is_disjoint(b.outer)]
    for first in sorted({0, *(run.residue for run in found)}):
        if all((a - first) % size <= (b - first) % size for a, b in meeting):
            return first
    return None


def _runs(node: isl.ScheduleNode, scop: Scop, band: Band, size: int) -> list[_Run] | None:
    """Of all statements that ever run; None where values modulo the size are not numbers."""
    found = []
    for name in statements(band):
        domain = isl.UnionSet.from_set(scop.statement(name).domain)
        prefix = node.get_prefix_schedule_union_map().intersect_domain(domain)
        if not prefix.is_empty():
            points = image(isl.Map.from_union_map(prefix), [lp.exprs[name] for lp in band.loops])
            last = points.dim(isl.dim_type.set) - 1
            stride = points.get_stride_info(last)
            if int(stride.get_stride().to_python()) % size or not stride.get_offset().is_cst():
                return None
            residue = int(stride.get_offset().get_constant_val().to_python()) % size
            found.append(_Run(residue, points.project_out(isl.dim_type.set, last, 1)))
    return found


def _step(s: Statement, lp: Loop) -> int:
    """The least distance between values of a loop that runs through one of the statement's iterators; 1 for others."""
    c = coefficients(lp.exprs[s.name], len(s.iterators)) or []
    moving = [d for d, x in enumerate(c) if x]
    if len(moving) != 1 or c[moving[0]] != 1 or s.domain.n_basic_set() != 1:
        return 1
    return int(s.domain.get_stride(moving[0]).to_python())


def _divides(s: Statement, lp: Loop) -> bool:
    """Does a subscript divide something that changes with the loop?"""
    c = coefficients(lp.exprs[s.name], len(s.iterators)) or []
    values = (a.index.get_pw_aff(k) for a in s.accesses for k in range(a.index.dim(isl.dim_type.out)))
    for value in values:
        moves = any(x and value.involves_dims(isl.dim_type.in_, d, 1) for d, x in enumerate(c))
        if moves and any(aff.dim(isl.dim_type.div) for _, aff in value.get_pieces()):
            return True
    return False


def image(outer: isl.Map, exprs: list[isl.PwAff]) -> isl.Set:
    """Values of (outer times, exprs) over the statement's instances."""
    total = outer
    for e in exprs:
        total = total.flat_range_product(isl.Map.from_pw_aff(e).intersect_domain(outer.domain()))
    return total.range().reset_tuple_id() if total.range().has_tuple_id() else total.range()
