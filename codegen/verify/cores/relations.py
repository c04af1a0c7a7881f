"""Statements and boxes of a kernel as isl relations between loop variables and elements."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from codegen.ast.ctree import Bin, CExpr, Fun, Int
from codegen.scop.model import Scop
from codegen.verify.cores.expr import same
from codegen.verify.cores.memory import BoxCopy
from codegen.verify.cores.records import PrintedStatement, StagedBoxes
from codegen.verify.readback import StatementRun, TreePoint

IN, OUT, SET, PARAM = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set, isl.dim_type.param


def executes(scop: Scop, leaf: PrintedStatement) -> isl.Map:
    """Loop variables to the instance that runs."""
    return StatementRun(leaf.instance, leaf.at).executes(scop)


def touches(scop: Scop, leaf: PrintedStatement, number: int) -> isl.Map:
    """Loop variables to the element of an access, where the model has it happen: a subscript behind a condition that
    does not hold is no element that may be asked for."""
    index, space = leaf.instance.accesses[number], leaf.at.domain.get_space()
    target = space.params().set_from_params().add_dims(SET, len(index))
    multi = isl.MultiPwAff.zero(space.map_from_domain_and_range(target))
    for k, e in enumerate(index):
        multi = multi.set_pw_aff(k, leaf.at.value(e))
    instances, a = executes(scop, leaf), scop.statement(leaf.instance.stmt).accesses[number]
    happens = leaf.at.domain
    if not instances.range().is_subset(a.relation.domain()):
        happens = happens.intersect(instances.apply_range(a.relation).domain())
    return isl.Map.from_multi_pw_aff(multi).intersect_domain(happens)


def outermost(m: isl.Map, depth: int) -> isl.Map:
    """A relation of loop variables as one of the first of them."""
    return m.project_out(IN, depth, m.dim(IN) - depth)


def domain_of(stage: StagedBoxes, copy: BoxCopy) -> isl.Set:
    """Where the box is there."""
    at = stage.at
    return at.domain if copy.when is None else at.domain.intersect(at.condition(copy.when))


def box_of(stage: StagedBoxes, copy: BoxCopy) -> isl.Map:
    """Loop variables around a box to its elements."""
    total: isl.Map | None = None
    for low, size in zip(copy.lows, copy.lens, strict=True):
        side = _side(stage.at, low, size)
        total = side if total is None else total.flat_range_product(side)
    assert total is not None
    return total.intersect_domain(domain_of(stage, copy))


def _side(at: TreePoint, low: CExpr, size: CExpr) -> isl.Map:
    """Loop variables to the coordinates from `low` on. What is at least the greatest of some values is at least each of
    them, and so on: few pieces keep isl fast."""
    sides = [related(at.value(e), "ge") for e in _parts(low, "max")]
    ends = isinstance(size, Bin) and size.op == "+" and size.right == Int(1)
    apart = size.left if isinstance(size, Bin) and ends else None
    if isinstance(apart, Bin) and apart.op == "-" and same(apart.right, low):
        sides += [related(at.value(e), "le") for e in _parts(apart.left, "min")]
    else:
        sides += [related(at.value(Bin("+", low, e)), "lt") for e in _parts(size, "min")]
    total = sides[0]
    for s in sides[1:]:
        total = total.intersect(s)
    return total


def _parts(e: CExpr, fun: str) -> list[CExpr]:
    if isinstance(e, Fun) and e.name == fun:
        return [p for a in e.args for p in _parts(a, fun)]
    return [e]


def related(value: isl.PwAff, how: str) -> isl.Map:
    """Loop variables to all numbers that are at least (`ge`), at most (`le`) or less (`lt`) than a value of them."""
    m = isl.Map.from_pw_aff(value)
    line = m.get_space().range()
    pairs = isl.Map.universe(line.map_from_set())
    if how == "ge":
        return m.apply_range(pairs.order_le(IN, 0, OUT, 0))
    return m.apply_range(pairs.order_ge(IN, 0, OUT, 0) if how == "le" else pairs.order_gt(IN, 0, OUT, 0))


def equal_first(pairs: isl.Map, depth: int) -> isl.Map:
    """Pairs of iterations that agree in the first loop variables."""
    for k in range(depth):
        pairs = pairs.equate(IN, k, OUT, k)
    return pairs


def span(at: TreePoint, where: isl.Set, e: CExpr) -> tuple[int | None, int | None]:
    """The least and the greatest value of an expression, where there are such."""
    line = isl.Map.from_pw_aff(at.value(e)).intersect_domain(where).range()
    line = line.project_out(PARAM, 0, line.dim(PARAM))
    if line.is_empty():
        return 1, 0
    low = int(line.dim_min_val(0).to_str()) if line.dim_has_any_lower_bound(SET, 0) else None
    high = int(line.dim_max_val(0).to_str()) if line.dim_has_any_upper_bound(SET, 0) else None
    return low, high


def forward(space: isl.Space, equal: Sequence[int], order: Sequence[int]) -> isl.Map:
    """Pairs that agree in some coordinates and come one after the other by others."""
    base = isl.Map.universe(space)
    for k in equal:
        base = base.equate(IN, k, OUT, k)
    total = isl.Map.empty(space)
    for k in order:
        total = total.union(base.order_lt(IN, k, OUT, k))
        base = base.equate(IN, k, OUT, k)
    return total
