"""For each statement of the generated code the set of parameters at which it runs, and small sizes from that set, so
that `survey.py` can add runs that reach statements which all others miss."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import islpy as isl

from codegen.ast.generate import generate as generate_ast
from codegen.diagnostics import TilewrightError
from codegen.plan_reader.parse import parse
from codegen.region_model import Modelled
from codegen.scop.isl_helpers import val
from codegen.scop.model import Scop
from codegen.transform.apply import apply_plan
from codegen.transform.storage import place_storage
from codegen.verify.readback import runs

LARGEST = 1000  # no size beyond this one is looked for


def pieces(model: Modelled, plan: str) -> tuple[isl.Set, ...]:
    """For each statement of the printed code the parameters with which it runs; nothing when that is not known."""
    scop = model.program.scop
    try:
        plans = parse(re.sub(r" digest \w+", "", plan), "<plan>", {scop.region: scop})
        program = apply_plan(model.program, plans[0])
        tree = place_storage(program.scop, program.deps, program.tree, program.stores)
        found = runs(program.scop, generate_ast(program.scop, tree))
    except (TilewrightError, isl.Error, IndexError):
        return ()
    domains = (_at(model.kept, r.point.domain.params()) for r in found)
    return tuple(d.coalesce() for d in domains if not d.is_empty())


def _at(kept: Mapping[str, int], points: isl.Set) -> isl.Set:
    """Parameters of which some are macros, with values that are fixed in this program."""
    for name, value in sorted(kept.items()):
        at = points.find_dim_by_name(isl.dim_type.param, name)
        points = points.fix_val(isl.dim_type.param, at, val(value)) if at >= 0 else points
    return points


def reached(piece: isl.Set, scop: Scop, values: Mapping[str, int]) -> bool:
    """Does the statement run with these parameters, given by their C texts?"""
    for p in scop.params:
        pos = piece.find_dim_by_name(isl.dim_type.param, p.name)
        if pos >= 0:
            piece = piece.fix_val(isl.dim_type.param, pos, val(values[p.text]))
    return not piece.is_empty()


def small_values(piece: isl.Set, scop: Scop) -> Iterator[dict[str, int]]:
    """Parameters, by C text, with which the statement runs: a little more than the least, then the least."""
    start = least(piece, scop) or least(piece, scop, -64)
    for extra in ((7, 3, 5, 2), (1, 1, 1, 1), (0, 0, 0, 0)):
        more = {text: v + extra[k % 4] for k, (text, v) in enumerate(start.items())}
        if start and reached(piece, scop, more):
            yield more


def least(points: isl.Set, scop: Scop, lowest: int = 0) -> dict[str, int]:
    """The lexicographically smallest parameters from `lowest` on, by C text; empty when there are none."""
    count = points.dim(isl.dim_type.param)
    for k in range(count):
        points = points.lower_bound_val(isl.dim_type.param, k, val(lowest))
        points = points.upper_bound_val(isl.dim_type.param, k, val(LARGEST))
    if points.is_empty():
        return {}
    names = [points.get_dim_name(isl.dim_type.param, k) for k in range(count)]
    moved = isl.Set.from_params(points).move_dims(isl.dim_type.set, 0, isl.dim_type.param, 0, count)
    point = moved.lexmin().sample_point()
    found = {name: int(point.get_coordinate_val(isl.dim_type.set, k).to_python()) for k, name in enumerate(names)}
    return {p.text: found.get(p.name, 0) for p in scop.params}
