"""Grids of ranks: finds for each phase the iterators that ranks share along further axes, as `--distribute` asks with
several `block` dimensions. Raises NotShared where a dependence inside a phase or a missing loop forbids it.

Along the first axis they share the loop around a phase. Along another one each statement has an iterator of its own
that goes through a dimension of its array: the columns of a matrix, in a loop at any depth. Where no dependence inside
of a phase goes from one value of it to another, ranks can run any blocks of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import islpy as isl

from codegen.mpi.layout import ArrayDistribution
from codegen.mpi.phases import Cut, NotShared, Phase
from codegen.scop.distance import constant
from codegen.scop.isl_helpers import maps_of
from codegen.scop.model import Scop
from codegen.transform.program import Program

_IN, _OUT, _SET = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set


def on_grid(p: Program, found: Cut, held: Sequence[ArrayDistribution]) -> Cut:
    """The phases with what ranks share along all axes of the grid that arrays ask for. Raises NotShared."""
    axes = max((x.axes for x in held), default=1)
    if axes == 1:
        return found
    phases = tuple(q if q.shared is None else _across(p, q, held, axes) for q in found.phases)
    return replace(found, phases=phases)


def _across(p: Program, q: Phase, held: Sequence[ArrayDistribution], axes: int) -> Phase:
    names = ", ".join(q.stmts)
    if q.reduced or q.ordered:
        raise NotShared(f"{names} can be shared along one axis of a grid of ranks alone")
    for axis in range(1, axes):
        own = {x.array: x.position for x in held if x.axis == axis}
        found = [(s, _iterator(p.scop, s, own, q.positions(s)[-1])) for s in q.stmts]
        q = replace(q, across=(*q.across, tuple((s, at) for s, at in found if at is not None)))
        problem = handed_across(p, q, axis) if all(at is not None for _, at in found) else "no loop of it goes there"
        if problem:
            raise NotShared(f"{names} cannot be shared along dimension {axis + 1} of a grid of ranks: {problem}")
    return q


def _iterator(scop: Scop, stmt: str, held: dict[str, int], behind: int) -> int | None:
    """The iterator of a statement, inside of one, that goes through a dimension of an array: of one that it writes, or
    else reads."""
    s = scop.statement(stmt)
    for a in (*s.writes, *(a for a in s.accesses if not a.write)):
        if a.array in held:
            index = a.index.get_pw_aff(held[a.array])
            local = isl.LocalSpace.from_space(s.domain.get_space().align_params(index.get_space()))
            for k in range(behind + 1, s.domain.dim(_SET)):
                if constant(index.sub(isl.PwAff.from_aff(isl.Aff.var_on_domain(local, _SET, k)))) is not None:
                    return k
    return None


def handed_across(p: Program, q: Phase, axis: int) -> str:
    """Does a value go from one value of an iterator to another inside of a phase? Empty if none does."""
    for m in dependences(p):
        ends = str(m.get_tuple_name(_IN)), str(m.get_tuple_name(_OUT))
        if all(s in q.stmts for s in ends):
            for k in range(q.depth):
                m = m.equate(_IN, k, _OUT, k)
            a, b = (q.positions(s)[axis] for s in ends)
            if not m.is_subset(m.equate(_IN, a, _OUT, b)):
                return f"{ends[1]} depends on what {ends[0]} does elsewhere along it"
    return ""


def dependences(p: Program) -> Iterator[isl.Map]:
    """All pairs whose order counts, those of reductions included."""
    yield from maps_of(p.deps.must)
    for found in (p.deps.folds, p.deps.flows):
        for array in sorted(found):
            yield from maps_of(found[array])
