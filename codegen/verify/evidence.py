"""Evidence for the proofs: the C tree read back, and dependences as relations between its loops."""

from __future__ import annotations

import islpy as isl

from codegen.ast.ctree import CNode
from codegen.record import record
from codegen.scop.dependences import Dependences, param_space
from codegen.scop.distance import together
from codegen.scop.isl_helpers import maps_of
from codegen.scop.model import Scop
from codegen.verify.readback import StatementRun, runs

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out


@record
class Finding:
    """A broken promise. `check` is the name of the check that found it."""

    check: str
    message: str


@record
class Evidence:
    """What the checks look at; computed once."""

    scop: Scop
    deps: Dependences
    runs: tuple[StatementRun, ...]
    times: isl.UnionMap  # instance to time
    width: int


def collect(scop: Scop, deps: Dependences, tree: CNode) -> Evidence:
    """Read the tree back."""
    found = runs(scop, tree)
    width = max((len(r.point.when) for r in found), default=0)
    times = isl.UnionMap.empty(param_space(scop))
    for r in found:
        when = r.executes(scop).reverse().apply_range(r.time(width))
        times = times.union(isl.UnionMap.from_map(when))
    return Evidence(scop, deps, found, times.coalesce(), width)


def between_runs(e: Evidence, relation: isl.UnionMap) -> list[tuple[isl.Map, StatementRun, StatementRun]]:
    """A relation of instances as relations between loop variables, one for each two places that run them."""
    known: list[tuple[isl.UnionMap, list[tuple[isl.Map, StatementRun, StatementRun]]]] = e.__dict__.setdefault(
        "_between", []
    )
    found = next((pairs for r, pairs in known if r is relation), None)
    if found is None:
        found = []
        for m in maps_of(relation):
            names = (m.get_tuple_name(_IN), m.get_tuple_name(_OUT))
            ends = [[r for r in e.runs if r.instance.stmt == name] for name in names]
            for a in ends[0]:
                some = m.apply_domain(a.executes(e.scop).reverse())
                for b in ends[1]:
                    pairs = some.apply_range(b.executes(e.scop).reverse())
                    if not pairs.is_empty():
                        found.append((pairs, a, b))
        known.append((relation, found))
    return found


def in_one_run(pairs: isl.Map, a: StatementRun, b: StatementRun, depth: int) -> isl.Map:
    """The pairs in one run of a loop around both places, whose variable is entry `depth` of their times."""
    for before, after in zip(a.times[:depth], b.times[:depth], strict=True):
        if not isinstance(before, int) and not isinstance(after, int):  # else the same position: both are in the loop
            pairs = pairs.intersect(together(before, after))
    return pairs
