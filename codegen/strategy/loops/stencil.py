"""Recognizes loops over time that are stencils (`find_stencil` returns sweeps, margins and halo, or None), for time
tiling on core groups and devices: tiles stay in local or shared memory for several time steps.

A tile is fetched with a margin as wide as data travel in that many steps; each step is computed on a part of the margin
that shrinks accordingly, so cores (or blocks of threads) need not talk to each other before all these steps are over.
Results go to a second copy of the arrays, since neighbours still read the first.
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from codegen.ast.ctree import CExpr, CNode, For, Instance, Int, Name, walk
from codegen.ast.isl_expressions import value_expr
from codegen.record import record
from codegen.scop.dependences import Dependences
from codegen.scop.isl_helpers import maps_of
from codegen.scop.model import Access, Scop, Statement
from codegen.verify.readback import TreePoint, enter, runs_below


@record
class StencilSweep:
    """One statement: where it writes (without its time), and how far away it reads each array.

    `shifts` has, for each access, how far from the written element it is along each axis; what is indexed by time alone
    has the distance to the present step in `clocks` instead."""

    stmt: str
    target: str
    axes: tuple[int, ...]  # the iterator of each axis; 0 where the sweep stands still
    lows: tuple[CExpr, ...]
    highs: tuple[CExpr, ...]  # past the last
    reach: tuple[tuple[str, int], ...]
    shifts: tuple[tuple[int, ...] | None, ...]
    clocks: tuple[int | None, ...]
    arrays: tuple[str, ...]  # of each access


@record
class Stencil:
    """A loop over time whose body is sweeps over grids of one shape, one after the other."""

    loop: For
    axes: int
    sweeps: tuple[StencilSweep, ...]
    written: tuple[str, ...]
    read: tuple[str, ...]  # never written
    fresh: tuple[str, ...]  # written in every step before anything reads them
    margins: tuple[int, ...]  # of each sweep in the last step of a block
    growth: int  # of all margins, from a step to the one before it
    halo: int  # of what is fetched for a block of one step

    @property
    def anew(self) -> int:
        """How many arrays come and go at the borders alone: sweeps over whole grids write them in every step."""
        return sum(all(all(x.axes) for x in self.sweeps if x.target == a) for a in self.fresh)


def find_stencil(scop: Scop, deps: Dependences, node: CNode, at: TreePoint) -> Stencil | None:
    """The stencil that a loop of the C tree is, or None. `at` is the point just outside it."""
    if not isinstance(node, For) or node.step != 1:
        return None
    times = enter(node, at).domain
    found = [x for x in walk(node.body) if isinstance(x, Instance)]
    inside = [s for s in scop.statements if any(x.stmt == s.name for x in found)]
    if any(not x.iterators or x.iterators[0] != Name(node.var) for x in found) or not _complete(scop, node, at, times):
        return None
    made = [_sweep(scop, s, times) for s in inside]
    sweeps = [x for x in made if x is not None]
    axes = {len(x.lows) for x in sweeps}
    if len(sweeps) < len(made) or len(axes) != 1 or max(axes) > 3 or not _in_turn(deps, [s.name for s in inside]):
        return None
    written = tuple(sorted({x.target for x in sweeps}))
    read = tuple(sorted({a for x in sweeps for a, _ in x.reach} - set(written)))
    clocks = {scop.statement(x.stmt).accesses[k].array for x in sweeps for k, c in enumerate(x.clocks) if c is not None}
    if clocks & {*written, *read} or any(not e for a in (*written, *read) for e in scop.arrays[a].extents) or len({
        scop.arrays[a].extents for a in (*written, *read)}) != 1:  # fmt: skip
        return None
    margins, growth, halo = _margins(sweeps, written)
    if growth <= 0:
        return None
    return Stencil(node, axes.pop(), tuple(sweeps), written, read, _fresh(sweeps, written), margins, growth, halo)


def _complete(scop: Scop, node: For, at: TreePoint, times: isl.Set) -> bool:
    """Does all that a statement of the loop does at these times happen in the loop?"""
    done: dict[str, isl.Set] = {}
    for r in runs_below(node, at):
        mine = r.executes(scop).range()
        done[r.instance.stmt] = done[r.instance.stmt].union(mine) if r.instance.stmt in done else mine
    domains = {n: scop.statement(n).domain for n in done}
    return all(d.intersect(_at_times(d, times)).is_subset(done[n]) for n, d in domains.items())


def _in_turn(deps: Dependences, order: Sequence[str]) -> bool:
    """Within a step, does every statement only depend on those before it, so that each can sweep the whole grid?"""
    for d in deps.all:
        for m in maps_of(d.relation):
            a, b = (str(m.get_tuple_name(side)) for side in (isl.dim_type.in_, isl.dim_type.out))
            if a not in order or b not in order or order.index(a) < order.index(b):
                continue
            now = m.equate(isl.dim_type.in_, 0, isl.dim_type.out, 0)
            if not now.is_empty():
                return False
    return True


def _sweep(scop: Scop, s: Statement, times: isl.Set) -> StencilSweep | None:
    """The statement as a sweep, if its domain is a box that does not depend on time and its accesses are shifts."""
    axes = _axes(scop, s)
    if s.values or axes is None:
        return None
    here = [s.accesses[s.target].index.get_pw_aff(d) for d in range(len(axes))]
    shifts = tuple(_shift(scop, a, axes, here) for a in s.accesses)
    clocks = tuple(_clock(a) if x is None else None for a, x in zip(s.accesses, shifts, strict=True))
    if any(x is None and c is None for x, c in zip(shifts, clocks, strict=True)):
        return None
    space = s.domain.project_out(isl.dim_type.set, 0, 1)
    lows: list[CExpr] = []
    highs: list[CExpr] = []
    box = _at_times(s.domain, times)
    context = isl.Set.universe(scop.context.get_space())
    for axis, aff in zip(axes, here, strict=True):
        if not axis:
            c = _constant(aff)
            lows.append(Int(c))
            highs.append(Int(c + 1))
            continue
        low, high = space.dim_min(axis - 1), space.dim_max(axis - 1)
        if not all(x.n_piece() == 1 and _whole(x.get_pieces()[0][1]) for x in (low, high)):
            return None
        box = _between(box, axis, low.get_pieces()[0][1], high.get_pieces()[0][1])
        lows.append(value_expr(low, context))
        highs.append(value_expr(high.add_constant_val(isl.Val(1)), context))
    if not box.intersect_params(scop.context.intersect(_not_empty(scop, s))).is_subset(s.domain):
        return None
    reach: dict[str, int] = {}
    for a, shift in zip(s.accesses, shifts, strict=True):
        if not a.write and shift is not None:
            reach[a.array] = max(reach.get(a.array, 0), *(abs(x) for x in shift))
    target = s.accesses[s.target].array
    return StencilSweep(s.name, target, axes, tuple(lows), tuple(highs), tuple(sorted(reach.items())), shifts, clocks,
                        tuple(a.array for a in s.accesses))  # fmt: skip


def _at_times(domain: isl.Set, times: isl.Set) -> isl.Set:
    """All points, at these times."""
    n = domain.dim(isl.dim_type.set)
    wide = times.reset_tuple_id() if times.has_tuple_id() else times
    wide = wide.insert_dims(isl.dim_type.set, 1, n - 1)
    return wide.set_tuple_name(domain.get_tuple_name()).align_params(domain.get_space().params())


def _not_empty(scop: Scop, s: Statement) -> isl.Set:
    """The written array has elements; without any there are no tiles."""
    out = isl.Set.universe(scop.context.get_space())
    named = {p.text: p.name for p in scop.params}
    for e in scop.arrays[s.accesses[s.target].array].extents:
        if e in named:
            pos = out.find_dim_by_name(isl.dim_type.param, named[e])
            out = out.lower_bound_val(isl.dim_type.param, pos, isl.Val(1))
    return out


def _between(box: isl.Set, axis: int, low: isl.Aff, high: isl.Aff) -> isl.Set:
    """The part of a box where an iterator is not below one and not above the other value of the parameters."""
    space = isl.LocalSpace.from_space(box.get_space())
    at = isl.PwAff.from_aff(isl.Aff.var_on_domain(space, isl.dim_type.set, axis))
    for bound, least in ((low, True), (high, False)):
        value = isl.PwAff.from_aff(_on_parameters(bound, box.get_space()))
        box = box.intersect(at.ge_set(value) if least else at.le_set(value))
    return box


def _on_parameters(aff: isl.Aff, space: isl.Space) -> isl.Aff:
    """A function of parameters alone, on another domain."""
    names = [space.get_dim_name(isl.dim_type.param, k) for k in range(space.dim(isl.dim_type.param))]
    out = isl.Aff.zero_on_domain_space(space).set_constant_val(aff.get_constant_val())
    for k in range(aff.dim(isl.dim_type.param)):
        c = aff.get_coefficient_val(isl.dim_type.param, k)
        out = out.set_coefficient_val(isl.dim_type.param, names.index(aff.get_dim_name(isl.dim_type.param, k)), c)
    return out


def _plain(value: isl.PwAff) -> isl.Aff | None:
    """The one expression without quotients and parameters, if that is what it is."""
    if value.n_piece() != 1:
        return None
    aff = value.get_pieces()[0][1]
    fixed = not aff.involves_dims(isl.dim_type.param, 0, aff.dim(isl.dim_type.param))
    return aff if _whole(aff) and fixed else None


def _whole(aff: isl.Aff) -> bool:
    """Is it without quotients?"""
    return not aff.dim(isl.dim_type.div) and aff.get_denominator_val().is_one()


def _constant(value: isl.PwAff) -> int:
    return int(value.get_pieces()[0][1].get_constant_val().get_num_si())


def _moved_by(aff: isl.Aff) -> list[int]:
    """The iterators in an expression, each with the factor 1; [-1] for any other expression."""
    n = aff.dim(isl.dim_type.in_)
    values = [aff.get_coefficient_val(isl.dim_type.in_, k) for k in range(n)]
    return [-1] if any(not v.is_zero() and not v.is_one() for v in values) else [
        k for k, v in enumerate(values) if v.is_one()]  # fmt: skip


def _axes(scop: Scop, s: Statement) -> tuple[int, ...] | None:
    """The iterator that moves the written element along each axis, 0 for none. None if it is no sweep over a grid."""
    target = s.accesses[s.target]
    out = []
    for d in range(scop.arrays[target.array].rank):
        aff = _plain(target.index.get_pw_aff(d))
        moved = [-1] if aff is None else _moved_by(aff)
        if aff is None or moved not in ([], *([k] for k in range(1, len(s.iterators)))):
            return None
        if moved and not aff.get_constant_val().is_zero():
            return None
        out.append(moved[0] if moved else 0)
    return tuple(out) if sorted(k for k in out if k) == list(range(1, len(s.iterators))) and out else None


def _shift(scop: Scop, a: Access, axes: Sequence[int], here: Sequence[isl.PwAff]) -> tuple[int, ...] | None:
    """Constants c with index = written index + c."""
    if any(x.kind != "sub" for x in a.path) or scop.arrays[a.array].inside or scop.arrays[a.array].rank != len(axes):
        return None
    out = []
    for d, axis in enumerate(axes):
        aff = _plain(a.index.get_pw_aff(d))
        if aff is None or _moved_by(aff) != ([axis] if axis else []):
            return None
        out.append(int(aff.get_constant_val().get_num_si()) - _constant(here[d]))
    return tuple(out)


def _clock(a: Access) -> int | None:
    """The distance to the present step, of what is indexed by time alone."""
    if a.write or a.index.dim(isl.dim_type.out) != 1 or any(x.kind != "sub" for x in a.path):
        return None
    aff = _plain(a.index.get_pw_aff(0))
    return int(aff.get_constant_val().get_num_si()) if aff is not None and _moved_by(aff) == [0] else None


def _margins(sweeps: Sequence[StencilSweep], written: Sequence[str]) -> tuple[tuple[int, ...], int, int]:
    """Margins of the sweeps in the last step, their growth per step, and the halo of a block of one step."""
    need = dict.fromkeys({a for x in sweeps for a, _ in x.reach} | set(written), 0)

    def step() -> tuple[int, ...]:
        out = []
        for x in reversed(sweeps):
            m = need[x.target]
            out.append(m)
            for a, far in x.reach:
                need[a] = max(need[a], m + far)
        return tuple(reversed(out))

    last = step()
    halo = max(need.values())
    before, earlier = step(), step()
    grown = {b - a for a, b in zip(last, before, strict=True)} | {b - a for a, b in zip(before, earlier, strict=True)}
    return (last, max(grown), halo) if len(grown) == 1 else (last, max(*grown, halo), halo)


def _fresh(sweeps: Sequence[StencilSweep], written: Sequence[str]) -> tuple[str, ...]:
    out = []
    for a in written:
        first = next(k for k, x in enumerate(sweeps) if x.target == a)
        if not any(a == b for x in sweeps[: first + 1] for b, _ in x.reach):
            out.append(a)
    return tuple(out)
